"""What is chosen on the Generate screen: how it changes, what stays of it, and which commands keys make of it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassllm.generation import Writer
from tui.draw.writing.choice import Choice, going_to, kept, layer_and_head, marked, marking, moved, taking, turned


@pytest.fixture(scope="module")
def writer(tiny):
    writer = Writer(tiny)
    writer.next(3)
    return writer


@pytest.fixture(scope="module")
def view(writer):
    writer.leave_events()
    return writer.view()


@pytest.fixture(scope="module")
def events(writer):
    """The views at all events of the next token, from 1."""
    found = [None]
    for event in range(1, len(writer.scopes()) + 1):
        writer.go_to_event(event)
        found.append(writer.view())
    writer.leave_events()
    return found


@pytest.mark.parametrize(
    ("rank", "by", "expected"), [(0, 1, 1), (5, 3, 8), (5, -9, 0), (1023, 1, 1023), (3, 5000, 1023)]
)
def test_the_mark_moves_and_the_ends_hold(view, rank, by, expected):
    assert moved(view, Choice(rank), by).rank == expected


def test_without_a_mark_it_starts_at_the_token_that_comes_next(view):
    at = view.candidates.of(view.upcoming).rank - 1
    assert moved(view, Choice(), 1).rank == at + 1


def test_any_candidate_can_be_marked(view):
    for token in view.candidates.order[:5]:
        assert marked(view, marking(view, Choice(), token)).token == token


def test_before_there_are_candidates_nothing_is_marked(events):
    assert events[3].candidates is None
    for unchanged in (moved(events[3], Choice(), 1), marking(events[3], Choice(), 7)):
        assert unchanged == Choice()


@given(st.integers(0, 15), st.integers(-99, 99))
def test_heads_go_round_and_come_back(view, head, by):
    there = turned(view, Choice(head=head), by)
    assert 0 <= there.head < view.layers * view.heads
    assert turned(view, there, -by).head == head


def test_at_first_a_head_of_the_last_layer_is_looked_at(view):
    assert layer_and_head(view, kept(None, view, Choice())) == (view.layers - 1, 0)


def test_the_mark_stays_at_its_place_only(view, events):
    choice = Choice(rank=4, head=6, tab=1, has_lens=True)
    assert kept(view, replace(view, seconds=1.0), choice) == choice
    for other in (events[1], replace(view, path=view.path[:-1])):
        assert kept(view, other, choice) == replace(choice, rank=None)


def test_while_weights_are_played_the_head_is_in_their_layer(events):
    played = [view for view in events[1:] if view.moment.step == "attn.softmax"]
    assert len(played) == played[0].layers
    for layer, view in enumerate(played):
        assert layer_and_head(view, kept(view, view, Choice(head=6))) == (layer, 6 % view.heads)


def test_enter_goes_on_with_what_is_marked(view, events):
    second = int(view.candidates.order[1])
    other = second if second != view.upcoming else int(view.candidates.order[0])
    assert taking(view, Choice()) == "next"
    assert taking(view, marking(view, Choice(), view.upcoming)) == "next"
    assert taking(view, marking(view, Choice(), other)) == f"take {other}"
    assert taking(events[3], Choice()) == "event-at probs"
    assert taking(replace(view, candidates=None, fault="NaN"), Choice()) == ""


def test_a_token_of_the_text_is_gone_back_to_and_the_prompt_is_as_far_as_it_goes(view):
    last = len(view.tokens) - 1
    lines = [going_to(view, Choice(), number) for number in (0, view.prompt - 1, view.prompt, last, last + 1)]
    assert lines == ["back 3", "back 3", "back 2", "", "next"]
