"""What the params make of what clients send."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from agentls.protocol.methods import NOTIFICATIONS, REQUESTS
from agentls.protocol.options import ClientOptions, read_options
from agentls.protocol.session import AcceptedResult, CreateParams, ListParams, PromptParams, UpdateParams

SERVED_FROM_CLIENTS = [row for row in REQUESTS if row.direction == "toServer"]


def test_each_message_is_in_the_table_once() -> None:
    names = [row.name for row in REQUESTS]
    assert len(names) == len(set(names))
    told = [row.name for row in NOTIFICATIONS]
    assert len(told) == len(set(told))


@pytest.mark.parametrize("row", SERVED_FROM_CLIENTS, ids=lambda row: row.name)
def test_missing_null_and_list_params_are_alike(row: Any) -> None:
    def outcome(params: object) -> object:
        try:
            return row.params.model_validate(params)
        except ValidationError as error:
            return [(item["loc"], item["type"]) for item in error.errors()]

    assert outcome(None) == outcome([]) == outcome({})


def test_null_members_are_absent_and_unknown_ones_ignored() -> None:
    params = ListParams.model_validate({"limit": None, "archived": None, "query": "x", "more": 1})
    assert params == ListParams(query="x")


def test_an_empty_list_stands_for_an_empty_object_where_one_is_wanted() -> None:
    assert PromptParams.model_validate({"sessionId": "s", "parts": [], "format": []}).format == {}
    with pytest.raises(ValidationError, match="providerId"):
        CreateParams.model_validate({"model": []})
    assert UpdateParams.model_validate({"sessionId": "s", "model": None}).model is None


@pytest.mark.parametrize(("given_ms", "used"), [(0, 0), (33, 33), (1000, 250), (-5, 0), (12.7, 12), (None, 33)])
def test_coalescing_stays_within_its_bounds(given_ms: object, used: int) -> None:
    assert ClientOptions.model_validate({"events": {"coalesceMs": given_ms}}).events.coalesce_ms == used


def test_absent_options_mean_none_and_wrong_ones_are_left_out() -> None:
    assert read_options(None, None) is None
    assert read_options(None, {"clientId": "x"}) == ClientOptions(client_id="x")
    options = read_options({"ui": 5, "clientId": "x", "events": {"deltas": "perhaps"}})
    assert options == ClientOptions(client_id="x")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(json_values)
def test_options_of_any_form_are_read_without_failing(value: object) -> None:
    read_options(value)


@given(
    st.dictionaries(
        st.sampled_from(["ui", "events", "documents", "settings", "trusted", "protocolVersion"]), json_values
    )
)
def test_option_members_of_any_form_are_read_without_failing(value: object) -> None:
    assert isinstance(read_options(value), ClientOptions)


def test_results_leave_absent_members_out() -> None:
    assert AcceptedResult(message_id="m", state="stored").wire() == b'{"messageId":"m","state":"stored"}'
