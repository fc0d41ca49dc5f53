"""Training from the shell: what is written and said, and that neither ctrl+c nor a full disk costs anything."""

import errno
import io
import json
import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

from glassllm import Config, GlassLM, Tokenizer
from glassllm.train import Autosave, Trainer, load_state
from tui import cli
from tui.headless.train import ENDING

QUICK = ["--text", "text.txt", "--batch", "2", "--seq", "8", "--lr", "0.01", "--eval-every", "3"]


@pytest.fixture(autouse=True)
def _in(folder):
    before = [signal.getsignal(number) for number in ENDING]
    yield
    assert [signal.getsignal(number) for number in ENDING] == before


def train(capsys, *words, code=0):
    assert cli.main(["train", *words]) == code
    return capsys.readouterr()


def refused(capsys, *words):
    with pytest.raises(SystemExit) as left:
        cli.main(["train", *words])
    out, err = capsys.readouterr()
    assert left.value.code == 2 and out == ""
    return err.splitlines()[-1].removeprefix("glassllm-tui: ")


def interrupt_at(monkeypatch, step, signals=1, number=signal.SIGINT):
    """Press ctrl+c, or send another signal, once the run has taken so many steps."""
    advance = Trainer.advance

    def pressed(trainer):
        advance(trainer)
        if trainer.step == step:
            for _ in range(signals):
                os.kill(os.getpid(), number)

    monkeypatch.setattr(Trainer, "advance", pressed)


# What is written and said


def test_a_model_and_a_run_are_written_and_the_result_is_said(capsys, folder):
    out, err = train(capsys, "model.npz", *QUICK, "--steps", "7")
    assert re.fullmatch(r"model-trained\.npz   7 steps   loss \d\.\d{4}   val \d\.\d{4}   112 tokens\n", out)
    assert re.match(r"step 1 of 7  loss \d\.\d{4}  val \d\.\d{4}  [\d\u2009]+ tokens/s  \d+:\d\d left\n", err)
    assert [int(line.split()[1]) for line in err.splitlines()] == [1, 4, 7]
    model = GlassLM.load("model-trained.npz")
    assert model.tokenizer is not None and model.meta["run"]["steps"] == 7
    assert not np.array_equal(model.E.data, GlassLM.load("model.npz").E.data)
    assert load_state("model-trained.train.npz").run.step == 7


def test_options_are_the_run_s_settings(capsys):
    train(capsys, "model.npz", *QUICK, "--steps", "2", "--seed", "5", "--warmup", "1", "--fused", "--out", "a.npz")
    settings = load_state("a.train.npz").run.settings
    assert (settings.steps, settings.batch_size, settings.seq_len, settings.lr) == (2, 2, 8, 0.01)
    assert (settings.seed, settings.warmup, settings.eval_every, settings.fused) == (5, 1, 3, True)


def test_defaults_fit_the_model_and_the_steps(capsys):
    train(capsys, "model.npz", "--text", "text.txt", "--steps", "3")
    settings = load_state("model-trained.train.npz").run.settings
    assert (settings.seq_len, settings.warmup, settings.batch_size) == (16, 0, 16)


def test_characters_the_model_lacks_are_counted_and_a_short_text_is_said(capsys, folder):
    (folder / "odd.txt").write_text("the cät sat on the mat ü Zü")
    _, err = train(capsys, "model.npz", "--text", "odd.txt", "--steps", "1", "--seq", "4", "--batch", "1")
    assert "odd.txt: 4 characters are unknown to the model, taken as <unk>: 'ü' 2, 'ä' 1, 'Z' 1" in err
    assert "odd.txt: too short to keep a tenth for validation, so there is none" in err


