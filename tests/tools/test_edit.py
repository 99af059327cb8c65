"""edit and write on real files."""

import os
import stat
import subprocess

import pytest

from agentls.errors import ToolError
from agentls.workspace.files import ChangedError
from tools.support import Desk


@pytest.mark.parametrize("every", [False, True])
@pytest.mark.parametrize("quote", ["alpha\nbeta", "alpha\r\nbeta"])
async def test_e01_e02_crlf_files_take_quotes_of_either_kind(desk: Desk, every: bool, quote: str) -> None:
    file = desk.root / "f"
    file.write_bytes(b"alpha\r\nbeta\r\ngamma")
    await desk.call(desk.edit, filePath="f", oldString=quote, newString="A\nB", replaceAll=every)
    assert file.read_bytes() == b"A\r\nB\r\ngamma"


async def test_e01_a_written_file_keeps_its_line_endings(desk: Desk) -> None:
    file = desk.root / "f"
    file.write_bytes(b"alpha\r\nbeta\r\n")
    await desk.call(desk.read, filePath="f")
    await desk.call(desk.write, filePath="f", content="alpha\nnew\nbeta\n")
    assert file.read_bytes() == b"alpha\r\nnew\r\nbeta\r\n"


async def test_e04_the_byte_order_mark_survives_and_is_not_shown(desk: Desk) -> None:
    file = desk.root / "f"
    file.write_bytes(b"\xef\xbb\xbfhello\n")
    assert (await desk.call(desk.read, filePath="f")).output.startswith("1: hello\n")
    await desk.call(desk.edit, filePath="f", oldString="hello", newString="hello2")
    assert file.read_bytes() == b"\xef\xbb\xbfhello2\n"
    await desk.call(desk.edit, filePath="f", oldString="\ufeffhello2", newString="hi")
    assert file.read_bytes() == b"\xef\xbb\xbfhi\n"
    await desk.call(desk.write, filePath="f", content="other\n")
    assert file.read_bytes() == b"\xef\xbb\xbfother\n"


async def test_e06_spaces_for_tabs_match_and_the_new_text_gets_tabs(desk: Desk) -> None:
    file = desk.root / "f.py"
    file.write_bytes(b"\tif x:\n\t\treturn 1\n")
    done = await desk.call(
        desk.edit, filePath="f.py", oldString="    if x:\n        return 1", newString="    if x:\n        return 2"
    )
    assert file.read_bytes() == b"\tif x:\n\t\treturn 2\n"
    assert "indentation-flexible" in done.output


async def test_utf16_mode_and_links_survive(desk: Desk) -> None:
    file = desk.root / "f"
    file.write_bytes("eins\r\nzwei\r\n".encode("utf-16"))
    file.chmod(0o755)
    (desk.root / "link").symlink_to("f")
    await desk.call(desk.edit, filePath="link", oldString="zwei", newString="drei")
    assert file.read_bytes().decode("utf-16") == "eins\r\ndrei\r\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o755
    assert os.readlink(desk.root / "link") == "f"


async def test_undecodable_bytes_elsewhere_stay(desk: Desk) -> None:
    file = desk.root / "f"
    file.write_bytes("grün\n".encode() + b"bad \xff\xfe\n" + "blau\nü ö ä\n".encode())
    await desk.call(desk.edit, filePath="f", oldString="grün", newString="rot")
    assert file.read_bytes() == b"rot\nbad \xff\xfe\n" + "blau\nü ö ä\n".encode()


async def test_e13_a_refusal_shows_what_changed_and_the_next_try_passes(desk: Desk) -> None:
    file = desk.root / "f"
    file.write_text("one\ntwo\n")
    await desk.call(desk.read, filePath="f")
    file.write_text("one\ntwo\nthree\n")
    call = {"filePath": "f", "oldString": "one", "newString": "1"}
    with pytest.raises(ChangedError, match=r"\+three"):
        await desk.call(desk.edit, **call)
    await desk.call(desk.edit, **call)
    assert file.read_text() == "1\ntwo\nthree\n"


async def test_e14_own_writes_touches_and_round_trips_are_no_foreign_changes(desk: Desk) -> None:
    git = ["git", "-C", str(desk.root), "-c", "user.name=t", "-c", "user.email=t@t"]
    file = desk.root / "f"
    file.write_text("one\ntwo\n")
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "f"], check=True)
    subprocess.run([*git, "commit", "-qm", "x"], check=True)
    await desk.call(desk.read, filePath="f")
    file.write_text("changed")
    subprocess.run([*git, "checkout", "-q", "f"], check=True)
    await desk.call(desk.edit, filePath="f", oldString="one", newString="1")
    await desk.call(desk.edit, filePath="f", oldString="two", newString="2")
    os.utime(file, (1, 1))
    await desk.call(desk.write, filePath="f", content="3\n")
    assert file.read_text() == "3\n"


