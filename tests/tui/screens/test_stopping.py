"""What esc stops: the command that runs, whatever has been typed since."""

from pathlib import Path

from tests.tui.driving import press, row, send, settled, started, text, wait_for

PROGRAM = """
from pathlib import Path
from glassllm import Tensor
x = Tensor([1.0, 2.0], requires_grad=True)
(x * x).sum().backward()
ran = Path(__file__).with_suffix(".ran")
while ran.exists():
    x * 2
ran.touch()
"""


async def test_a_program_that_runs_again_for_ever_is_stopped_with_what_waits_for_it(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    async with started(path, (80, 24)) as pilot:
        send(pilot, "r")
        await wait_for(pilot, lambda: "rerun" in row(pilot, -2), "how far it is")
        send(pilot, "n", "n")
        await wait_for(pilot, lambda: len(pilot.app.engine.activity.waiting) == 2, "what waits for it")
        send(pilot, "escape")
        await settled(pilot)
        assert "rerun" not in row(pilot, -2)
        await press(pilot, "L")
        assert "stopped after op" in text(pilot)
