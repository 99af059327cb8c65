"""Events from the engine to whoever listens, in order and at once."""

from collections.abc import Callable

from agentls.schema.event import Event

Listener = Callable[[Event], None]


class Bus:
    """Calls each listener in the order of subscription; listeners do not raise."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Returns the function that ends the subscription."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def publish(self, event: Event) -> None:
        for listener in tuple(self._listeners):
            listener(event)
