"""The editor's window, as LSP lets a server use it: messages, documents, its log."""

import logging

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from agentls.lsp.language import AgentProtocol
from agentls.schema.text import one_line, visible

log = logging.getLogger(__name__)


class Window:
    """`shows_documents`: the client said that it can."""

    def __init__(self, language: AgentProtocol) -> None:
        self._language = language
        self.shows_documents = False

    @property
    def halts_at_messages(self) -> bool:
        """A message makes the user press a key before he types on, unless it is an error."""
        # Neovim 0.11 ends each message but errors with a line break, which asks for the return key.
        client = self._language.client
        return client is not None and client.name == "Neovim" and (client.version or "").startswith("0.11.")

    def say(self, kind: types.MessageType, text: str) -> None:
        """One line: editors cut more, or make the user press a key."""
        message = visible(one_line(text))
        kind = types.MessageType.Error if self.halts_at_messages else kind
        self._language.notify(types.WINDOW_SHOW_MESSAGE, types.ShowMessageParams(type=kind, message=message))

    def write_log(self, text: str) -> None:
        params = types.LogMessageParams(type=types.MessageType.Info, message=visible(text))
        self._language.notify(types.WINDOW_LOG_MESSAGE, params)

    async def show(self, uri: str) -> bool:
        """Beside what the user types in. Returns whether it is shown."""
        if not self.shows_documents:
            return False
        params = types.ShowDocumentParams(uri=uri, take_focus=False)
        try:
            result = await self._language.ask(types.WINDOW_SHOW_DOCUMENT, params)
        except JsonRpcException as error:
            log.warning("the client could not show %s: %s", uri, error)
            return False
        return isinstance(result, types.ShowDocumentResult) and result.success
