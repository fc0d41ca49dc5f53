"""The Generate screen's track and header: how far the text is written, and how far its next token is."""

from glassllm.generation import Written
from tui.draw import numbers
from tui.draw.event_row import event_row, last_of_each, per_cell
from tui.draw.palette import Palette
from tui.draw.text import Row, Span, text_row

from .words import fact

LEAST = 6  # cells for the text's own progress beside a token's events


def track(view: Written, state: str, speed: int, width: int, palette: Palette) -> Row:
    """New tokens as a row: done heavy, those to the goal light, `▶` here. While a token is gone through by its
    events, these stand before it."""
    mark = "▶" if state == "playing" else "‖"
    head = [Span(f" {mark} ", "fwd" if mark == "▶" else "bright"), Span(f"{state}   ", "muted")]
    unit = "events" if view.event else "tokens"
    tail = [Span("   speed " if width >= 100 else " ", "muted"), Span(f"{speed}"), Span(f" {unit}/s ", "muted")]
    room = width - sum(len(span.text) for span in (*head, *tail)) - 1
    line: list[Span] = []
    if view.event:
        line = [*events_line(view, max(room - LEAST - 3, 3)), Span("   ")]
        room -= sum(len(span.text) for span in line)
    return text_row([*head, *line, *tokens_line(view, max(room, 1))], width, palette, "bg", tail)


def tokens_line(view: Written, room: int) -> list[Span]:
    here = min(round(view.depth / view.goal * (room - 1)), room - 1)
    mark = Span("━", "fwd") if view.event else Span("▶", "bright", bold=True)
    return [Span("━" * here, "fwd"), mark, Span("─" * (room - 1 - here), "line")]


def events_line(view: Written, room: int) -> list[Span]:
    """One cell an event, or as few events a cell as fit."""
    each = per_cell(view.events, room)
    known, here = len(view.moments), (view.event - 1) // each
    layers = [view.moments[i].layer if i < known else None for i in last_of_each(view.events, each)]
    return event_row(layers, here, here, "fwd")


def facts(view: Written, width: int) -> list[list[Span]]:
    """What the header says, the indispensable first."""
    said = [[Span("token ", "muted"), Span(str(view.depth), "bright", bold=True), Span(f"/{view.goal}")]]
    if view.event:
        said.append([Span("event ", "muted"), Span(str(view.event), "bright", bold=True), Span(f"/{view.events}")])
    if view.seconds:
        said.append([Span(f"{rate(1 / view.seconds)} tok/s")])
    said.append(fact("seed", str(view.seed), ""))
    seen = len(view.tokens) - view.unseen
    said.append(fact("context", f"{seen}/{view.max_len}", ""))
    if width >= 120:
        said += [fact("KV cache", "past the window" if view.unseen else "on", ""), [Span("no grad", "muted")]]
    return said


def rate(x: float) -> str:
    return numbers.count(round(x)) if x >= 1000 else numbers.stat(x)
