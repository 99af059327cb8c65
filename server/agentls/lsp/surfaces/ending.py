"""How a turn ended, said to a user whose client knows none of our notifications."""

import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import anyio
from lsprotocol import types

from agentls.lsp.surfaces.answer import answer_of
from agentls.lsp.surfaces.following import Ended
from agentls.lsp.surfaces.window import Window
from agentls.protocol.session import MessagesResult
from agentls.schema.base import Raw
from agentls.schema.session import StopReason

_SHORT = 100
_KEEP_DAYS = 7
_MOST_MESSAGES = 200
_INFO, _WARNING, _ERROR = types.MessageType.Info, types.MessageType.Warning, types.MessageType.Error
_STOPS: dict[StopReason, tuple[types.MessageType, str]] = {
    "cancelled": (_INFO, "The turn was aborted."),
    "rejected": (_INFO, "The turn stopped at what you rejected."),
    "max_steps": (_WARNING, "The agent stopped at its limit of steps. Prompt it to go on."),
    "length": (_WARNING, "The answer is cut at the model's limit of length. Prompt it to go on."),
    "content_filter": (_WARNING, "The provider's content filter stopped the answer."),
    "error": (_ERROR, "The turn failed; the log tells more."),
}


class Answers:
    """Answers too long for a message, each in a file of its own, kept for seven days."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, markdown: str) -> Path:
        """Blocks on the disk."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.sweep()
        file = self._folder / f"answer-{secrets.token_hex(8)}.md"
        file.touch(mode=0o600)
        file.write_text(markdown, encoding="utf-8", errors="replace")
        return file

    def sweep(self) -> None:
        limit = time.time() - _KEEP_DAYS * 86400
        for file in self._folder.glob("answer-*.md"):
            with suppress(OSError):
                if file.stat().st_mtime < limit:
                    file.unlink()


class Ending:
    def __init__(self, window: Window, answers: Answers, messages: Callable[[str, str | None, int], Raw]) -> None:
        self._window = window
        self._answers = answers
        self._messages = messages

    async def tell(self, ended: Ended) -> None:
        stop = _STOPS.get(ended.stop_reason)
        if stop is not None:
            kind, text = stop
            self._window.say(kind, str(ended.error.data.get("message", text)) if ended.error else text)
        if ended.stop_reason == "cancelled":
            return
        raw = self._messages(ended.turn.session_id, None, _MOST_MESSAGES)
        answer = answer_of(MessagesResult.model_validate_json(raw.json).messages, ended.turn.message_id)
        if answer.last and (len(answer.last) > _SHORT or "\n" in answer.last or self._window.halts_at_messages):
            await self._show(answer.whole)
        elif answer.last or stop is None:
            self._window.say(_INFO, answer.last or "Done.")

    async def _show(self, markdown: str) -> None:
        try:
            file = await anyio.to_thread.run_sync(self._answers.keep, markdown)
        except OSError as error:
            self._window.say(
                _WARNING,
                f"The answer could not be kept in a file ({error}); the log of this server in the editor has it.",
            )
            self._window.write_log(markdown)
            return
        if not await self._window.show(file.as_uri()):
            self._window.write_log(markdown)
            self._window.say(_INFO, f"The answer is in {file}")
