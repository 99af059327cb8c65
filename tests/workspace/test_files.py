"""The one way in which files are written."""

import itertools
import os
import stat
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest

from agentls.errors import RunClosedError, ToolError
from agentls.schema.change import ChangeOrigin, Content, content_hash, unpacked
from agentls.workspace.files import UNCHECKED, ChangedError, Files, Recorded

ORIGIN = ChangeOrigin("ses_1", "trn_1", "msg_1", "prt_1")


class Recorder:
    def __init__(self) -> None:
        self.changes: list[tuple[Path, bytes | None, bytes | None]] = []

    async def __call__(
        self,
        origin: ChangeOrigin,
        path: Path,
        before: Content | None,
        after: Content | None,
        check_open: Callable[[], None],
    ) -> Recorded:
        check_open()
        assert origin == ORIGIN
        for content in (before, after):
            assert content is None or (unpacked(content.packed), content_hash(content.data)) == (
                content.data,
                content.hash,
            )
        change = (path, before.data if before else None, after.data if after else None)
        self.changes.append(change)

        async def undo() -> None:
            self.changes.remove(change)

        return Recorded(lambda: None, undo)


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def files(recorder: Recorder) -> Files:
    return Files(recorder)


def always_open() -> None:
    pass


async def test_a_new_file_is_made_with_its_folders_and_recorded(
    tmp_path: Path, files: Files, recorder: Recorder
) -> None:
    path = tmp_path / "a" / "b" / "c.txt"
    written = await files.write(path, b"x", expected=None, origin=ORIGIN, check_open=always_open)
    assert path.read_bytes() == b"x"
    assert written.hash == content_hash(b"x")
    assert recorder.changes == [(path, None, b"x")]


async def test_mode_bits_survive_and_nothing_is_left_over(tmp_path: Path, files: Files) -> None:
    path = tmp_path / "run.sh"
    path.write_bytes(b"old")
    path.chmod(0o751)
    await files.write(path, b"new", expected=content_hash(b"old"), origin=ORIGIN, check_open=always_open)
    assert stat.S_IMODE(path.stat().st_mode) == 0o751
    assert os.listdir(tmp_path) == ["run.sh"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file away")
async def test_the_owner_survives(tmp_path: Path, files: Files) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"old")
    os.chown(path, 1234, 2345)
    await files.write(path, b"new", expected=UNCHECKED, origin=ORIGIN, check_open=always_open)
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 2345)


async def test_a_removed_file_is_recorded(tmp_path: Path, files: Files, recorder: Recorder) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"old")
    await files.write(path, None, expected=content_hash(b"old"), origin=ORIGIN, check_open=always_open)
    assert not path.exists()
    assert recorder.changes == [(path, b"old", None)]


async def test_e15_a_file_that_changed_meanwhile_is_refused_with_what_changed(
    tmp_path: Path, recorder: Recorder
) -> None:
    old = b"one\ntwo\nthree\n"
    files = Files(recorder, {content_hash(old): old}.get)
    path = tmp_path / "f"
    path.write_bytes(b"one\nTWO\nthree\n")
    with pytest.raises(ChangedError) as refused:
        await files.write(path, b"x", expected=content_hash(old), origin=ORIGIN, check_open=always_open)
    assert "-two\n+TWO" in refused.value.message
    assert refused.value.whole
    assert path.read_bytes() == b"one\nTWO\nthree\n"
    assert recorder.changes == []


async def test_a_file_that_appeared_or_went_meanwhile_is_refused(tmp_path: Path, files: Files) -> None:
    path = tmp_path / "f"
    with pytest.raises(ChangedError, match="gone"):
        await files.write(path, b"x", expected=content_hash(b"old"), origin=ORIGIN, check_open=always_open)
    path.write_bytes(b"theirs\n")
    with pytest.raises(ChangedError, match="1: theirs"):
        await files.write(path, b"x", expected=None, origin=ORIGIN, check_open=always_open)


async def test_a_stopped_run_writes_nothing(tmp_path: Path, files: Files, recorder: Recorder) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"old")

    def closed() -> None:
        raise RunClosedError

    with pytest.raises(RunClosedError):
        await files.write(path, b"new", expected=UNCHECKED, origin=ORIGIN, check_open=closed)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["f"]
    assert recorder.changes == []


