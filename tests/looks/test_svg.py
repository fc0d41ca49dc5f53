"""Four pictures of the screen: both themes, two sizes. What they mean is asserted as text elsewhere.

`pytest tests/looks --snapshot-update` writes them anew; look at them before committing.
"""

from pathlib import Path

import pytest

from tests.tui.driving import command, has_opened, settled, wait_for
from tui.app import GlassApp

SAMPLE = Path(__file__).resolve().parents[2] / "samples" / "tiny.npz"
FORWARD = ("run-to blocks.1.attn.softmax",)
BACKWARD = ("run-to loss", "run-to blocks.1.resid.ffn", "select blocks.1.resid.attn")


@pytest.mark.parametrize(
    ("theme", "size", "walk"),
    [
        pytest.param("dark", (120, 36), FORWARD, id="dark-forward-120x36"),
        pytest.param("light", (120, 36), BACKWARD, id="light-backward-120x36"),
        pytest.param("dark", (80, 24), BACKWARD, id="dark-backward-80x24"),
        pytest.param("light", (80, 24), FORWARD, id="light-forward-80x24"),
    ],
)
def test_pictures(snap_compare, theme, size, walk):
    async def go(pilot):
        await wait_for(pilot, lambda: has_opened(pilot.app), "the file is open")
        for line in walk:
            await command(pilot, line)
        await settled(pilot)

    app = GlassApp(SAMPLE, theme=theme, colors="truecolor")
    assert snap_compare(app, terminal_size=size, run_before=go)
