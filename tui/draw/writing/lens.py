"""The lens pane: what each layer would say comes next, if the output matrix read it there."""

from glassllm.generation import Written
from tui.draw import numbers
from tui.draw.palette import Palette
from tui.draw.pane import Pane
from tui.draw.text import Span, cut, pad

from .candidates import amount
from .choice import Choice, marked, name

WIDE = 50


def lens_pane(view: Written, choice: Choice, width: int, height: int, palette: Palette) -> Pane:
    """A row a layer, the deepest last: its likeliest token, its probability, and the rank of the marked one."""
    pane = Pane(width, height, palette)
    pane.title("logit lens", "each layer read as if it were the last")
    cursor = marked(view, choice)
    if view.lens is None or cursor is None or height < 4:
        return pane
    label = cut(name(view, cursor.token), 8)
    is_wide = width >= WIDE
    pane.words(1, 2, [Span(f"{'layer':<10}{'likeliest':<12}{'p':>6}", "faint")])
    pane.words_right(width - 1, 2, [Span(f"rank {label}" + ("    nats" if is_wide else ""), "faint")])
    top, ranks = view.lens.top(1)[:, 0], view.lens.ranks(cursor.token)
    rows = list(range(len(view.lens.names)))[-max(height - 3, 1) :]
    for y, i in enumerate(rows):
        token, p = int(top[i]), float(view.lens.probs[i, top[i]])
        is_it = token == cursor.token
        ends = f"{numbers.count(ranks[i]):>8}" + (f"{view.lens.entropies[i] + 0.0:>8.2f}" if is_wide else "")
        room = width - 30 - len(ends) - 1
        pane.words(1, 3 + y, [
            Span(f"{cut(view.lens.names[i], 9):<10}", "muted"),
            Span(pad(cut(name(view, token), 11), 12), "fwd" if is_it else "text", bold=is_it),
            Span(f"{numbers.stat(p, 3):>6} "),
            Span(amount(p, room) if is_wide and room > 3 else "", "pos"),
        ])  # fmt: skip
        pane.words_right(width - 1, 3 + y, [Span(ends, "text" if is_it else "muted")])
    return pane
