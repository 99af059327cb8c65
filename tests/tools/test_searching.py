"""bash, glob, grep, list, todowrite, question as tools."""

import os
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from agentls.errors import ToolError
from agentls.schema.question import Answers, QuestionItem
from agentls.schema.session import Todo
from agentls.tools.bash import Bash
from agentls.tools.glob import Glob
from agentls.tools.grep import Grep
from agentls.tools.list import List
from agentls.tools.output import Outputs
from agentls.tools.question import Question
from agentls.tools.todowrite import TodoWrite
from agentls.tools.tool import ToolContext
from agentls.workspace.buffers import Buffers
from agentls.workspace.process import Shell
from agentls.workspace.search import Search
from agentls.workspace.watchdog import Watchdog
from tools.support import Desk


@pytest.fixture
async def bash(tmp_path: Path) -> AsyncGenerator[Bash]:
    watchdog = Watchdog("ins_tools")
    yield Bash(Shell(watchdog), Outputs(tmp_path / "outputs"), tmp_path / "home", Buffers())
    await watchdog.aclose()


async def test_b14_the_model_sees_exit_code_and_that_there_was_no_output(desk: Desk, bash: Bash) -> None:
    result = await desk.call(bash, command="exit 7")
    assert result.output == "(no output)\n\nExit code: 7"
    assert result.metadata["exitCode"] == 7


async def test_the_command_runs_in_the_sessions_folder_and_streams(desk: Desk, bash: Bash) -> None:
    (desk.root / "sub").mkdir()
    assert (await desk.call(bash, command="pwd")).output.startswith(f"{desk.root}\n\nExit code: 0")
    assert (await desk.call(bash, command="pwd", workdir="sub")).output.startswith(f"{desk.root}/sub\n")
    assert "".join(desk.live) == f"{desk.root}\n{desk.root}/sub\n"
    with pytest.raises(ToolError, match="no folder"):
        await desk.call(bash, command="pwd", workdir="none")


async def test_bash_asks_with_the_whole_command_and_for_folders_outside(desk: Desk, bash: Bash) -> None:
    (ask,) = await desk.asks(bash, command="ls | wc", description="Count")
    assert (ask.permission, ask.patterns, ask.title) == ("bash", ("ls | wc",), "Count")
    outside, _ = await desk.asks(bash, command="ls", workdir="/usr/bin")
    assert (outside.permission, outside.patterns) == ("external_directory", ("/usr/bin/*",))


async def test_a_path_outside_by_its_name_is_left_to_the_rules_and_a_link_is_asked(desk: Desk, bash: Bash) -> None:
    (desk.root / "away").symlink_to("/etc")
    assert [ask.permission for ask in await desk.asks(bash, command="cat ~/x /etc/hosts")] == ["bash"]
    link, command = await desk.asks(bash, command="cat away/hosts")
    assert (link.permission, link.patterns) == ("external_directory", (str(Path("/etc/hosts").resolve()),))
    assert command.permission == "bash"


async def test_a_timeout_says_how_to_have_more(desk: Desk, bash: Bash) -> None:
    result = await desk.call(bash, command="echo a; sleep 30", timeout=300)
    assert result.output.startswith("a\n\nThe command did not end within 300 ms and was stopped. A longer timeout")
    assert bash.params(command="x", timeout=10**9).limit == 600_000
    assert bash.params(command="x").limit == 120_000


async def test_b01_processes_left_behind_are_named(desk: Desk, bash: Bash) -> None:
    result = await desk.call(bash, command="sleep 61 & echo done")
    assert result.output.startswith("done\n\nExit code: 0\nProcesses that it left running in the background were ended")
    assert "sleep 61 (pid " in result.output


async def test_long_output_keeps_both_ends_and_the_whole_in_a_file(desk: Desk, bash: Bash) -> None:
    result = await desk.call(bash, command="seq 1 30000")
    assert result.output.startswith("1\n2\n")
    assert "\n30000\n\nExit code: 0" in result.output
    assert len(result.output) < 52_000
    file = Path(result.metadata["outputFile"])
    assert str(file) in result.output
    assert file.read_text() == "\n".join(map(str, range(1, 30001)))
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("tail", [True, False])
@pytest.mark.parametrize(
    "text", ["x\n" * 5000, "y" * 200_000, ("z" * 3000 + "\n") * 100, "ü" * 60_000, "a\n" + "b" * 99_999]
)
def test_e12_cut_output_stays_within_its_bounds(tmp_path: Path, text: str, tail: bool) -> None:
    cut = Outputs(tmp_path).cut(text, tail=tail)
    assert cut.file is not None
    assert cut.file.read_text() == text
    assert len(cut.text.encode()) < 51 * 1024 + 300
    assert cut.text.count("\n") <= 2003
    assert cut.text[0] == text[0]


