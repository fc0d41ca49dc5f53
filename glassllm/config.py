"""Config: the nine numbers that fix a model's shape, and the three we add to read other people's models.

Everything a checkpoint may contain follows from it: `parameter_shapes` lists each weight in file order, so a
reader knows every size before it touches data. A Config is checked when it is made; one that exists is valid.
"""

import json
import math
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from glassllm.files import brief

JSON_BYTES = 64 * 1024  # a config is a few hundred bytes; more is not a config
LARGEST_SIZE = 2**31 - 1

SIZES = ("vocab_size", "d_model", "n_layers", "n_heads", "n_kv_heads", "max_len")
OPTIONAL_SIZES = ("d_ff", "head_dim")
NUMBERS = ("rope_base", "eps", "init_std")
REAL = (int, float, np.integer, np.floating)

Shape = tuple[int, ...]


def _size(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 1 <= value <= LARGEST_SIZE:
        raise ValueError(f"{name} must be an integer from 1 to {LARGEST_SIZE}, got {brief(value)}")
    return int(value)


def _number(name: str, value: Any) -> float:
    lowest = "at least 0" if name == "init_std" else "above 0"
    # note: a plain comparison also refuses NaN and integers no float can hold
    fits = isinstance(value, REAL) and not isinstance(value, bool) and 0 <= value < 1e300
    if not fits or (value == 0 and name != "init_std"):
        raise ValueError(f"{name} must be a finite number {lowest}, got {brief(value)}")
    return float(value)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("config names a key twice")
    return values


def _no_constant(name: str) -> float:
    raise ValueError(f"config must hold finite numbers only, got {name}")


def _short_integer(digits: str) -> int:
    if len(digits) > 20:
        raise ValueError(f"config holds an integer of {len(digits)} digits")
    return int(digits)


@dataclass(frozen=True)
class Config:
    vocab_size: int = 1024
    d_model: int = 128
    n_layers: int = 4
    n_heads: int = 4
    n_kv_heads: int = 2
    max_len: int = 128
    rope_base: float = 10000.0
    eps: float = 1e-6
    init_std: float = 0.02
    d_ff: int | None = None  # None: int(8 * d_model / 3)
    head_dim: int | None = None  # None: d_model / n_heads
    tied: bool = True  # False: the output projection is a weight of its own, not E transposed

    def __post_init__(self) -> None:
        """Raise ValueError, naming the field, unless a model of this shape can be built."""
        for name in SIZES:
            object.__setattr__(self, name, _size(name, getattr(self, name)))
        for name in OPTIONAL_SIZES:
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _size(name, getattr(self, name)))
        for name in NUMBERS:
            object.__setattr__(self, name, _number(name, getattr(self, name)))
        if not isinstance(self.tied, bool):
            raise ValueError(f"tied must be true or false, got {brief(self.tied)}")
        if self.n_heads % self.n_kv_heads:
            raise ValueError(f"n_heads ({self.n_heads}) must be a multiple of n_kv_heads ({self.n_kv_heads})")
        if self.head_dim is None and self.d_model % self.n_heads:
            raise ValueError(f"d_model ({self.d_model}) must be a multiple of n_heads ({self.n_heads})")
        if self.head_size % 2:
            source = "d_model / n_heads" if self.head_dim is None else "head_dim"
            raise ValueError(f"{source} must be even for rotary embedding, got {self.head_size}")

    @property
    def head_size(self) -> int:
        """Channels of one head, c."""
        return self.d_model // self.n_heads if self.head_dim is None else self.head_dim

    @property
    def ffn_size(self) -> int:
        """Hidden channels of the feed-forward layer, f."""
        return 8 * self.d_model // 3 if self.d_ff is None else self.d_ff

    def block_shapes(self) -> dict[str, Shape]:
        """Weights of one block by their name within it, matrices laid (in, out)."""
        d, f = self.d_model, self.ffn_size
        queries = self.n_heads * self.head_size
        keys = self.n_kv_heads * self.head_size
        return {
            "norm1.gamma": (d,),
            "attn.W_Q": (d, queries),
            "attn.W_K": (d, keys),
            "attn.W_V": (d, keys),
            "attn.W_O": (queries, d),
            "norm2.gamma": (d,),
            "ffn.W1": (d, f),
            "ffn.W3": (d, f),
            "ffn.W2": (f, d),
        }

    def parameter_shapes(self) -> dict[str, Shape]:
        """Every weight of a checkpoint, in file order; `output` (d, V) only where it is not E transposed."""
        shapes: dict[str, Shape] = {"E": (self.vocab_size, self.d_model)}
        block = self.block_shapes()
        for layer in range(self.n_layers):
            shapes |= {f"blocks.{layer}.{name}": shape for name, shape in block.items()}
        shapes["norm_f.gamma"] = (self.d_model,)
        if not self.tied:
            shapes["output"] = (self.d_model, self.vocab_size)
        return shapes

    @property
    def parameter_count(self) -> int:
        """Numbers in all weights; computed without listing them, so it is safe for absurd configs."""
        block = sum(math.prod(shape) for shape in self.block_shapes().values())
        embeddings = (1 if self.tied else 2) * self.vocab_size * self.d_model
        return embeddings + self.n_layers * block + self.d_model

    def to_json(self) -> str:
        """The config as one JSON object; what we add stays out where it says nothing, for older readers."""
        silent = {"d_ff": None, "head_dim": None, "tied": True}
        values = asdict(self).items()
        return json.dumps(
            {name: value for name, value in values if not (name in silent and value == silent[name])}
        )

    @classmethod
    def from_json(cls, text: str) -> "Config":
        """Read what `to_json` writes; anything else is a ValueError of one line. Absent: the default."""
        if len(text) > JSON_BYTES or len(text.encode("utf-8", "replace")) > JSON_BYTES:
            raise ValueError(f"config is longer than {JSON_BYTES // 1024} KiB")
        try:
            values = json.loads(
                text,
                object_pairs_hook=_without_repeats,
                parse_constant=_no_constant,
                parse_int=_short_integer,
            )
        except RecursionError:
            raise ValueError("config is nested too deeply") from None
        except json.JSONDecodeError as error:
            raise ValueError(f"config is not JSON: {error}") from None
        if not isinstance(values, dict):
            raise ValueError(f"config must be a JSON object, got {brief(values)}")
        known = {field.name for field in fields(cls)}
        if unknown := [key for key in values if key not in known]:
            raise ValueError(f"config has unknown keys: {', '.join(map(brief, unknown[:5]))}")
        return cls(**values)
