"""Two readings of a command: a strict one that gives up early, a loose one that looks for denied words everywhere."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_STRICT = re.compile(
    r"""(?P<space>[ \t]+)
      | (?P<free>(?:&>|[12]?>>?)[ ]?/dev/null(?=[ \t;|&]|\Z)|[12]?>&[12](?=[ \t;|&]|\Z))
      | (?P<comment>(?<![^ \t;])\#.*\Z)
      | (?P<operator>&&|\|\|(?!\|)|;(?!;)|\|(?![|&]))
      | (?P<word>(?:[\w@%+=:,./^-]|(?<=\w)~|'[^'$`\\]*'|"[^"$`\\]*")+)""",
    re.VERBOSE,
)
_PIECE = re.compile(r"""'([^']*)'|"([^"]*)"|([^'"]+)""")

_UNQUOTED = re.compile(
    r"""(?P<joined>\\\n)
      | (?P<escaped>\\.)
      | (?P<ansi>\$'(?:[^'\\]|\\.)*'?)
      | (?P<single>'[^']*'?)
      | (?P<double>\$?")
      | (?P<opening>[$<>]\()
      | (?P<tick>`)
      | (?P<group>\()
      | (?P<closing>\))
      | (?P<comment>\#)
      | (?P<space>[ \t]+)
      | (?P<separator>[;|&\r\n]+)
      | (?P<redirect>[<>]+[&|]?)
      | (?P<text>[^\\$'"<>`()\# \t;|&\r\n]+|[\\$])""",
    re.VERBOSE | re.DOTALL,
)
_QUOTED = re.compile(
    r"""(?P<double>")|(?P<joined>\\\n)|(?P<escaped>\\.)|(?P<opening>\$\()|(?P<tick>`)|(?P<text>[^"\\$`]+|[\\$])""",
    re.DOTALL,
)
MOST_PARTS = 256
TOO_MANY_PARTS = f"it joins more than {MOST_PARTS} commands"
_MOST_SEGMENTS = 8192  # more than the strict reading: the lines of a here-document are segments too
_LINE_END = re.compile(r"[\r\n]|\Z")
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3})|u([0-9a-fA-F]{1,4})|(.))", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "v": "\v"}


def strict_parts(command: str) -> tuple[tuple[str, ...], ...] | str:
    """The words of each simple command, quotes removed; or why this is more than plain words joined by operators."""
    if not command.replace("\t", " ").isprintable():
        return "it holds line breaks or characters that cannot be shown"
    parts: list[tuple[str, ...]] = []
    words: list[str] = []
    operator, position = "", 0
    while position < len(command):
        token = _STRICT.match(command, position)
        if token is None:
            return f"`{command[position]}` is more than plain words"
        position = token.end()
        if token.lastgroup == "word":
            words.append(_unquoted(token.group()))
        elif token.lastgroup == "operator":
            if not words:
                return f"nothing stands before `{token.group()}`"
            parts.append(tuple(words))
            if len(parts) >= MOST_PARTS and token.end() < len(command):
                return TOO_MANY_PARTS
            words, operator = [], token.group()
    if words:
        parts.append(tuple(words))
    elif operator != ";":
        return f"nothing stands after `{operator}`" if operator else "there is no command"
    return tuple(parts)


def _unquoted(word: str) -> str:
    if "'" not in word and '"' not in word:
        return word
    return "".join("".join(piece) for piece in _PIECE.findall(word))


@dataclass(slots=True)
class _Frame:
    kind: str
    quoted: bool
    words: list[str]
    word: list[str] | None


@dataclass(slots=True)
class LooseReading:
    """Segments of words wherever a command could begin, and the targets of redirections. A guess, never a proof.

    `rest` is what was not read, because there were too many segments before it.
    """

    segments: list[list[str]] = field(default_factory=list[list[str]])
    targets: list[str] = field(default_factory=list[str])
    rest: str = ""


