"""Which failed attempts are made again, and after what wait (tenacity does the counting)."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import anyio

from agentls.later import Later
from agentls.model.failures import FailureKind, ModelFailure
from agentls.schema.base import now

if TYPE_CHECKING:
    import tenacity
else:
    tenacity = Later("tenacity")

ATTEMPTS = 6
_ATTEMPTS_IF_EMPTY = 2
_ATTEMPTS_IF_REFUSED_HERE = 3
_LONGEST_OWN_WAIT = 30.0

OnWait = Callable[[int, int, str], None]


def attempts(*, on_wait: OnWait, sleep: Callable[[float], Awaitable[None]] = anyio.sleep) -> "tenacity.AsyncRetrying":
    """Loop with `async for attempt in …: with attempt: …`; the body runs until it succeeds or may not run again.

    `on_wait(attempt, next_at, message)` is told before each wait: the number of the attempt to come, when it starts
    (milliseconds since 1970), and why. The last failure is raised as it is.
    """

    def before_sleep(state: "tenacity.RetryCallState") -> None:
        on_wait(state.attempt_number + 1, now() + round(state.upcoming_sleep * 1000), str(_exception(state)))

    growing = tenacity.wait_exponential(multiplier=2, max=_LONGEST_OWN_WAIT) + tenacity.wait_random(0, 1)

    def wait(state: "tenacity.RetryCallState") -> float:
        error = _exception(state)
        demanded = error.retry_after if isinstance(error, ModelFailure) else None
        return min(growing(state), _LONGEST_OWN_WAIT) if demanded is None else demanded

    return tenacity.AsyncRetrying(
        sleep=sleep,
        stop=_stop,
        wait=wait,
        retry=tenacity.retry_if_exception(_again),
        before_sleep=before_sleep,
        reraise=True,
    )


def _again(error: BaseException) -> bool:
    return isinstance(error, ModelFailure) and error.retryable


def _stop(state: "tenacity.RetryCallState") -> bool:
    return state.attempt_number >= _most_attempts(_exception(state))


def _most_attempts(error: BaseException | None) -> int:
    if isinstance(error, ModelFailure) and error.kind is FailureKind.EMPTY:
        return _ATTEMPTS_IF_EMPTY
    if isinstance(error, ModelFailure) and error.refused_here:
        return _ATTEMPTS_IF_REFUSED_HERE
    return ATTEMPTS


def _exception(state: "tenacity.RetryCallState") -> BaseException | None:
    return state.outcome.exception() if state.outcome is not None else None
