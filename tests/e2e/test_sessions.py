"""Sessions and their histories: listed, paged, renamed, put away, deleted."""

from e2e.client import Client
from e2e.model import Script, says
from e2e.talk import Talk

NEW_ID = "msg_01ARZ3NDEKTSV4RRFFQ69G5F"


async def test_a_session_is_deleted_with_its_turn(talk: Talk, model: Script, shared: Client) -> None:
    other = await Talk.begin(shared, talk.folder)
    model.plays(says("one two", 2, gate="never"))
    await other.prompt("One.")
    await other.first_text()
    assert await other.ask("session/delete") == {}
    assert await other.ask("session/delete") == {}
    assert (await other.wait("session/deleted"))["sessionId"] == other.id
    assert (await shared.refused("session/get", {"sessionId": other.id})).kind == "session_not_found"
    listed = (await shared.request("session/list", {"directory": str(talk.folder)}))["sessions"]
    assert [session["id"] for session in listed] == [talk.id]


async def test_titles_archive_and_paging(talk: Talk, shared: Client) -> None:
    made = [await Talk.begin(shared, talk.folder, title=f"number {n}") for n in range(5)]
    await made[0].ask("session/update", archived=True)
    await made[1].ask("session/update", title="a new name")
    told = await made[1].wait("session/updated")
    assert told["session"]["title"] == "a new name"
    params = {"directory": str(talk.folder), "limit": 2}
    found: list[str] = []
    cursor: dict = {}
    while True:
        page = await shared.request("session/list", {**params, **cursor})
        assert len(page["sessions"]) <= 2
        found += [session["title"] for session in page["sessions"]]
        if "nextCursor" not in page:
            break
        cursor = {"cursor": page["nextCursor"]}
    assert sorted(found) == sorted(["New session", "a new name", "number 2", "number 3", "number 4"])
    query = await shared.request("session/list", {"directory": str(talk.folder), "query": "new na"})
    assert [session["title"] for session in query["sessions"]] == ["a new name"]
    archived = await shared.request("session/list", {"directory": str(talk.folder), "archived": True})
    assert [session["id"] for session in archived["sessions"]] == [made[0].id]


async def test_the_history_is_paged_from_its_end(talk: Talk) -> None:
    for number in range(7):
        await talk.prompt(f"note {number}", noReply=True)
    page = await talk.ask("session/messages", limit=3)
    seen = [[one["parts"][0]["text"] for one in page["messages"]]]
    while "nextCursor" in page:
        page = await talk.ask("session/messages", limit=3, before=page["nextCursor"])
        seen.append([one["parts"][0]["text"] for one in page["messages"]])
    assert seen == [["note 4", "note 5", "note 6"], ["note 1", "note 2", "note 3"], ["note 0"]]