def test_old_outputs_are_swept(tmp_path: Path) -> None:
    old, new = tmp_path / "output-old.txt", tmp_path / "output-new.txt"
    old.touch()
    new.touch()
    os.utime(old, (1, 1))
    Outputs(tmp_path).sweep()
    assert (old.exists(), new.exists()) == (False, True)


@pytest.fixture
def tree(desk: Desk) -> Desk:
    for name in ("src/a.py", "src/deep/b.py", ".env", "sub/.env.local", ".env.example"):
        file = desk.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("token = 1\n")
    (desk.root / ".gitignore").write_text("secret.txt\n")
    (desk.root / "secret.txt").write_text("token = 2\n")
    return desk


async def test_p25_grep_and_glob_leave_secret_files_out_and_say_so(tree: Desk) -> None:
    grep = await tree.call(Grep(Search(), Buffers()), pattern="token")
    assert grep.output == (
        ".env.example:\n  1: token = 1\nsrc/a.py:\n  1: token = 1\nsrc/deep/b.py:\n  1: token = 1\n"
        "(2 files that may not be read without a question, such as .env, left out.)"
    )
    glob = await tree.call(Glob(Search()), pattern="**/*env*")
    assert glob.output == ".env.example\n(2 files that may not be read without a question, such as .env, left out.)"


async def test_p25_a_search_in_a_secret_file_asks_to_read_it(tree: Desk) -> None:
    read, grep = await tree.asks(Grep(Search(), Buffers()), pattern="token", path=".env")
    assert (read.permission, read.patterns) == ("read", (".env",))
    assert (grep.permission, grep.patterns) == ("grep", ("token",))
    assert (await tree.call(Grep(Search(), Buffers()), pattern="token", path=".env")).output == ".env:\n  1: token = 1"


async def test_searches_outside_the_project_ask_for_the_folder(desk: Desk) -> None:
    grep, glob, listing = Grep(Search(), Buffers()), Glob(Search()), List(Search())
    for tool, arguments in ((grep, {"pattern": "x"}), (glob, {"pattern": "x"}), (listing, {})):
        outside, _ = await desk.asks(tool, path="/usr", **arguments)
        assert (outside.permission, outside.patterns) == ("external_directory", ("/usr/*",))


async def test_nothing_found_is_said(desk: Desk) -> None:
    assert (await desk.call(Grep(Search(), Buffers()), pattern="x")).output == "No line matches."
    assert (await desk.call(Glob(Search()), pattern="x")).output == "No file fits the pattern."
    with pytest.raises(ToolError, match="does not exist"):
        await desk.call(Grep(Search(), Buffers()), pattern="x", path="none")


async def test_only_the_first_hundred_are_shown(desk: Desk) -> None:
    (desk.root / "f").write_text("x\n" * 150)
    result = await desk.call(Grep(Search(), Buffers()), pattern="x")
    assert "  100: x\n(Only the first 100 lines are shown" in result.output


async def test_list_shows_a_tree_and_counts_what_does_not_fit(tree: Desk) -> None:
    result = await tree.call(List(Search()))
    assert "  src/\n    a.py\n    deep/\n      b.py" in result.output
    for i in range(400):
        (tree.root / "many" / str(i % 5)).mkdir(parents=True, exist_ok=True)
        (tree.root / "many" / str(i % 5) / f"{i}.txt").touch()
    result = await tree.call(List(Search()))
    assert "  many/\n    0/ (80 files)\n" in result.output
    assert result.output.count("\n") < 310


async def test_todos_are_saved_for_the_session(desk: Desk) -> None:
    saved: list[tuple[str, tuple[Todo, ...]]] = []
    tool = TodoWrite(lambda session, todos: saved.append((session, todos)))
    result = await desk.call(tool, todos=[{"content": "a", "status": "completed"}, {"content": "b"}])
    assert saved == [("ses_1", (Todo(content="a", status="completed"), Todo(content="b")))]
    assert (result.output, result.title) == ("[x] a\n[ ] b", "1 to do")


async def test_the_users_answers_are_the_result(desk: Desk) -> None:
    async def ask(context: ToolContext, questions: tuple[QuestionItem, ...]) -> Answers:
        assert context.session_id == "ses_1"
        assert len(questions) == 2
        return (("red", "blue"), ())

    questions = [{"header": "Colour", "question": "Which?"}, {"header": "Size", "question": "How big?"}]
    result = await desk.call(Question(ask), questions=questions)
    assert result.output == "The user answered:\nWhich?\n→ red, blue\nHow big?\n→ (no answer)"
