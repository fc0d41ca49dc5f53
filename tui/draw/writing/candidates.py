"""The candidates pane: what may come next, how likely, and what temperature, top-k and top-p make of it."""

from glassllm.generation import Candidate, Candidates, Written
from tui.draw import numbers
from tui.draw.palette import Palette
from tui.draw.text import Row, Span, cut, pad, segments

from .choice import Choice, marked, name
from .spots import Sketch
from .words import nats

PARTS = " ▏▎▍▌▋▊▉█"
"""A cell filled from the left, by eighths."""
WIDE = 50  # columns from which both probabilities and their sum are shown


def candidates_pane(view: Written, choice: Choice, width: int, height: int, palette: Palette) -> Sketch:
    """The list around the cursor, cut away tokens in their place, and how the next one is chosen."""
    pane = Sketch(width, height, palette)
    after = "".join(view.tokens[-3:]).strip()
    found = view.candidates
    if found is None:
        pane.title("next token", f"after …{after}")
        waits = f"{'candidates ' * (width >= WIDE)}come with probs, event {view.events - 1} of {view.events}"
        said = Span(view.fault, "stop") if view.fault else Span(waits, "muted")
        pane.words(1, 1 if height < 4 else 2, [said])
        return pane
    facts = [Span(f"{numbers.count(len(found.order))} candidates" if width >= WIDE else "", "muted")]
    pane.title("next token", f"after …{after}", facts, has_cursor=not view.event)
    pane.words(1, 1, settings_words(view, found, width))
    ends = choice_words(view, choice)
    room = height - 4 - len(ends)
    if width >= WIDE:
        pane.words(2, 3, [Span(f"{'token':<13}{'model':>7}{'drawn from':>12}", "faint")])
        pane.words_right(width - 1, 3, [Span("Σp", "faint")])
    top = 4 if width >= WIDE else 3
    for y, (token, row) in enumerate(list_rows(view, choice, width, room - top + 3, palette)):
        pane.put(0, top + y, row)
        if token is not None:
            pane.spot(0, top + y, width, "candidate", token)
    for y, words in enumerate(ends):
        pane.words(1, height - len(ends) + y, words)
    return pane


def settings_words(view: Written, found: Candidates, width: int) -> list[Span]:
    chosen = view.sampling
    is_wide = width >= WIDE
    parts = [
        ("temperature" if is_wide else "T", numbers.stat(chosen.temperature)),
        ("top-k", "off" if chosen.top_k is None else str(chosen.top_k)),
        ("top-p", "off" if chosen.top_p is None else numbers.stat(chosen.top_p)),
    ]
    if chosen.greedy:
        parts = [("greedy", "on")]
    parts.append(("entropy" if is_wide else "H", nats(found.entropy) + " nats" * is_wide))
    gap = "   " if is_wide else "  "
    words: list[Span] = []
    for label, value in parts:
        words += [Span(f"{gap if words else ''}{label} ", "muted"), Span(value)]
    return words


