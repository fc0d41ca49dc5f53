"""RunSettings: all that was decided before a run began. Settings that exist are valid."""

import math
from dataclasses import asdict, dataclass, fields
from typing import Any

from glassllm.config import Config
from glassllm.files import brief

GIB = 1 << 30
LARGEST_ARRAY = 4 * GIB

WHOLE = {"steps": (1, 10**9), "batch_size": (1, 65536), "seq_len": (1, 65536), "eval_every": (1, 10**9)}
WHOLE |= {"warmup": (0, 10**9), "seed": (0, 2**63 - 1)}
"""Lowest and highest value of each whole number."""


@dataclass(frozen=True)
class RunSettings:
    """A run of training. Raises ValueError, naming the field, when made out of range."""

    steps: int = 1000
    batch_size: int = 16
    seq_len: int = 128
    lr: float = 3e-3  # after warm-up; see lr_schedule
    warmup: int = 100  # steps
    seed: int = 0  # of the batches
    eval_every: int = 100  # steps from one validation to the next
    weight_decay: float = 0.1
    max_norm: float = 1.0  # of all gradients together
    alarm: float | None = 3.0  # a loss so many times the best one stops the run; None: only NaN and Inf do
    fused: bool = False  # True: faster ops that hide their parts

    def __post_init__(self) -> None:
        for name, (lowest, highest) in WHOLE.items():
            value = getattr(self, name)
            is_whole = isinstance(value, int) and not isinstance(value, bool)
            if not is_whole or not lowest <= value <= highest:
                raise ValueError(f"{name} must be from {lowest} to {highest}, got {brief(value)}")
        self._need("lr", 0 < _real(self.lr) <= 10, "above 0 and at most 10")
        self._need("weight_decay", 0 <= _real(self.weight_decay) <= 10, "from 0 to 10")
        self._need("max_norm", 0 < _real(self.max_norm) < math.inf, "finite and above 0")
        self._need("alarm", self.alarm is None or 1 < _real(self.alarm) < math.inf, "finite and above 1")
        self._need("fused", isinstance(self.fused, bool), "true or false")

    def _need(self, name: str, is_so: bool, words: str) -> None:
        if not is_so:
            raise ValueError(f"{name} must be {words}, got {brief(getattr(self, name))}")

    def check_model(self, config: Config) -> None:
        """Raise ValueError where batches of this size do not fit the model, or no memory."""
        if self.seq_len > config.max_len:
            raise ValueError(f"seq_len must be at most the model's {config.max_len}, got {self.seq_len}")
        tokens = self.batch_size * self.seq_len
        widest = max(config.vocab_size, config.ffn_size, config.n_heads * self.seq_len)
        if (needed := 4 * tokens * widest) > LARGEST_ARRAY:
            arrays = f"arrays of {needed / GIB:,.0f} GiB"
            raise ValueError(f"batches of {self.batch_size} x {self.seq_len} tokens need {arrays}; take fewer")

    def to_json(self) -> dict[str, Any]:
        """The fields by name, numbers only."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Any) -> "RunSettings":
        """Read what `to_json` gives; anything else is a ValueError of one line. Absent: the default."""
        if not isinstance(values, dict):
            raise ValueError(f"settings must be a JSON object, got {brief(values)}")
        known = {field.name for field in fields(cls)}
        if unknown := sorted(values.keys() - known):
            raise ValueError(f"settings have unknown keys: {', '.join(map(brief, unknown[:5]))}")
        return cls(**values)


def _real(value: Any) -> float:
    """The number, or NaN, which is in no range, for anything else."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
