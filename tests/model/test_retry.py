"""What is tried again, how often, and after what wait; no test waits for real."""

from typing import Any

import anyio
import pytest

from agentls.model.failures import FailureKind, ModelFailure
from agentls.model.retry import attempts
from agentls.schema.base import now


class Run:
    """Runs a body that fails as told, and notes the waits."""

    def __init__(self, *outcomes: BaseException | str) -> None:
        self.outcomes = list(outcomes)
        self.slept: list[float] = []
        self.told: list[tuple[int, int, str]] = []
        self.made = 0

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    async def __call__(self) -> str:
        result = ""
        async for attempt in attempts(on_wait=lambda *wait: self.told.append(wait), sleep=self.sleep):
            with attempt:
                outcome = self.outcomes[min(self.made, len(self.outcomes) - 1)]
                self.made += 1
                if isinstance(outcome, BaseException):
                    raise outcome
                result = outcome
        return result


def failure(kind: FailureKind = FailureKind.NETWORK, **members: Any) -> ModelFailure:
    return ModelFailure(kind, "it failed", **{"retryable": True, **members})


async def test_a_success_is_not_repeated() -> None:
    run = Run("fine")
    assert await run() == "fine"
    assert (run.made, run.slept, run.told) == (1, [], [])


async def test_s13_a_broken_stream_is_tried_again_and_the_wait_is_told() -> None:
    run = Run(failure(FailureKind.STREAM), "fine")
    before = now()
    assert await run() == "fine"
    ((attempt, next_at, message),) = run.told
    assert (attempt, message) == (2, "it failed")
    assert 2000 <= next_at - before <= 4000


async def test_s28_at_most_six_attempts_with_growing_waits_up_to_thirty_seconds() -> None:
    run = Run(failure())
    with pytest.raises(ModelFailure, match="it failed"):
        await run()
    assert run.made == 6
    assert [low <= wait <= low + 1 for low, wait in zip([2, 4, 8, 16], run.slept[:4], strict=True)] == [True] * 4
    assert run.slept[4] == 30
    assert [attempt for attempt, _, _ in run.told] == [2, 3, 4, 5, 6]


async def test_s28_the_wait_that_the_server_asks_for_is_kept() -> None:
    run = Run(failure(retry_after=1.5), failure(retry_after=240.0), failure(retry_after=0.0), "fine")
    await run()
    assert run.slept == [1.5, 240.0, 0.0]


async def test_s28_what_cannot_be_mended_is_not_tried_again() -> None:
    run = Run(failure(FailureKind.RATE_LIMIT, retryable=False, retry_after=86400))
    with pytest.raises(ModelFailure):
        await run()
    assert (run.made, run.told) == (1, [])


async def test_s23_an_empty_answer_is_tried_once_more() -> None:
    run = Run(failure(FailureKind.EMPTY))
    with pytest.raises(ModelFailure):
        await run()
    assert run.made == 2


async def test_other_errors_pass_through() -> None:
    run = Run(ValueError("a bug"))
    with pytest.raises(ValueError, match="a bug"):
        await run()
    assert run.made == 1


async def test_l15_an_abort_ends_the_wait_at_once() -> None:
    waiting = anyio.Event()
    ended = False

    async def run() -> None:
        nonlocal ended
        try:
            async for attempt in attempts(on_wait=lambda *_: waiting.set()):
                with attempt:
                    raise failure(retry_after=200.0)
        finally:
            ended = True

    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(run)
            await waiting.wait()
            group.cancel_scope.cancel()
    assert ended


async def test_l15_an_abort_inside_an_attempt_is_no_failure_to_repeat() -> None:
    made = 0

    async def run() -> None:
        nonlocal made
        async for attempt in attempts(on_wait=lambda *_: None):
            with attempt:
                made += 1
                started.set()
                await anyio.sleep_forever()

    started = anyio.Event()
    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(run)
            await started.wait()
            group.cancel_scope.cancel()
    assert made == 1


async def test_where_nothing_listens_on_this_machine_it_is_given_up_early() -> None:
    run = Run(failure(refused_here=True))
    with pytest.raises(ModelFailure):
        await run()
    assert run.made == 3
