"""What stands under the event list: the leaves' gradients in a traversal, at the logits the likeliest tokens."""

from math import hypot, isfinite, log10

from glassllm.debug.snapshot import GradientState, Row, Snapshot

from . import glyphs, numbers
from .palette import Palette
from .text import Row as Cells
from .text import Span, clean, cut, pad, text_row

BAR = 8
LOOKED_AT = 200  # leaves, of however many: a model's are all of them, a program may have one per number


def leaf_rows(snapshot: Snapshot, height: int, width: int, palette: Palette) -> list[Cells]:
    """The leaves' gradients in `height` rows: what is outside blocks first, then blocks, the newest first."""
    tape, at = snapshot.tape, snapshot.position
    states = {leaf: tape.gradient_state(leaf, at) for leaf in tape.leaves[:LOOKED_AT]}
    reached = sum(state.delivered > 0 for state in states.values())
    title = [Span(" leaf gradients", "muted")]
    count = [Span(str(reached)), Span(f" of {len(states)} ", "muted")]
    if len(states) < len(tape.leaves):
        count = [Span(f"the first of {numbers.count(len(tape.leaves))} ", "muted")]
    right = [Span("‖g‖   ", "faint"), *count]
    groups = grouped(snapshot, states)
    norms = [norm(snapshot, rows) for _, rows, _ in groups]
    largest = max((n for n in norms if n is not None and isfinite(n)), default=0.0)
    shown = list(zip(groups, norms, numbers.stats(norms[: height - 1]), strict=False))
    body = [
        group_row(marked(snapshot, group), group[2], size, text, largest, width, palette)
        for group, size, text in shown
    ]
    return [text_row(title, width, palette, right=right), *body]


Group = tuple[str, list[int], GradientState]


def grouped(snapshot: Snapshot, states: dict[int, GradientState]) -> list[Group]:
    """Leaves outside blocks one by one; a block's leaves together once all are final, else by their state."""
    rows = snapshot.tape.rows
    by_block: dict[str, list[int]] = {}
    for leaf in states:
        by_block.setdefault(block_of(rows[leaf]), []).append(leaf)
    groups: list[Group] = []
    for leaf in by_block.pop("", []):
        tied = "  tied" if states[leaf].edges > 1 else ""
        groups.append((rows[leaf].name + tied, [leaf], states[leaf]))
    waiting: list[Group] = []
    for block, leaves in reversed(by_block.items()):
        final = [leaf for leaf in leaves if states[leaf].is_final]
        if len(final) == len(leaves):
            groups.append((f"{block}  {len(leaves)}", leaves, states[leaves[0]]))
            continue
        short = block.replace("blocks.", "b.")
        if final:
            groups.append((f"{short} {' '.join(last_name(rows[x]) for x in final)}", final, states[final[0]]))
        rest = [leaf for leaf in leaves if leaf not in final]
        names = block if not final else f"{short} {' '.join(last_name(rows[x]) for x in rest)}"
        waiting.append((names, rest, states[rest[0]]))
    return groups + waiting


def marked(snapshot: Snapshot, group: Group) -> str:
    """A group's name, `~` before it where one of its leaves is stale."""
    name, leaves, _ = group
    return glyphs.marked(name, next(filter(None, map(snapshot.tape.staleness, leaves)), ""))


def block_of(row: Row) -> str:
    """`blocks.1` of `blocks.1.attn.W_Q`; empty for a leaf outside the blocks."""
    parts = row.name.split(".")
    return ".".join(parts[:2]) if len(parts) > 2 and parts[1].isdecimal() else ""


def last_name(row: Row) -> str:
    """`W_Q`; a norm's gamma as `γ`."""
    return "γ" if row.name.endswith("gamma") else row.name.rsplit(".", 1)[-1]


def norm(snapshot: Snapshot, leaves: list[int]) -> float | None:
    """‖g‖ over the leaves together; None where nothing has arrived."""
    found = [snapshot.tape.gradient_norm(leaf, snapshot.position) for leaf in leaves]
    known = [n for n in found if n is not None]
    return hypot(*known) if known else None


def group_row(
    name: str,
    state: GradientState,
    size: float | None,
    text: str,
    largest: float,
    width: int,
    palette: Palette,
) -> Cells:
    """One group: state, name, norm as a number and as a bar."""
    glyph, fg = glyphs.gradient_glyph(state)
    if size is None:
        cut_name = cut(name, width - 16)
        return text_row(
            [Span(f" {glyph} ", fg), Span(f"{cut_name}  ", "muted"), Span("not reached", "faint")], width, palette
        )
    partial = f"  {glyphs.of_edges(state)}" if not state.is_final else ""
    words = [Span(f" {glyph} ", fg), Span(cut(name, width - 19 - len(partial))), Span(partial, "bwd", bold=True)]
    full = bar(size, largest)
    right = [
        Span(text.rjust(6) + " "),
        Span("━" * full, "bwd"),
        Span("─" * (BAR - full), "line"),
        Span(" "),
    ]
    return text_row(words, width, palette, right=right)


def bar(size: float, largest: float) -> int:
    """Cells of a bar on a logarithmic scale: full at the largest and at Inf, two fewer for every tenth of it."""
    if not 0 < size < largest:
        return BAR if size >= largest and size > 0 else 0
    return max(1, round(BAR + 2 * (log10(size) - log10(largest))))


def next_token_rows(
    after: str, tokens: list[tuple[str, float]], actual: str | None, width: int, palette: Palette
) -> list[Cells]:
    """The likeliest next tokens after a position, as bars; the one that really follows is marked."""
    title = [Span(" next token after ", "muted"), Span(spaced(after))]
    rows = [text_row(title, width, palette, right=[Span("p ", "faint")])]
    room = max(width - 22, 4)
    for token, p in tokens:
        is_actual = token == actual
        full = round(p * room)
        words = [
            Span(f" {palette.marks.row} " if is_actual else "   ", "fwd"),
            Span(pad(clean(spaced(token)), 10), "bright" if is_actual else "text", bold=is_actual),
            Span(" " + "━" * full, "pos"),
            Span("─" * (room - full), "line"),
        ]
        rows.append(text_row(words, width, palette, right=[Span(share(p) + " ")]))
    return rows


def share(p: float) -> str:
    """A probability with three decimals: `.962`, `<.001`."""
    return "<.001" if 0 < p < 0.0005 else f"{p:.3f}".removeprefix("0")


def spaced(token: str) -> str:
    """A token with its leading space made visible."""
    return "·" + token[1:] if token.startswith((" ", "▁")) else token