# What is refused


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["zzzzzz.npz", *QUICK], "zzzzzz.npz: no such file; check the name"),
        (["mute.npz", *QUICK], "mute.npz: the model comes without a tokenizer; .*"),
        (["model.npz", *QUICK, "--text", "zzzzzz.pdf"], "zzzzzz.pdf: no such file; check the name"),
        (["model.npz", *QUICK, "--text", "."], ".: a folder, not a file; name the file in it"),
        (["model.npz", *QUICK, "--text", "model.npz"], "model.npz: not UTF-8 text: .*"),
        (["model.npz", *QUICK, "--text", "empty.txt"], "empty.txt: the text is empty; .*"),
        (
            ["model.npz", *QUICK, "--text", "short.txt"],
            "short.txt: the text has 1 token, and a row .* takes 9; .*",
        ),
        (["model.npz", *QUICK, "--text", "alien.txt"], "alien.txt: the model has no token for any .*"),
        (["model.npz", *QUICK, "--seq", "17"], "--seq: the model takes at most 16 tokens, not 17"),
        (
            ["wide.npz", *QUICK, "--batch", "65536"],
            "batches of 65536 x 8 tokens need arrays of 14 GiB; take fewer",
        ),
        (["model.npz", *QUICK, "--out", "nowhere/x.npz"], "nowhere/x.train.npz: cannot be written: No such .*"),
        (["model.npz", *QUICK, "--resume"], "model-trained.train.npz: no such file; .*"),
        (["model.npz", *QUICK, "--resume", "--out", "model.npz"], "model.train.npz: no such file; .*"),
    ],
)
def test_bad_input_costs_one_line(capsys, folder, words, line):
    for name, text in (("empty", " \n"), ("short", "the"), ("alien", "ÄÖÜ" * 9)):
        (folder / f"{name}.txt").write_text(text)
    wide = GlassLM(Config(vocab_size=7000, d_model=2, n_layers=1, n_heads=1, n_kv_heads=1, max_len=8))
    wide.tokenizer = Tokenizer("abc", [])
    wide.save("wide.npz")
    assert re.fullmatch(line, refused(capsys, *words))
    assert not list(folder.glob("*trained*"))


def test_a_run_with_steps_to_go_is_not_overwritten(capsys, monkeypatch):
    with monkeypatch.context() as patched:
        interrupt_at(patched, 2)
        train(capsys, "model.npz", *QUICK, "--steps", "5", code=130)
    line = refused(capsys, "model.npz", *QUICK, "--steps", "5")
    assert line.startswith("model-trained.train.npz: holds step 2 of 5 of a run; go on with --resume, ")
    train(capsys, "model.npz", *QUICK, "--resume")
    train(capsys, "model.npz", *QUICK, "--steps", "5")  # that one is done


# Interrupted and resumed


@pytest.mark.parametrize("at", [1, 4])
def test_interrupted_and_resumed_it_comes_to_the_same(capsys, monkeypatch, folder, at):
    train(capsys, "model.npz", *QUICK, "--steps", "6", "--out", "whole.npz")
    with monkeypatch.context() as patched:
        interrupt_at(patched, at)
        out, err = train(capsys, "model.npz", *QUICK, "--steps", "6", "--out", "part.npz", code=130)
    assert out == "" and err.splitlines()[-1] == (
        f"glassllm-tui: stopped at step {at} of 6; part.train.npz holds step {at}; --resume goes on from there"
    )
    assert load_state("part.train.npz").run.step == at and not (folder / "part.npz").exists()
    train(capsys, "part.train.npz", "--text", "text.txt", "--resume")
    for name in ("{}.npz", "{}.train.npz"):
        assert (folder / name.format("part")).read_bytes() == (folder / name.format("whole")).read_bytes()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_whatever_ends_it_the_run_is_saved(capsys, monkeypatch, number, code):
    interrupt_at(monkeypatch, 2, number=number)
    train(capsys, "model.npz", *QUICK, "--steps", "5", code=code)
    assert load_state("model-trained.train.npz").run.step == 2


