"""Sample: what a model writes after each validation, always from one beginning, to be read beside the loss."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass

from glassllm.autograd.ops import Array
from glassllm.model import GlassLM, NotFinite
from glassllm.tokenizer import EOS, texts

BEGINNING = 16  # tokens, at most
NEW = 48  # tokens


@dataclass(frozen=True)
class Sample:
    """A text written greedily. A model whose logits are not finite adds nothing to the prompt."""

    tokens: tuple[str, ...]  # texts of prompt and new tokens, with their leading spaces
    prompt: int  # how many of them are the prompt
    step: int  # steps that the weights had taken


def beginning(sample: Array | None, valid: Array) -> tuple[int, ...]:
    """The ids that all samples of a run begin with: of the model's own text to open with, else of validation's."""
    ids = valid if sample is None or not len(sample) else sample
    return tuple(int(i) for i in ids[:BEGINNING])


def writing_sample(model: GlassLM, ids: Sequence[int], step: int) -> Generator[None, None, Sample]:
    """Write a sample, a token a slice; the model must not change meanwhile."""
    written = list(ids)
    try:
        for new in model.generate(ids, NEW, greedy=True):
            written.append(new.token)
            if new.token == EOS:
                break
            yield
    except NotFinite:
        pass
    return Sample(texts(model.tokenizer, written), len(ids), step)
