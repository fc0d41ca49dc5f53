"""Golden screens of Train and Generate, where no number depends on a clock; others are left open."""

import re
from pathlib import Path

import pytest

from tests.looks.test_looks import FOLDER, SAMPLE, differences
from tests.tui.driving import press, settled, started
from tui import dump

OPEN = (
    (r" [\d.\u2009]+ tok/s", " … tok/s"),
    (r" +[\d\u2009]+ ms a step", " … ms a step"),
    (r"[\d:]+ left", "… left"),
)
"""What a clock decides, and what stands for it."""
CORPUS = Path(__file__).resolve().parents[2] / "samples" / "tiny.txt"
STEPS = "set steps=6 batch_size=2 seq_len=32 warmup=2 eval_every=2 lr=0.0003 weights=kept"
PLACES = (
    ("20-generate", "generate", (), ""),
    ("21-generate-on", "generate", ("temperature .8", "top-k 20", "top-p .9", "next 13"), "down down"),
    ("24-generate-event", "generate", ("next 13", "event-at 1.attn.softmax"), ""),
    ("22-train", "train", (STEPS,), ""),
    ("23-train-on", "train", (STEPS, "step 4"), "down"),
)


@pytest.mark.parametrize("size", ["160x45", "120x36", "80x24"])
@pytest.mark.parametrize("place", PLACES, ids=[place[0] for place in PLACES])
async def test_the_screens_beside_the_debugger_look_as_they_did(place, size, request):
    name, screen, lines, keys = place
    columns, rows = map(int, size.split("x"))
    async with started(SAMPLE, (columns, rows), corpus=CORPUS) as pilot:
        await pilot.app.show_screen(screen)
        await settled(pilot)
        for line in lines:
            pilot.app.screen.do(line)
            await settled(pilot)
        await press(pilot, keys)
        shown = dump.text(pilot.app)
        for pattern, instead in OPEN:
            shown = re.sub(pattern, instead, shown)
        assert not differences(FOLDER / size / f"{name}.txt", squeezed(shown), request)


def squeezed(shown: str) -> str:
    """Header and track without what a number of other length would shift."""
    header, track, *rest = shown.split("\n")
    return "\n".join([re.sub(" {2,}", "  ", header), re.sub("[━─]{2,}", "━", track), *rest, ""])
