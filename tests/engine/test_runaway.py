"""Text that goes in circles is told from text that is merely long."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentls.engine.runaway import LONGEST_PERIOD, WINDOW, Runaway, repeats
from agentls.model.scripted import Hang, Say, ScriptedModel
from engine.house import house


@given(st.text(min_size=1, max_size=LONGEST_PERIOD))
def test_any_short_piece_over_and_over_is_recognised_wherever_it_is_cut(piece: str) -> None:
    assert repeats((piece * (WINDOW // len(piece) + 2))[1 : WINDOW + 1])


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"line {number}\n" for number in range(2_000)),
        "ab" * 4_000 + "c" + "ab" * 90,
        "x" + "y" * (WINDOW - 1),
        "".join(chr(0x4E00 + number % 20_000) for number in range(WINDOW)),
    ],
)
def test_long_text_that_says_something_goes_on(text: str) -> None:
    assert not Runaway().feed(text)


def test_it_is_seen_in_small_pieces_too() -> None:
    runaway = Runaway()
    fed = [runaway.feed("again and ") for _ in range(2_000)]
    assert any(fed)
    assert fed.index(True) * len("again and ") < 3 * WINDOW


async def test_runaway_text_is_cut_and_the_turn_says_why(tmp_path: Path) -> None:
    model = ScriptedModel([Say("On and on. " * 3_000, deltas=300), Hang()], [Say("fine")])
    async with house(tmp_path, model) as it:
        session_id = it.session()
        outcome = await it.prompt(session_id, "go").outcome()
        assert outcome.stop_reason == "error"
        assert outcome.error is not None
        assert "repeated" in outcome.error.data["message"]
        assert len(it.parts(session_id, "text")[-1]["text"]) < 33_000
        assert (await it.prompt(session_id, "again").outcome()).stop_reason == "done"
