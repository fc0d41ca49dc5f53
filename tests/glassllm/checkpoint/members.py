"""The arrays of a good checkpoint, to be changed by tests."""

import json
from typing import Any

import numpy as np

from glassllm.config import Config
from glassllm.tokenizer import Tokenizer

CONFIG = Config(vocab_size=9, d_model=4, n_layers=2, n_heads=2, n_kv_heads=1, max_len=6)
TOKENIZER = Tokenizer("ab▁", [("a", "b"), ("▁", "ab")])

Members = dict[str, Any]


def random_weights(config: Config, dtype: Any = np.float32) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {name: rng.normal(size=shape).astype(dtype) for name, shape in config.parameter_shapes().items()}


def members(**changes: Any) -> Members:
    """All arrays of a good file, some replaced; None leaves one out."""
    arrays = {"__config__": np.array(CONFIG.to_json())} | random_weights(CONFIG) | changes
    return {name: array for name, array in arrays.items() if array is not None}


def config_text(**changes: Any) -> Any:
    return np.array(json.dumps(json.loads(CONFIG.to_json()) | changes))
