"""A small recording with a bit of everything, taken apart so that any part can be replaced."""

import json
from pathlib import Path

import numpy as np

from glassllm import Tensor
from glassllm.autograd import embedding, gelu, masked_fill, matmul, op, softmax
from glassllm.debug.commands import run
from glassllm.debug.recorder import record
from glassllm.debug.recording.write import RECORDING, described
from glassllm.debug.session import Session
from glassllm.trace import mark


def session() -> Session:
    """x -> lookup, index, matmul, mask, softmax, gelu, a user's op, sum; one traversal finished, one begun."""

    @op
    def triple(x, *, note):
        return 3 * x

    triple.rule(lambda g, y, x, *, note: (3 * g,))
    x = Tensor(np.arange(6, dtype=np.float32).reshape(3, 2), requires_grad=True)
    with record({"x": x}) as tape:
        looked_up = embedding(x, np.array([2, 0, 1]))
        scores = matmul(looked_up, x[np.array([1, 1])].transpose())  # (3, 2)
        weights = softmax(masked_fill(scores, np.array([[False, True]]), -np.inf))
        y = mark("hidden", gelu(weights * 2.5), 1)
        mark("note", np.arange(3))
        mark("loss", triple(y[:, 0:1], note="n").mean(axis=(0, 1)))
    made = Session.of(tape, "small")
    run(made, "last")
    run(made, "backward")
    run(made, "last")
    run(made, "backward hidden")
    run(made, "3 step")
    return made


def parts() -> tuple[dict, dict[str, np.ndarray]]:
    """The manifest, and the arrays by name."""
    arrays = dict(described(session()))
    return json.loads(str(arrays.pop(RECORDING))), arrays


def put_together(path: Path, manifest: object, arrays: dict[str, np.ndarray]) -> None:
    text = manifest if isinstance(manifest, str) else json.dumps(manifest)
    np.savez(path, **{RECORDING: np.array(text), **arrays})