@pytest.mark.parametrize("data", [b"new", None])
async def test_where_the_change_cannot_be_recorded_the_file_stays(tmp_path: Path, data: bytes | None) -> None:
    async def full(*_: object) -> Recorded:
        raise ToolError("the disk is full")

    path = tmp_path / "f"
    path.write_bytes(b"old")
    with pytest.raises(ToolError, match="the disk is full"):
        await Files(full).write(path, data, expected=UNCHECKED, origin=ORIGIN, check_open=always_open)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["f"]


async def test_a_change_that_did_not_come_about_is_not_left_recorded(tmp_path: Path, recorder: Recorder) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"old")
    recorded: list[int] = []

    async def meddling(*args: Any) -> Recorded:
        change = await recorder(*args)
        recorded.append(len(recorder.changes))
        path.write_bytes(b"somebody else's")
        return change

    with pytest.raises(ChangedError, match="somebody else's"):
        await Files(meddling).write(path, b"new", expected=UNCHECKED, origin=ORIGIN, check_open=always_open)
    assert (recorded, recorder.changes) == ([1], [])
    assert path.read_bytes() == b"somebody else's"


async def test_a_link_that_took_a_folders_place_is_not_followed(tmp_path: Path, files: Files) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    project = tmp_path / "project"
    project.mkdir()
    (project / "src").symlink_to(outside)
    with pytest.raises(ToolError, match="symbolic link"):
        await files.write(project / "src" / "f", b"x", expected=None, origin=ORIGIN, check_open=always_open)
    assert os.listdir(outside) == []


async def test_a_link_that_takes_the_files_place_at_the_last_moment_stays_untouched(
    tmp_path: Path, files: Files
) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"victim")
    path = tmp_path / "f"
    path.write_bytes(b"old")

    def swap() -> None:
        path.unlink()
        path.symlink_to(victim)

    with pytest.raises(ToolError):
        await files.write(path, b"x", expected=UNCHECKED, origin=ORIGIN, check_open=swap)
    assert victim.read_bytes() == b"victim"
    assert sorted(os.listdir(tmp_path)) == ["f", "victim"]


async def test_no_write_escapes_while_a_folder_and_a_link_change_places(
    tmp_path: Path, files: Files, recorder: Recorder
) -> None:
    outside, project, trash = tmp_path / "outside", tmp_path / "project", tmp_path / "trash"
    for folder in (outside, project, trash):
        folder.mkdir()
    place, done = project / "d", threading.Event()

    def swap() -> None:
        for i in itertools.count():
            for step in (
                lambda: place.symlink_to(outside),
                place.unlink,
                place.mkdir,
                lambda i=i: place.rename(trash / str(i)),
            ):
                with suppress(OSError):
                    step()
            if done.is_set():
                return

    swapper = threading.Thread(target=swap)
    swapper.start()
    written = refused = 0
    try:
        for i in range(500):
            try:
                await files.write(place / "f", b"%d" % i, expected=UNCHECKED, origin=ORIGIN, check_open=always_open)
                written += 1
            except ToolError:
                refused += 1
    finally:
        done.set()
        swapper.join()
    assert os.listdir(outside) == []
    assert refused > 0
    assert len(recorder.changes) == written


async def test_a_save_at_the_last_moment_is_not_overwritten(tmp_path: Path, files: Files) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"old")
    with pytest.raises(ChangedError):
        await files.write(
            path,
            b"new",
            expected=content_hash(b"old"),
            origin=ORIGIN,
            check_open=lambda: path.write_bytes(b"user's") and None,
        )
    assert path.read_bytes() == b"user's"


async def test_e15_two_writers_of_one_file_come_one_after_the_other(tmp_path: Path, files: Files) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"old")
    outcomes: list[str] = []

    async def write(data: bytes) -> None:
        try:
            await files.write(path, data, expected=content_hash(b"old"), origin=ORIGIN, check_open=always_open)
            outcomes.append("written")
        except ChangedError:
            outcomes.append("refused")

    async with anyio.create_task_group() as group:
        group.start_soon(write, b"first")
        group.start_soon(write, b"second")
    assert sorted(outcomes) == ["refused", "written"]


@pytest.mark.parametrize("kind", ["folder", "pipe"])
async def test_what_is_no_file_is_refused_and_never_waited_for(tmp_path: Path, files: Files, kind: str) -> None:
    path = tmp_path / "f"
    path.mkdir() if kind == "folder" else os.mkfifo(path)
    with anyio.fail_after(5), pytest.raises(ToolError, match="not a file"):
        await files.read(path)
