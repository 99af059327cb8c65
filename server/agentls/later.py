"""Libraries that are needed late, or by few, and cost the start too much."""

import importlib
from typing import Any


class Later:
    """Stands for a module, which is imported when one of its names is first used.

    For the type checker the module is imported under `TYPE_CHECKING`. Annotations that name it have to be quoted.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self._name), name)
