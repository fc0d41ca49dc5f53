"""The Generate screen's board: rows as wide as asked at any size, and numbers that are those of the view."""

import numpy as np
import pytest

from glassllm import Config, GlassLM
from glassllm.generation import Writer, Written
from tests.tui.draw import boards
from tui.draw.palette import Palette
from tui.draw.text import row_width
from tui.draw.writing import page, timeline
from tui.draw.writing.candidates import bar, cut_words
from tui.draw.writing.choice import Choice, marked
from tui.draw.writing.rule import rule


@pytest.fixture(scope="module")
def views(tiny) -> list[Written]:
    """At the prompt, some tokens on, with filters, greedy, and past the window."""
    writer = Writer(tiny)
    found = [writer.view()]
    writer.next(5)
    found.append(writer.view())
    writer.set(temperature=0.7, top_k=20, top_p=0.8)
    found.append(writer.view())
    writer.set(greedy=True)
    writer.next(130)
    found.append(writer.view())
    return found


@pytest.mark.parametrize("palette", boards.PALETTES, ids=boards.name)
@pytest.mark.parametrize("size", boards.SIZES)
def test_all_rows_fill_the_board(views, size, palette):
    width, height = size
    for view in views:
        for choice in (Choice(), Choice(3, 7, 1, True), Choice(900)):
            rows = page.board(view, choice, width, height, palette)
            assert [row_width(row) for row in rows] == [width] * height
            assert row_width(timeline.track(view, "paused", 4, width, palette)) == width
            assert all(row_width(row) == width for row in rule(view, choice, width, 2, palette))


def test_the_candidates_are_the_likeliest_with_their_probabilities(views):
    view = views[1]
    screen = boards.text(page.board(view, Choice(), 160, 37, Palette()))
    for candidate in view.candidates.top(5):
        assert f"{candidate.probs[0]:.3f}".lstrip("0").rstrip("0")[:3] in screen
    assert f"perplexity {view.perplexity:.2f}" in screen


def test_what_a_filter_cuts_is_counted(views):
    found = views[2].candidates
    assert cut_words(found, "top-k").startswith("top-k 20 cuts 1\u2009004, p ")
    kept = {stage.name: stage.kept for stage in found.stages}
    assert cut_words(found, "top-p").startswith(f"top-p .8 cuts {20 - kept['top-p']}, p ")
    screen = boards.text(page.board(views[2], Choice(), 160, 37, Palette()))
    assert cut_words(found, "top-k") in screen


def test_the_cursor_is_on_the_next_token_until_it_is_moved(views):
    view = views[0]
    assert marked(view, Choice()).token == view.upcoming
    assert marked(view, Choice(rank=2)).token == view.candidates.order[2]


def test_the_rule_s_numbers_make_the_probability(views):
    view = views[1]
    rows = boards.text(rule(view, Choice(), 160, 2, Palette()))
    z, logits = view.candidates.logits[view.upcoming], view.candidates.logits.astype(float)
    assert f"exp(({z:.3f} − {logits.max():.3f}) / 1)".replace("-", "−") in rows
    assert f"{np.exp(logits - logits.max()).sum():.4g}" in rows


def test_past_the_window_the_text_says_how_much_is_out_of_sight(views):
    view = views[-1]
    assert view.unseen == len(view.tokens) - 128
    assert "tokens out of sight" in boards.text(page.board(view, Choice(), 160, 37, Palette()))


def test_logits_that_are_not_finite_are_said_and_nothing_fails():
    model = GlassLM(Config(vocab_size=9, d_model=4, n_layers=1, n_heads=1, n_kv_heads=1, max_len=8))
    model.norm_f.gamma.data[:] = np.nan
    with np.errstate(all="ignore"):
        view = Writer(model, [1, 2]).view()
    assert view.upcoming is None
    for width, height in boards.SIZES:
        rows = page.board(view, Choice(), width, height, Palette())
        assert [row_width(row) for row in rows] == [width] * height
    assert "NaN" in boards.text(page.board(view, Choice(), 160, 37, Palette()))


@pytest.mark.parametrize(
    ("share", "expected"), [(0, "    "), (1, "████"), (0.5, "██  "), (1 / 32, "▏   "), (0.002, "▏   ")]
)
def test_a_bar_is_as_long_as_its_share(share, expected):
    assert bar(share, 4) == expected
