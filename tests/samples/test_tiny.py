"""The sample: its grammar, how it is made, what the shipped file holds, and the two small scripts beside it."""

import importlib.util
import math
import random
import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from glassllm import Config, GlassLM, Tokenizer
from glassllm.tokenizer import BOS, EOS
from glassllm.train import evaluate

SAMPLES = Path(__file__).resolve().parents[2] / "samples"


def load(name: str) -> ModuleType:
    """A script of the samples folder as a module, known by its name to those loaded after it."""
    spec = importlib.util.spec_from_file_location(name, SAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


grammar = load("tiny_grammar")
make_tiny = load("make_tiny")


@pytest.fixture(scope="module")
def stories() -> list[str]:
    return make_tiny.train_stories()


@pytest.fixture(scope="module")
def held_out() -> list[str]:
    return make_tiny.valid_stories()


@pytest.fixture(scope="module")
def train_text(stories) -> str:
    return make_tiny.join_stories(stories)


@pytest.fixture(scope="module")
def fresh() -> list[str]:
    """Sentences of stories that nothing else here has seen."""
    return grammar.split_sentences("\n".join(grammar.write_stories(100, seed=77)))


@pytest.fixture(scope="module")
def model() -> GlassLM:
    return GlassLM.load(SAMPLES / "tiny.npz")


# ---- the grammar


RIGHT = [
    "Once upon a time there was a small fox named Pip.",
    "Once upon a time there were two old owls named Mia and Tom.",
    "Pip was sad because he had lost his red ball.",
    "Mia was sad because she had lost her red ball.",
    "Ben and Anna were sad because they had lost their red ball.",
    "When Mia saw the big key, she was happy.",
    "There was an old lantern near an icy lake.",
    'Tom said, "I am hungry."',
    '"The mice carry my cheese," said Lila.',
    'Pip asked, "Does the mouse sing by the river?"',
    'Pip called, "Lila, please open the box!"',
    "In Foxford there lived a brave girl named Ivy.",
]

WRONG = [
    "Once upon a time there was a small fox named Pip",  # no full stop
    "once upon a time there was a small fox named Pip.",  # no capital
    "Once upon a time there was a small fox named pip.",
    "Once upon a time there was a small fox named Pip!",
    "Once upon a time there was a small fox  named Pip.",  # two spaces
    "Once upon a time there was an small fox named Pip.",  # an before a consonant
    "There was a old lantern near an icy lake.",  # a before a vowel
    "Once upon a time there were a small fox named Pip.",  # number
    "Once upon a time there were two old owl named Mia and Tom.",
    "Ben and Anna was sad because they had lost their red ball.",
    "Pip was sad because she had lost his red ball.",  # pronoun
    "Mia was sad because she had lost his red ball.",
    "When Mia saw the big key, he was happy.",
    "In Foxford there lived a brave girl named Tom.",  # a boy's name
    '"The mice carries my cheese," said Lila.',  # agreement of the verb
    '"The mouse carry my cheese," said Lila.',
    'Pip asked, "Does the mouse sings by the river?"',
    'Tom said, "I am hungry.',  # quotes
    "Tom said, I am hungry.",
    'Tom said, "i am hungry."',
    "The key was red and red.",  # says nothing
    "Pip Pip Pip.",
    "Fox.",
    ".",
    "",
]


@pytest.mark.parametrize("sentence", RIGHT)
def test_parses(sentence):
    assert grammar.parses(sentence)


@pytest.mark.parametrize("sentence", WRONG)
def test_does_not_parse(sentence):
    assert not grammar.parses(sentence)


def test_every_written_sentence_parses(fresh):
    assert len(fresh) > 500
    assert [sentence for sentence in fresh if not grammar.parses(sentence)] == []


def test_a_foreign_word_anywhere_stops_the_parse(fresh):
    rng = random.Random(0)
    for sentence in fresh:
        start, end = rng.choice([found.span() for found in re.finditer(r"\w+", sentence)])
        foreign = "Zonk" if sentence[start].isupper() else "zonk"
        assert not grammar.parses(sentence[:start] + foreign + sentence[end:]), sentence


def moved(words: list[str], i: int) -> list[str]:
    return [*words[:i], words[i + 1], words[i], *words[i + 2 :]]


def dropped(words: list[str], i: int) -> list[str]:
    return words[:i] + words[i + 1 :]


# Two adjectives may change places, and some may go; little else.
@pytest.mark.parametrize(("change", "accepted"), [(moved, 0.03), (dropped, 0.15)])
def test_few_sentences_survive_a_changed_order(fresh, change, accepted):
    rng = random.Random(0)
    changed = []
    for sentence in fresh:
        words = grammar.read(sentence)
        changed.append(grammar.spell(change(words, rng.randrange(len(words) - 1))))
    assert np.mean([grammar.parses(sentence) for sentence in changed]) < accepted


def test_reading_undoes_spelling():
    rng = random.Random(3)
    for _ in range(500):
        words = grammar.expand("SENTENCE", rng, {})
        assert grammar.read(grammar.spell(words)) == words


def test_every_rule_is_defined_and_reached():
    parts = {part for bodies in grammar.GRAMMAR.values() for body in bodies for part in body}
    assert {part for part in parts if part[0].isupper()} - {"I"} <= {*grammar.GRAMMAR, *grammar.WORDS}
    reached, todo = set(), ["SENTENCE"]
    while todo:
        symbol = todo.pop()
        if symbol not in reached:
            reached.add(symbol)
            todo += [part for body in grammar.GRAMMAR.get(symbol, []) for part in body]
    assert set(grammar.GRAMMAR) <= reached


@pytest.mark.parametrize(
    ("inflect", "word", "form"),
    [
        (grammar.plural, "key", "keys"),
        (grammar.plural, "berry", "berries"),
        (grammar.plural, "fox", "foxes"),
        (grammar.plural, "torch", "torches"),
        (grammar.past, "walk", "walked"),
        (grammar.past, "smile", "smiled"),
        (grammar.past, "carry", "carried"),
        (grammar.past, "play", "played"),
    ],
)
def test_regular_forms(inflect, word, form):
    assert inflect(word) == form


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("He ran. She sat!\nThey ate.", ["He ran.", "She sat!", "They ate."]),
        ('Tom said, "I am hungry." He ate.', ['Tom said, "I am hungry."', "He ate."]),
        ('"I am," said Tom. He', ['"I am," said Tom.', "He"]),
        ("", []),
    ],
)
def test_split_sentences(text, sentences):
    assert grammar.split_sentences(text) == sentences