def loose_reading(command: str) -> LooseReading:
    """Every place where the shell may find a command, also inside substitutions. Any text has such a reading."""
    return _LooseReader(command).read()


class _LooseReader:
    def __init__(self, command: str) -> None:
        self._command = command
        self._reading = LooseReading()
        self._stack: list[_Frame] = []
        self._frame = _Frame("top", quoted=False, words=[], word=None)
        self._is_target = False

    def read(self) -> LooseReading:
        position = 0
        while position < len(self._command) and len(self._reading.segments) < _MOST_SEGMENTS:
            token = (_QUOTED if self._frame.quoted else _UNQUOTED).match(self._command, position)
            if token is None:  # unreachable: each set ends in a catch-all
                position += 1
                continue
            position = token.end()
            if token.lastgroup == "comment" and self._frame.word is None:
                end = _LINE_END.search(self._command, position)
                position = end.start() if end else len(self._command)
            else:
                self._take(token.lastgroup or "text", token.group())
        while self._stack:
            self._close()
        self._end_segment()
        self._reading.rest = self._command[position:]
        return self._reading

    def _take(self, kind: str, text: str) -> None:
        match kind:
            case "joined":
                pass
            case "escaped":
                self._add(text[1:] if not self._frame.quoted or text[1] in '$`"\\' else text)
            case "ansi":
                self._add(_ESCAPE.sub(_unescaped, text[2:].removesuffix("'")))
            case "single":
                self._add(text[1:].removesuffix("'"))
            case "double":
                self._frame.quoted = not self._frame.quoted
                self._add("")
            case "space" | "separator" | "redirect":
                self._break(kind)
            case "opening" | "tick" | "group" | "closing":
                self._nest(kind)
            case _:
                self._add(text)

    def _break(self, kind: str) -> None:
        if kind == "redirect" and self._frame.word is not None and "".join(self._frame.word).isdigit():
            self._frame.word = None
        self._end_word()
        if kind == "separator":
            self._end_segment()
        elif kind == "redirect":
            self._is_target = True

    def _nest(self, kind: str) -> None:
        if kind == "closing" or (kind == "tick" and self._frame.kind == "tick"):
            self._close()
        else:
            if kind == "group":
                self._end_segment()
            else:
                self._add("$()")
            self._is_target = False
            self._stack.append(self._frame)
            self._frame = _Frame(kind, quoted=False, words=[], word=None)

    def _close(self) -> None:
        self._end_segment()
        if self._stack:
            self._frame = self._stack.pop()

    def _add(self, text: str) -> None:
        if self._frame.word is None:
            self._frame.word = []
        self._frame.word.append(text)

    def _end_word(self) -> None:
        if self._frame.word is None:
            return
        word = "".join(self._frame.word)
        self._frame.word = None
        if self._is_target:
            self._reading.targets.append(word)
            self._is_target = False
        else:
            self._frame.words.append(word)

    def _end_segment(self) -> None:
        self._end_word()
        self._is_target = False
        if self._frame.words:
            self._reading.segments.append(self._frame.words)
            self._frame.words = []


def _unescaped(found: re.Match[str]) -> str:
    hexadecimal, octal, unicode, letter = found.groups()
    if letter is not None:
        return _LETTERS.get(letter, letter)
    code = int(octal, 8) & 0xFF if octal else int(hexadecimal or unicode, 16)
    return chr(code)


def path_candidates(word: str) -> Iterator[str]:
    """The texts in a word that a program may take for a path: whole, after `=`, `:`, `,` or `@`, glued to an option."""
    yield word
    signs = r"[=,]" if "://" in word else r"[=:,@]"
    if re.search(signs, word):
        yield from (piece for piece in re.split(signs, word) if piece)
    if word.startswith("-"):
        glued = re.match(r"-+\w*?([/~.].*)", word, re.DOTALL)
        if glued:
            yield glued.group(1)
        if len(word) > 2 and not word.startswith("--"):
            yield word[2:]
