"""Store, then send."""

from pathlib import Path

import pytest

from agentls.bus import Bus
from agentls.schema.event import Changed, Event, Noticed, Scope
from agentls.storage.journal import Journal
from engine.builders import open_database

SCOPE = Scope("ses_1", "ses_1", "/project")


def notice(title: str) -> Noticed:
    return Noticed("info", title)


class Watch:
    """A journal, what it published, and which rows another connection saw at that moment."""

    def __init__(self, folder: Path) -> None:
        self.database = open_database(folder / "agentls.db")
        self.other = open_database(folder / "agentls.db")
        self.seen: list[tuple[str, int]] = []
        bus = Bus()
        bus.subscribe(self._listen)
        self.journal = Journal(self.database, bus)

    def _listen(self, event: Event) -> None:
        name = event.title if isinstance(event, Noticed) else event.id if isinstance(event, Changed) else "?"
        self.seen.append((name, self.rows()))

    def rows(self) -> int:
        return int(self.other.all("SELECT count(*) FROM meta WHERE value = 'row'")[0][0] or 0)

    def put(self, key: str) -> None:
        self.database.execute("INSERT INTO meta VALUES (?, 'row')", (key,))
        self.journal.changed(SCOPE, 1, "session", key, "session/updated", b'"session":{}')


@pytest.fixture
def watch(tmp_path: Path) -> Watch:
    return Watch(tmp_path)


def test_events_come_after_the_commit_and_in_order(watch: Watch) -> None:
    with watch.journal.transaction():
        watch.put("a")
        with watch.journal.transaction():
            watch.put("b")
        assert watch.seen == []
        watch.journal.publish(notice("c"))
        watch.put("d")
    assert watch.seen == [("a", 3), ("b", 3), ("c", 3), ("d", 3)]


def test_nothing_is_published_of_what_was_rolled_back(watch: Watch) -> None:
    def half() -> None:
        with watch.journal.transaction():
            watch.put("a")
            with watch.journal.transaction():
                watch.put("b")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        half()
    assert (watch.seen, watch.rows()) == ([], 0)
    with watch.journal.transaction():
        watch.put("c")
    assert watch.seen == [("c", 1)]


def test_a_commit_that_fails_publishes_nothing(watch: Watch) -> None:
    def orphan() -> None:
        with watch.journal.transaction():
            watch.put("a")
            watch.database.execute("PRAGMA defer_foreign_keys = ON")
            watch.database.execute("INSERT INTO todos VALUES ('ses_none', 1, '[]')")

    with pytest.raises(Exception, match="FOREIGN KEY"):
        orphan()
    assert (watch.seen, watch.rows()) == ([], 0)
    watch.journal.publish(notice("after"))
    assert watch.seen == [("after", 0)]


def test_outside_a_transaction_an_event_goes_at_once(watch: Watch) -> None:
    watch.journal.publish(notice("now"))
    assert watch.seen == [("now", 0)]
