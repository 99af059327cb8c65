"""The rows of a session in one hand, and the writes of sessions and turns that clients are told about."""

from agentls.errors import AgentError, ErrorKind
from agentls.schema.base import Value, now
from agentls.schema.event import Scope
from agentls.schema.message import MessageError
from agentls.schema.model import Usage
from agentls.schema.session import Session, Turn
from agentls.storage.journal import Journal
from agentls.storage.messages import MessageStore
from agentls.storage.owners import Owners
from agentls.storage.questions import QuestionStore
from agentls.storage.queue import QueueStore
from agentls.storage.rules import RuleStore
from agentls.storage.sessions import SessionRow, SessionStore
from agentls.storage.todos import TodoStore
from agentls.storage.turns import TurnStore


class Stores:
    def __init__(self, journal: Journal, owners: Owners) -> None:
        database = journal.database
        self.journal = journal
        self.owners = owners
        self.sessions = SessionStore(database)
        self.turns = TurnStore(database)
        self.messages = MessageStore(database)
        self.questions = QuestionStore(database)
        self.rules = RuleStore(database)
        self.todos = TodoStore(database)
        self.queue = QueueStore(database)

    def session(self, session_id: str) -> SessionRow:
        row = self.sessions.get(session_id)
        if row is None:
            raise AgentError(
                ErrorKind.SESSION_NOT_FOUND,
                f"There is no session {session_id}. It may have been deleted, or the id is not whole.",
            )
        return row

    def scope(self, session_id: str) -> Scope:
        return scope_of(self.session(session_id))

    def save_session(self, scope: Scope, session: Session) -> Session:
        session = session.but(time=session.time.but(updated=now()))
        with self.journal.transaction():
            seq = self.sessions.save(session)
            self.journal.changed(scope, seq, "session", session.id, "session/updated", b'"session":' + session.wire())
        return session

    def save_turn(self, scope: Scope, turn: Turn, method: str | None) -> Turn:
        """`method` is the notification, None for a change that clients see at `attach` only."""
        with self.journal.transaction():
            seq = self.turns.save(turn)
            if method is not None:
                self.tell_turn(scope, turn, seq, method)
        return turn

    def tell_turn(self, scope: Scope, turn: Turn, seq: int, method: str) -> None:
        """`seq` 0: the row could not be stored."""
        params = _TURN_PARAMS[method](turn).wire()[1:-1]
        self.journal.changed(scope, seq, "turn", turn.id, method, params)


class _Started(Value):
    turn_id: str
    message_id: str


class _Ended(Value):
    turn_id: str
    stop_reason: str
    error: MessageError | None = None
    usage: Usage


def _started(turn: Turn) -> Value:
    return _Started(turn_id=turn.id, message_id=turn.message_id)


def _ended(turn: Turn) -> Value:
    return _Ended(turn_id=turn.id, stop_reason=turn.stop_reason or "done", error=turn.error, usage=turn.usage)


_TURN_PARAMS = {"turn/started": _started, "turn/ended": _ended}


def scope_of(row: SessionRow) -> Scope:
    return Scope(row.session.id, row.root_id, row.session.directory)
