"""Rows beside the conversation: rules, queue, questions, todos."""

from agentls.schema.part import TextPart
from agentls.schema.permission import Rule
from engine.builders import World, assistant_message, pending

# -- rules


def test_rules_are_kept_once_and_the_scope_is_part_of_what_they_are(world: World) -> None:
    scope, other = world.session(), world.session()
    rule, wider = Rule(permission="bash", pattern="git *", action="allow"), Rule(permission="bash", action="allow")
    rules = world.stores.rules
    for _ in range(2):
        rules.add("prj", scope.session_id, rule)
        rules.add("prj", None, rule)
        rules.add("prj", scope.session_id, wider)
    rules.add("elsewhere", None, wider)
    found = rules.of("prj", scope.session_id)
    assert [(one.session_id, one.rule) for one in found] == [
        (scope.session_id, rule),
        (None, rule),
        (scope.session_id, wider),
    ]
    assert [(one.session_id, one.rule) for one in rules.of("prj", other.session_id)] == [(None, rule)]
    assert [(one.session_id, one.rule) for one in rules.of("prj", None)] == [(None, rule)]
    assert [one.rule for one in rules.of("elsewhere", None)] == [wider]
    rules.remove(found[0].id)
    assert [one.id for one in rules.of("prj", scope.session_id)] == [one.id for one in found[1:]]


# -- queue


def test_the_queue_keeps_its_order_and_buries_what_left_it(world: World) -> None:
    scope = world.session()
    queue = world.stores.queue
    with world.database.transaction():
        for name in ("msg_c", "msg_a", "msg_b"):
            queue.add(scope.session_id, name, f'"{name}"', "{}")
        queue.remove(scope.session_id, "msg_a")
    assert [row.message_id for row in queue.of(scope.session_id)] == ["msg_c", "msg_b"]
    assert [row.request for row in queue.of(scope.session_id)] == ['"msg_c"', '"msg_b"']
    assert queue.get("msg_a") is None
    tombs = world.database.all("SELECT kind, id FROM tombstones WHERE session_id = ?", (scope.session_id,))
    assert tombs == [("queue", "msg_a")]


# -- questions


def test_questions_are_found_by_id_part_root_and_kind_until_they_are_resolved(world: World) -> None:
    root = world.session()
    child, stranger = world.session(root), world.session()
    rows = world.stores.questions
    world.ledger.open(world.asker(root, "prt_1"), "permission", "per_1", b'{"n":1}', {"k": "v"})
    world.ledger.open(world.asker(child, "prt_1"), "question", "que_1", b'{"n":2}', {})
    world.ledger.open(world.asker(stranger, "prt_2"), "permission", "per_2", b'{"n":3}', {})
    assert {row.id for row in rows.open_of_root(root.root_id)} == {"per_1", "que_1"}
    assert [row.id for row in rows.open_of_root(root.root_id, "question")] == ["que_1"]
    assert {row.id for row in rows.open_all("permission")} == {"per_1", "per_2"}
    before = rows.get("per_1")
    assert before is not None
    seq = rows.resolve(root.session_id, "per_1", '{"outcome":"allowed"}')
    after = rows.get("per_1")
    assert after is not None
    assert (after.open, after.resolution, after.seq) == (False, '{"outcome":"allowed"}', seq)
    assert seq > before.seq
    assert after.private == '{"k":"v"}'
    assert [row.id for row in rows.of_part("prt_1")] == ["que_1", "per_1"]
    assert [row.id for row in rows.open_of_root(root.root_id)] == ["que_1"]
    assert rows.get("per_none") is None


def test_todos_are_replaced_as_a_whole(world: World) -> None:
    scope = world.session()
    assert world.stores.todos.get(scope.session_id) == ("[]", 0)
    with world.database.transaction():
        first = world.stores.todos.save(scope.session_id, "[1]")
        second = world.stores.todos.save(scope.session_id, "[2]")
    assert second > first
    assert world.stores.todos.get(scope.session_id) == ("[2]", second)


def test_answer_part_is_the_first_tool_part_of_the_answer(world: World) -> None:
    scope = world.session()
    user = world.user(scope)
    message = assistant_message(scope.session_id, 50, user.id)
    writer = world.writer(scope)
    writer.message(message)
    writer.part(TextPart(**writer.ids(message.id), text="x"))
    first, _ = world.tool(scope, message, pending()), world.tool(scope, message, pending())
    assert world.stores.messages.answer_part(scope.session_id, user.id) == first.id
    assert world.stores.messages.answer_part(scope.session_id, "msg_none") == ""
