"""Tells binary files from text by their content."""

import re

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"GIF87a", "GIF image"),
    (b"GIF89a", "GIF image"),
    (b"%PDF-", "PDF document"),
    (b"\x7fELF", "ELF program or library"),
    (b"\xcf\xfa\xed\xfe", "Mach-O program or library"),
    (b"\xce\xfa\xed\xfe", "Mach-O program or library"),
    (b"\xca\xfe\xba\xbe", "Java class or universal Mach-O file"),
    (b"\x00asm", "WebAssembly module"),
    (b"PK\x03\x04", "ZIP archive (or a document or package in ZIP form)"),
    (b"PK\x05\x06", "empty ZIP archive"),
    (b"\x1f\x8b", "gzip archive"),
    (b"BZh", "bzip2 archive"),
    (b"\xfd7zXZ\x00", "xz archive"),
    (b"\x28\xb5\x2f\xfd", "Zstandard archive"),
    (b"7z\xbc\xaf\x27\x1c", "7z archive"),
    (b"SQLite format 3\x00", "SQLite database"),
    (b"OggS", "Ogg media"),
    (b"fLaC", "FLAC audio"),
    (b"ID3", "MP3 audio"),
    (b"wOFF", "WOFF font"),
    (b"wOF2", "WOFF2 font"),
    (b"\x00\x01\x00\x00\x00", "TrueType font"),
    (b"OTTO", "OpenType font"),
)
_ATTACHABLE = {
    "PNG image": "image/png",
    "JPEG image": "image/jpeg",
    "GIF image": "image/gif",
    "WebP image": "image/webp",
    "PDF document": "application/pdf",
}
_TEXT_LIKE = {b"BZh", b"OggS", b"fLaC", b"ID3", b"wOFF", b"wOF2", b"OTTO"}
# Tab, line feed, form feed, carriage return, backspace and escape stand in real text files; the others do not.
_CONTROL = re.compile(rb"[\x01-\x07\x0b\x0e-\x1a\x1c-\x1f\x7f]")
_CONTROL_SHARE = 0.1
UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")


def binary_type(data: bytes) -> str | None:
    """What kind of binary file this is; None for text. `data` may be a file's beginning or any block of it."""
    kind = _magic(data)
    if kind is not None:
        return kind
    if data.startswith(UTF16_BOMS):
        return _utf16_problem(data)
    if b"\0" in data:
        return "data with NUL bytes"
    if data and len(_CONTROL.findall(data)) / len(data) > _CONTROL_SHARE:
        return "data with control bytes"
    return None


def attachment_mime(data: bytes) -> str | None:
    """The media type of a file that a model can be shown as it is: an image or a PDF."""
    kind = _magic(data[:64])
    return _ATTACHABLE.get(kind) if kind is not None else None


def _magic(data: bytes) -> str | None:
    if data.startswith(b"RIFF") and len(data) >= 12:
        return {b"WEBP": "WebP image", b"WAVE": "WAV audio", b"AVI ": "AVI video"}.get(data[8:12], "RIFF media")
    if data[4:8] == b"ftyp":
        return "MP4 or related media"
    for start, kind in _MAGIC:
        if data.startswith(start) and (start not in _TEXT_LIKE or not data[:512].isascii() or b"\0" in data[:512]):
            return kind
    return None


def _utf16_problem(data: bytes) -> str | None:
    body = data[2:]
    pairs = body[: len(body) & ~1]
    zeros = sum(1 for i in range(0, min(len(pairs), 65536), 2) if pairs[i : i + 2] == b"\0\0")
    return "data with NUL characters" if zeros else None
