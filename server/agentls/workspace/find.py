"""Finds files by a part of their name, as someone types it."""

import heapq
from pathlib import Path

from anyio import to_thread

from agentls.workspace.search import Search

_MOST_FILES = 100_000
_TIMEOUT = 3


async def find_files(search: Search, folder: Path, query: str, limit: int = 50) -> list[Path]:
    """The best fits first: name, beginning of the name, part of the name, part of the path, scattered letters."""
    found = await search.files(folder, limit=_MOST_FILES, timeout=_TIMEOUT)
    return await to_thread.run_sync(_best, folder, found.items, "".join(query.split()), limit)


def _best(folder: Path, paths: list[Path], query: str, limit: int) -> list[Path]:
    start = len(str(folder)) + 1
    ranked = ((rank(str(path)[start:], query), path) for path in paths)
    return [path for _, path in heapq.nsmallest(limit, (one for one in ranked if one[0] is not None))]


def rank(path: str, query: str) -> tuple[int, int, int] | None:
    """How well a path fits, the smaller the better; None where it does not."""
    path, query = path.casefold(), query.casefold()
    name = path.rpartition("/")[2]
    kinds = (
        name == query,
        name.startswith(query),
        query in name,
        query in path,
    )
    for kind, fits in enumerate(kinds):
        if fits:
            return kind, 0, len(path)
    for kind, text in ((4, name), (5, path)):
        spread = _spread(text, query)
        if spread is not None:
            return kind, spread, len(path)
    return None


def _spread(text: str, query: str) -> int | None:
    """Over how many characters the query's letters are scattered, in order."""
    first = at = -1
    for letter in query:
        at = text.find(letter, at + 1)
        if at < 0:
            return None
        first = at if first < 0 else first
    return at - first
