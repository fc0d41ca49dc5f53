"""Checkpoints: every file we write opens again, and so do those of older writers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glassllm.checkpoint import CheckpointError, load_checkpoint, save_checkpoint
from glassllm.config import Config
from glassllm.tokenizer import Tokenizer
from tests.glassllm.checkpoint.members import CONFIG, TOKENIZER, members, random_weights


@pytest.mark.parametrize("config", [CONFIG, Config(9, 4, 1, 2, 2, 6, d_ff=3, head_dim=6, tied=False)])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_saved_and_loaded(path: Path, config: Config, dtype: Any) -> None:
    weights = random_weights(config, dtype)
    notes = {"val_loss": [3.5, 2.5], "name": "näive"}
    save_checkpoint(path, config, weights, tokenizer=TOKENIZER, meta=notes, sample=[4, 5, 8])
    loaded = load_checkpoint(path)
    assert loaded.config == config and loaded.meta == notes and loaded.warnings == ()
    assert list(loaded.weights) == list(weights)
    for name, weight in weights.items():
        np.testing.assert_array_equal(loaded.weights[name], weight)
        assert loaded.weights[name].dtype == dtype
    assert loaded.tokenizer is not None and loaded.tokenizer.merges == TOKENIZER.merges
    assert loaded.sample is not None and loaded.sample.tolist() == [4, 5, 8]


def test_the_plain_file_of_older_writers(path: Path) -> None:
    np.savez_compressed(path, **members())
    loaded = load_checkpoint(str(path))
    assert (loaded.tokenizer, loaded.meta, loaded.sample, loaded.warnings) == (None, {}, None, ())


def test_what_is_ours_stays_out_of_a_plain_file(path: Path) -> None:
    save_checkpoint(path, CONFIG, random_weights(CONFIG))
    with np.load(path) as file:
        assert file.files == ["__config__", *CONFIG.parameter_shapes()]
        assert file["__config__"].shape == () and file["__config__"].dtype.kind == "U"


@pytest.mark.parametrize("change", [np.asfortranarray, lambda w: w.astype(">f4"), lambda w: w.astype(">f8")])
def test_any_order_of_axes_and_bytes(path: Path, change: Callable[[Any], Any]) -> None:
    weights = random_weights(CONFIG)
    np.savez(path, **members(**{name: change(weight) for name, weight in weights.items()}))
    for name, weight in load_checkpoint(path).weights.items():
        np.testing.assert_array_equal(weight, weights[name])
        assert weight.dtype.isnative and weight.flags.c_contiguous


def test_a_tokenizer_beside_the_file(path: Path) -> None:
    np.savez(path, **members())
    TOKENIZER.save(path.with_name("model.tokenizer.json"))
    tokenizer = load_checkpoint(path).tokenizer
    assert tokenizer is not None and tokenizer.alphabet == TOKENIZER.alphabet


def test_a_sample_may_have_a_batch_axis(path: Path) -> None:
    np.savez(path, **members(__sample__=np.array([[1, 2]], np.uint8)))
    sample = load_checkpoint(path).sample
    assert sample is not None and sample.tolist() == [1, 2] and sample.dtype == np.int64


def test_what_is_unknown_is_named_once_and_never_read(path: Path) -> None:
    objects: Any = np.array([{}])
    np.savez(path, **members(x=objects, y=np.zeros(3), **{"z\x1b[2J": np.zeros(3)}))
    (warning,) = load_checkpoint(path).warnings
    assert warning == r"skipped 3 unknown entries: 'x', 'y', 'z\x1b[2J'"


def test_a_tokenizer_smaller_than_the_model_is_worth_a_warning(path: Path) -> None:
    np.savez(path, **members(__tokenizer__=np.array(Tokenizer("ab", []).to_json())))
    assert load_checkpoint(path).warnings == ("the tokenizer names 6 of the model's 9 ids",)


def test_a_link_is_followed(path: Path) -> None:
    np.savez(path, **members())
    link = path.with_name("link.npz")
    link.symlink_to(path)
    assert load_checkpoint(link).config == CONFIG


def test_the_limit_is_an_option(path: Path) -> None:
    np.savez(path, **members())
    with pytest.raises(CheckpointError, match=r"limit of .* GiB; raise the limit"):
        load_checkpoint(path, limit_bytes=1000)
