"""Says that something takes long, where somebody can see it."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager


@contextmanager
def working(what: str) -> Generator[Callable[[str], None]]:
    """A line on stderr while the body runs, gone afterwards; the body may change its words. Only in a terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.text import Text

    with Console(file=sys.stderr).status(Text(what)) as status:
        yield lambda words: status.update(Text(words))
