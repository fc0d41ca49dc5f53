"""The words of the graph: short names for chips, and what an op or event does, in a few signs."""

from collections.abc import Sequence

import numpy as np

from glassllm.autograd.ops import Array
from glassllm.debug.snapshot import Row, TapeView
from tui.draw import numbers

from .items import Item

RULES = {
    "attn.rope_q": "cos sin",
    "attn.rope_k": "cos sin",
    "attn.mask": "j > i → −∞",
    "attn.mix": "w · v",
    "resid.attn": "+",
    "resid.ffn": "+",
    "ffn.act": "silu(gate) ⊙ up",
    "loss": "−mean log p",
}
SIGNS = {
    "add": "+",
    "sub": "−",
    "mul": "×",
    "div": "÷",
    "neg": "−x",
    "matmul": "@",
    "sqrt": "√",
    "tsum": "Σ",
    "power": "xⁿ",
}
LETTERS = {"gamma": "γ"}
SHORTENED = ("attn.", "ffn.")


def chip_label(item: Item, rows: Sequence[Row], has_events: bool) -> str:
    """The text of a chip: `▸ blocks.0 ×18`, `softmax`, in a script the op and the weights folded into it."""
    if item.kind == "group":
        return f"▸ {item.name} ×{item.count}"
    if item.kind == "node" and not has_events:
        named = [leaf_name(rows[leaf]) for leaf in item.weights if is_named(rows[leaf])]
        return " ".join([item.name, *named])
    return short(item.name)


def called(item: Item, tape: TapeView) -> str:
    """An item's name among others; a node of a recording without events has its number."""
    if item.kind == "node" and not tape.events:
        return f"{item.name} {tape.rows[item.boundary].number}"
    return item.name


def short(name: str) -> str:
    for prefix in SHORTENED:
        name = name.removeprefix(prefix)
    return name


def is_named(leaf: Row) -> bool:
    """Whether a leaf has a name that says more than which argument it is."""
    return leaf.tracked or leaf.parameter


def leaf_name(leaf: Row) -> str:
    name = leaf.name.rpartition(".")[2]
    return LETTERS.get(name, name)


def shape_of(row: Row, has_events: bool) -> str:
    """The shape; of a model's run without the batch of one."""
    sizes = row.array.shape
    return numbers.shape(sizes[1:] if has_events and len(sizes) > 1 and sizes[0] == 1 else sizes)


def phrase(item: Item, tape: TapeView) -> str:
    """What the item does: a rule, the weights it uses, a sign, else its shape."""
    rows, has_events = tape.rows, bool(tape.events)
    shape = shape_of(rows[item.boundary], has_events)
    if item.kind == "group":
        return f"×{item.count} · {shape}"
    if item.name == "attn.scores":
        return f"q·kᵀ / √{_head_size(item, rows)}"
    if item.name in RULES:
        return RULES[item.name]
    weights = [_weight(rows[leaf]) for leaf in item.weights if is_named(rows[leaf])]
    sign = SIGNS.get(item.name, "") if item.kind == "node" else ""
    return "  ".join([*([sign] if sign else []), *(weights or [shape])])


def _weight(leaf: Row) -> str:
    return f"{leaf_name(leaf)} {numbers.shape(leaf.array.shape)}" if leaf.array.size > 1 else leaf_name(leaf)


def _head_size(item: Item, rows: Sequence[Row]) -> int:
    """The last axis of what the scores' matmul takes."""
    products = [row for row in item.rows if rows[row].name == "matmul"]
    return rows[rows[products[0]].inputs[0]].array.shape[-1] if products else 0


OUTPUT, INPUTS, SAVED = "its own output", "its inputs", "what its forward saved"
KEPT: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("add", "sub", "neg", "tsum", "mean", "reshape", "transpose", "getitem", "concat"), ()),
    **dict.fromkeys(("where", "embedding", "rope", "repeat_kv"), ()),
    **dict.fromkeys(("exp", "sqrt", "tanh", "sigmoid", "softmax", "log_softmax"), (OUTPUT,)),
    **dict.fromkeys(("mul", "matmul", "power", "log", "relu", "abs", "cross_entropy"), (INPUTS,)),
    **dict.fromkeys(("max", "clip", "div"), (OUTPUT, INPUTS)),
    "gelu": (SAVED,),
    "silu": (SAVED, OUTPUT),
}
"""What each op's rule reads besides shapes, attributes and the incoming gradient."""


def saves(item: Item, tape: TapeView) -> tuple[str, int]:
    """What the rules of an item's nodes read of its forward, in words, and its bytes, each buffer counted once."""
    words: dict[str, None] = {}
    buffers: dict[int, int] = {}
    for row in (tape.rows[i] for i in item.rows if tape.rows[i].kind == "node"):
        for part in KEPT.get(row.name, (SAVED, INPUTS)):
            held = [array for array in _parts(part, row, tape) if array.ndim]
            if held:
                words[part] = None
            buffers |= {array.__array_interface__["data"][0]: array.nbytes for array in held}
    return " and ".join(words) or "nothing", sum(buffers.values())


def _parts(part: str, row: Row, tape: TapeView) -> list[Array]:
    if part == OUTPUT:
        return [row.array]
    if part == INPUTS:
        return [tape.rows[i].array for i in row.inputs]
    return [saved for saved in row.saved if isinstance(saved, np.ndarray)]


def size_of(count: int) -> str:
    """Bytes as people say them: `640 B`, `2.3 kB`, `1.2 MB`."""
    for unit, power in (("GB", 9), ("MB", 6), ("kB", 3)):
        if count >= 10**power:
            return f"{count / 10**power:.1f} {unit}"
    return f"{count} B"
