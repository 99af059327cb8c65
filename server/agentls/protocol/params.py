"""The base of all params: lenient with what a client's language makes of an empty or absent object."""

from typing import Annotated, Any, TypeVar, cast

from pydantic import BeforeValidator, Field, model_validator

from agentls.schema.base import Value

T = TypeVar("T")


def as_object(given: object) -> object:
    """`null` and `[]` where an object is wanted are an empty object: Lua encodes an empty table as `[]`."""
    return {} if given is None or given == [] else given


Lenient = Annotated[T, BeforeValidator(as_object)]
"""A nested object for which `null` and `[]` mean `{}`."""

OpenObject = Lenient[dict[str, Any]]


class Params(Value):
    """Members that are null count as absent, unknown ones are ignored."""

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, given: object) -> object:
        given = as_object(given)
        if not isinstance(given, dict):
            return given
        members = cast("dict[str, object]", given)
        return {name: value for name, value in members.items() if value is not None}


class Empty(Value):
    """`{}`."""


class NoParams(Params):
    """`{}`."""


class OfSession(Params):
    session_id: str


class OfSessionMaybe(Params):
    session_id: str | None = None


PageSize = Annotated[int, Field(ge=1, le=500)]
