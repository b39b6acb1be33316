#!/usr/bin/env python3
"""Reads measurements and tells their mean."""

from __future__ import annotations

import json
from dataclasses import dataclass

LIMIT = 100
_cache: dict[str, float] = {}
version = "1.0"

if LIMIT > 50:
    print("large")


@dataclass(frozen=True)
class Measurement:
    """One value with a unit."""

    value: float
    unit: str = "m"

    @property
    def metres(self) -> float:
        if self.unit == "km":
            return self.value * 1000
        return self.value

    @classmethod
    def parse(cls, text: str) -> "Measurement":
        value, unit = text.split()
        return cls(float(value), unit)

    class Error(Exception):
        def __init__(self, text):
            super().__init__(f"cannot read {text!r}")


def mean(values, *, default=0.0):
    """The mean, or the default for nothing."""
    total = 0

    def add(value):
        nonlocal total
        total += value

    for value in values:
        add(value)
    return total / len(values) if values else default


async def read(path):
    async with open_file(path) as file:
        return [Measurement.parse(line) for line in file]


def mean_of_file(path): return mean([m.metres for m in read(path)])


# A second definition of the same name, as overloads have it.
def mean(values):
    return sum(values) / len(values)


square = lambda x: x * x

if __name__ == "__main__":
    print(json.dumps({"mean": mean_of_file("data.txt")}))
