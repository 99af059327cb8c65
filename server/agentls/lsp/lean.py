"""The types of LSP in two thirds of their time: they are a third of the start."""

import gc
import importlib
from functools import partial

import attrs


def import_types() -> None:
    """To be called before anything imports `lsprotocol.types` or pygls.

    Its 554 classes ask for a `__repr__` each, which nothing here prints, and for slots, for which attrs makes each
    class a second time. Equality and construction stay as they are.
    """
    ordinary = gc.get_threshold()
    # A collection while classes are made by the hundred finds little and costs tens of milliseconds.
    gc.set_threshold(4_000, 50, 50)
    names, define = attrs.__dict__, attrs.define
    names["define"] = partial(define, repr=False, slots=False)
    try:
        importlib.import_module("lsprotocol.types")
    finally:
        names["define"] = define
        gc.set_threshold(*ordinary)
