"""The Train screen's board, its track and its rule: panes laid out by the size of the terminal."""

from glassllm.train import Trained
from tui.draw import numbers
from tui.draw.palette import Palette
from tui.draw.pane import Pane, Placed, board_rows
from tui.draw.text import Row, Span, Words, cut, text_row

from .losses import clipping, loss_pane, norm_pane
from .updates import updates_pane

TWO_FROM = 80
STATES = {"not begun": "‖", "training": "▶", "paused": "‖", "done": "■", "astray": "!"}


def board(
    view: Trained, here: int, is_log: bool, tab: int, width: int, height: int, palette: Palette
) -> tuple[Row, ...]:
    """All rows between the track and the rule. `here`: the chosen group; `tab`: which column where one fits."""
    if width < TWO_FROM:
        panes = (right if tab else left)(view, here, is_log, width, height, palette)
        return board_rows(width, height, palette, panes)
    wide = round(width * 0.595) if width >= 120 else round(width * 0.54)
    panes = left(view, here, is_log, wide, height, palette)
    others = right(view, here, is_log, width - wide - 1, height, palette, bool(tab))
    return board_rows(width, height, palette, [*panes, *((wide + 1 + x, y, pane) for x, y, pane in others)])


def left(view: Trained, here: int, is_log: bool, width: int, height: int, palette: Palette) -> list[Placed]:
    tall = min(15, height * 2 // 5) if height >= 24 else 5
    above = height - tall - 1
    return [
        (0, 0, loss_pane(view, is_log, width, above, palette)),
        (0, above + 1, norm_pane(view, width, tall, palette)),
    ]


def right(
    view: Trained, here: int, is_log: bool, width: int, height: int, palette: Palette, is_turned: bool = False
) -> list[Placed]:
    """How far the groups move, over the run's facts; where one fits, the facts until there is a step to show."""
    if height < 30:
        is_facts = (view.step == 0) != is_turned
        return [(0, 0, (run_pane(view, width, height, palette) if is_facts else
                        updates_pane(view, here, width, height, palette)))]  # fmt: skip
    tall = 14
    above = height - tall - 1
    return [
        (0, 0, updates_pane(view, here, width, above, palette)),
        (0, above + 1, run_pane(view, width, tall, palette)),
    ]


def run_pane(view: Trained, width: int, height: int, palette: Palette) -> Pane:
    """What is trained on what, with which settings, and where it is saved; first of all what went astray."""
    pane = Pane(width, height, palette)
    hint = [Span("e", "bright", bold=True), Span(" edits", "muted")] if view.state in ("not begun", "done") else []
    pane.title("run", "from new weights" if view.fresh else "from the model's own weights", hint)
    lines: list[Words] = []
    if view.fault is not None:
        fault = view.fault
        lines.append([Span("! ", "stop", bold=True), Span(fault.fault, "bright", bold=True)])
        lines.append([Span(f"{fault.where} ", "muted"), Span(fault.place)])
        lines.append([Span(fault.remedy, "muted")])
    train, valid = view.tokens
    sizes = f"{numbers.count(train)} tokens, {numbers.count(valid)} kept back" if train else "not read yet"
    lines.append([Span("text ", "muted"), Span(cut(view.corpus, 16, "tail")), Span(f"  {sizes}", "muted")])
    if view.unknown:
        lines.append([Span(f"{numbers.count(view.unknown)} characters unknown to the tokenizer", "muted")])
    if view.step:
        each = view.settings.batch_size * view.settings.seq_len
        seen = view.step * each
        epoch = f"   epoch {seen / train:.2f}" if train else ""
        lines.append([Span("seen ", "muted"), Span(f"{numbers.count(seen)} tokens{epoch}")])
    lines.append(saved(view))
    lines += settings_lines(view, width)
    for y, words in enumerate(lines[: max(height - 2, 0)]):
        pane.words(1, 2 + y, words)
    return pane


def saved(view: Trained) -> list[Span]:
    if view.saving_fault:
        return [Span("not saved ", "stop"), Span(view.saving_fault, "muted")]
    if view.saved is None:
        return [Span("saved as ", "muted"), Span(view.saved_in), Span(" every minute, and at the end", "muted")]
    return [
        Span("saved in ", "muted"),
        Span(view.saved_in),
        Span(f" at step {numbers.count(view.saved)}", "muted"),
    ]


def settings_lines(view: Trained, width: int) -> list[Words]:
    """All settings, two on a line."""
    values = {**view.settings.to_json(), "weights": "new" if view.fresh else "kept"}
    pairs = [(name, setting(value)) for name, value in values.items()]
    half = (len(pairs) + 1) // 2 if width >= 44 else len(pairs)
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
    return f"{clock(view.seconds_left)} left"


def clock(seconds: float) -> str:
    """`0:07`, `3:20`, `1:02:09`"""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def facts(view: Trained, width: int) -> list[list[Span]]:
    """What the header says, the indispensable first."""
    steps = numbers.count(view.settings.steps)
    said = [[Span("step ", "muted"), Span(numbers.count(view.step), "bright", bold=True), Span(f"/{steps}")]]
    if view.report is not None:
        said += [[Span("loss ", "muted"), Span(f"{view.report.loss:.3f}")]]
        if width >= 100:
            said.append([Span("lr ", "muted"), Span(numbers.stat(view.report.lr, 2))])
    if view.tokens_per_second is not None:
        said.append([Span(f"{numbers.count(round(view.tokens_per_second))} tok/s")])
    if view.seconds_per_step is not None and width >= 120:
        said.append([Span(f"{1000 * view.seconds_per_step:.0f} ms a step")])
    return said


def rule(view: Trained, width: int, count: int, palette: Palette) -> list[Row]:
    """The update and the clipping, and the last step's numbers in them."""
    is_wide = width >= 100
    top: Words = [
        Span(" AdamW", "bright", bold=True),
        Span("  w ← w − η ( m / (√v + ε) + λ w )"),
        *([Span("      clip  ", "muted"), Span("g ← g · min(1, c / ‖g‖)")] if is_wide else []),
    ]
    report, settings = view.report, view.settings
    if report is None:
        below: Words = [Span(" before the first step", "muted")]
    else:
        below = [
            Span(f" step {numbers.count(view.step)}", "bright", bold=True),
            Span("  ‖g‖ ", "muted"), Span(numbers.stat(report.grad_norm)),
            Span(clipping(view).replace("   ", " → "), "muted"),
            Span("   η ", "muted"), Span(numbers.stat(report.lr)),
            Span("   λ ", "muted"), Span(numbers.stat(settings.weight_decay)), Span(" on matrices only", "muted"),
        ]  # fmt: skip
    rows = [text_row(words, width, palette, "bg") for words in (top, below)]
    return rows[-count:] if count else []
