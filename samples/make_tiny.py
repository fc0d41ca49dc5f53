"""Make samples/tiny.npz from nothing: write stories, learn a tokenizer from them, train a small model.

Run `python samples/make_tiny.py`; on one machine, the same seeds and steps give the same file. Corpus and
tokenizer are left in the work folder; the checkpoint carries the tokenizer, the run's facts and a sentence to
open with.
"""

import argparse
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

# The matrices are small: a second BLAS thread costs more than it brings. To be said before NumPy loads.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import tiny_grammar
from numpy.typing import NDArray

from glassllm import Config, GlassLM, Tokenizer
from glassllm.tokenizer import BOS, EOS
from glassllm.train import reuse_memory, train_steps

FOLDER = Path(__file__).resolve().parent
CONFIG = Config(d_model=64)
OPENING = "Once upon a time there was a small fox named Pip. He"  # the tokens the debugger opens with

TRAIN_STORIES, TRAIN_SEED = 8000, 1
VALID_STORIES, VALID_SEED = 400, 2
MODEL_SEED = 0
# Most steps go at a high rate; the last ones, at a tenth of it and in larger batches, let the weights settle.
STEADY: dict[str, Any] = {
    "batch_size": 16,
    "seq_len": 128,
    "lr": 6e-3,
    "warmup": 100,
    "seed": 0,
    "eval_every": 100,
}
COOLING: dict[str, Any] = {
    "batch_size": 32,
    "seq_len": 128,
    "lr": 6e-4,
    "warmup": 20,
    "seed": 1,
    "eval_every": 100,
}
COOLING_ONE_IN = 6

Report = dict[str, Any]


def train_stories() -> list[str]:
    """The stories trained on."""
    return list(tiny_grammar.write_stories(TRAIN_STORIES, TRAIN_SEED))


def valid_stories() -> list[str]:
    """Stories of which no sentence is in `train_stories`."""
    return list(tiny_grammar.write_stories(VALID_STORIES, VALID_SEED, held_out=True))


def join_stories(stories: Iterable[str]) -> str:
    """Stories as one text, a blank line between them."""
    return "\n\n".join(stories) + "\n"


def learn_tokenizer(text: str) -> Tokenizer:
    """A tokenizer that never joins a mark to a word, so that a word is the same token wherever it stands."""
    # Merges stop at a newline, so it learns from a text with each mark on a line of its own.
    return Tokenizer.train(re.sub(r' ?"|[.,!?]', r"\n\g<0>\n", text), CONFIG.vocab_size)


def story_stream(tokenizer: Tokenizer, stories: Iterable[str]) -> NDArray[np.int64]:
    """All stories as one row of ids, each story between <bos> and <eos>."""
    return np.array([i for story in stories for i in (BOS, *tokenizer.encode(story), EOS)])


def corpus_facts(train_text: str, valid_text: str, train_ids: NDArray[np.int64]) -> dict[str, int]:
    """What the run was made of, for the checkpoint's meta."""
    return {
        "train_sentences": len(tiny_grammar.split_sentences(train_text)),
        "valid_sentences": len(tiny_grammar.split_sentences(valid_text)),
        "word_forms": len(tiny_grammar.word_forms(train_text)),
        "train_tokens": len(train_ids),
        "entries_used": len(np.unique(train_ids)),
    }


def generated_sentences(model: GlassLM, tokenizer: Tokenizer, count: int, seed: int = 0) -> list[str]:
    """The first sentences that the model writes from <bos> on, drawn at temperature 1 from all tokens."""
    story: list[int] = []
    sentences: list[str] = []
    for new in model.generate([BOS], 40 * count, seed=seed):
        story.append(new.token)
        if new.token == EOS:
            sentences += tiny_grammar.split_sentences(tokenizer.decode(story))
            story = []
        if len(sentences) >= count:
            break
    return sentences[:count]


def sentence_facts(sentences: list[str], train_text: str) -> dict[str, float]:
    """How many sentences there are, and which shares of them the grammar knows and the training text lacks."""
    known, count = set(tiny_grammar.split_sentences(train_text)), len(sentences)
    parsed = sum(tiny_grammar.parses(sentence) for sentence in sentences)
    new = sum(sentence not in known for sentence in sentences)
    return {"sentences": count, "parse": parsed / max(1, count), "new": new / max(1, count)}