async def test_e15_write_refuses_a_file_saved_since_it_was_read(desk: Desk) -> None:
    file = desk.root / "f"
    file.write_text("one\n")
    await desk.call(desk.read, filePath="f")
    file.write_text("user\n")
    with pytest.raises(ChangedError, match=r"\+user"):
        await desk.call(desk.write, filePath="f", content="mine\n")
    assert file.read_text() == "user\n"


async def test_e15_write_refuses_a_file_that_this_session_never_read(desk: Desk) -> None:
    (desk.root / "f").write_text("one\n")
    await desk.call(desk.read, session="ses_other", filePath="f")
    with pytest.raises(ToolError, match="not read it"):
        await desk.call(desk.write, filePath="f", content="mine\n")


async def test_a_change_between_question_and_run_is_refused(desk: Desk) -> None:
    file = desk.root / "f"
    file.write_text("one\n")
    params, context = desk.edit.params(file_path="f", old_string="one", new_string="1"), desk.context()
    await desk.edit.asks(params, context)
    file.write_text("one\nmore\n")
    with pytest.raises(ChangedError):
        await desk.edit.run(params, context)
    assert file.read_text() == "one\nmore\n"
    assert desk.changes == []


async def test_a_link_swapped_in_between_question_and_run_is_refused(desk: Desk) -> None:
    outside = desk.root.parent / "outside"
    outside.mkdir()
    (desk.root / "d").mkdir()
    params, context = desk.write.params(file_path="d/f", content="x"), desk.context()
    await desk.write.asks(params, context)
    (desk.root / "d").rmdir()
    (desk.root / "d").symlink_to(outside)
    with pytest.raises(ToolError, match="another place"):
        await desk.write.run(params, context)
    assert os.listdir(outside) == []


async def test_the_question_shows_path_and_diff(desk: Desk) -> None:
    (desk.root / "src").mkdir()
    (desk.root / "src" / "a.py").write_text("one\ntwo\n")
    (ask,) = await desk.asks(desk.edit, filePath="src/a.py", oldString="two", newString="2")
    assert (ask.permission, ask.patterns, ask.always, ask.protected) == ("edit", ("src/a.py",), ("src/a.py",), False)
    assert ask.metadata.files is not None
    assert ask.metadata.files[0].patch == "--- a/src/a.py\n+++ b/src/a.py\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
    assert desk.changes == []


async def test_paths_outside_ask_twice_and_protected_ones_offer_no_always(desk: Desk) -> None:
    outside, edit = await desk.asks(desk.write, filePath="../other/x.txt", content="x")
    place = desk.root.parent / "other"
    assert (outside.permission, outside.patterns) == ("external_directory", (f"{place}/*",))
    assert (edit.permission, edit.patterns) == ("edit", (f"{place}/x.txt",))
    (protected,) = await desk.asks(desk.write, filePath=".git/hooks/pre-commit", content="x")
    assert (protected.protected, protected.always) == (True, ())


async def test_a_name_with_wildcards_offers_no_always(desk: Desk) -> None:
    (ask,) = await desk.asks(desk.write, filePath="*", content="x")
    assert (ask.patterns, ask.always) == (("*",), ())


async def test_an_empty_quote_creates_only_where_nothing_is(desk: Desk) -> None:
    await desk.call(desk.edit, filePath="new/f", oldString="", newString="x\n")
    assert (desk.root / "new" / "f").read_text() == "x\n"
    with pytest.raises(ToolError, match="exists"):
        await desk.call(desk.edit, filePath="new/f", oldString="", newString="y\n")
    with pytest.raises(ToolError, match="does not exist"):
        await desk.call(desk.edit, filePath="none", oldString="a", newString="b")


@pytest.mark.parametrize("path", ["", ".", "bin"])
async def test_e12_what_is_no_text_file_is_not_edited(desk: Desk, path: str) -> None:
    (desk.root / "bin").write_bytes(b"\x7fELF\0\0")
    with pytest.raises(ToolError):
        await desk.call(desk.edit, filePath=path, oldString="a", newString="b")
