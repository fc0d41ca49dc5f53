"""How fast the engine trains and generates, held against what no NumPy program can save: the matrix products.

The model is the default one with eight heads on four and 256 positions, in float32, fused unless it says composed.
Freed memory is kept, as a program that trains asks for.
"""

import resource
import time
from collections.abc import Callable

import numpy as np

from glassllm import Config, GlassLM, no_grad
from glassllm.autograd import Tensor
from glassllm.autograd import tensor as engine
from glassllm.autograd.ops import Array
from glassllm.optim import AdamW
from glassllm.train import get_batch, reuse_memory, train_step

from .engine import Work, compare
from .table import Result

CONFIG = Config(n_heads=8, n_kv_heads=4, max_len=256)
STEPS = {(1, 32): 3.2, (1, 128): 2.1, (8, 128): 1.6, (16, 256): 1.2}  # batch, length: most of the bare products
RATE = 1e-3
FAULTS = 50.0  # of memory pages, in one step
CHAIN = 100_000
GLANCE = 30e-9  # seconds an op may spend on looking for a hook
GLANCES = 1_000_000


def measure() -> list[Result]:
    reuse_memory()
    return [
        *(against_products(*size, goal) for size, goal in STEPS.items()),
        *(against_composed(*size) for size in STEPS),
        page_faults(8, 128),
        generation(32, 64),
        long_chain(),
        glance(),
        *listening(8, 128),
    ]


def often(work: Work, times: int) -> Work:
    """The work so many times, for what is short."""

    def repeated() -> None:
        for _ in range(times):
            work()

    return repeated


def training(batch: int, length: int, fused: bool = True) -> Work:
    """One training step, the model and its optimizer behind it."""
    model = GlassLM(CONFIG)
    model.fused = fused
    optimizer = AdamW(model.parameters())
    rng = np.random.default_rng(0)
    x, y = get_batch(rng.integers(0, CONFIG.vocab_size, 4 * length + batch), batch, length, rng)
    return lambda: train_step(model, optimizer, x, y, RATE)


def turns(batch: int, length: int) -> int:
    """How many steps of this size make a round."""
    return max(1, 1024 // (batch * length))


# The floor


def products(batch: int, length: int) -> Work:
    """Every matrix product of a step, forward and back, into arrays that are there; scores of all pairs."""
    rng = np.random.default_rng(0)
    multiplications: list[tuple[Array, Array, Array]] = []

    def add(left: Array, right: Array) -> None:
        multiplications.append((left, right, np.empty((*left.shape[:-1], right.shape[-1]), np.float32)))

    def noise(*shape: int) -> Array:
        return rng.standard_normal(shape, np.float32)

    def add_weight(rows: int, columns: int) -> None:
        x, w, g = noise(batch * length, rows), noise(rows, columns), noise(batch * length, columns)
        add(x, w)
        add(g, w.T)
        add(x.T, g)

    block = CONFIG.block_shapes()
    for _ in range(CONFIG.n_layers):
        for shape in block.values():
            if len(shape) == 2:
                add_weight(*shape)
        q, k, v, g = (noise(batch, CONFIG.n_heads, length, CONFIG.head_size) for _ in range(4))
        weights = noise(batch, CONFIG.n_heads, length, length)
        for left, right in ((q, k.mT), (weights, v), (g, v.mT), (weights, k), (weights.mT, q), (weights.mT, g)):
            add(left, right)
    add_weight(CONFIG.d_model, CONFIG.vocab_size)

    def multiply() -> None:
        for left, right, out in multiplications:
            np.matmul(left, right, out=out)

    return multiply


def against_products(batch: int, length: int, goal: float) -> Result:
    step, floor = (often(w, turns(batch, length)) for w in (training(batch, length), products(batch, length)))
    return compare(f"training step ({batch}, {length}) / its matrix products", step, floor, 9, goal)


def against_composed(batch: int, length: int) -> Result:
    fused, composed = (often(training(batch, length, fused), turns(batch, length)) for fused in (True, False))
    return compare(f"training step ({batch}, {length}), fused / composed", fused, composed, 7)


# Memory


def page_faults(batch: int, length: int) -> Result:
    """Pages that a step takes from the system once training runs steadily."""
    step, found = training(batch, length), []
    for _ in range(8):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        step()
        found.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
    return Result(f"page faults of a step ({batch}, {length}) / {FAULTS:g}", found[3:], [FAULTS] * 5, 1, unit="")


# Generation


def generation(prompt: int, new: int) -> Result:
    """Tokens one after another, the keys and values before them kept, against whole passes for each."""
    model = GlassLM(CONFIG)
    model.fused = True
    ids = np.random.default_rng(0).integers(0, CONFIG.vocab_size, prompt).tolist()

    def kept() -> None:
        for _ in model.generate(ids, new, greedy=True):
            pass

    @no_grad()
    def anew() -> None:
        seen = list(ids)
        for _ in range(new):
            seen.append(int(model.forward(seen).data[0, -1].argmax()))

    return compare(f"{new} tokens after {prompt}, with a cache / without", kept, anew, 7, 0.35)


# Graphs


def long_chain(rounds: int = 3) -> Result:
    """What a node of a very long graph costs on the way back, against one of a long graph."""
    ends = []
    for length in (10 * CHAIN, CHAIN):
        end = Tensor(np.ones(()), requires_grad=True)
        for _ in range(length):
            end = -end
        ends.append(end)
    long, short = ends
    return compare(
        f"backward through {10 * CHAIN:,} nodes / 10 times {CHAIN:,}",
        lambda: long.backward(),
        often(short.backward, 10),
        rounds,
        1.8,
    )


def glance() -> Result:
    """Looking whether there is a hook, which every op does once."""
    numbers = range(GLANCES)

    def look() -> float:
        began = time.process_time()
        for _ in numbers:
            if engine.hook is not None:
                raise AssertionError
        looked = time.process_time() - began
        for _ in numbers:
            pass
        return (2 * looked - (time.process_time() - began)) / GLANCES

    times = [look() for _ in range(7)]
    return Result(f"looking for a hook / {1e9 * GLANCE:g} ns", times, [GLANCE] * len(times), 1, unit="ns")


class Listener:
    """A hook that keeps every result, itself or a copy of it."""

    def __init__(self, keep: Callable[[Array], Array]) -> None:
        self.keep = keep
        self.kept: list[Array] = []

    def applied(self, op: object, inputs: object, attrs: object, saved: object, result: Tensor) -> None:
        self.kept.append(self.keep(result.data))

    def marked(self, step_id: str, value: object, layer: int | None) -> None:
        pass

    def traversed(self, root: Tensor, seed: Array) -> None:
        pass


def listening(batch: int, length: int) -> list[Result]:
    """A composed step of which a hook keeps every result, against one without."""
    step = training(batch, length, fused=False)

    def listened(keep: Callable[[Array], Array]) -> Work:
        def heard() -> None:
            before = engine.set_hook(Listener(keep))
            try:
                step()
            finally:
                engine.set_hook(before)

        return heard

    what = f"composed step ({batch}, {length}), every result"
    return [
        compare(f"{what} kept / none", listened(lambda array: array), step, 9, 1.08),
        compare(f"{what} copied / none", listened(np.copy), step, 9, 1.30),
    ]
