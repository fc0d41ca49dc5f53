"""Playing a token event by event: its events are those of generate's trace, and looking changes nothing."""

import numpy as np
import pytest

from glassllm import STEPS, Config, GlassLM
from glassllm.generation import Continuations, Sampling, Writer
from glassllm.generation.playback import MEANINGS, moments, sections, total
from glassllm.tokenizer import EOS

CONFIG = Config(vocab_size=20, d_model=8, n_layers=4, n_heads=4, n_kv_heads=2, max_len=12, init_std=0.3)
PROMPT = [1, 2, 3]


@pytest.fixture
def model():
    return GlassLM(CONFIG, seed=1)


def values(told):
    return [(m.step, m.layer, m.value) for m in told]


@pytest.mark.parametrize("sampling", [Sampling(), Sampling(0.5, False, 9, 0.8), Sampling(greedy=True)])
def test_the_events_are_those_of_generate_to_the_bit(model, sampling):
    """For the first token, for later ones, and past max_len, where the whole window runs."""
    writer = Writer(model, PROMPT, seed=4)
    writer.tree.sampling = sampling
    options = {"temperature": sampling.temperature, "greedy": sampling.greedy}
    options |= {"top_k": sampling.top_k, "top_p": sampling.top_p}
    for i, new in enumerate(model.generate(PROMPT, 14, seed=4, trace=True, **options)):
        writer.go_to_event(77)
        view = writer.view()
        assert len(view.moments) == view.events == len(new.trace.records) == 77
        for number, (moment, record) in enumerate(zip(view.moments, new.trace.records, strict=True), 1):
            assert (moment.number, moment.step, moment.layer) == (number, record.id, record.layer)
            assert moment.shape == record.shape and np.array_equal(moment.value, record.value)
            assert moment.value.dtype == record.value.dtype and not moment.value.flags.writeable
        assert view.moments[0].shape == ((3,) if i == 0 else (12,) if i > 9 else (1,)) + (8,)
        assert np.array_equal(view.moments[75].value, view.candidates.probs)
        assert view.moment.value == view.upcoming == new.token
        writer.next_event()
        assert (writer.event, writer.tree.node.token) == (1, new.token)


def test_looking_changes_nothing(model):
    plain, looked = (Writer(model, PROMPT, seed=4) for _ in range(2))
    for _ in range(12):
        before = (list(looked.tree.nodes), looked.tree.here, looked.tree.candidates)
        trace = looked.tree.traced()
        assert (looked.tree.nodes, looked.tree.here) == before[:2] and looked.tree.candidates is before[2]
        assert np.array_equal(trace.get("logits").value[-1], looked.tree.candidates.logits)
        plain.next()
        looked.next()
    assert plain.tree.ids() == looked.tree.ids()
    assert np.array_equal(plain.tree.candidates.logits, looked.tree.candidates.logits)


def test_any_place_of_the_tree_can_be_played(model):
    writer = Writer(model, PROMPT, seed=4)
    writer.next(6)
    writer.back(4)
    writer.take(7)
    alone = Continuations(model, PROMPT, seed=4)
    for token in writer.tree.ids()[3:]:
        alone.take(token)
    told = moments(writer.tree.traced(), writer.tree.candidates, 0)
    for mine, its in zip(told, moments(alone.traced(), alone.candidates, 0), strict=True):
        assert np.array_equal(mine.value, its.value)


def test_on_and_back_are_inverse_and_cross_tokens(model):
    writer = Writer(model, PROMPT, seed=4)
    expected = [new.token for new in model.generate(PROMPT, 2, seed=4)]
    places = []
    for _ in range(160):
        writer.next_event()
        places.append((writer.event, writer.tree.ids()))
    assert places[76] == (77, (1, 2, 3)) and places[77] == (1, (1, 2, 3, expected[0]))
    assert places[159] == (6, (1, 2, 3, *expected))
    for place in places[-2::-1]:
        writer.previous_event()
        assert (writer.event, writer.tree.ids()) == place
    writer.previous_event()
    assert writer.event == 1, "there is nothing before the prompt's first event"


def test_whole_tokens_lead_to_the_first_event_of_the_next(model):
    writer = Writer(model, PROMPT, seed=4)
    for move in (writer.next, writer.back, lambda: writer.take(5), writer.first, writer.last):
        writer.go_to_event(30)
        move()
        assert writer.event == 1
    writer.leave_events()
    writer.next()
    assert writer.event == 0
    writer.previous_event()
    assert writer.event == 77
    list(writer.writing())
    assert writer.event == 0