def train_in_phases(
    model: GlassLM, train_ids: NDArray[np.int64], valid_ids: NDArray[np.int64], steps: int
) -> Iterator[Report]:
    """One report per step, numbered through both phases, with the `tokens` it took."""
    cooling = steps // COOLING_ONE_IN
    done = 0
    for count, settings in ((steps - cooling, STEADY), (cooling, COOLING)):
        tokens = settings["batch_size"] * settings["seq_len"]
        for report in train_steps(model, train_ids, count, val_data=valid_ids, **settings):
            yield report | {"step": done + report["step"], "tokens": tokens}
        done += count


def say(text: str, end: str = "\n") -> None:
    """News of the run; standard error, since it is not a result."""
    print(text, end=end, file=sys.stderr, flush=True)


def show_progress(reports: Iterable[Report], steps: int) -> Iterator[Report]:
    """Pass reports on; the newest is shown on one line, which in a file becomes one line per validation."""
    began, valid, tokens, terminal = time.monotonic(), float("nan"), 0, sys.stderr.isatty()
    for report in reports:
        done, seconds = report["step"] + 1, time.monotonic() - began
        valid = report.get("val_loss", valid)
        tokens += report["tokens"]
        if terminal or "val_loss" in report:
            left = seconds / done * (steps - done)
            line = f"step {done} of {steps}  loss {report['loss']:.3f}  validation {valid:.3f}"
            line += f"  {tokens / seconds:,.0f} tokens/s  {left / 60:.1f} min left"
            say(f"\r{line}\x1b[K" if terminal else line, end="" if terminal else "\n")
        yield report
    if terminal:
        say("")


def until(minutes: float, reports: Iterable[Report]) -> Iterator[Report]:
    """Reports until so many minutes have passed."""
    end = time.monotonic() + 60 * minutes
    for report in reports:
        yield report
        if time.monotonic() > end:
            return


def make(out: Path, work: Path, steps: int, minutes: float) -> None:
    """Write corpus and tokenizer to `work` and the trained model to `out`."""
    work.mkdir(parents=True, exist_ok=True)
    stories, held_out = train_stories(), valid_stories()
    train_text, valid_text = join_stories(stories), join_stories(held_out)
    (work / "train.txt").write_text(train_text, encoding="utf-8")
    (work / "valid.txt").write_text(valid_text, encoding="utf-8")

    tokenizer = learn_tokenizer(train_text)
    tokenizer.save(work / "tiny.tokenizer.json")
    train_ids, valid_ids = story_stream(tokenizer, stories), story_stream(tokenizer, held_out)
    facts = corpus_facts(train_text, valid_text, train_ids)
    say("  ".join(f"{name} {value:,}" for name, value in facts.items()))

    model = GlassLM(CONFIG, seed=MODEL_SEED)
    model.tokenizer = tokenizer
    model.sample = np.array(tokenizer.encode(OPENING))
    reports = until(minutes, train_in_phases(model, train_ids, valid_ids, steps))
    curve = [
        {"step": r["step"], "loss": round(r["val_loss"], 4)}
        for r in show_progress(reports, steps)
        if "val_loss" in r
    ]
    model.meta = {
        "made_by": "samples/make_tiny.py",
        "corpus": facts,
        "training": {
            "steps": steps,
            "model_seed": MODEL_SEED,
            "corpus_seed": TRAIN_SEED,
            "steady": STEADY,
            "cooling": COOLING,
        },
        "validation": curve,
        "generated": sentence_facts(generated_sentences(model, tokenizer, 50), train_text),
    }
    model.save(out)
    say(f"{out}: {out.stat().st_size:,} bytes  generated {model.meta['generated']}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=FOLDER / "tiny.npz", help="the checkpoint")
    parser.add_argument("--work", type=Path, default=FOLDER.parent / "build", help="for corpus and tokenizer")
    parser.add_argument("--steps", type=int, default=4800)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop sooner, not yet cooled down")
    options = parser.parse_args()
    reuse_memory()
    make(options.out, options.work, options.steps, options.minutes)


if __name__ == "__main__":
    main()
