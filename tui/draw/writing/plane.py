"""A moment's value as a plane: the part of it that chooses the next token, and what its rows and columns are."""

from dataclasses import dataclass

import numpy as np

from glassllm.generation import Moment, Written
from tui.draw import numbers
from tui.draw.numbers import Array
from tui.draw.plane import Plane

from .axis import names
from .choice import Choice, head_in_layer

WRAPS = (32, 16, 8)  # columns into which a vector is broken, where it fits so
AXES = {
    "n": "position",
    "m": "key",
    "H": "head",
    "K": "KV head",
    "c": "channel",
    "d": "channel",
    "f": "hidden channel",
    "V": "token",
}


@dataclass(frozen=True)
class Part:
    """`rows` and `keys` are names, keys empty where the columns are none. `chosen` is the row whose numbers are
    written, None: all are; `words` say which these are."""

    plane: Plane
    rows: tuple[str, ...]
    keys: tuple[str, ...]
    chosen: int | None
    words: str

    @property
    def values(self) -> Array:
        """The numbers that are written."""
        values = self.plane.values
        return values.reshape(-1)[: self.plane.shape[0]] if self.chosen is None else values[self.chosen]


def part_of(view: Written, choice: Choice, moment: Moment, width: int) -> Part:
    """Where one position ran, all heads of it or its row broken into lines; else all positions, of one head."""
    value, axes = moment.value, moment.axes
    ran = value.shape[axes.index("n")] if "n" in axes else 1
    keys = names(view, value.shape[-1]) if axes[-1:] == ("m",) else ()
    if value.ndim == 3:
        head = head_in_layer(view, choice) * len(value) // view.heads
        whose = f"{'KV head' if axes[0] == 'K' else 'head'} {head + 1} of {len(value)}"
        if ran == 1:
            heads = tuple(f"{i + 1}" for i in range(len(value)))
            return Part(flat(value[:, 0]), heads, keys, head, whose)
        return Part(flat(value[head]), names(view, ran), keys, ran - 1, f"{whose}, last position")
    if ran > 1:
        return Part(flat(value), names(view, ran), (), ran - 1, "last position")
    made = wrapped(value.reshape(-1), width)
    starts = tuple(str(i * made.wrap) for i in range(len(made.values)))
    return Part(made, starts, (), None, f"all {numbers.count(value.size)}")


def flat(values: Array) -> Plane:
    """A matrix, its −inf taken for masked, the last row its cursor's."""
    hidden = np.isneginf(values)
    rows = len(values)
    return Plane(values, hidden if hidden.any() else None, None, 0, 1, (rows - 1, 0), values.shape)


def wrapped(vector: Array, width: int) -> Plane:
    """A vector broken into rows: medium cells where these fit, else as many small ones as there is room for.

    Its cursor is on the largest value.
    """
    wrap = next((wrap for wrap in WRAPS if 2 * wrap <= width), max(width, 1))
    if len(vector) > 12 * wrap:
        wrap = max(width, 1)
    wrap = min(wrap, len(vector))
    short = -len(vector) % wrap
    padded = np.pad(vector, (0, short)).reshape(-1, wrap)
    outside = np.arange(padded.size).reshape(padded.shape) >= len(vector) if short else None
    largest = int(np.abs(np.nan_to_num(vector)).argmax())
    return Plane(padded, None, outside, 0, 0, (largest,), vector.shape, wrap)


def axes_words(moment: Moment) -> str:
    """`4 heads × 1 position × 25 keys`, or `one number`."""
    counted = zip(moment.shape, moment.axes, strict=True)
    said = (f"{numbers.count(size)} {AXES[axis]}{'s' * (size != 1)}" for size, axis in counted)
    return " × ".join(said) or "one number"
