"""The run pane: what is trained on what, with which settings, and where it is saved; first what went astray."""

from collections.abc import Sequence

from glassllm.train import Trained
from tui.draw import numbers
from tui.draw.palette import Palette
from tui.draw.pane import Pane
from tui.draw.text import Span, Words, cut

from .sample import amount, saved, seen
from .tabs import title

PAIRED_FROM = 44  # columns from which two settings stand on a line
ROOMY = 13  # rows from which a blank one is left below the title


def run_pane(view: Trained, tabs: Sequence[str], width: int, height: int, palette: Palette) -> Pane:
    pane = Pane(width, height, palette)
    is_free = view.state in ("not begun", "done")
    hint = [Span("e", "bright", bold=True), Span(" edits", "muted")] if is_free else []
    title(pane, tabs, "run", begun_from(view), hint, has_cursor=len(tabs) > 2)
    lines = [*trouble(view), *text_lines(view), *([seen(view, width)] if view.step else []), saved(view, width)]
    lines += settings_lines(view, width)
    top = 2 if height >= ROOMY else 1
    for y, words in enumerate(lines[: max(height - top, 0)]):
        pane.words(1, top + y, words)
    return pane


def begun_from(view: Trained) -> str:
    if view.resumed is not None:
        return f"gone on with at step {numbers.count(view.resumed)}"
    return "from new weights" if view.fresh else "from the model's own weights"


def trouble(view: Trained) -> list[Words]:
    """What went astray, where, and what to do; nothing where nothing did."""
    if (fault := view.fault) is None:
        return []
    return [
        [Span("! ", "stop", bold=True), Span(fault.fault, "bright", bold=True)],
        [Span(f"{fault.where} ", "muted"), Span(fault.place)],
        [Span(fault.remedy, "muted")],
    ]


def text_lines(view: Trained) -> list[Words]:
    """What is trained on."""
    train, valid = view.tokens
    sizes = f"{amount(train)} tokens, {amount(valid)} kept back" if train else "not read yet"
    lines: list[Words] = [
        [Span("text ", "muted"), Span(cut(view.corpus, 16, "tail")), Span(f"  {sizes}", "muted")]
    ]
    if view.unknown:
        lines.append([Span(f"{numbers.count(view.unknown)} characters unknown to the tokenizer", "muted")])
    return lines


def settings_lines(view: Trained, width: int) -> list[Words]:
    """All settings, two on a line."""
    values = {**view.settings.to_json(), "weights": "new" if view.fresh else "kept"}
    pairs = [(name, setting(value)) for name, value in values.items()]
    half = (len(pairs) + 1) // 2 if width >= PAIRED_FROM else len(pairs)
    lines: list[Words] = []
    for i in range(half):
        words = [Span(f"{pairs[i][0]:<14}", "muted"), Span(f"{pairs[i][1]:<8}")]
        if i + half < len(pairs):
            words += [Span(f"{pairs[i + half][0]:<14}", "muted"), Span(pairs[i + half][1])]
        lines.append(words)
    return lines


def setting(value: object) -> str:
    if value is None or isinstance(value, bool):
        return "on" if value else "off"
    return numbers.stat(value) if isinstance(value, float) else str(value)
