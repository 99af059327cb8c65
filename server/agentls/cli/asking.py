"""Asks the person at the terminal what the agent must ask."""

from collections.abc import Sequence
from typing import Protocol

from agentls.cli.screen import Screen
from agentls.schema.permission import AskOption, Permission, Reply, RuleScope
from agentls.schema.question import Answers, Question, QuestionItem
from agentls.schema.text import one_line

_REPLIES: dict[str, tuple[Reply | None, RuleScope | None]] = {
    "y": ("once", None),
    "yes": ("once", None),
    "a": ("always", "session"),
    "always": ("always", "session"),
    "p": ("always", "project"),
    "project": ("always", "project"),
    "n": ("reject", None),
    "no": ("reject", None),
}


class Person(Protocol):
    """Whoever types the answers."""

    @property
    def screen(self) -> Screen: ...

    async def line(self, question: str) -> str | None:
        """What is typed after the question; None at the end of input."""
        ...

    async def yes(self, question: str) -> bool: ...


class Asker(Protocol):
    """Whoever asks, and takes the answers."""

    async def allow(self, permission_id: str, reply: Reply, scope: RuleScope | None, words: str | None) -> bool:
        """False: somebody else answered before."""
        ...

    async def answer(self, question_id: str, answers: Answers | None) -> None:
        """None: dismissed."""
        ...


async def ask_for_trust(withheld: Sequence[str], person: Person, *, changed: bool) -> bool:
    """`withheld` says what does not hold without it; `changed`: an earlier word was about other settings."""
    screen = person.screen
    screen.gap()
    screen.line("This folder's settings changed since you trusted them:" if changed else "This folder has settings:")
    for row in withheld:
        screen.line(f"    {row}", "yellow")
    screen.line("They can run programs, send what you write elsewhere, or allow things unasked.", "dim")
    return await person.yes("  Trust the folder as it is now? It is remembered.")


def show_deed(screen: Screen, asked: Permission, directory: str) -> None:
    """What would be done, as it would be done."""
    screen.gap()
    screen.write("? ", "bold yellow")
    screen.write(f"{asked.permission}: {one_line(asked.title)}\n", "bold")
    if asked.description:
        screen.line(f"    {one_line(asked.description)}", "yellow")
    metadata = asked.metadata
    if metadata.command:
        for number, row in enumerate(metadata.command.splitlines()):
            screen.line(f"    {'$' if number == 0 else ' '} {row}", "cyan")
    if metadata.cwd and metadata.cwd != directory:
        screen.line(f"    in {metadata.cwd}", "dim")
    for file in metadata.files or ():
        screen.patch(file.patch)
    if not (metadata.command or metadata.files):
        screen.line(f"    {', '.join(asked.patterns)}")


def understood(typed: str | None) -> tuple[Reply | None, RuleScope | None, str]:
    """Reply, scope, words for the model. The end of input is a no; what is not understood is nothing."""
    if typed is None:
        return "reject", None, ""
    word, _, rest = typed.partition(" ")
    reply, scope = _REPLIES.get(word.strip(",").lower(), (None, None))
    rest = rest.strip()
    if rest and reply != "reject":
        return None, None, ""
    return reply, scope, rest


class Asking:
    """Brings permissions and questions before the person, and the answers back."""

    def __init__(self, asker: Asker, person: Person, directory: str) -> None:
        self._asker = asker
        self._directory = directory
        self._person = person
        self._screen = person.screen
        self._explained = False

    async def permission(self, asked: Permission) -> None:
        show_deed(self._screen, asked, self._directory)
        always = next((option for option in asked.options if option.kind == "always"), None)
        self._offer(always)
        keys = "y/a/p/n" if always else "y/n"
        while True:
            typed = await self._person.line(f"  Allow it? [{keys}] ")
            reply, scope, words = understood(typed)
            if reply is not None and (reply != "always" or always is not None):
                break
            self._screen.line(f"  Please answer one of {keys}.", "dim")
        if not await self._asker.allow(asked.permission_id, reply, scope, words or None):
            self._screen.line("  It was answered elsewhere already.", "dim")

    def _offer(self, always: AskOption | None) -> None:
        if not self._explained:
            self._screen.line("  y  yes, this once", "dim")
        if always is not None:
            patterns = ", ".join(f"`{one_line(pattern)}`" for pattern in always.patterns or ())
            self._screen.line(f"  a  always in this session: {patterns}", "dim")
            self._screen.line(f"  p  always in this project, stored for all its sessions: {patterns}", "dim")
        if not self._explained:
            self._screen.line("  n  no; words after it are told to the model: n use a loop", "dim")
        self._explained = True

    async def question(self, asked: Question) -> None:
        answers: list[tuple[str, ...]] = []
        for item in asked.questions:
            answer = await self._item(item)
            if answer is None:
                await self._asker.answer(asked.question_id, None)
                return
            answers.append(answer)
        await self._asker.answer(asked.question_id, tuple(answers))

    async def _item(self, item: QuestionItem) -> tuple[str, ...] | None:
        """None: dismissed."""
        self._screen.gap()
        self._screen.write("? ", "bold yellow")
        self._screen.write(f"{item.question}\n", "bold")
        for number, option in enumerate(item.options, 1):
            self._screen.line(
                f"  {number}  {option.label}" + (f" – {option.description}" if option.description else "")
            )
        while True:
            typed = await self._person.line(f"  {_invited(item)}: ")
            if typed is None:
                return None
            answer = chosen(item, typed)
            if answer:
                return answer
            self._screen.line("  That is none of the answers.", "dim")


def chosen(item: QuestionItem, typed: str) -> tuple[str, ...]:
    """Numbers or labels of options, else own words where these are welcome; empty if it is none of them."""
    words = [word.strip() for word in typed.split(",")] if item.multiple else [typed]
    labels = {str(number): option.label for number, option in enumerate(item.options, 1)}
    labels |= {option.label.lower(): option.label for option in item.options}
    found = [labels.get(word.lower()) for word in words if word]
    if found and all(found):
        return tuple(dict.fromkeys(label for label in found if label))
    return (typed,) if typed and item.custom is not False else ()


def _invited(item: QuestionItem) -> str:
    ways: list[str] = []
    if item.options:
        ways.append("Numbers with commas" if item.multiple else "A number")
    if item.custom is not False or not item.options:
        ways.append("your own words")
    return f"{' or '.join(ways)} (Ctrl-D: no answer)"
