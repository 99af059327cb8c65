"""What a person or an editor's setting gives to a command, as params of the method that it stands for."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from pydantic import ValidationError

from agentls.errors import AgentError, ErrorKind
from agentls.protocol.params import Params

P = TypeVar("P", bound=Params)
TextAt = Callable[[str, Any], str | None]
"""The text at a range of a document; None if it is not open. Raises `ValidationError` for what is no range."""


class Given:
    """The arguments of one command: words, and the members of one object."""

    def __init__(self, command: str, usage: str, params: dict[str, Any]) -> None:
        self.command = command
        self.usage = usage
        self.words: list[str] = []
        self.members: dict[str, Any] = {}
        arguments = params.get("arguments")
        for argument in cast("list[Any]", arguments) if isinstance(arguments, list) else [arguments]:
            self._add(argument)
        if params.get("workDoneToken") is not None:
            self.members.setdefault("workDoneToken", params["workDoneToken"])

    @property
    def text(self) -> str:
        return " ".join(self.words)

    def wrong(self, what: str, path: str = "arguments") -> AgentError:
        message = f"{self.command}: {what.rstrip('.')}. {self.usage}"
        return AgentError(ErrorKind.INVALID_PARAMS, message, {"errors": [{"path": path, "message": what}]})

    def as_params(self, kind: type[P], **more: Any) -> P:
        try:
            return kind.model_validate(self.members | more)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            path = ".".join(map(str, first["loc"]))
            raise self.wrong(f"{path}: {first['msg']}" if path else first["msg"], path) from error

    def parts(self, text_at: TextAt) -> list[Any]:
        """Those of a prompt; a selection without its text gets that of the open document."""
        given: Any = self.members.pop("parts", None) or []
        if not isinstance(given, list):
            raise self.wrong("`parts` is not a list", "parts")
        text = " ".join(filter(None, (self.text, self._word("text")))).strip()
        first = [{"type": "text", "text": text}] if text else []
        return first + [self._whole(index, part, text_at) for index, part in enumerate(cast("list[Any]", given))]

    def _word(self, name: str) -> str:
        word = self.members.pop(name, None)
        if word is not None and not isinstance(word, str):
            raise self.wrong(f"`{name}` is not a string", name)
        return word or ""

    def _whole(self, index: int, part: Any, text_at: TextAt) -> Any:
        if not isinstance(part, dict):
            return part
        members = cast("dict[str, Any]", part)
        uri, where = members.get("uri"), members.get("range")
        if members.get("type") != "selection" or members.get("text") is not None or not isinstance(uri, str):
            return members
        try:
            text = text_at(uri, where)
        except ValidationError as error:
            raise self.wrong(f"parts.{index}.range is not a range of LSP", f"parts.{index}.range") from error
        if text is None:
            raise self.wrong(f"{uri} is not open in the editor, and the selection has no `text`", f"parts.{index}.text")
        return members | {"text": text}

    def _add(self, argument: Any) -> None:
        match argument:
            case None | []:  # Lua's empty table is either
                return
            case str():
                self.words.append(argument)
            case dict():
                self.members |= cast("dict[str, Any]", argument)
            case _:
                raise self.wrong(f"{argument!r:.60} is neither a string nor an object")
