"""JSON from a stranger, value by value: each function returns what was asked for or raises Fault."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from glassllm.files import brief, parse_json

from .encoding import Fault, Json
from .texts import NAME_CHARACTERS

PARSED_BYTES = 4 << 20  # what parsing may take
LARGEST = 2**31 - 1

T = TypeVar("T")


def parse(text: str) -> Json:
    """Bounded JSON."""
    try:
        return parse_json(text, PARSED_BYTES, parse_int=_short_integer, parse_constant=_no_constant)
    except ValueError as error:
        raise Fault(str(error)) from None


def _short_integer(digits: str) -> int:
    if len(digits) > 20:
        raise ValueError(f"an integer of {len(digits)} digits")
    return int(digits)


def _no_constant(name: str) -> float:
    raise ValueError(name)


def fields(value: Json, known: set[str], required: set[str]) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise Fault(f"must be an object, got {brief(value)}")
    if unknown := [key for key in value if key not in known]:
        raise Fault(f"unknown field {brief(unknown[0])}")
    if missing := sorted(required - value.keys()):
        raise Fault(f"{missing[0]} is missing")
    return value


def whole(value: Json, what: str, stop: int, start: int = 0) -> int:
    if type(value) is not int or not start <= value < stop:
        raise Fault(f"{what} must be an integer from {start} to {stop - 1}, got {brief(value)}")
    return value


def flag(value: Json, what: str) -> bool:
    if not isinstance(value, bool):
        raise Fault(f"{what} must be true or false, got {brief(value)}")
    return value


def line(value: Json, what: str) -> str:
    """Text that may be shown as it is."""
    if not isinstance(value, str) or len(value) > NAME_CHARACTERS or not value.isprintable():
        raise Fault(f"{what} must be one short line, got {brief(value)}")
    return value


def list_of(value: Json, what: str, most: int = LARGEST) -> list[Json]:
    if not isinstance(value, list) or len(value) > most:
        size = f"{len(value)} entries, more than {most}" if isinstance(value, list) else brief(value)
        raise Fault(f"{what} must be a list, got {size}")
    return value


def each(values: Iterable[Json], what: str, read: Callable[[Json], T]) -> list[T]:
    """Every value read; what is wrong with one names it."""
    made: list[T] = []
    for i, value in enumerate(values):
        try:
            made.append(read(value))
        except Fault as fault:
            raise Fault(f"{what} {i}: {fault}") from None
    return made
