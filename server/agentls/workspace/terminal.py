"""Makes plain text of what a program printed for a terminal."""

import re

# ECMA-48: control sequences, and the strings of OSC, DCS, SOS, PM and APC up to BEL or ST; a string that never ends is
# cut at the end of its line.
_STRINGS = re.compile(r"(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c|(?=\x1b)|(?=\n)|$)")
_ERASE_LINE = re.compile(r"(?:\x1b\[|\x9b)([012]?)K")
_SEQUENCES = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|\x1b[ -/]*[0-~]?")
_CONTROLS = re.compile(r"[\x00-\x07\x0b-\x0c\x0e-\x1f\x7f-\x9f]")
_MOVES = re.compile(r"\r|\x08+|[\ue000\ue001]|[^\r\x08\ue000\ue001]+")
_ERASE = {"": "\ue000", "0": "\ue000", "1": "", "2": "\ue001"}  # private characters stand for "erase" meanwhile
_MAX_MOVES = 400


def plain(text: str) -> str:
    """Without escape sequences, with carriage returns carried out: CRLF is a line end, a lone CR overwrites."""
    text = re.sub(r"[\ue000\ue001]", "\ufffd", text)
    text = _ERASE_LINE.sub(lambda found: _ERASE[found.group(1)], text)
    text = _SEQUENCES.sub("", _STRINGS.sub("", text))
    text = re.sub(r"\r+\n", "\n", text)
    if re.search("[\r\b\ue000\ue001]", text):
        text = "\n".join(_overwritten(line) for line in text.split("\n"))
    return _CONTROLS.sub("", text)


def _overwritten(line: str) -> str:
    """The line as a terminal would show it in the end."""
    moves = _MOVES.findall(line)
    if len(moves) <= 1 and line[:1] not in {"\r", "\b", "\ue000", "\ue001"}:
        return line
    shown, column = "", 0
    for move in moves[-_MAX_MOVES:]:
        match move[0]:
            case "\r":
                column = 0
            case "\b":
                column = max(0, column - len(move))
            case "\ue000":
                shown = shown[:column]
            case "\ue001":
                shown = ""
            case _:
                shown = shown[:column].ljust(column) + move + shown[column + len(move) :]
                column += len(move)
    return shown
