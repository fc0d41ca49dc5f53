"""`glassllm-tui train`: a run from a text to a model, which survives ctrl+c, a lost terminal and a full disk."""

import argparse
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from glassllm import GlassLM, Tokenizer
from glassllm.checkpoint import CheckpointError
from glassllm.files import shown
from glassllm.train import (
    Autosave,
    Corpus,
    Pace,
    RunSettings,
    StepReport,
    Trainer,
    TrainingState,
    load_state,
    reading_corpus,
    reuse_memory,
    state_path,
)
from glassllm.train.saved import model_file
from tui.draw import numbers
from tui.usage import FAILED, refuse

from .say import Line, can_rewrite, say, tell, unknown_words

TRAINING_STATE = ".train.npz"
ENDING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
KILLED = 128
"""What a shell adds to a signal's number for the exit code of a process that it ended."""
RETRY = 10.0
"""Seconds from one attempt to save at the end to the next."""
INTERVAL = 10.0
REWRITE_INTERVAL = 0.1
"""Seconds between two lines of progress, and between two versions of one that is rewritten."""
ASKED = {"--lr": "lr", "--batch": "batch_size", "--seq": "seq_len", "--warmup": "warmup", "--seed": "seed"}
ASKED |= {"--eval-every": "eval_every", "--fused": "fused"}
"""The settings that options give, but for the number of steps."""


def run(options: argparse.Namespace) -> int:
    """Train; the exit code: 0, 1 where the run went astray, 130 when interrupted. Bad input is refused."""
    reuse_memory()
    out = written_to(options)
    try:
        trainer = resumed(options, state_path(out)) if options.resume else begun(options, state_path(out))
    except CheckpointError as error:
        refuse(str(error))
    except OSError as error:  # a name that no file can have
        refuse(f"{shown(out)}: {error.strerror or error}; choose another name")
    autosave = Autosave(state_path(out))
    if not autosave.save(trainer):  # better now than after the first hour
        refuse(str(autosave.fault))
    with interrupts() as interrupt:
        drive(trainer, autosave, interrupt)
    return ended(trainer, autosave, out, interrupt)


def written_to(options: argparse.Namespace) -> Path:
    """The model's file, beside which the run is saved; a run may be resumed by its own file's name."""
    if options.out is None and not (options.resume and options.path.endswith(TRAINING_STATE)):
        return Path(f"{Path(options.path).name.removesuffix('.npz').removesuffix('.train')}-trained.npz")
    return model_file(state_path(options.out or options.path))


# Beginning


