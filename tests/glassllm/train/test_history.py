"""The past of a run: which of its states are kept, and that any step taken again is the one there was."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassllm import Config, GlassLM
from glassllm.train import Autosave, History, RunSettings, Trainer, load_state

TINY = Config(vocab_size=16, d_model=8, n_layers=2, n_heads=2, n_kv_heads=1, max_len=16, init_std=0.3)
DATA = np.random.default_rng(0).integers(0, 16, 400)
VALID = np.random.default_rng(1).integers(0, 16, 60)


def trainer(**changes):
    settings = {"steps": 40, "batch_size": 3, "seq_len": 8, "lr": 0.01, "warmup": 4, "seed": 3, "eval_every": 6}
    return Trainer(GlassLM(TINY), DATA, RunSettings(**settings | changes), VALID)


def advance(run, history, steps):
    """So many steps, each kept if it should be; what the trainer knew of each, by its number."""
    known = {}
    while steps:
        if run.owes_validation:
            run.measure()
        else:
            run.advance()
            history.keep()
            known[run.step] = run.last_step
            steps -= 1
    return known


def taken(again):
    """The step taken again, and how far the way there was."""
    ways = []
    while True:
        try:
            ways.append(next(again))
        except StopIteration as end:
            return end.value, ways


def same(a, b):
    """Whether two steps are the same to the bit."""
    arrays = [(a.x, b.x), (a.y, b.y), *((x[name], y[name]) for x, y in both(a, b) for name in x)]
    numbers = [(s.step, s.loss, s.lr, s.clip_factor) for s in (a, b)]
    return all(np.array_equal(x, y) for x, y in arrays) and numbers[0] == numbers[1]


def both(a, b):
    return (a.weights, b.weights), (a.gradients, b.gradients)


def state_of(run):
    return {
        name: p.data.tobytes() for name, p in run.model.named_parameters().items()
    }, run.rng.bit_generator.state


# What is kept


class Walker:
    """A run of which only the steps count."""

    def __init__(self, step):
        self.step = step
        self.model = GlassLM(TINY)

    def bare(self):
        return SimpleNamespace(run=SimpleNamespace(step=self.step))


@given(first=st.integers(0, 50), steps=st.integers(0, 300), most=st.integers(1, 12))
def test_states_stand_equally_far_apart_and_are_never_too_many(first, steps, most):
    walker = Walker(first)
    history = History(walker, Autosave("x"), most=most)
    for walker.step in range(first + 1, first + steps + 1):
        history.keep()
        kept = history.steps
        assert kept[0] == first and len(kept) <= most
        if most > 1:
            assert set(np.diff(kept)) <= {history.stride}
            assert walker.step - kept[-1] < history.stride
    assert history.stride <= max(2 * steps / max(most - 1, 1), 1)


def test_a_large_model_has_few_states_and_its_first_one_always():
    each = 12 * sum(p.size for p in GlassLM(TINY).parameters())
    for room, count in ((0, 1), (2.5, 2), (100, 12)):
        run = trainer()
        history = History(run, Autosave("x"), most_bytes=int(room * each))
        advance(run, history, 23)
        assert len(history.steps) == count and history.steps[0] == 0


# Steps taken again


@pytest.mark.parametrize("fused", [False, True])
def test_every_step_taken_again_is_the_same_to_the_bit(fused):
    run = trainer(fused=fused, max_norm=1.3)
    history = History(run, Autosave("x"), most=4)
    known = advance(run, history, 25)
    assert {step.clip_factor < 1 for step in known.values()} == {True, False}
    for number in (1, 2, 8, 13, 12, 14, 24, 25):
        found, ways = taken(history.again(number))
        assert same(found, known[number]), number
        assert all(done < total <= history.stride for done, total, _ in ways)


def test_the_steps_next_to_one_taken_again_are_near():
    run = trainer()
    history = History(run, Autosave("x"), most=2)
    known = advance(run, history, 30)
    assert len(taken(history.again(13))[1]) > 2
    found, ways = taken(history.again(14))
    assert same(found, known[14]) and len(ways) == 2


def test_taking_steps_again_does_not_change_the_run():
    run, other = trainer(), trainer()
    history = History(run, Autosave("x"), most=3)
    advance(run, history, 10)
    known = dict(run.last_step.gradients)
    for number in (1, 4, 9):
        for _ in history.again(number):
            advance(run, history, 1)
    advance(other, History(other, Autosave("x")), run.step)
    assert run.step > 12 and state_of(run) == state_of(other)
    assert run.curves["loss"].bins.tobytes() == other.curves["loss"].bins.tobytes()
    assert all(not known[name].flags.writeable for name in known)


def test_a_step_that_went_astray_is_taken_again_like_the_others():
    run = trainer(lr=10.0, warmup=0, weight_decay=10.0, alarm=None, steps=200)
    history = History(run, Autosave("x"), most=2)
    with np.errstate(all="ignore"):
        while run.fault is None:
            run.advance()
            history.keep()
        astray = run.last_step
        run.advance()
        found, _ = taken(history.again(astray.step + 1))
    assert found.step == astray.step
    for pair in both(found, astray):
        assert all(np.array_equal(pair[0][name], pair[1][name], equal_nan=True) for name in pair[0])


@pytest.mark.parametrize(
    ("first", "steps", "number", "words"),
    [
        (0, 0, 1, "no step is finished yet"),
        (0, 5, 6, "no step 6; there are those from 1 to 5"),
        (0, 5, 0, "no step 0; there are those from 1 to 5"),
        (7, 0, 7, "no step is finished yet"),
        (7, 2, 7, "step 7 was taken before the run was resumed; take one from 8 to 9"),
        (7, 2, 10, "no step 10; there are those from 8 to 9"),
    ],
)
def test_steps_that_cannot_be_taken_again(first, steps, number, words):
    run = trainer()
    advance(run, History(run, Autosave("x")), first)
    history = History(run, Autosave("x"))
    advance(run, history, steps)
    with pytest.raises(ValueError, match=words):
        next(history.again(number))


def test_the_saved_run_serves_where_it_is_nearer(tmp_path):
    run = trainer()
    file = Autosave(tmp_path / "x.train.npz")
    history = History(run, file, most=1)
    known = advance(run, history, 15)
    file.save(run)
    known |= advance(run, history, 5)
    found, ways = taken(history.again(18))
    assert same(found, known[18]) and len(ways) == 3
    assert taken(history.again(20)) == (run.last_step, [])


@pytest.mark.parametrize("damage", ["gone", "another run", "another step"])
def test_a_file_that_is_not_this_run_s_any_more_is_left_alone(tmp_path, damage):
    run = trainer()
    file = Autosave(tmp_path / "x.train.npz")
    history = History(run, file, most=1)
    known = advance(run, history, 15)
    assert file.save(run)
    known |= advance(run, history, 2)
    other = trainer(seed=4 if damage == "another run" else 3)
    if damage == "gone":
        file.path.unlink()
    else:
        advance(other, History(other, Autosave("x")), 15 if damage == "another run" else 14)
        Autosave(file.path).save(other)
        assert load_state(file.path).run.step == other.step
    found, ways = taken(history.again(16))
    assert same(found, known[16]) and len(ways) == 16
