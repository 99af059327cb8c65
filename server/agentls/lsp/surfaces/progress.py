"""One work-done progress: begun once, ended once, whatever comes in between."""

import logging
from typing import Literal

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from agentls.lsp.handling import Token
from agentls.lsp.language import AgentProtocol

_TITLE = "agentls"

log = logging.getLogger(__name__)


class Progress:
    def __init__(self, language: AgentProtocol, token: Token, message: str) -> None:
        self.token = token
        self._language = language
        self._message = message
        self._state: Literal["new", "begun", "over"] = "new"

    async def create(self) -> None:
        """Under a token of our own: the client is asked first, and the work may be over by then."""
        try:
            await self._language.ask(
                types.WINDOW_WORK_DONE_PROGRESS_CREATE, types.WorkDoneProgressCreateParams(token=self.token)
            )
        except JsonRpcException as error:
            log.info("the client shows no progress: %s", error)
            return
        self.begin()

    def begin(self) -> None:
        if self._state == "new":
            self._state = "begun"
            self._tell(types.WorkDoneProgressBegin(title=_TITLE, message=self._message, cancellable=True))

    def report(self, message: str) -> None:
        if message == self._message:
            return
        self._message = message
        if self._state == "begun":
            self._tell(types.WorkDoneProgressReport(message=message, cancellable=True))

    def end(self, message: str) -> None:
        begun, self._state = self._state == "begun", "over"
        if begun:
            self._tell(types.WorkDoneProgressEnd(message=message))

    def _tell(
        self, value: types.WorkDoneProgressBegin | types.WorkDoneProgressReport | types.WorkDoneProgressEnd
    ) -> None:
        self._language.notify(types.PROGRESS, types.ProgressParams(token=self.token, value=value))