def list_rows(
    view: Written, choice: Choice, width: int, room: int, palette: Palette
) -> list[tuple[int | None, Row]]:
    """So many rows: candidates by the model's own probability, a line where a filter begins to cut, the rest.

    With each its token, or None.
    """
    found, here = view.candidates, choice.rank
    assert found is not None
    if here is None:
        cursor = marked(view, choice)
        here = 0 if cursor is None else cursor.rank - 1
    most = max(room - len(found.stages) + 1, 1)
    first = max(0, min(here - most // 2, len(found.order) - most)) if here >= most else 0
    shown = [found.of(int(token)) for token in found.order[first : first + most]]
    total = float(found.stages[0].probs[found.order[:first]].sum())
    rows: list[tuple[int | None, Row]] = []
    cut_by = shown[0].cut_by if first else None
    for candidate in shown:
        if candidate.cut_by != cut_by and not view.sampling.greedy:
            rows.append((None, cut_row(found, candidate.cut_by, width, palette)))
            cut_by = candidate.cut_by
        total += candidate.probs[0]
        rows.append((candidate.token, candidate_row(view, choice, candidate, total, width, palette)))
    if left := len(found.order) - first - len(shown):
        words = f"  {numbers.count(left)} more"
        rest = numbers.stat(max(1 - total, 0.0), 2)
        rows.append((None, segments([Span(f"{words:<15}{rest:>7}", "muted")], palette)))
    return rows[: max(room, 1)]


def candidate_row(
    view: Written, choice: Choice, candidate: Candidate, total: float, width: int, palette: Palette
) -> Row:
    """Token, the model's probability, the one it is drawn with, its bar, and the sum so far."""
    is_cursor = candidate == marked(view, choice)
    is_next = candidate.token == view.upcoming
    bg = "select" if is_cursor else "panel"
    is_out = candidate.cut_by is not None
    tone = "faint" if is_out else "fwd" if is_next else "text"
    sign = palette.marks.row if is_cursor else "✓" if candidate.token in view.taken else " "
    wide = 13 if width >= WIDE else 10
    spans = [
        Span(sign, "fwd", bg=bg),
        Span(f" {pad(cut(name(view, candidate.token), wide - 1), wide)}", tone, bold=is_next, bg=bg),
        Span(f"{numbers.stat(candidate.probs[0]):>7}", tone, bg=bg),
    ]
    ends: list[Span] = []
    if width >= WIDE:
        drawn = "cut" if is_out else numbers.stat(candidate.probs[-1])
        spans.append(Span(f"{drawn:>12} ", tone, bg=bg))
        ends = [Span(f" {numbers.headless(f'{min(total, 1.0):.3f}'):>6} ", "muted", bg=bg)]
    room = width - sum(len(span.text) for span in (*spans, *ends)) - 1
    share = candidate.probs[1] if is_out else candidate.probs[-1]
    assert view.candidates is not None
    top = float(view.candidates.probs.max())
    filled = Span(bar(min(share / top, 1.0), room), "line" if is_out else "pos", bg=bg)
    return segments([*spans, Span(" ", bg=bg), filled, *ends], palette)


def bar(share: float, width: int) -> str:
    """So much of `width` cells, to an eighth of one; what is shown as a number shows here too."""
    eighths = min(round(share * width * 8), width * 8)
    if share > 0.001:
        eighths = max(eighths, 1)
    full, part = divmod(eighths, 8)
    return ("█" * full + (PARTS[part] if part else "")).ljust(max(width, 0))[: max(width, 0)]


def cut_row(found: Candidates, stage: str | None, width: int, palette: Palette) -> Row:
    """`┄┄┄ top-p .9 cuts 11 tokens, .095`: what a filter took from the stage before."""
    words = cut_words(found, stage)
    line = max(width - len(words) - 4, 2)
    return segments([Span("  " + "┄" * min(line, 8), "line"), Span(f" {words} ", "muted")], palette)


def cut_words(found: Candidates, stage: str | None) -> str:
    """`top-p .9 cuts 11, p .095`: how many tokens a filter took, and how likely they were together."""
    names = [each.name for each in found.stages]
    if stage not in names:
        return ""
    at = names.index(stage)
    here, before = found.stages[at], found.stages[at - 1]
    limit = found.sampling.top_k if stage == "top-k" else found.sampling.top_p
    gone = f"{numbers.count(before.kept - here.kept)}, p {numbers.stat(here.cut, 2)}"
    return f"{stage} {'' if limit is None else numbers.stat(limit)} cuts {gone}"


def choice_words(view: Written, choice: Choice) -> list[list[Span]]:
    """How the next token is chosen, and what enter does."""
    assert view.candidates is not None
    found = view.candidates.of(view.upcoming or 0)
    label = Span(name(view, view.upcoming), "fwd", bold=True)
    if view.upcoming is None:
        how = [Span(f"sample comes next, event {view.events} of {view.events}", "muted")]
    elif view.drawn is not None:
        share = f"[{numbers.stat(found.low)}, {numbers.stat(found.high)})"
        how = [Span("drawn ", "muted"), Span(f"u = {numbers.stat(view.drawn, 4)}"), Span(" in ", "muted"),
               Span(f"{share} ", "muted"), label]  # fmt: skip
    else:
        how = [Span(f"{view.how} ", "muted"), label]
    lines = [[Span(cut_words(view.candidates, stage.name), "muted")] for stage in view.candidates.stages[2:]]
    lines.append(how)
    cursor = marked(view, choice)
    if cursor is not None and cursor.token != view.upcoming:
        lines.append([Span("enter", "bright", bold=True), Span(" takes ", "muted"), Span(name(view, cursor.token)),
                      Span(" by hand", "muted")])  # fmt: skip
    elif view.taken:
        before = " ".join(name(view, token) for token in view.taken[:6])
        lines.append([Span("gone on before with ", "muted"), Span(before)])
    else:
        lines.append([Span("enter", "bright", bold=True), Span(" takes the marked candidate", "muted")])
    return lines
