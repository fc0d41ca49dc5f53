"""A program to try, and what is read from its recording."""

HEAD = """
import sys
import numpy as np
from glassllm import Tensor, no_grad
x = Tensor(np.array([1.0, -2.0]), requires_grad=True)
"""


def ops(tape):
    return [tape.rows[row].name for row in tape.forward]


def printed(facts):
    return [line.text for line in facts.printed]