def test_a_lost_terminal_costs_nothing(monkeypatch):
    """Whoever hears the hang-up can no longer write to the terminal."""

    class Gone(io.StringIO):
        def write(self, _):
            raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("sys.stderr", Gone())
    monkeypatch.setattr("tui.headless.train.os.write", lambda _, data: Gone().write(data))
    interrupt_at(monkeypatch, 2, number=signal.SIGHUP)
    assert cli.main(["train", "model.npz", *QUICK, "--steps", "5"]) == 129
    assert load_state("model-trained.train.npz").run.step == 2


def test_an_ignored_signal_stays_ignored(capsys, monkeypatch):
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        interrupt_at(monkeypatch, 2, number=signal.SIGHUP)
        train(capsys, "model.npz", *QUICK, "--steps", "5")
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_the_model_to_begin_with_is_not_written_over(capsys, folder):
    before = (folder / "model.npz").read_bytes()
    line = refused(capsys, "model.npz", *QUICK, "--steps", "5", "--out", "./model.npz")
    assert line == "--out: model.npz is the model to begin with, and stays as it is; choose another name"
    assert (folder / "model.npz").read_bytes() == before and not (folder / "model.train.npz").exists()


def test_a_second_ctrl_c_leaves_at_once(capsys, monkeypatch):
    interrupt_at(monkeypatch, 2, signals=2)
    train(capsys, "model.npz", *QUICK, "--steps", "5", code=130)
    assert load_state("model-trained.train.npz").run.step == 0


def test_more_steps_can_be_asked_for(capsys):
    train(capsys, "model.npz", *QUICK, "--steps", "2")
    assert refused(capsys, "model.npz", *QUICK, "--resume").startswith(
        "model-trained.train.npz: 2 steps are done; "
    )
    assert train(capsys, "model.npz", *QUICK, "--resume", "--steps", "4").out.startswith(
        "model-trained.npz   4 steps"
    )


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--lr", "0.5"], "--lr: the run in model-trained.train.npz began with 0.01 and goes on so; leave it out"),
        (["--batch", "3"], "--batch: .* began with 2 .*"),
        (["--fused"], "--fused: .* began with False .*"),
        (
            ["--text", "other.txt"],
            "other.txt: not the text that the run in model-trained.train.npz began with; .*",
        ),
    ],
)
def test_a_run_goes_on_as_it_began(capsys, monkeypatch, folder, words, line):
    (folder / "other.txt").write_text("the cat sat on the log\n" * 30)
    with monkeypatch.context() as patched:
        interrupt_at(patched, 2)
        train(capsys, "model.npz", *QUICK, "--steps", "5", code=130)
    assert re.fullmatch(line, refused(capsys, "model.npz", "--resume", *QUICK, *words))


def test_sigint_to_a_process_of_its_own(folder):
    """Once it says that it takes steps, ctrl+c saves them and leaves with 130."""
    command = [sys.executable, "-m", "tui.cli", "train", "model.npz", *QUICK, "--steps", "1000000"]
    running = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    try:
        said = next((line for line in running.stderr if line.startswith("step 4 ")), "it ended")
        assert said.startswith("step 4 of 1"), said
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    finally:
        running.kill()
    assert (running.returncode, out) == (130, "")
    found = re.search(r"stopped at step (\d+) of 1000000; .* holds step (\d+); --resume goes on", err)
    assert found and found[1] == found[2]
    assert load_state("model-trained.train.npz").run.step == int(found[1]) >= 4


# Faults on the way


def test_a_disk_that_is_full_at_the_start_is_refused(capsys, full, folder):
    full.append(True)
    line = refused(capsys, "model.npz", *QUICK, "--steps", "3")
    assert line == "model-trained.train.npz: cannot be written: No space left on device; choose another place"
    assert not list(folder.glob("*trained*"))


