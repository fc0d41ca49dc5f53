"""Attributes as JSON, and back. An array in one is told by its number among the recording's."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from glassllm.autograd.ops import Array
from glassllm.files import brief

Json = Any  # what json.loads makes

LARGEST_INTEGER = 2**63 - 1
DEEPEST = 16


class Fault(ValueError):
    """What is wrong with a recording, in one line that does not name the file."""


def encode(value: Any, number_of: Callable[[Array], int]) -> Json:
    """An attribute as JSON: numbers, text, None, slices, Ellipsis, arrays, and lists and tuples of them.

    Raises Fault for anything else.
    """
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (np.bool_, np.integer)):
        return value.item()
    if isinstance(value, int) and abs(value) <= LARGEST_INTEGER:
        return value
    if isinstance(value, float) and not isinstance(value, np.generic):
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, (np.ndarray, np.generic)):
        return {"array": number_of(np.asarray(value))}
    if value is ...:
        return {"ellipsis": True}
    if isinstance(value, slice):
        return {"slice": [encode(part, number_of) for part in (value.start, value.stop, value.step)]}
    if type(value) in (list, tuple):
        parts = [encode(part, number_of) for part in value]
        return parts if isinstance(value, list) else {"tuple": parts}
    raise Fault(f"{brief(value)} cannot be recorded")


def number(value: Json) -> float | None:
    """A float as `encode` writes it, or None."""
    if value is None or isinstance(value, float):
        return value
    if isinstance(value, dict) and list(value) == ["float"] and value["float"] in ("nan", "inf", "-inf"):
        return float(value["float"])
    raise Fault(f"must be a number, got {brief(value)}")


def decode(value: Json, array_of: Callable[[Json], Any], depth: int = 0) -> Any:
    """The attribute that `encode` wrote, each array's number replaced by what `array_of` makes of it.

    Raises Fault for anything else.
    """
    if depth > DEEPEST:
        raise Fault("an attribute is nested too deeply")
    if value is None or isinstance(value, (bool, str, int, float)):
        return value
    if isinstance(value, list):
        return [decode(part, array_of, depth + 1) for part in value]
    (tag, content), *others = value.items() or [("", None)]
    if others:
        raise Fault(f"an attribute has the tags {brief(', '.join(value))}")
    if tag == "array":
        return array_of(content)
    if tag == "ellipsis" and content is True:
        return ...
    if tag == "float":
        return number(value)
    if tag == "tuple" and isinstance(content, list):
        return tuple(decode(part, array_of, depth + 1) for part in content)
    if tag == "slice" and isinstance(content, list) and len(content) == 3:
        return slice(*(decode(part, array_of, depth + 1) for part in content))
    raise Fault(f"an attribute has the unknown tag {brief(tag)}")
