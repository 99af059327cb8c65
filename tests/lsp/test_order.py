"""The gate: events in order, none before its response."""

from contextvars import copy_context

from hypothesis import given
from hypothesis import strategies as st

from agentls.lsp.order import EventGate, Hold, hold_events
from agentls.schema.event import Changed, Event, Noticed, Scope


def event(session_id: str, seq: int) -> Changed:
    return Changed(Scope(session_id, session_id, "/"), seq, "part", "p", "part/updated", b'"a":1')


class Desk:
    """Publishes in the name of a request, or of none, and notes what came out."""

    def __init__(self) -> None:
        self.out: list[object] = []
        self.gate = EventGate(self.out.append)

    def publish(self, hold: Hold | None, what: Event) -> None:
        def deed() -> None:
            if hold is not None:
                hold_events(hold)
            self.gate.publish(what)

        copy_context().run(deed)


def test_a_held_event_holds_what_follows_in_its_session_and_nothing_else() -> None:
    desk, hold = Desk(), Hold()
    desk.publish(hold, event("a", 1))
    desk.publish(None, event("a", 2))
    desk.publish(None, event("b", 1))
    desk.publish(None, Noticed("info", "x"))
    assert desk.out == [event("b", 1), Noticed("info", "x")]
    desk.out.append("response")
    desk.gate.release(hold)
    assert desk.out[2:] == ["response", event("a", 1), event("a", 2)]
    desk.publish(hold, event("a", 3))
    assert desk.out[-1] == event("a", 3)


def test_two_requests_of_one_session_each_wait_for_their_own_response() -> None:
    desk, first, second = Desk(), Hold(), Hold()
    desk.publish(first, event("a", 1))
    desk.publish(second, event("a", 2))
    desk.gate.release(second)
    assert desk.out == []
    desk.gate.release(first)
    assert desk.out == [event("a", 1), event("a", 2)]


steps = st.lists(
    st.tuples(st.sampled_from(["publish", "release"]), st.integers(0, 3), st.sampled_from("ab")), max_size=40
)


@given(steps)
def test_whatever_is_released_when_each_session_stays_in_order_and_nothing_is_lost(taken: list) -> None:
    desk, holds = Desk(), [Hold() for _ in range(3)]
    published: dict[str, list[Event]] = {"a": [], "b": []}
    responded: set[int] = set()
    for number, (deed, which, session_id) in enumerate(taken):
        hold = holds[which] if which < 3 else None
        if deed == "publish":
            published[session_id].append(event(session_id, number))
            desk.publish(hold, published[session_id][-1])
        elif hold is not None and which not in responded:
            responded.add(which)
            desk.gate.release(hold)
    for hold in holds:
        desk.gate.release(hold)
    for session_id, sent in published.items():
        assert [e for e in desk.out if isinstance(e, Changed) and e.scope.session_id == session_id] == sent
