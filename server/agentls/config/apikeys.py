"""Keys that a command prints (`apiKeyCommand`): run on first use, bounded, their output never logged."""

import os
import signal
import subprocess
from contextlib import suppress

import anyio

from agentls.errors import AgentError, ErrorKind

_SECONDS = 30
_MOST_BYTES = 64 * 1024


class ApiKeys:
    """Remembers the key of each command for the life of the process. `seconds` bounds one run."""

    def __init__(self, seconds: float = _SECONDS) -> None:
        self._seconds = seconds
        self._keys: dict[tuple[str, ...], str] = {}

    async def key(self, provider: str, command: str | tuple[str, ...]) -> str:
        """Raises `AgentError` where the command fails, takes too long or prints no key. Only trusted ones come here."""
        words = ("/bin/sh", "-c", command) if isinstance(command, str) else command
        if words not in self._keys:
            self._keys[words] = await self._printed(provider, words)
        return self._keys[words]

    def forget(self) -> None:
        """After a key was refused: the next use runs the command again."""
        self._keys.clear()

    async def _printed(self, provider: str, words: tuple[str, ...]) -> str:
        try:
            with anyio.fail_after(self._seconds):
                code, output = await _run(words)
        except TimeoutError as error:
            raise _failed(provider, f"did not end within {self._seconds:g} s") from error
        except OSError as error:
            raise _failed(provider, f"could not be started: {error.strerror or 'unknown error'}") from error
        key = output.decode("utf-8", errors="replace").strip()
        if code != 0:
            raise _failed(provider, f"ended with code {code}")
        if not key or "\n" in key or len(output) > _MOST_BYTES:
            raise _failed(provider, "must print the key alone, on one line")
        return key


async def _run(words: tuple[str, ...]) -> tuple[int, bytes]:
    """The exit code and at most a little more than the allowed output; nothing of the run outlives it."""
    process = await anyio.open_process(
        words, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    output = b""
    try:
        if process.stdout is not None:
            async for chunk in process.stdout:
                output += chunk
                if len(output) > _MOST_BYTES:
                    break
        return (0 if len(output) > _MOST_BYTES else await process.wait()), output
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        with anyio.CancelScope(shield=True):
            await process.aclose()


def _failed(provider: str, what: str) -> AgentError:
    return AgentError(
        ErrorKind.AUTH_REQUIRED,
        f"{provider}: its apiKeyCommand {what}. Run it in a terminal to see why.",
        {"provider": provider},
    )
