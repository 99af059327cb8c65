"""Buffers against the disk without a wire: what is compared, and what counts."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentls.schema.change import content_hash
from agentls.workspace import buffers as module
from agentls.workspace.buffers import Buffers, Standing, text_hash
from agentls.workspace.editor import Applied, Document, Headless
from workspace.paper import Paper, opened

PIECES = st.lists(st.sampled_from(["a", "\n", "\r\n", "\r", "🙂", "\ufeff", "\u2028"]), max_size=40).map("".join)


@settings(deadline=None)
@given(PIECES)
def test_texts_are_compared_in_blocks_as_in_one(text: str) -> None:
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").removesuffix("\n")
    assert text_hash(text) == content_hash(plain.encode())


def test_line_ends_at_the_border_of_blocks_are_whole() -> None:
    block = module._BLOCK
    for shift in range(-2, 3):
        text = "x" * (block + shift) + "\r\n" * 5 + "y" * block + "\r"
        assert text_hash(text) == content_hash(text.replace("\r\n", "\n").encode())


def nothing() -> None:
    """The run goes on."""


async def test_without_an_editor_the_disk_counts(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("disk")
    buffers = Buffers()
    assert isinstance(buffers.editor, Headless)
    assert await buffers.see(path) is None
    sight = await buffers.content(path)
    assert (sight.standing, sight.content.data) == (Standing.CLOSED, b"disk")
    assert await buffers.save_ours((tmp_path,)) == ()


async def test_an_edit_of_a_text_that_moved_on_is_not_sent(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("disk")
    buffers, _, _, paper = opened(path, "disk")
    sight = await buffers.content(path)
    paper.write("disk, typed")

    assert await buffers.change(sight, b"agent", "label", nothing) is Applied.MOVED
    assert paper.source == "disk, typed"


async def test_a_stopped_run_sends_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("disk")
    buffers, _, _, paper = opened(path, "disk")

    def stopped() -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        await buffers.change(await buffers.content(path), b"agent", "label", stopped)
    assert paper.source == "disk"


@pytest.mark.parametrize("outcome", [Applied.UNKNOWN, Applied.REFUSED])
async def test_only_what_is_confirmed_is_ours_to_save(tmp_path: Path, outcome: Applied) -> None:
    path = tmp_path / "a"
    path.write_text("disk")
    buffers, editor, document, _ = opened(path, "user", base="disk")
    editor.outcome = outcome

    assert await buffers.change(await buffers.content(path), b"agent", "label", nothing) is outcome
    assert not document.ours
    assert await buffers.save_ours((tmp_path,)) == (path,)
    assert path.read_text() == "disk"


async def test_what_agrees_again_is_nobodys_change(tmp_path: Path) -> None:
    """The user took the agent's edit back."""
    path = tmp_path / "a"
    path.write_text("disk")
    buffers, _, document, paper = opened(path, "disk")
    await buffers.change(await buffers.content(path), b"agent", "label", nothing)
    assert document.ours
    paper.write("disk")

    assert (await buffers.content(path)).standing is Standing.SAME
    assert not document.ours


async def test_of_two_documents_of_one_file_the_unsaved_one_counts(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("disk")
    buffers, editor, clean, _ = opened(path, "disk")
    other = Document("file:///link", path, Paper("user"))
    other.settle(other.begin(), text_hash("disk"), None)
    editor.open = (clean, other)

    sight = await buffers.content(path)

    assert (sight.standing, sight.document) == (Standing.DIRTY, other)


async def test_a_look_that_began_earlier_does_not_overrule_a_later_one(tmp_path: Path) -> None:
    _, _, document, _ = opened(tmp_path / "a", "text")
    first, second = document.begin(), document.begin()
    document.settle(second, "new", None)
    document.settle(first, "old", None)
    assert document.base == "new"


async def test_an_agreement_seen_before_a_save_does_not_overrule_the_save(tmp_path: Path) -> None:
    """The look at the disk takes its time in a thread, and the user saves meanwhile."""
    _, _, document, _ = opened(tmp_path / "a", "text")
    looks = document.looks
    document.settle(document.begin(), "saved", None)
    document.agree(looks, "older", None)
    assert document.base == "saved"
