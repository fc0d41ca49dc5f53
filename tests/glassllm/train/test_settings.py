"""Settings of a run: what is out of range is named."""

import pytest

from glassllm.train import RunSettings


@pytest.mark.parametrize("name", ["steps", "batch_size", "seq_len", "eval_every", "warmup", "seed"])
@pytest.mark.parametrize("value", [-1, 2.5, "3", True, None, 2**70])
def test_whole_numbers(name, value):
    with pytest.raises(ValueError, match=f"{name} must be from"):
        RunSettings(**{name: value})


@pytest.mark.parametrize("name", ["steps", "batch_size", "seq_len", "eval_every"])
def test_at_least_one(name):
    with pytest.raises(ValueError, match=f"{name} must be from 1"):
        RunSettings(**{name: 0})


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("lr", [0, -1, 11.0, "x", None, True]),
        ("weight_decay", [-0.1, 99, None]),
        ("max_norm", [0, -1, float("inf")]),
        ("alarm", [1, 0.5, float("inf"), "3"]),
        ("fused", [1, None]),
    ],
)
def test_real_numbers(name, values):
    for value in [*values, float("nan")]:
        with pytest.raises(ValueError, match=f"{name} must be"):
            RunSettings(**{name: value})


def test_they_go_through_json():
    settings = RunSettings(steps=7, lr=0.1, alarm=None)
    assert RunSettings.from_json(settings.to_json()) == settings
    assert RunSettings.from_json({}) == RunSettings()
    with pytest.raises(ValueError, match="JSON object"):
        RunSettings.from_json([])
