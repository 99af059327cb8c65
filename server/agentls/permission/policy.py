"""Which rules hold for a session now: the layers, from the defaults to what an "always" granted."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from agentls.config.agents import Agents, RuleLayer
from agentls.permission.defaults import layers_of
from agentls.permission.rules import Layer, Verdict, denied_wholly, evaluate, judge
from agentls.permission.shell import Place
from agentls.schema.permission import Ask
from agentls.schema.session import Session
from agentls.storage.rules import RuleStore
from agentls.storage.sessions import SessionStore


@dataclass(frozen=True, slots=True)
class Configured:
    """What the settings say in a folder."""

    agents: Agents
    layers: Sequence[RuleLayer]


class Policy:
    """Judges afresh at each call, so that a change of rules, mode or agent holds at once."""

    def __init__(
        self,
        sessions: SessionStore,
        rules: RuleStore,
        configured: Callable[[str], Configured],
        root_of: Callable[[str], Path],
        home: Path,
    ) -> None:
        self._sessions = sessions
        self._rules = rules
        self._configured = configured
        self._root_of = root_of
        self._home = home

    def judge(self, session_id: str, agent: str, ask: Ask) -> Verdict:
        row = self._sessions.get(session_id)
        if row is None:
            return Verdict("deny", reason="the session is gone")
        root = row if row.root_id == session_id else self._sessions.get(row.root_id)
        mode = root.session.mode if root is not None else row.session.mode
        directory = row.session.directory
        cwd = ask.metadata.cwd or directory
        place = Place(root=str(self._root_of(directory)), cwd=cwd, home=str(self._home))
        return judge(self.layers(row.session, row.root_id, agent), mode, ask, place)

    def unreadable(self, session_id: str, agent: str) -> Callable[[str], bool]:
        """Tells of a path whether a rule about certain files denies or asks for its reading, in no mode softened."""
        row = self._sessions.get(session_id)
        layers = self.layers(row.session, row.root_id, agent) if row is not None else ()

        def kept_back(path: str) -> bool:
            verdict = evaluate(layers, "read", path)
            return verdict.action == "deny" or (
                verdict.action == "ask" and (verdict.rule is None or verdict.rule.pattern != "*")
            )

        return kept_back

    def layers(self, session: Session, root_id: str, agent_name: str) -> tuple[Layer, ...]:
        """In the order in which they count. A binding layer's deny is lifted by no later one."""
        configured = self._configured(session.directory)
        approvals = [stored.rule for stored in self._rules.of(session.project_id, root_id)]
        return layers_of(configured.agents.get(agent_name), configured.layers, session.rules, approvals)

    def hides(self, directory: str, agent_name: str, permission: str) -> bool:
        """Whether a tool of this permission need not be offered, because everything of it is denied."""
        configured = self._configured(directory)
        return denied_wholly(layers_of(configured.agents.get(agent_name), configured.layers), permission)
