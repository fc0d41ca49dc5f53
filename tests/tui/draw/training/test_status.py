"""The Train screen's status line in every state of a run, and what leaving it would lose."""

from dataclasses import replace

import pytest

from glassllm.train import Divergence, RunSettings, Trained
from tui.draw.numbers import THIN
from tui.draw.training.status import said, unsaved

RUN = Trained(
    "not begun", RunSettings(steps=2000), True, "words.txt", (900, 100), 0, 3.0, 2.5, "a.npz", "a.train.npz"
)
FAULT = Divergence(8, "the loss is NaN", "blocks.1.ffn.W1", "first NaN in", "lower the learning rate")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, f"‖ not begun  words.txt, 2{THIN}000 steps; space begins"),
        ({"state": "training", "step": 120}, "▶ training  validation every 100 steps; next in 80"),
        ({"state": "training", "step": 100}, "▶ training  validation every 100 steps; next in 100"),
        ({"state": "training", "tokens": (900, 0)}, "▶ training  no validation: short text"),
        (
            {"state": "paused", "step": 1200},
            f"‖ paused  after step 1{THIN}200; space goes on",
        ),
        ({"state": "done", "step": 2000}, "‖ done  a.npz is written; space begins another run"),
        (
            {"state": "astray", "step": 9, "fault": FAULT},
            "! the loss is NaN: first NaN in blocks.1.ffn.W1",
        ),
        (
            {"resumable": "b.train.npz", "resumable_step": 30},
            "saved run  b.train.npz, step 30; R goes on",
        ),
    ],
)
def test_it_says_what_the_run_does_and_what_leads_on(changes, words):
    assert words in "".join(text for text, _ in said(replace(RUN, **changes)))


@pytest.mark.parametrize(
    ("step", "saved", "words"),
    [
        (0, None, ""),
        (5, 5, ""),
        (1, None, "a run of 1 step is not saved"),
        (1200, None, f"a run of 1{THIN}200 steps is not saved"),
        (12, 10, "2 of a run of 12 steps not saved yet"),
    ],
)
def test_what_would_be_lost(step, saved, words):
    assert unsaved(replace(RUN, step=step, saved=saved)) == words
