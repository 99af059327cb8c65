"""The tools and what they work with."""

import sqlite3
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from pydantic_core import to_json

from agentls.config.paths import Paths
from agentls.engine.stores import Stores
from agentls.errors import AgentError, ToolError
from agentls.permission.ledger import Asker
from agentls.permission.questions import Questions
from agentls.schema.change import ChangeOrigin, Content
from agentls.schema.event import FileEdited
from agentls.schema.question import Answers, QuestionItem
from agentls.schema.session import Todo
from agentls.storage.changes import ChangeStore
from agentls.tools.bash import Bash
from agentls.tools.changing import Changes
from agentls.tools.diagnostics import Diagnostics
from agentls.tools.edit import Edit
from agentls.tools.glob import Glob
from agentls.tools.grep import Grep
from agentls.tools.list import List
from agentls.tools.output import Outputs
from agentls.tools.question import Question
from agentls.tools.read import Read
from agentls.tools.registry import Registry
from agentls.tools.todowrite import TodoWrite
from agentls.tools.tool import ToolContext
from agentls.tools.write import Write
from agentls.workspace.buffers import Buffers
from agentls.workspace.files import Files, Recorded
from agentls.workspace.process import Shell
from agentls.workspace.reads import Reads
from agentls.workspace.resolve import Resolved
from agentls.workspace.search import Search
from agentls.workspace.watchdog import Watchdog


class Toolbox:
    def __init__(
        self,
        paths: Paths,
        instance_id: str,
        changes: ChangeStore,
        stores: Stores,
        questions: Questions,
        unreadable: Callable[[str, str], Callable[[str], bool]],
    ) -> None:
        self._stores = stores
        self._questions = questions
        self.watchdog = Watchdog(instance_id)
        self.shell = Shell(self.watchdog)
        self.search = Search()
        self.outputs = Outputs(paths.data / "outputs")
        self.reads = Reads()
        self._changes = changes
        self.buffers = Buffers()
        files = Files(self._record, self.reads.content)
        writing = Changes(files, self.reads, self.buffers, self._record_buffer)

        def kept_back(context: ToolContext) -> Callable[[str], bool]:
            return unreadable(context.session_id, context.agent)

        self.registry = Registry(
            [
                Read(files, self.reads, self.buffers),
                Write(writing),
                Edit(writing),
                Bash(self.shell, self.outputs, paths.home, self.buffers),
                Glob(self.search),
                Grep(self.search, self.buffers, kept_back),
                List(self.search),
                TodoWrite(self._save_todos),
                Question(self._ask),
                Diagnostics(self.buffers, kept_back),
            ],
            {"shell": Path(self.shell.program).name},
        )

    async def _record(
        self,
        origin: ChangeOrigin,
        path: Path,
        before: Content | None,
        after: Content | None,
        check_open: Callable[[], None],
    ) -> Recorded:
        journal = self._stores.journal

        def store() -> int:
            check_open()
            return self._changes.record(origin, path, before, after)

        try:
            number = await journal.patiently(store)
        except (sqlite3.Error, AgentError) as error:
            said = error.message if isinstance(error, AgentError) else str(error)
            raise ToolError(f"{path} was not changed, for the change could not be recorded: {said}", said) from error

        async def undo() -> None:
            await journal.patiently(partial(self._changes.remove, number))

        def made() -> None:
            scope = self._stores.scope(origin.session_id)
            journal.publish(FileEdited(scope, path.as_uri(), "disk", origin.part_id))

        return Recorded(made, undo)

    def _record_buffer(
        self, origin: ChangeOrigin, path: Resolved, uri: str, before: Content | None, after: Content
    ) -> None:
        self._changes.record(origin, path.path, before, after)
        scope = self._stores.scope(origin.session_id)
        self._stores.journal.publish(FileEdited(scope, uri, "buffer", origin.part_id))

    def _save_todos(self, session_id: str, todos: Sequence[Todo]) -> None:
        scope = self._stores.scope(session_id)
        wire = to_json([todo.members() for todo in todos]).decode()
        with self._stores.journal.transaction():
            seq = self._stores.todos.save(session_id, wire)
            self._stores.journal.changed(scope, seq, "todo", session_id, "todo/updated", f'"todos":{wire}'.encode())

    async def _ask(self, context: ToolContext, items: tuple[QuestionItem, ...]) -> Answers:
        scope = self._stores.scope(context.session_id)
        asker = Asker(scope, context.project_id, context.agent, context.turn_id, context.message_id, context.part_id)
        return await self._questions.ask(asker, items, context.waiting)
