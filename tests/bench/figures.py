"""What a benchmark found, and how it is printed."""

import statistics
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Figure:
    name: str
    unit: str
    values: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    def line(self) -> str:
        spread = f"{min(self.values):,.1f} … {max(self.values):,.1f}, n={len(self.values)}" if self.values[1:] else ""
        return f"{self.name:<44}{self.median:>12,.1f} {self.unit:<4} {spread}"

    def members(self) -> dict[str, Any]:
        return {"name": self.name, "unit": self.unit, "median": self.median, "values": self.values}


def of(name: str, values: list[float], unit: str = "ms") -> Figure:
    """`values` of times are in seconds, all others as they are."""
    return Figure(name, unit, tuple(value * 1000 if unit == "ms" else value for value in values))
