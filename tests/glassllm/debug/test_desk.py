"""The commands of a writer and of a training run: what they take, and what they refuse in one line."""

import pytest

from glassllm import Config, GlassLM, Tokenizer
from glassllm.debug.commands import parse
from glassllm.debug.desk import TRAINING, WRITER, settings_line
from glassllm.debug.snapshot import CommandError
from glassllm.generation import Writer
from glassllm.train import Training


@pytest.fixture
def model():
    return GlassLM(Config(vocab_size=20, d_model=8, n_layers=1, n_heads=2, max_len=12), seed=1)


def do(table, subject, line):
    command, arguments = parse(line, table)
    for _ in command.method(subject, *arguments) or ():
        pass


def test_a_writer_by_its_commands(model):
    writer = Writer(model, [1, 2, 3])
    for line in (
        "next 3",
        "back",
        "temperature 0.5",
        "top-k 4",
        "top-p 0.9",
        "greedy on",
        "next",
        "again",
        "seed 7",
    ):
        do(WRITER, writer, line)
    sampling = writer.tree.sampling
    assert (sampling.temperature, sampling.top_k, sampling.top_p, sampling.greedy) == (0.5, 4, 0.9, True)
    assert writer.tree.seed == 7
    do(WRITER, writer, "top-k off")
    do(WRITER, writer, "take 5")
    assert writer.tree.node.token == 5
    assert writer.tree.sampling.top_k is None
    do(WRITER, writer, "first")
    assert writer.tree.here == 0


@pytest.mark.parametrize(
    "line",
    ["next x", "temperature", "temperature hot", "top-k 1.5", "greedy maybe", "take owl", "seed −1", "nonsense"],
)
def test_a_writer_refuses(model, line):
    writer = Writer(model, [1, 2, 3])
    before = (writer.tree.here, writer.tree.sampling, writer.tree.seed)
    with pytest.raises(CommandError):
        do(WRITER, writer, line)
    assert (writer.tree.here, writer.tree.sampling, writer.tree.seed) == before


def test_the_settings_line_says_all_settings_and_changes_nothing(model, tmp_path):
    training = Training(model, tmp_path / "x.txt", tmp_path, "x")
    do(TRAINING, training, "set steps=30 lr=0.01 alarm=off fused=on weights=kept seq_len=8")
    settings = training.settings
    assert (settings.steps, settings.lr, settings.alarm, settings.fused, training.fresh) == (
        30,
        0.01,
        None,
        True,
        False,
    )
    do(TRAINING, training, f"set {settings_line(settings, training.fresh)}")
    assert (training.settings, training.fresh) == (settings, False)


@pytest.mark.parametrize("line", ["set stepz=3", "set steps=many", "set weights=old", "set lr", "step x"])
def test_a_run_refuses_what_it_does_not_know(model, tmp_path, line):
    training = Training(model, tmp_path / "x.txt", tmp_path, "x")
    before = training.settings
    with pytest.raises(CommandError):
        do(TRAINING, training, line)
    assert training.settings == before


def test_settings_are_taken_all_at_once_or_not_at_all(model, tmp_path):
    training = Training(model, tmp_path / "x.txt", tmp_path, "x")
    with pytest.raises(ValueError, match="lr must be"):
        do(TRAINING, training, "set steps=30 lr=99")
    assert training.settings.steps == 1000


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("validate", "no step is finished yet"),
        ("save", "there is no run to save yet"),
        ("resume", "no unfinished run of x in"),
        ("resume no such run.train.npz", "no such run.train.npz"),
        ("resume no such run.npz", "no such run.train.npz"),
    ],
)
def test_what_needs_a_run_is_refused_in_one_line(model, tmp_path, line, words):
    training = Training(model, tmp_path / "x.txt", tmp_path, "x")
    with pytest.raises(ValueError, match=words) as refusal:
        do(TRAINING, training, line)
    assert "\n" not in str(refusal.value) and training.state == "not begun"


def test_a_run_by_its_commands(model, tmp_path):
    (tmp_path / "x.txt").write_text("a small fox saw a red ball. " * 40, encoding="utf-8")
    model.tokenizer = Tokenizer.train("a small fox saw a red ball. ", 20)
    training = Training(model, tmp_path / "x.txt", tmp_path, "of foxes")
    for line in ("set steps=9 batch_size=2 seq_len=8 warmup=2", "step 3", "validate", "save", "stop"):
        do(TRAINING, training, line)
    assert training.view().resumable == "of foxes.train.npz"
    for line in ("resume", "stop", f"resume {tmp_path / 'of foxes.train.npz'}", "step"):
        do(TRAINING, training, line)
    view = training.view()
    assert (view.step, view.resumed, view.curves["val_loss"][0].tolist()) == (4, 3, [0, 2])
