"""The tools by name: what a model is offered, and what its calls mean."""

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any, cast

from pydantic import ValidationError
from pydantic_core import to_json

from agentls.config.prompts import prompt
from agentls.errors import ToolError
from agentls.tools.definition import Definition, definition, parameters_in_words
from agentls.tools.invalid import Invalid, InvalidParams
from agentls.tools.tool import Params, Tool

AnyTool = Tool[Any]


class Registry:
    """`values` replace `{name}` in the tools' texts, such as the name of the shell."""

    def __init__(self, tools: Iterable[AnyTool], values: Mapping[str, str] | None = None) -> None:
        self._values = dict(values or {})
        self._invalid = Invalid()
        self._tools: dict[str, AnyTool] = {tool.name: tool for tool in tools}
        self._definitions: dict[str, Definition] = {}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self._tools))

    def get(self, name: str) -> AnyTool | None:
        return self._invalid if name == self._invalid.name else self._tools.get(name)

    def definition(self, name: str) -> Definition:
        """A tool as the model sees it."""
        if name not in self._definitions:
            self._definitions[name] = definition(name, self._tools[name].params, prompt(f"tools/{name}"), self._values)
        return self._definitions[name]

    def offered(self, allowed: Collection[str] | None = None) -> bytes:
        """The chat's `tools` array as JSON, sorted by name: of the tools in `allowed`, or all."""
        names = [name for name in self.names if allowed is None or name in allowed]
        return to_json([self.definition(name).wire() for name in names])

    def parse(
        self, name: str, arguments: Mapping[str, Any] | None, allowed: Collection[str] | None = None
    ) -> tuple[AnyTool, Params]:
        """The tool and its validated parameters; a tool that is not there, or not in `allowed`, becomes `invalid`.

        Raises `ToolError`, which says how to mend the call, where the arguments do not fit.
        """
        tool = self._named(name, allowed)
        if tool is None:
            there = ", ".join(one for one in self.names if allowed is None or one in allowed)
            return self._invalid, InvalidParams(tool=name, error=f"There is no tool {name!r}. There are: {there}.")
        try:
            return tool, cast("Params", tool.params.model_validate(self._mended(tool.name, arguments or {})))
        except ValidationError as error:
            raise ToolError(self._advice(tool.name, error), f"{tool.name}: the call does not fit") from error

    def _named(self, name: str, allowed: Collection[str] | None) -> AnyTool | None:
        """Models write names with other cases or spaces around."""
        for spelled in (name, name.strip().lower()):
            if spelled in self._tools and (allowed is None or spelled in allowed):
                return self._tools[spelled]
        return None

    def _mended(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Models send lists and objects as JSON in a string at times."""
        members = self.definition(name).parameters.get("properties", {})
        mended = dict(arguments)
        for key, value in arguments.items():
            kind = members.get(key, {}).get("type")
            if isinstance(value, str) and kind in {"array", "object"}:
                try:
                    mended[key] = json.loads(value)
                except ValueError:
                    continue
        return mended

    def _advice(self, name: str, error: ValidationError) -> str:
        problems = [
            f"- {'.'.join(map(str, one['loc'])) or name}: {one['msg']}"
            for one in error.errors(include_url=False, include_input=False)[:10]
        ]
        words = parameters_in_words(self.definition(name).parameters)
        return (
            f"The call of {name} does not fit its parameters and was not run:\n"
            + "\n".join(problems)
            + f"\nCall it again with: {words}."
        )
