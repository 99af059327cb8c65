"""Runs handlers as pygls has them: plain functions, coroutines, and generators that yield further handlers."""

import inspect
from collections.abc import Callable, Generator
from typing import Any, cast

_Steps = Generator[tuple[Callable[..., Any], tuple[Any, ...] | None, dict[str, Any] | None], Any, Any]


def call_now(handler: Callable[..., Any], *args: Any, spawn: Callable[[Any], object]) -> Any:
    """Runs a handler to its end; a coroutine goes to `spawn`."""
    result = handler(*args)
    if inspect.iscoroutine(result):
        spawn(result)
        return None
    if not inspect.isgenerator(result):
        return result
    steps, value = cast("_Steps", result), None
    while True:
        try:
            step, step_args, _ = steps.send(value)
        except StopIteration as end:
            return end.value
        value = call_now(step, *(step_args or ()), spawn=spawn)


async def call_here(handler: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """Runs a handler within this task, so that cancelling reaches what it waits for."""
    result = handler(*args, **named)
    if inspect.iscoroutine(result):
        return await result
    if not inspect.isgenerator(result):
        return result
    steps, value = cast("_Steps", result), None
    while True:
        try:
            step, step_args, step_named = steps.send(value)
        except StopIteration as end:
            return end.value
        value = await call_here(step, *(step_args or ()), **(step_named or {}))
