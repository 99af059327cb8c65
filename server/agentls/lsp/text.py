"""A document's text as an editor counts it. Positions become places in the text here, and nowhere else."""

from collections.abc import Sequence

from lsprotocol import types
from pygls.workspace import TextDocument, Workspace

from agentls.lsp.pieces import Pieces, split_rows
from agentls.schema.input import LinePosition, LineRange


class EditorText(TextDocument):
    """pygls's document, with the line ends of LSP and no others, and with cheap changes of long texts."""

    _pieces: Pieces | None = None

    @property
    def source(self) -> str:
        if self._source is None and self._pieces is not None:
            self._source = self._pieces.text()
        return self._source if self._source is not None else super().source

    @property
    def lines(self) -> Sequence[str]:
        rows = split_rows(self.source)
        return rows if rows[-1] else rows[:-1]

    def take(self, text: str, pieces: Pieces) -> None:
        """The pieces of `text`, made elsewhere, if that is still the text."""
        if self._pieces is None and self._source is text:
            self._pieces = pieces

    def offset(self, position: LinePosition) -> int:
        """The place in the text; what lies behind the end of a line, or of the text, is that end."""
        start, row = self._in_pieces().row(position.line)
        return start + self._column(row, position.character)

    def positions(self, offsets: Sequence[int]) -> list[types.Position]:
        """Of places in the text, in rising order and none within a line end, as the editor counts."""
        return [types.Position(*place) for place in self._in_pieces().positions(offsets, self._units)]

    def counted(self, place: LineRange) -> LineRange:
        """A range in characters."""
        start, end = (
            LinePosition(line=end.line, character=self._place(end.line, end.character)[1])
            for end in (place.start, place.end)
        )
        return LineRange(start=start, end=end)

    def offset_at_position(self, client_position: types.Position) -> int:
        return self.offset(LinePosition(line=client_position.line, character=client_position.character))

    def part(self, place: LineRange) -> str:
        return self.source[self.offset(place.start) : self.offset(place.end)]

    def _in_pieces(self) -> Pieces:
        if self._pieces is None:
            self._pieces = Pieces(self.source)
        return self._pieces

    def _place(self, line: int, character: int) -> tuple[int, int]:
        return line, self._column(self._in_pieces().row(line)[1], character)

    def _column(self, row: str, units: int) -> int:
        """In characters. What is cut in the middle of one counts as before it."""
        if row.isascii() or self.position_codec.encoding == types.PositionEncodingKind.Utf32:
            return min(units, len(row))
        before = row[:units]  # no character is less than one unit
        if self.position_codec.encoding == types.PositionEncodingKind.Utf8:
            return len(before.encode("utf-8", "replace")[:units].decode("utf-8", "ignore"))
        return len(before.encode("utf-16-le", "surrogatepass")[: 2 * units].decode("utf-16-le", "ignore"))

    def _units(self, before: str) -> int:
        """What stands before a place in its line, as the editor counts."""
        if before.isascii() or self.position_codec.encoding == types.PositionEncodingKind.Utf32:
            return len(before)
        if self.position_codec.encoding == types.PositionEncodingKind.Utf8:
            return len(before.encode("utf-8", "replace"))
        return len(before.encode("utf-16-le", "surrogatepass")) // 2

    def _apply_incremental_change(self, change: types.TextDocumentContentChangePartial) -> None:
        start, end = change.range.start, change.range.end
        first, last = sorted([self._place(start.line, start.character), self._place(end.line, end.character)])
        self._in_pieces().replace(first, last, change.text)
        self._source = None

    def _apply_full_change(self, change: types.TextDocumentContentChangeEvent) -> None:
        self._source, self._pieces = change.text, None


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
