"""Which failed attempts are made again, and after what wait (tenacity does the counting)."""

from collections.abc import Awaitable, Callable

import anyio
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, wait_exponential, wait_random

from agentls.model.failures import FailureKind, ModelFailure
from agentls.schema.base import now

ATTEMPTS = 6
_ATTEMPTS_IF_EMPTY = 2
_ATTEMPTS_IF_REFUSED_HERE = 3
_LONGEST_OWN_WAIT = 30.0

OnWait = Callable[[int, int, str], None]


def attempts(*, on_wait: OnWait, sleep: Callable[[float], Awaitable[None]] = anyio.sleep) -> AsyncRetrying:
    """Loop with `async for attempt in …: with attempt: …`; the body runs until it succeeds or may not run again.

    `on_wait(attempt, next_at, message)` is told before each wait: the number of the attempt to come, when it starts
    (milliseconds since 1970), and why. The last failure is raised as it is.
    """

    def before_sleep(state: RetryCallState) -> None:
        on_wait(state.attempt_number + 1, now() + round(state.upcoming_sleep * 1000), str(_exception(state)))

    return AsyncRetrying(
        sleep=sleep, stop=_stop, wait=_wait, retry=retry_if_exception(_again), before_sleep=before_sleep, reraise=True
    )


def _again(error: BaseException) -> bool:
    return isinstance(error, ModelFailure) and error.retryable


def _stop(state: RetryCallState) -> bool:
    return state.attempt_number >= _most_attempts(_exception(state))


def _most_attempts(error: BaseException | None) -> int:
    if isinstance(error, ModelFailure) and error.kind is FailureKind.EMPTY:
        return _ATTEMPTS_IF_EMPTY
    if isinstance(error, ModelFailure) and error.refused_here:
        return _ATTEMPTS_IF_REFUSED_HERE
    return ATTEMPTS


def _wait(state: RetryCallState) -> float:
    error = _exception(state)
    if isinstance(error, ModelFailure) and error.retry_after is not None:
        return error.retry_after
    return min(_growing(state) + _jitter(state), _LONGEST_OWN_WAIT)


_growing = wait_exponential(multiplier=2, max=_LONGEST_OWN_WAIT)
_jitter = wait_random(0, 1)


def _exception(state: RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome is not None else None
