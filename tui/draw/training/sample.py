"""The sample pane: what the model wrote at the newest validation, and how much it has seen of the text by then."""

from collections.abc import Sequence

from glassllm.train import Trained
from tui.draw import numbers
from tui.draw.palette import Palette
from tui.draw.pane import Pane
from tui.draw.text import ELLIPSIS, Span, Words, clean, cut

from .status import reason
from .tabs import title

MILLION = 1_000_000
SPACIOUS = 44  # columns from which words are in full
ROOMY = 12  # rows from which a blank one is left below the title


def sample_pane(view: Trained, tabs: Sequence[str], width: int, height: int, palette: Palette) -> Pane:
    """The text, what was given of it in muted; below, tokens seen and what is saved."""
    pane = Pane(width, height, palette)
    sample = view.sample
    step = [] if sample is None else [Span("step ", "muted"), Span(numbers.count(sample.step))]
    title(pane, tabs, "sample", "greedy, at the last validation", step, has_cursor=len(tabs) > 2)
    below = [seen(view, width), saved(view, width)] if height >= 5 else []
    top = 2 if height >= ROOMY else 1
    room = height - top - len(below) - bool(below)
    lines = waiting(view) if sample is None else written(sample.tokens, sample.prompt, width - 2, room)
    for y, words in enumerate(lines[: max(room, 0)]):
        pane.words(1, top + y, words)
    for y, words in enumerate(below):
        pane.words(1, height - len(below) + y - (height >= ROOMY), words)
    return pane


def waiting(view: Trained) -> list[Words]:
    """Why there is no sample yet."""
    if view.step and not view.tokens[1]:
        return [[Span("no validation, so no sample: the text is too short", "muted")]]
    return [[Span("none yet: ", "muted"), Span("v", "bright", bold=True), Span(" validates now", "muted")]]


def written(tokens: Sequence[str], prompt: int, width: int, height: int) -> list[Words]:
    """The text in lines, cut at the end where there is no room for all of it."""
    text = "".join(tokens)
    given = len("".join(tokens[:prompt]))
    lines = wrapped(text, max(width, 1))
    shown: list[Words] = []
    for i, (start, end) in enumerate(lines[:height]):
        line = clean(text[start:end])
        if i == height - 1 and len(lines) > height:
            line = cut(line + ELLIPSIS, width)
        split = min(max(given - start, 0), len(line))
        shown.append([Span(line[:split], "muted"), Span(line[split:])])
    return shown


def wrapped(text: str, width: int) -> list[tuple[int, int]]:
    """Where lines of at most `width` characters begin and end, broken at spaces and at the text's own ends."""
    lines: list[tuple[int, int]] = []
    start, size = 0, len(text)
    while start < size:
        while start < size and text[start] == " ":
            start += 1
        stop = text.find("\n", start, start + width + 1)
        if stop < 0:
            stop = size if size - start <= width else text.rfind(" ", start, start + width + 1)
        if stop <= start and text[start] != "\n":
            stop = min(start + width, size)  # one word longer than a line
        if start < size:
            lines.append((start, start + len(text[start:stop].rstrip(" "))))
        start = stop + (text[stop : stop + 1] == "\n")
    return lines


def seen(view: Trained, width: int) -> list[Span]:
    """How much was trained on so far."""
    settings, train = view.settings, view.tokens[0]
    tokens = view.step * settings.batch_size * settings.seq_len
    words = [Span("tokens seen " if width >= SPACIOUS else "seen ", "muted"), Span(amount(tokens))]
    if train:
        words += [Span("   epoch ", "muted"), Span(numbers.stat(tokens / train, 2))]
    return [*words, Span("   batch ", "muted"), Span(f"{settings.batch_size}×{settings.seq_len}")]


def amount(n: int) -> str:
    """`81 920`, `3.17 M`"""
    return numbers.count(n) if n < MILLION else f"{n / MILLION:.3g} M"


def saved(view: Trained, width: int) -> list[Span]:
    """Which step is kept, in which file."""
    if view.saving_fault:
        return [Span("not saved  ", "stop"), Span(reason(view.saving_fault), "muted")]
    if view.checkpoint is not None:
        best = ", best" if view.is_best_kept else ""
        return [
            Span("checkpoint  ", "muted"), Span(view.saved_in),
            Span(f" at {numbers.count(view.checkpoint)}{best}", "muted"),
        ]  # fmt: skip
    if view.saved is not None:
        return [Span("run  ", "muted"), Span(view.run_file), Span(f" at {numbers.count(view.saved)}", "muted")]
    when = ", at the end" if width >= SPACIOUS else ""
    return [Span("checkpoint  ", "muted"), Span(view.saved_in), Span(when, "muted")]