def test_the_seed_decides():
    first, again, other = ([*grammar.write_stories(5, seed)] for seed in (1, 1, 2))
    assert first == again
    assert not set(first) & set(other)


# ---- the corpus and how the sample is made


def test_corpus_is_large_and_its_halves_share_no_sentence(train_text, held_out):
    train = set(grammar.split_sentences(train_text))
    valid = set(grammar.split_sentences(make_tiny.join_stories(held_out)))
    assert not train & valid
    assert len(train) > 50_000
    assert len(valid) > 2_500
    towns = {town.lower() for town in grammar.WORDS["TOWN"]}
    assert len(grammar.word_forms(train_text) - towns) > 1_200


def test_make_writes_a_checkpoint_and_says_how_it_went(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(make_tiny, "TRAIN_STORIES", 400)
    monkeypatch.setattr(make_tiny, "VALID_STORIES", 20)
    monkeypatch.setattr(make_tiny, "CONFIG", Config(d_model=8, n_layers=1, n_heads=2, n_kv_heads=1))
    for settings in (make_tiny.STEADY, make_tiny.COOLING):
        monkeypatch.setitem(settings, "batch_size", 2)
    for name in ("a", "b"):
        make_tiny.make(tmp_path / f"{name}.npz", tmp_path / name, steps=6, minutes=1)
    first, second = GlassLM.load(tmp_path / "a.npz"), GlassLM.load(tmp_path / "b.npz")
    for one, other in zip(first.parameters(), second.parameters(), strict=True):
        np.testing.assert_array_equal(one.data, other.data)
    assert [point["step"] for point in first.meta["validation"]] == [0, 4, 5]
    assert first.meta == second.meta
    learned = Tokenizer.load(tmp_path / "a" / "tiny.tokenizer.json")
    assert first.tokenizer is not None
    assert first.tokenizer.to_json() == learned.to_json()
    assert (tmp_path / "a" / "valid.txt").read_text("utf-8").count("\n\n") == 19
    assert "step 6 of 6" in capsys.readouterr().err


def test_minutes_end_a_run_early():
    assert list(make_tiny.until(0, iter([{"step": 0}, {"step": 1}]))) == [{"step": 0}]


# ---- the shipped file


def test_shipped_file_is_small(model):
    assert (SAMPLES / "tiny.npz").stat().st_size < 1_000_000
    assert model.config == Config(d_model=64)
    assert model.config.parameter_count == sum(p.size for p in model.parameters()) == 245_824


def test_shipped_tokenizer_is_the_one_the_corpus_teaches_and_its_entries_are_used(model, stories, train_text):
    assert model.tokenizer.to_json() == make_tiny.learn_tokenizer(train_text).to_json()
    assert model.tokenizer.vocab_size == 1024
    ids = make_tiny.story_stream(model.tokenizer, stories)
    assert ids[0] == BOS
    assert ids[-1] == EOS
    assert len(np.unique(ids)) >= 0.95 * 1024


def test_shipped_sample_opens_with_whole_words(model):
    opening = "Once ▁upon ▁a ▁time ▁there ▁was ▁a ▁small ▁fox ▁named ▁Pip . ▁He"
    assert model.tokenizer.tokens(model.sample) == opening.split()


def test_shipped_validation_curve_is_what_the_model_does(model, held_out):
    curve = model.meta["validation"]
    assert curve[0]["loss"] == pytest.approx(math.log(1024), abs=0.1)
    assert curve[-1]["loss"] < 1.6
    assert [point["step"] for point in curve] == sorted({point["step"] for point in curve})
    ids = make_tiny.story_stream(model.tokenizer, held_out)
    assert evaluate(model, ids, 16, 128) == pytest.approx(curve[-1]["loss"], abs=0.01)


def test_shipped_model_writes_new_sentences_that_parse(model, train_text):
    sentences = make_tiny.generated_sentences(model, model.tokenizer, 50)
    facts = make_tiny.sentence_facts(sentences, train_text)
    assert facts["sentences"] == 50
    assert facts["parse"] >= 0.8
    assert facts["new"] >= 0.5


# ---- the small scripts


def test_quadratic_finds_its_minimum():
    assert load("quadratic").minimise() == pytest.approx((3, 1), abs=2e-3)


def test_two_layers_learn_a_sine():
    losses = load("two_layer").fit()
    assert losses[0] > 0.1
    assert losses[-1] < 0.002
