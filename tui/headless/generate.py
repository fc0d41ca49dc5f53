"""`glassllm-tui generate`: a model writes on, and every token's probability can be had as JSON."""

import argparse
import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from glassllm import GlassLM, Tokenizer
from glassllm.checkpoint import CheckpointError
from glassllm.debug.health import health_of
from glassllm.debug.report import statistics
from glassllm.files import shown
from glassllm.generation import Candidate, Continuations, Moment, NotFinite, Sampling
from glassllm.generation.playback import moments
from glassllm.tokenizer import BOS
from glassllm.train.corpus import unknown_characters
from tui.draw.text import clean
from tui.usage import refuse

from .say import say, tell, unknown_words


def run(options: argparse.Namespace) -> int:
    """Write to stdout; the exit code. A model that cannot be opened or run is refused."""
    path = Path(options.path)
    try:
        model = GlassLM.load(path)
    except CheckpointError as error:
        refuse(str(error))
    tokenizer = model.tokenizer
    if tokenizer is None:
        refuse(f"{shown(path)}: the model comes without a tokenizer; put one beside it, NAME.tokenizer.json")
    ids = [BOS] if options.prompt is None else tokenizer.encode(options.prompt)
    if unknown := unknown_characters(options.prompt or "", tokenizer):
        say(unknown_words("the prompt", unknown))
    sampling = Sampling(options.temperature, options.greedy, options.top_k, options.top_p)
    tree = Continuations(model, ids, sampling, options.seed)
    try:
        (as_json if options.json else as_text)(tree, tokenizer, options)
    except NotFinite as error:
        refuse(f"{shown(path)}: {error}; open it in the debugger to see where they arise")
    return 0


def as_text(tree: Continuations, tokenizer: Tokenizer, options: argparse.Namespace) -> None:
    """The prompt and what follows, as it comes."""
    write(options.prompt or "")
    for _ in range(options.n):
        write(tokenizer.decode([tree.advance().token or 0]))
    write("\n")


def write(text: str) -> None:
    """Print without a newline; what would control the terminal is shown as a sign."""
    tell("\n".join(clean(line) for line in text.split("\n")))


def as_json(tree: Continuations, tokenizer: Tokenizer, options: argparse.Namespace) -> None:
    """One object: what was asked, and each token with its probabilities."""
    tokens = [told(tree, tokenizer, options) for _ in range(options.n)]
    made = {
        "prompt": options.prompt or "",
        "ids": tree.prompt,
        "seed": tree.seed,
        "temperature": tree.sampling.temperature,
        "greedy": tree.sampling.greedy,
        "top_k": tree.sampling.top_k,
        "top_p": tree.sampling.top_p,
        "tokens": tokens,
        "text": tokenizer.decode([token["id"] for token in tokens]),
        "perplexity": tree.perplexity,
    }
    tell(f"{json.dumps(made, allow_nan=False, indent=2)}\n")


def advanced(tree: Continuations, tokenizer: Tokenizer) -> dict[str, Any]:
    """One token more, its rank and the model's entropy in nats."""
    candidates = tree.candidates
    node = tree.advance()
    assert node.token is not None
    candidate = candidates.of(node.token)
    return {
        **candidate_data(candidate, tokenizer),
        "rank": candidate.rank,
        "surprisal": node.surprisal if math.isfinite(node.surprisal) else None,
        "entropy": candidates.entropy,
    }


def told(tree: Continuations, tokenizer: Tokenizer, options: argparse.Namespace) -> dict[str, Any]:
    """One token more, and what was asked for of the place before it."""
    before = looked_into(tree, tokenizer, options)
    return advanced(tree, tokenizer) | before


def looked_into(tree: Continuations, tokenizer: Tokenizer, options: argparse.Namespace) -> dict[str, Any]:
    """What was asked for of the place before a token: what might come, the events in which that is computed."""
    made: dict[str, Any] = {}
    if options.likeliest:
        top = tree.candidates.top(options.likeliest)
        made["likeliest"] = [candidate_data(each, tokenizer) | {"cut_by": each.cut_by} for each in top]
    if options.events:
        events = moments(tree.traced(), tree.candidates, tree.ahead()[0])
        made["events"] = [event_data(moment) for moment in events]
    return made


def candidate_data(candidate: Candidate, tokenizer: Tokenizer) -> dict[str, Any]:
    """Its id and spelling, its probability for the model and after the filters."""
    return {
        "id": candidate.token,
        "token": tokenizer.tokens([candidate.token])[0],
        "probability": candidate.probs[0],
        "drawn_from": candidate.probs[-1],
    }


def event_data(moment: Moment) -> dict[str, Any]:
    """An event by its scope, with statistics as `--report` has them."""
    health = health_of(moment.value, np.isneginf(moment.value) if moment.step == "attn.mask" else None)
    return {"event": moment.number, "scope": moment.scope, "shape": list(moment.shape), **statistics(health)}
