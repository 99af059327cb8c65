"""Recognises text that repeats itself without end, as models in trouble write it."""

WINDOW = 8_192
LONGEST_PERIOD = 512
_CHECK_EVERY = 4_096


class Runaway:
    """Looks at the end of a growing text. `feed` returns whether its last 8,192 characters are nothing but repetitions
    of at most 512 characters.
    """

    def __init__(self) -> None:
        self._tail = ""
        self._unseen = 0

    def feed(self, text: str) -> bool:
        self._tail = (self._tail + text)[-WINDOW:]
        self._unseen += len(text)
        if self._unseen < _CHECK_EVERY or len(self._tail) < WINDOW:
            return False
        self._unseen = 0
        return repeats(self._tail)


def repeats(text: str) -> bool:
    """Whether the whole text is one piece of at most 512 characters over and over, cut anywhere."""
    piece = text[-1:]
    at = len(text) - 1
    # A period shows as an earlier place where the same end stands: look for the nearest ones, then compare it all.
    while piece and (at := text.rfind(piece, 0, at)) >= 0:
        period = len(text) - 1 - at
        if period > LONGEST_PERIOD:
            return False
        if text[period:] == text[:-period]:
            return True
    return False