@pytest.mark.parametrize("number", [None, signal.SIGINT])
def test_at_a_terminal_the_end_waits_for_room(capsys, full, monkeypatch, number):
    monkeypatch.setattr("tui.headless.train.can_rewrite", lambda: True)
    monkeypatch.setattr("tui.headless.train.time.sleep", lambda _: full.clear())
    steps = Trainer.advance

    def fill(trainer):
        steps(trainer)
        if trainer.step == 3:
            full.append(True)
            if number is not None:
                os.kill(os.getpid(), number)

    monkeypatch.setattr(Trainer, "advance", fill)
    err = train(capsys, "model.npz", *QUICK, "--steps", "3", code=0).err
    assert "No space left on device" in err and "saving is tried again every 10 s" in err
    assert load_state("model-trained.train.npz").run.step == 3


def test_a_name_that_no_file_can_have_is_refused_in_one_line(capsys):
    line = refused(capsys, "model.npz", *QUICK, "--steps", "1", "--out", f"{'a' * 300}.npz")
    assert line.endswith("a.npz: File name too long; choose another name")


def test_a_result_says_one_step_and_no_control_characters(capsys):
    out = train(capsys, "model.npz", *QUICK, "--steps", "1", "--out", "a\x1bb.npz").out
    assert out.startswith(r"a\x1bb.npz   1 step   loss ")


@pytest.mark.parametrize(
    "words", [["train", "model.npz", *QUICK, "--steps", "2"], ["generate", "model.npz", "the"]]
)
def test_a_result_that_cannot_be_written_is_one_line(words):
    if not os.path.exists("/dev/full"):
        pytest.skip("no file to which nothing can be written")
    with open("/dev/full", "wb") as gone:
        done = subprocess.run(
            [sys.executable, "-m", "tui.cli", *words], stdout=gone, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)},
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == (
        "glassllm-tui: stdout: cannot be written: No space left on device; choose another place"
    )


def test_a_disk_that_fills_up_on_the_way_stops_nothing(capsys, full, monkeypatch):
    advance = Trainer.advance

    def filling(trainer):
        advance(trainer)
        full[:] = [True] * (trainer.step < 4)

    monkeypatch.setattr(Trainer, "advance", filling)
    monkeypatch.setattr(Autosave, "is_due", True)
    out, err = train(capsys, "model.npz", *QUICK, "--steps", "5")
    failed = [line for line in err.splitlines() if "No space left" in line]
    assert len(failed) == 3 and all(line.endswith("the run goes on, and saving is tried again") for line in failed)
    assert out.startswith("model-trained.npz   5 steps") and load_state("model-trained.train.npz").run.step == 5


def test_a_model_that_can_t_be_written_at_the_end_is_kept_in_the_run(capsys, folder):
    (folder / "x.npz").mkdir()
    line = refused(capsys, "model.npz", *QUICK, "--steps", "2", "--out", "x.npz")
    assert line == "x.npz: cannot be written: not a regular file; choose another place"
    assert load_state("x.train.npz").run.step == 2


def test_a_run_that_goes_astray_stops_and_says_where_to_look(capsys, monkeypatch):
    advance = Trainer.advance

    def poisoned(trainer):
        if trainer.step == 2:
            trainer.model.norm_f.gamma.data = np.full(8, np.inf, np.float32)
        advance(trainer)

    monkeypatch.setattr(Trainer, "advance", poisoned)
    out, err = train(capsys, "model.npz", *QUICK, "--steps", "5", code=1)
    assert out == "" and "stopped: step 2: the loss is NaN; weights not finite: norm_f.gamma; the update" in err
    assert err.splitlines()[-1].endswith("model-trained.train.npz holds step 3; --resume goes on from there")


def test_it_can_be_opened_in_the_debugger(capsys):
    train(capsys, "model.npz", *QUICK, "--steps", "2")
    for name in ("model-trained.npz", "model-trained.train.npz"):
        assert cli.main([name, "--text", "the cat sat", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["name"] == name
