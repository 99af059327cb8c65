"""read on real files."""

import base64
import os
import tracemalloc

import pytest

from agentls.errors import ToolError
from tools.support import Desk

PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)


async def test_lines_are_numbered_and_windows_lead_on(desk: Desk) -> None:
    (desk.root / "f").write_text("".join(f"line {i}\n" for i in range(1, 3001)))
    first = await desk.call(desk.read, filePath="f")
    assert first.output.startswith("1: line 1\n2: line 2\n")
    assert "2000: line 2000\n\n(Lines 1 to 2000 of 3000. To go on: offset 2001.)" in first.output
    rest = await desk.call(desk.read, filePath="f", offset=2999, limit=5)
    assert rest.output == "2999: line 2999\n3000: line 3000\n\n(End of the file: 3000 lines.)"
    with pytest.raises(ToolError, match="behind its end"):
        await desk.call(desk.read, filePath="f", offset=3001)


async def test_the_output_is_bounded_in_bytes_too(desk: Desk) -> None:
    (desk.root / "f").write_text(("x" * 1000 + "\n") * 200)
    output = (await desk.call(desk.read, filePath="f")).output
    assert len(output) < 52_000
    assert "(Lines 1 to 50 of 200. To go on: offset 51.)" in output


@pytest.mark.parametrize("data", [b"a\nb", b"a\nb\n", b"a\r\nb\r\n"])
async def test_a_final_newline_makes_no_line(desk: Desk, data: bytes) -> None:
    (desk.root / "f").write_bytes(data)
    assert (await desk.call(desk.read, filePath="f")).output == "1: a\n2: b\n\n(End of the file: 2 lines.)"


async def test_e06_tabs_are_shown_as_they_are(desk: Desk) -> None:
    (desk.root / "f").write_bytes(b"\tif x:\n\t\treturn 1\n")
    assert (await desk.call(desk.read, filePath="f")).output.startswith("1: \tif x:\n2: \t\treturn 1\n")


async def test_e11_one_enormous_line_is_clipped_with_a_way_on_in_bounded_memory(desk: Desk) -> None:
    size = 30_000_000
    (desk.root / "f").write_bytes(b"0123456789" * (size // 10))
    tracemalloc.start()
    output = (await desk.call(desk.read, filePath="f")).output
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert f"clipped: characters 1 to 2000 of {size}. To go on: offset 1, column 2001." in output
    assert len(output) < 2500
    assert peak < 12_000_000
    more = (await desk.call(desk.read, filePath="f", offset=1, column=size - 4)).output
    assert more.startswith("1: 56789 … (clipped: characters 29999996 to 30000000 of 30000000.)")


async def test_e11_columns_go_through_a_line_without_loss(desk: Desk) -> None:
    line = "".join(chr(0x4E00 + i % 500) for i in range(70_000))
    (desk.root / "f").write_text(f"first\n{line}\nlast\n")
    text = ""
    while len(text) < len(line):
        row = (await desk.call(desk.read, filePath="f", offset=2, column=len(text) + 1)).output
        text += row.removeprefix("2: ").partition(" … (clipped")[0]
    assert text == line


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x7fELF\x02" + bytes(100), "ELF"),
        (b"a" * 9000 + b"\0" + b"b", "NUL"),
        (b"a" * 6_000_000 + b"\0", "NUL"),
    ],
)
async def test_e12_binary_is_refused_with_type_and_size(desk: Desk, data: bytes, kind: str) -> None:
    (desk.root / "f.txt").write_bytes(data)
    with pytest.raises(ToolError, match=rf"binary \(.*{kind}.*\d+ bytes\)"):
        await desk.call(desk.read, filePath="f.txt")


async def test_e12_random_bytes_are_refused(desk: Desk) -> None:
    (desk.root / "f.txt").write_bytes(os.urandom(65536))
    with pytest.raises(ToolError, match="binary"):
        await desk.call(desk.read, filePath="f.txt")


async def test_e12_an_image_is_attached_whatever_its_name(desk: Desk) -> None:
    (desk.root / "f.txt").write_bytes(PNG)
    result = await desk.call(desk.read, filePath="f.txt")
    assert result.attachments == (
        {"mime": "image/png", "url": f"data:image/png;base64,{base64.b64encode(PNG).decode()}", "filename": "f.txt"},
    )


async def test_a_folder_is_listed(desk: Desk) -> None:
    (desk.root / "d").mkdir()
    (desk.root / "b.txt").touch()
    assert (await desk.call(desk.read, filePath=".")).output == "b.txt\nd/"


async def test_a_missing_file_names_those_like_it(desk: Desk) -> None:
    (desk.root / "README.md").touch()
    (desk.root / "Screenshot 1\u202fPM.png").touch()
    with pytest.raises(ToolError, match=r"README\.md"):
        await desk.call(desk.read, filePath="readme.md")
    with pytest.raises(ToolError, match="Screenshot 1"):
        await desk.call(desk.read, filePath="Screenshot 1 PM.png")
    with pytest.raises(ToolError, match="neither does its folder"):
        await desk.call(desk.read, filePath="no/such/file")


async def test_an_empty_file_says_so(desk: Desk) -> None:
    (desk.root / "f").touch()
    assert (await desk.call(desk.read, filePath="f")).output == "(The file is empty.)"


async def test_p25_reading_asks_with_the_projects_path_and_the_real_one(desk: Desk) -> None:
    (desk.root / "sub").mkdir()
    (desk.root / "sub" / ".env.local").touch()
    (desk.root / "innocent").symlink_to("sub/.env.local")
    (ask,) = await desk.asks(desk.read, filePath="innocent")
    assert (ask.permission, ask.patterns) == ("read", ("sub/.env.local",))
    outside, ask = await desk.asks(desk.read, filePath="/etc/hosts")
    assert (outside.permission, outside.patterns, ask.patterns) == ("external_directory", ("/etc/*",), ("/etc/hosts",))


async def test_a_link_swapped_in_between_question_and_run_is_not_read(desk: Desk) -> None:
    secret = desk.root.parent / "secret"
    secret.write_text("s3cret")
    (desk.root / "f").write_text("x")
    params, context = desk.read.params(file_path="f"), desk.context()
    await desk.read.asks(params, context)
    (desk.root / "f").unlink()
    (desk.root / "f").symlink_to(secret)
    with pytest.raises(ToolError, match="another place"):
        await desk.read.run(params, context)


async def test_a_mentioned_file_is_read_without_a_question(desk: Desk) -> None:
    (desk.root / "f").write_text("x")
    result = await desk.read.run(desk.read.params(file_path="f"), desk.context())
    assert result.output.startswith("1: x")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("a" * 300, "cannot be looked at: File name too long. Give another path"),
        ("d/" * 3000, "cannot be looked at: File name too long. Give another path"),
        ("file.txt/below", "a part of the path is no folder"),
    ],
    ids=["name", "path", "below a file"],
)
async def test_a_path_that_no_file_can_have_is_refused_in_words(desk: Desk, name: str, said: str) -> None:
    (desk.root / "file.txt").write_text("x")
    with pytest.raises(ToolError, match=said):
        await desk.call(desk.read, filePath=name)
