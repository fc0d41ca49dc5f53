"""Large graphs, and the lines of Python that something executes: what must not grow with them."""

import sys
from collections.abc import Callable

import numpy as np

from glassllm import Tensor
from glassllm.autograd.functions import concat, tanh

SMALL, LARGE = 600, 3_000


def mixed(nodes):
    """A recurrence with one weight, and branches that meet in a sum."""
    w, h = (Tensor(np.array([x, 0.5]), requires_grad=True) for x in (0.3, -0.2))
    for _ in range(nodes // 10):
        h = tanh(h * w)
        branches = [h * 0.5 for _ in range(4)]
        h = branches[0] + branches[1] + branches[2] + branches[3]
    return h.sum()


def fan(nodes):
    """One tensor into all branches, and all of them into one."""
    h = Tensor(np.array([0.3, 0.5]), requires_grad=True)
    return concat([-h for _ in range(nodes)]).sum()


class Lines:
    """Counts the lines of Python that are executed inside it, by the calls of `mark` in between."""

    def __enter__(self):
        self.counts = [0]
        self._before = sys.gettrace()
        sys.settrace(self._trace)
        return self

    def __exit__(self, *_):
        sys.settrace(self._before)

    def _trace(self, frame, event, argument):
        self.counts[-1] += event == "line"
        return self._trace

    def mark(self):
        self.counts.append(0)


def lines_of(work: Callable[[], object]) -> int:
    with Lines() as lines:
        work()
    return sum(lines.counts)