def begun(options: argparse.Namespace, saved: Path) -> Trainer:
    """A new run. An unfinished one that is saved in its place is not overwritten."""
    if saved.exists():
        refuse_to_overwrite(saved)
    model = GlassLM.load(options.path)
    refuse_the_model_itself(options)
    longest = model.config.max_len
    if options.seq is not None and options.seq > longest:
        refuse(f"--seq: the model takes at most {longest} tokens, not {options.seq}")
    asked = {name: value for option, name in ASKED.items() if (value := given(options, option)) is not None}
    steps = options.steps or RunSettings.steps
    seq_len, warmup = min(RunSettings.seq_len, longest), min(RunSettings.warmup, steps // 10)
    settings = replace(RunSettings(steps=steps, seq_len=seq_len, warmup=warmup), **asked)
    try:
        settings.check_model(model.config)
    except ValueError as error:
        refuse(str(error))
    corpus = read(options, model.tokenizer, settings.seq_len)
    return Trainer(model, corpus.train, settings, corpus.valid)


def refuse_the_model_itself(options: argparse.Namespace) -> None:
    """Leave if what is trained would be written over what it begins with."""
    out = written_to(options)
    if out.exists() and out.samefile(options.path):
        refuse(f"--out: {shown(out)} is the model to begin with, and stays as it is; choose another name")


def refuse_to_overwrite(saved: Path) -> None:
    """Leave if there is a run that has steps to go."""
    run = load_state(saved).run
    if run.step < run.settings.steps:
        done = f"step {run.step} of {run.settings.steps} of a run"
        refuse(f"{shown(saved)}: holds {done}; go on with --resume, remove it, or choose another --out")


def resumed(options: argparse.Namespace, saved: Path) -> Trainer:
    """The run that is saved, on the text it began with."""
    state = load_state(saved)
    check_resumed(options, state, saved)
    corpus = read(options, state.tokenizer, state.run.settings.seq_len)
    try:
        return Trainer.of(state, corpus.train, corpus.valid, options.steps)
    except ValueError:
        refuse(f"{shown(options.text)}: not the text that the run in {shown(saved)} began with; name that one")


def check_resumed(options: argparse.Namespace, state: TrainingState, saved: Path) -> None:
    """A run goes on as it began, and only as long as it has steps to go."""
    settings, done = state.run.settings, state.run.step
    for option, name in ASKED.items():
        value, began = given(options, option), getattr(settings, name)
        if value is not None and value != began:
            refuse(f"{option}: the run in {shown(saved)} began with {began} and goes on so; leave it out")
    if (options.steps or settings.steps) <= done:
        refuse(f"{shown(saved)}: {done} steps are done; to go on, give --steps a higher number")


def given(options: argparse.Namespace, option: str) -> Any:
    """What an option says; None where it was not given."""
    return getattr(options, option.strip("-").replace("-", "_"))


def read(options: argparse.Namespace, tokenizer: Tokenizer | None, seq_len: int) -> Corpus:
    """The text as ids; what is strange about it is said."""
    if tokenizer is None:
        remedy = "put one beside it, NAME.tokenizer.json"
        refuse(f"{shown(options.path)}: the model comes without a tokenizer; {remedy}")
    line = Line()
    reading = reading_corpus(options.text, tokenizer, seq_len)
    while True:
        try:
            done, total = next(reading)
        except StopIteration as end:
            corpus: Corpus = end.value
            break
        if line.is_rewritten:
            line.show(f"reading {options.text}  {numbers.percent(done, total)}")
    line.close()
    if corpus.unknown:
        say(unknown_words(str(options.text), corpus.unknown))
    if corpus.valid is None:
        say(f"{options.text}: too short to keep a tenth for validation, so there is none")
    return corpus


# Running


@dataclass
class Interrupt:
    """The signal that came to end the run, ctrl+c mostly; 0: none did."""

    signal: int = 0

    @property
    def has_come(self) -> bool:
        return self.signal > 0


@contextmanager
def interrupts() -> Iterator[Interrupt]:
    """Let the first signal that ends a run be found out between two steps; a second one ends it as always. Those
    that are ignored stay so."""
    interrupt = Interrupt()
    before = {number: signal.getsignal(number) for number in ENDING}
    heard = [number for number, handler in before.items() if handler is not signal.SIG_IGN]

    def note(number: int, _: object) -> None:
        interrupt.signal = number
        for each in heard:
            signal.signal(each, signal.default_int_handler if each == signal.SIGINT else signal.SIG_DFL)
        # note: what prints may be interrupted right here, and must not be entered twice
        with suppress(OSError):  # a terminal that hung up hears nothing
            os.write(2, b"\nsaving after this step; ctrl+c again leaves at once\n")

    for number in heard:
        signal.signal(number, note)
    try:
        yield interrupt
    finally:
        for number in heard:
            signal.signal(number, before[number])


def drive(trainer: Trainer, autosave: Autosave, interrupt: Interrupt) -> None:
    """Take the steps, show how far they are, and save now and then."""
    line, pace, shown_at = Line(), Pace(), -INTERVAL
    tokens = trainer.settings.batch_size * trainer.settings.seq_len
    interval = REWRITE_INTERVAL if line.is_rewritten else INTERVAL
    pace.start(trainer.step, trainer.step * tokens)
    for report in trainer.run():
        if interrupt.has_come:
            break
        if report is None:
            continue
        pace.add(trainer.step, report.tokens)
        now = time.monotonic()
        if now - shown_at >= interval or report.val_loss is not None or trainer.is_done:
            line.show(progress(report, trainer, pace))
            shown_at = now
        if autosave.is_due and not autosave.save(trainer):
            line.close()
            say(f"{autosave.fault}; the run goes on, and saving is tried again")
    line.close()


def progress(report: StepReport, trainer: Trainer, pace: Pace) -> str:
    """`step 120 of 1 000  loss 2.412  val 2.530  21 000 tokens/s  3:20 left`"""
    steps, done = trainer.settings.steps, report.step + 1
    words = [f"step {numbers.count(done)} of {numbers.count(steps)}", f"loss {numbers.unsigned(report.loss)}"]
    if len(trainer.curves["val_loss"]):
        words.append(f"val {numbers.unsigned(trainer.curves['val_loss'].table[1, -1])}")
    if (rate := pace.tokens_per_second) is not None:
        words.append(f"{numbers.count(round(rate))} tokens/s")
    if (left := pace.seconds_left(steps - done)) is not None:
        words.append(f"{numbers.clock(left)} left")
    return "  ".join(words)


# Ending


def ended(trainer: Trainer, autosave: Autosave, out: Path, interrupt: Interrupt) -> int:
    """Save what there is, say where, and with which code to leave."""
    save_for_good(trainer, autosave, interrupt)
    steps = f"step {trainer.step} of {trainer.settings.steps}"
    kept = f"{shown(autosave.path)} holds step {autosave.saved}; --resume goes on from there"
    if trainer.fault is not None:
        say(f"stopped: {trainer.fault}")
        say(kept)
        return FAILED
    if interrupt.has_come and not trainer.is_done:
        say(f"stopped at {steps}; {kept}")
        return KILLED + interrupt.signal
    try:
        trainer.save_model(out)
    except CheckpointError as error:
        say(kept)
        refuse(str(error))
    tell(f"{result(trainer, out)}\n")
    return 0


def save_for_good(trainer: Trainer, autosave: Autosave, interrupt: Interrupt) -> None:
    """Save the run; where that fails and somebody may make room, again until it works or ctrl+c leaves it."""
    while not autosave.save(trainer):
        say(str(autosave.fault))
        if not can_rewrite() or interrupt.signal not in (0, signal.SIGINT):
            return
        say(f"saving is tried again every {RETRY:.0f} s; make room, or leave it with ctrl+c")
        time.sleep(RETRY)


def result(trainer: Trainer, out: Path) -> str:
    """`tiny-trained.npz   300 steps   loss 2.3121   val 2.4012   614 400 tokens`"""
    report, settings = trainer.report, trainer.settings
    steps = "1 step" if trainer.step == 1 else f"{numbers.count(trainer.step)} steps"
    words = [shown(out), steps]
    if report is not None:
        words.append(f"loss {numbers.unsigned(report.loss)}")
        words += [] if report.val_loss is None else [f"val {numbers.unsigned(report.val_loss)}"]
    tokens = trainer.step * settings.batch_size * settings.seq_len
    return "   ".join([*words, f"{numbers.count(tokens)} tokens"])
