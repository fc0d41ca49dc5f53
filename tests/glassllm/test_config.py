"""Config: defaults, the weights that follow from them, and a strict reading of strangers' JSON."""

import json
import math
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest

from glassllm.config import Config

CONFIGS = [
    Config(),
    Config(vocab_size=7, d_model=8, n_layers=1, n_heads=2, n_kv_heads=1, max_len=5),
    Config(d_model=8, n_heads=2, n_kv_heads=2, d_ff=5, head_dim=6, tied=False),
    Config(rope_base=500000, eps=1e-5, init_std=0),
]


def test_default_model_has_852608_parameters() -> None:
    assert Config().parameter_count == 852_608


def test_sizes_that_follow() -> None:
    assert (Config().head_size, Config().ffn_size) == (32, 341)
    given = Config(d_model=6, n_heads=4, head_dim=2, d_ff=9)
    assert (given.head_size, given.ffn_size) == (2, 9)
    assert all(Config(d_model=4 * k).ffn_size == int(8 * (4 * k) / 3) for k in range(2, 900, 2))


@pytest.mark.parametrize("config", CONFIGS)
def test_count_is_the_sum_of_shapes(config: Config) -> None:
    assert config.parameter_count == sum(math.prod(s) for s in config.parameter_shapes().values())


def test_weights_in_file_order() -> None:
    config = Config(vocab_size=7, d_model=8, n_layers=2, n_heads=2, n_kv_heads=1, d_ff=5, head_dim=6, tied=False)
    shapes = config.parameter_shapes()
    assert list(shapes.items())[:10] == [
        ("E", (7, 8)),
        ("blocks.0.norm1.gamma", (8,)),
        ("blocks.0.attn.W_Q", (8, 12)),
        ("blocks.0.attn.W_K", (8, 6)),
        ("blocks.0.attn.W_V", (8, 6)),
        ("blocks.0.attn.W_O", (12, 8)),
        ("blocks.0.norm2.gamma", (8,)),
        ("blocks.0.ffn.W1", (8, 5)),
        ("blocks.0.ffn.W3", (8, 5)),
        ("blocks.0.ffn.W2", (5, 8)),
    ]
    assert list(shapes.items())[-2:] == [("norm_f.gamma", (8,)), ("output", (8, 7))]
    assert "output" not in Config().parameter_shapes()


def test_frozen_and_equal_by_value() -> None:
    numpy_size: Any = np.int64(1024)
    assert Config() == Config(vocab_size=numpy_size) and hash(Config()) == hash(Config())
    config: Any = Config()
    with pytest.raises(FrozenInstanceError):
        config.d_model = 3


SIZES = ("vocab_size", "d_model", "n_layers", "n_heads", "n_kv_heads", "max_len")
BAD_FIELDS: list[tuple[str, dict[str, Any]]] = [
    *[(name, {name: bad}) for name in SIZES
      for bad in (0, -1, 1.0, True, "4", None, [4], 2**31, 10**5000, math.nan)],
    *[(name, {name: bad}) for name in ("d_ff", "head_dim") for bad in (0, -2, 2.0, True, "4", 10**5000)],
    *[(name, {name: bad}) for name in ("rope_base", "eps", "init_std")
      for bad in (-1.0, math.nan, math.inf, -math.inf, True, "1", None, 1j, 10**5000)],
    ("rope_base", {"rope_base": 0}),
    ("eps", {"eps": 0.0}),
    ("tied", {"tied": 1}),
    ("tied", {"tied": None}),
    ("n_kv_heads", {"n_heads": 4, "n_kv_heads": 3}),
    ("n_heads", {"n_heads": 3, "n_kv_heads": 3}),
    ("d_model", {"d_model": 12, "n_heads": 4}),
    ("head_dim", {"head_dim": 3}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "values"), BAD_FIELDS)
def test_a_bad_field_is_named(name: str, values: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=name) as fault:
        Config(**values)
    assert len(str(fault.value)) < 200


@pytest.mark.parametrize("config", CONFIGS)
def test_json_round_trip(config: Config) -> None:
    assert Config.from_json(config.to_json()) == config


def test_json_keeps_to_the_nine_known_fields() -> None:
    assert list(json.loads(Config().to_json())) == [*SIZES, "rope_base", "eps", "init_std"]
    assert json.loads(CONFIGS[2].to_json())["tied"] is False
    assert Config.from_json('{"d_ff": null, "head_dim": null}') == Config()


BAD_JSON = [
    ("not JSON", ""),
    ("not JSON", "{"),
    ("object", "[1]"),
    ("object", "null"),
    ("object", "3"),
    ("unknown keys: 'd_modle'", '{"d_modle": 3}'),
    ("twice", '{"d_model": 128, "d_model": 64}'),
    ("NaN", '{"eps": NaN}'),
    ("Infinity", '{"eps": -Infinity}'),
    ("eps", '{"eps": 1e999}'),
    ("d_model", '{"d_model": true}'),
    ("d_model", '{"d_model": null}'),
    ("d_model", '{"d_model": "128"}'),
    ("d_model", '{"d_model": 128.0}'),
    ("d_model", '{"d_model": {"a": 1}}'),
    ("deep", '{"a": ' * 9000),
    ("deep", "[" * 60000),
    ("64 KiB", " " * 65537),
    ("64 KiB", '"' + "é" * 40000 + '"'),
    ("digits", '{"d_model": ' + "9" * 5000 + "}"),
    ("unknown", json.dumps({"x" * 5000: 1})),
]


@pytest.mark.parametrize(
    ("words", "text"), BAD_JSON, ids=[f"{words}-{i}" for i, (words, _) in enumerate(BAD_JSON)]
)
def test_bad_json_is_one_line(words: str, text: str) -> None:
    with pytest.raises(ValueError, match=words) as fault:
        Config.from_json(text)
    assert "\n" not in str(fault.value) and len(str(fault.value)) < 300
