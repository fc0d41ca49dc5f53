"""The words around the graph: its title, the facts about the selected item, and what keys and signs mean."""

from rich.cells import cell_len

from glassllm.debug.origins import lines_of
from glassllm.debug.snapshot import Row as TapeRow
from tui.draw.palette import Palette
from tui.draw.text import Row, Span, text_row

from .items import Item
from .paint import Moment
from .phrases import called, is_named, leaf_name, saves, shape_of, size_of

SIGNS = (("○", "faint", "not reached"), ("◐", "bwd", "k of n"), ("●", "bwd", "final"), ("━", "bwd", "carried"))
LISTED = 16
"""Names that a fact begins with, of however many; more never fit."""
MOST_ROWS = 500
"""Rows of a group up to which what they keep is added up while the frame waits."""
FACTS_AT = 15
"""The column at which a fact's words begin."""


def facts(moment: Moment, width: int) -> list[Row]:
    """What feeds the selected item, what it feeds, what it keeps for the way back, and the line that made it."""
    if moment.selected is None:
        return []
    graph, item = moment.graph, moment.graph.items[moment.selected]
    fed = [_named(moment, graph.edges.sources[e]) for e in graph.into[moment.selected][:LISTED]]
    fed += [_weight(leaf) for leaf in map(moment.tape.rows.__getitem__, item.weights) if is_named(leaf)]
    consumers = [graph.edges.targets[e] for e in graph.out_of[moment.selected]]
    outputs = [(called(graph.items[i], moment.tape), "text") for i in consumers[:LISTED]]
    words, held = saves(item, moment.tape) if len(item.rows) <= MOST_ROWS else ("too many nodes to add up", 0)
    kept = [] if item.kind == "group" and held else [(words, "text")]
    return [
        _fact("fed by", [word for pair in fed for word in pair], moment, width),
        _fact("feeds into", [*outputs, _counted(len(consumers))] if consumers else [], moment, width),
        _fact("saves for ∂", [*kept, (size_of(held), "muted")] if held else kept, moment, width),
        *_made_at(moment, item, width),
    ]


def _made_at(moment: Moment, item: Item, width: int) -> list[Row]:
    """The line that made the item; nothing where the recording does not say, or there are many."""
    found, what = lines_of(moment.tape, moment.tape.rows[item.boundary])
    if not found or item.kind == "group":
        return []
    return [_fact(what, [(found[0].short, "text"), (found[0].function, "muted")], moment, width)]


def _named(moment: Moment, i: int) -> list[tuple[str, str]]:
    item = moment.graph.items[i]
    shape = shape_of(moment.tape.rows[item.boundary], bool(moment.tape.events))
    return [(called(item, moment.tape), "text"), (shape, "muted")]


def _weight(leaf: TapeRow) -> list[tuple[str, str]]:
    return [(leaf_name(leaf), "text"), (shape_of(leaf, False), "muted")]


def _counted(consumers: int) -> tuple[str, str]:
    return f"{consumers} consumer{'s' if consumers > 1 else ''}", "muted"


def _fact(label: str, words: list[tuple[str, str]], moment: Moment, width: int) -> Row:
    """One fact. Where there is no room for all of it the muted words go first, then whole words from the end."""
    words = words or [("nothing", "muted")]
    room = width - FACTS_AT - 1
    if _width(words) > room:
        words = [word for word in words if word[1] != "muted"] or words
    shown = words
    for count in range(len(words) - 1, 0, -1):
        if _width(shown) <= room:
            break
        shown = [*words[:count], ("…", "muted")]
    spans = [Span(f" {label}".ljust(FACTS_AT), "muted")]
    spans += [Span(f"  {text}" if i else text, fg) for i, (text, fg) in enumerate(shown)]
    return text_row(spans, width, moment.palette)


def _width(words: list[tuple[str, str]]) -> int:
    return sum(cell_len(text) + 2 for text, _ in words) - 2


def legend(moment: Moment, width: int) -> Row:
    """Under the ranks: where `u` and `d` lead; back, what signs mean, as far as there is room."""
    words = [Span("  ")]
    if moment.is_back:
        left = width - 2
        for sign, fg, meaning in SIGNS:
            if (left := left - len(f"{sign} {meaning}  ")) >= -2:
                words += [Span(sign, fg), Span(f" {meaning}  ", "muted")]
    elif moment.selected is not None:
        graph, i = moment.graph, moment.selected
        above = [graph.edges[e].source for e in graph.into[i]]
        below = [graph.edges[e].target for e in graph.out_of[i]]
        for key, items in (("u", above), ("d", below)):
            if items:
                words += [
                    Span(key, "bright", True),
                    Span(f" {called(graph.items[items[0]], moment.tape)}   ", "muted"),
                ]
    return text_row(words, width, moment.palette)


def title(group: str, is_focused: bool, choice: str, width: int, palette: Palette) -> Row:
    """The panel's name, the group shown, and which of the two views; `choice` can be another word instead."""
    words = [
        Span("▌" if is_focused else " ", "bright"),
        Span("graph", "bright" if is_focused else "muted", is_focused),
        Span(f"  {group}" if group else "", "muted"),
    ]
    return text_row(words, width, palette, right=_choice(choice, width))


def _choice(choice: str, width: int) -> list[Span]:
    if choice not in ("layered", "rails"):
        return [Span(f"{choice} ", "muted")]
    if width < 44:
        return [Span("‹v› ", "faint"), Span(f"{choice} ", "muted")]
    tones = {each: "muted" if each == choice else "faint" for each in ("layered", "rails")}
    return [Span("layered ", tones["layered"]), Span("‹v›", "faint"), Span(" rails ", tones["rails"])]
