"""The lens pane: what each layer would say comes next, if the output matrix read it there."""

from glassllm.generation import Lens, Written
from tui.draw import numbers
from tui.draw.palette import Palette
from tui.draw.sight import in_sight
from tui.draw.text import Span, cut, pad

from .candidates import bar
from .choice import Choice, marked, name
from .spots import Sketch
from .words import nats

WIDE = 50
READ = ("embed", "resid.ffn")  # the events it reads


def lens_pane(view: Written, choice: Choice, width: int, height: int, palette: Palette) -> Sketch:
    """A row a layer, the deepest last: its likeliest token, its probability, and the rank of the marked one."""
    pane = Sketch(width, height, palette)
    pane.title("logit lens", "each layer read as if it were the last")
    if view.lens is None or height < 4:
        return pane
    cursor = marked(view, choice)
    token = None if cursor is None else cursor.token
    is_wide = width >= WIDE
    pane.words(1, 2, [Span(f"{'layer':<10}{'likeliest':<12}{'p':>6}", "faint")])
    rank = "" if token is None else f"rank {cut(name(view, token), 8)}"
    pane.words_right(width - 1, 2, [Span(rank + ("    nats" if is_wide else ""), "faint")])
    known = len(view.lens.names)
    for y, i in enumerate(in_sight(view.layers + 1, known - 1, height - 3)):
        if i < known:
            draw_layer(pane, view, view.lens, i, 3 + y, token)
        else:
            pane.words(1, 3 + y, [Span(f"blocks.{i - 1:<3}□ read off resid.ffn", "faint")])
    return pane


def draw_layer(pane: Sketch, view: Written, lens: Lens, i: int, y: int, token: int | None) -> None:
    """What one layer says, and how it ranks this token."""
    best = int(lens.probs[i].argmax())
    p, is_it, is_wide = float(lens.probs[i, best]), best == token, pane.width >= WIDE
    rank = "" if token is None else numbers.count(lens.ranks(token)[i])
    ends = (f"{rank:>8}" if rank else "") + (f"{nats(lens.entropies[i]):>8}" if is_wide else "")
    room = pane.width - 30 - len(ends) - 1
    is_now = view.moment is not None and view.moment.step in READ and i == len(lens.names) - 1
    pane.words(1, y, [
        Span(f"{cut(lens.names[i], 9):<10}", "fwd" if is_now else "muted", bold=is_now),
        Span(pad(cut(name(view, best), 11), 12), "fwd" if is_it else "text", bold=is_it),
        Span(f"{numbers.stat(p, 3):>6} "),
        Span(bar(p, room) if is_wide and room > 3 else "", "pos"),
    ])  # fmt: skip
    pane.words_right(pane.width - 1, y, [Span(ends, "text" if is_it else "muted")])
