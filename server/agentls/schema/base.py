"""The base of all values, and how they look on the wire."""

import time
from collections.abc import Iterable
from typing import Any, Self

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Value(BaseModel):
    """A frozen value: snake_case here, camelCase on the wire and in the database; unknown members are ignored."""

    model_config = ConfigDict(
        frozen=True,
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        extra="ignore",
        defer_build=True,
    )

    def wire(self) -> bytes:
        """This value as JSON, absent members omitted."""
        return self.__pydantic_serializer__.to_json(self, by_alias=True, exclude_none=True)

    def members(self) -> dict[str, Any]:
        """This value as plain JSON members, absent ones omitted."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)

    def but(self, **changes: Any) -> Self:
        """A copy with some members changed. The new members are not validated: callers pass typed values."""
        return self.model_copy(update=changes)


class Raw:
    """JSON that is already encoded; it is spliced into a frame as it stands."""

    __slots__ = ("json",)

    def __init__(self, json: bytes) -> None:
        self.json = json

    @classmethod
    def of(cls, **members: str | None) -> Self:
        """An object of members that are JSON already; absent ones are left out."""
        return cls(json_object(**members).encode())


def json_object(**members: str | None) -> str:
    """An object of members that are JSON already; absent ones are left out."""
    return "{" + ",".join(f'"{name}":{value}' for name, value in members.items() if value is not None) + "}"


def json_array(items: Iterable[str]) -> str:
    """A list of items that are JSON already."""
    return f"[{','.join(items)}]"


def now() -> int:
    """Milliseconds since 1970 (UTC)."""
    return time.time_ns() // 1_000_000
