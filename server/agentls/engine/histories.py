"""The histories of the sessions used last, so that the next prompt reads only what is new."""

from collections import OrderedDict

from agentls.engine.history import History
from agentls.storage.messages import MessageStore

KEPT = 16


class Histories:
    def __init__(self, messages: MessageStore) -> None:
        self._messages = messages
        self._kept: OrderedDict[str, History] = OrderedDict()

    def of(self, session_id: str) -> History:
        history = self._kept.get(session_id)
        if history is None:
            history = self._kept[session_id] = History(self._messages, session_id)
        self._kept.move_to_end(session_id)
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return history

    def forget(self, session_id: str) -> None:
        self._kept.pop(session_id, None)
