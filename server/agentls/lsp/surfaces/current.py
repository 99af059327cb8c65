"""The session that commands are about where they name none: the newest that a command used."""

from agentls.app.app import App
from agentls.lsp.handling import Caller
from agentls.lsp.notifications import Told
from agentls.protocol.session import CreateParams
from agentls.schema.event import Changed
from agentls.schema.session import Session


class Current:
    def __init__(self) -> None:
        self.session_id: str | None = None

    def use(self, caller: Caller[App], session_id: str | None) -> str:
        """The one that is named, else the current one, made in the editor's first folder if there is none."""
        if session_id is not None:
            caller.app.sessions.get(session_id)  # one that there is not must not stay the current one
            self.session_id = session_id
        return self.session_id or self.begin(caller, CreateParams()).id

    def begin(self, caller: Caller[App], params: CreateParams) -> Session:
        session = caller.app.sessions.create(
            directory=caller.folder(params.directory),
            title=params.title,
            agent=params.agent,
            model=params.model,
            mode=params.mode,
        )
        caller.attach(session.id)
        self.session_id = session.id
        return session

    def watch(self, event: Told) -> None:
        if isinstance(event, Changed) and event.method == "session/deleted" and event.id == self.session_id:
            self.session_id = None
