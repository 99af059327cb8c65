"""A document's text as an editor counts it. Positions become places in the text here, and nowhere else."""

import io
from collections.abc import Sequence

from lsprotocol import types
from pygls.workspace import TextDocument, Workspace

from agentls.schema.input import LinePosition, LineRange


class EditorText(TextDocument):
    """pygls's document, kept as rows: a line ends at LF, CRLF or CR and at no other separator, and a change costs what
    it changes, however long the text is.
    """

    _rows: list[str] | None = None

    @property
    def source(self) -> str:
        if self._source is None and self._rows is not None:
            self._source = "".join(self._rows)
        return self._source if self._source is not None else super().source

    @property
    def lines(self) -> Sequence[str]:
        rows = self.rows()
        return rows if rows[-1] else rows[:-1]

    def rows(self) -> list[str]:
        """All lines with their ends; the last one has none, and may be empty."""
        if self._rows is None:
            self._rows = _split(self.source)
        return self._rows

    def offset(self, position: LinePosition) -> int:
        """The place in the text; what lies behind the end of a line, or of the text, is that end."""
        row, column = self._place(position.line, position.character)
        return sum(map(len, self.rows()[:row])) + column

    def positions(self, offsets: Sequence[int]) -> list[types.Position]:
        """Of places in the text, in rising order, as the editor counts."""
        found: list[types.Position] = []
        rows = self.rows()
        row, start = 0, 0
        for offset in offsets:
            while row < len(rows) - 1 and start + len(rows[row]) <= offset:
                start += len(rows[row])
                row += 1
            units = self.position_codec.client_num_units(rows[row][: offset - start])
            found.append(types.Position(row, units))
        return found

    def counted(self, place: LineRange) -> LineRange:
        """A range in characters."""
        ends = [self._place(end.line, end.character) for end in (place.start, place.end)]
        start, end = (LinePosition(line=line, character=character) for line, character in ends)
        return LineRange(start=start, end=end)

    def offset_at_position(self, client_position: types.Position) -> int:
        return self.offset(LinePosition(line=client_position.line, character=client_position.character))

    def _place(self, line: int, character: int) -> tuple[int, int]:
        rows = self.rows()
        if line >= len(rows):
            return len(rows) - 1, len(rows[-1])
        return line, self._column(rows[line], character)

    def _column(self, row: str, units: int) -> int:
        text = row.rstrip("\r\n") if row.endswith(("\r", "\n")) else row
        if text.isascii() or self.position_codec.encoding == types.PositionEncodingKind.Utf32:
            return min(units, len(text))
        if self.position_codec.encoding == types.PositionEncodingKind.Utf8:
            return len(text.encode("utf-8", "replace")[:units].decode("utf-8", "ignore"))
        # What is cut in the middle of a pair counts as before it.
        return len(text.encode("utf-16-le", "surrogatepass")[: 2 * units].decode("utf-16-le", "ignore"))

    def _apply_incremental_change(self, change: types.TextDocumentContentChangePartial) -> None:
        rows = self.rows()
        start, end = change.range.start, change.range.end
        first, last = self._place(start.line, start.character), self._place(end.line, end.character)
        if last < first:
            first, last = last, first
        (top, left), (bottom, right) = first, last
        head, tail = rows[top][:left], rows[bottom][right:]
        if not head and top > 0 and rows[top - 1].endswith("\r"):  # a line feed may join it to one line end
            top -= 1
            head = rows[top]
        self._source = None
        rows[top : bottom + 1] = _split(head + change.text + tail, last=bottom == len(rows) - 1)

    def _apply_full_change(self, change: types.TextDocumentContentChangeEvent) -> None:
        self._source, self._rows = change.text, None


class EditorWorkspace(Workspace):
    """pygls's workspace with documents of ours."""

    @classmethod
    def instead_of(cls, stock: Workspace) -> "EditorWorkspace":
        folders = list(stock.folders.values())
        return cls(stock.root_uri, types.TextDocumentSyncKind.Incremental, folders, stock.position_encoding)

    def _create_text_document(
        self, doc_uri: str, source: str | None = None, version: int | None = None, language_id: str | None = None
    ) -> TextDocument:
        return EditorText(
            doc_uri, source=source, version=version, language_id=language_id, position_codec=self.position_codec
        )


def _split(text: str, *, last: bool = True) -> list[str]:
    """`last`: the text's end is the document's, so that a row follows the last line end."""
    rows = list(io.StringIO(text, newline=""))
    if last and (not rows or rows[-1].endswith(("\r", "\n"))):
        rows.append("")
    return rows
