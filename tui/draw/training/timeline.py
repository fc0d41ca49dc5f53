"""The Train screen's track and header: how far the run is, and how fast it goes."""

import math

from glassllm.train import Trained
from tui.draw import numbers
from tui.draw.palette import Palette
from tui.draw.text import Row, Span, text_row

STATES = {"not begun": "‖", "training": "▶", "paused": "‖", "done": "■", "astray": "!"}


def track(view: Trained, width: int, palette: Palette) -> Row:
    """Steps done heavy, those to come light."""
    mark = STATES[view.state]
    tone = "fwd" if view.state == "training" else "stop" if view.state == "astray" else "bright"
    state = f"{view.state}  " if width >= 100 else ""
    head = [Span(f" {mark} ", tone, bold=True), Span(state, "muted")]
    tail = [
        Span(f"  {numbers.percent(view.step, view.settings.steps)}", "bright", bold=True),
        Span(f"   {left_words(view)} ", "muted"),
    ]
    if width >= 100 and view.state != "done":
        tail += [Span("  space", "text"), Span(" ‖ " if view.state == "training" else " ▶ ", "muted")]
    room = max(width - sum(len(span.text) for span in (*head, *tail)) - 1, 3)
    done = min(round(view.step / view.settings.steps * room), room)
    return text_row(
        [*head, Span("━" * done, "fwd"), Span("─" * (room - done), "line")], width, palette, "bg", tail
    )


def left_words(view: Trained) -> str:
    if view.state == "done":
        return "all steps taken"
    if view.seconds_left is None:
        return f"{numbers.count(view.settings.steps - view.step)} steps to go"
    return f"{numbers.clock(view.seconds_left)} left"


def facts(view: Trained, width: int) -> list[list[Span]]:
    """What the header says, the indispensable first."""
    steps = numbers.count(view.settings.steps)
    said = [[Span("step ", "muted"), Span(numbers.count(view.step), "bright", bold=True), Span(f"/{steps}")]]
    if view.report is not None:
        loss = view.report.loss
        said += [[Span("loss ", "muted"), Span(f"{loss:.3f}" if math.isfinite(loss) else numbers.special(loss))]]
        if width >= 100:
            said.append([Span("lr ", "muted"), Span(numbers.stat(view.report.lr, 2))])
    if view.seconds_per_step is not None and width >= 120:
        said.append([Span(f"{1000 * view.seconds_per_step:.0f} ms"), Span(" a step", "muted")])
    if view.tokens_per_second is not None:
        said.append(pace(view.tokens_per_second))
    return said


def pace(tokens_per_second: float) -> list[Span]:
    return [Span(numbers.count(round(tokens_per_second))), Span(" tok/s", "muted")]