def test_finish_goes_from_block_to_block(model):
    writer = Writer(model, PROMPT, seed=4)
    ends, starts = [], []
    for _ in range(7):
        writer.finish()
        ends.append(writer.event)
    assert ends == [1, 19, 37, 55, 73, 77, 1]
    writer.go_to_event(77)
    for _ in range(6):
        writer.finish_back()
        starts.append(writer.event)
    assert starts == [74, 56, 38, 20, 2, 1]
    assert sections(writer.tree.traced().records)[0] == (1, 1)


def test_a_view_knows_only_what_has_been_computed(model):
    writer = Writer(model, PROMPT, seed=4)
    whole = writer.view()
    assert (whole.event, whole.moment, whole.looked, whole.is_waiting) == (0, None, 4, False)
    seen = {}
    for event in range(1, 78):
        writer.go_to_event(event)
        view = seen[event] = writer.view()
        assert view.moment.number == event and view.is_waiting == (event < 76)
        assert (view.upcoming is None) == (event < 77) == (view.drawn is None)
        done = [m.step for m in view.moments[:event]]
        assert view.looked == done.count("attn.softmax")
        assert len(view.lens.names) == 1 + done.count("resid.ffn")
    assert [len(seen[i].lens.names) for i in (1, 18, 19, 73)] == [1, 1, 2, 5]
    assert np.array_equal(seen[76].candidates.probs, whole.candidates.probs)
    assert (seen[77].upcoming, seen[77].drawn) == (whole.upcoming, whole.drawn)
    for layer in range(4):
        row = seen[77].moments[1 + 18 * layer + 8]
        assert row.scope == f"blocks.{layer}.attn.softmax"
        assert np.array_equal(whole.attention[layer], row.value[:, -1])


def test_settings_change_the_choice_and_leave_the_forward(model):
    writer = Writer(model, PROMPT, seed=4)
    writer.go_to_event(76)
    before = writer.view()
    writer.set(temperature=0.2, top_k=3)
    after = writer.view()
    assert after.event == 76 and np.count_nonzero(after.moment.value) == 3
    assert all(a.value is b.value for a, b in zip(before.moments[:75], after.moments[:75], strict=True))


def test_where_no_token_can_be_drawn_the_forward_is_played_all_the_same(model):
    model.norm_f.gamma.data[:] = np.nan
    with np.errstate(all="ignore"):
        writer = Writer(model, PROMPT)
        writer.go_to_event(75)
        view = writer.view()
        assert view.moment.step == "logits" and "NaN" in view.fault and not view.is_waiting
        writer.previous_event()
        assert writer.view().fault == "" and writer.view().is_waiting
        with pytest.raises(IndexError, match="from 1 to 75"):
            writer.go_to_event(76)
        writer.go_to_event(75)
        with pytest.raises(ValueError, match="NaN"):
            writer.next_event()
        assert writer.event == 75


def test_a_fused_model_is_played_by_its_composed_ops(model):
    plain = Continuations(model, PROMPT).traced()
    model.fused = True
    trace = Continuations(model, PROMPT).traced()
    assert trace.step_ids() == plain.step_ids() and model.fused
    assert all(np.array_equal(a.value, b.value) for a, b in zip(trace.records, plain.records, strict=True))


def test_every_event_of_a_token_says_what_it_is_for():
    assert set(MEANINGS) == set(STEPS) - {"loss", "loss.grad"}
    assert all(meaning and len(meaning) < 80 and not meaning.endswith(".") for meaning in MEANINGS.values())


def test_events_are_counted_without_running_any():
    for layers in (1, 3):
        cfg = Config(vocab_size=9, d_model=4, n_layers=layers, n_heads=1, n_kv_heads=1, max_len=8)
        writer = Writer(GlassLM(cfg), [1, 2])
        assert writer.view().events == total(layers) == 5 + 18 * layers == len(writer.scopes())


def test_what_is_large_is_kept_only_while_events_are_gone_through(model):
    kept = []
    for event in (0, 1):
        writer = Writer(model, PROMPT, seed=4)
        if event:
            writer.next_event()
        view = writer.view()
        kept.append({moment.step for moment in view.moments})
        assert np.array_equal(view.attention, Writer(model, PROMPT, seed=4).view().attention)
    assert kept[0] == set() and kept[1] == set(MEANINGS)


def test_playing_is_over_where_it_leads_nowhere_or_the_text_ends(model):
    writer = Writer(model, PROMPT, seed=4)
    begun = writer.view()
    writer.next_event()
    inside = writer.view()
    assert not inside.is_over(begun) and inside.is_over(inside)
    writer.take(EOS)
    ended = writer.view()
    assert ended.is_over(inside) and ended.place == (ended.path, 1)
    writer.next_event()
    assert not writer.view().is_over(ended), "events behind the end can be played"
    writer.take(EOS + 1)
    assert not writer.view().is_over(ended)
