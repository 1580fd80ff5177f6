"""Knobs: every tunable number, with its unit, range, reason and source.

An app declares its own in `<app>/knobs.py`; the operator overrides them by name in `data/knobs.toml` or in the
environment variable ECHOVESSEL_KNOBS (JSON). An unknown name or a value out of range fails a system check.

    half_life_days = knob("memory.half_life_days", 14, low=1, high=3650, unit="days", why="...", source="seed 000 A")
    half_life_days()  # 14, or what the operator set
"""

from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from django.conf import settings

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

REGISTRY: dict[str, "Knob"] = {}


@dataclass(frozen=True)
class Knob:
    """One tunable number; call it to read its current value."""

    name: str
    default: float
    low: float
    high: float
    unit: "StrOrPromise"
    why: "StrOrPromise"
    source: str = ""

    def __call__(self) -> float:
        return settings.KNOBS.get(self.name, self.default)

    def fault(self, value: object) -> str:
        """Why `value` is not allowed for this knob; "" if it is."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            return f"{value!r} is not a number"
        if not self.low <= value <= self.high:
            return f"{value!r} is outside {self.low}…{self.high} {self.unit}"
        return ""


class WholeKnob(Knob):
    """A knob that counts whole things."""

    def __call__(self) -> int:
        return int(super().__call__())

    def fault(self, value: object) -> str:
        if isinstance(value, float):
            return f"{value!r} is not a whole number"
        return super().fault(value)


def knob(
    name: str, default: float, *, low: float, high: float, unit: "StrOrPromise", why: "StrOrPromise", source: str = ""
) -> Knob:
    """Declare a fractional knob."""
    return _declare(Knob(name, default, low, high, unit, why, source))


def whole(
    name: str, default: int, *, low: int, high: int, unit: "StrOrPromise", why: "StrOrPromise", source: str = ""
) -> WholeKnob:
    """Declare a knob that counts whole things."""
    knob = WholeKnob(name, default, low, high, unit, why, source)
    _declare(knob)
    return knob


def _declare(knob: Knob) -> Knob:
    if knob.name in REGISTRY:
        raise ValueError(f"the knob {knob.name} is declared twice")
    if knob.fault(knob.default):
        raise ValueError(f"the default of {knob.name}: {knob.fault(knob.default)}")
    REGISTRY[knob.name] = knob
    return knob


def faults() -> list[str]:
    """Errors in the operator's overrides, one sentence each."""
    fault_texts = []
    for name, value in settings.KNOBS.items():
        if name not in REGISTRY:
            close = get_close_matches(name, list(REGISTRY), 1)
            fault_texts.append(f"there is no knob {name!r}" + (f"; did you mean {close[0]!r}?" if close else ""))
        elif fault := REGISTRY[name].fault(value):
            fault_texts.append(f"{name}: {fault}")
    return fault_texts
