"""What the numbers on the screen must be: the checkpoint's arrays in float64, nothing of glassllm.

Gradients are central differences of the loss: of the whole model run anew with one number moved.
"""

import json
from functools import cached_property

import numpy as np

from tests.reference import forward

STEP = 1e-4  # moves the loss by far more than rounding, and its curvature by far less than a digit shown


class Truth:
    """The model of a file on the file's own sample, each id with the next one as its target."""

    def __init__(self, path):
        with np.load(path) as file:
            arrays = {name: file[name] for name in file.files}
        self.config = json.loads(str(arrays["__config__"]))
        self.weights = {name: array.astype(np.float64) for name, array in arrays.items() if name[0] != "_"}
        self.ids, self.targets = arrays["__sample__"][:-1], arrays["__sample__"][1:]

    @cached_property
    def events(self):
        return forward(self.weights, self.config, self.ids, self.targets)

    def value(self, step, layer, cell):
        return self.events[step, layer][cell]

    def slope(self, weights, bump=None):
        """How fast the loss rises as the weights named, or the block's value bumped, move along given arrays."""
        ends = []
        for sign in (1, -1):
            moved = self.weights | {name: self.weights[name] + sign * STEP * by for name, by in weights.items()}
            bumps = {} if bump is None else {bump[0]: sign * STEP * bump[1]}
            ends.append(forward(moved, self.config, self.ids, self.targets, bumps)["loss", None])
        return (ends[0] - ends[1]) / (2 * STEP)

    def parameter(self, name, cell):
        """∂L / one number of a parameter."""
        return self.slope({name: one_at(self.weights[name].shape, cell)})

    def stream(self, step, layer, cell):
        """∂L / one number of a block's value."""
        return self.slope({}, ((step, layer), one_at(self.events[step, layer].shape, cell)))

    def attention_weight(self, layer, cell):
        """∂L / one attention weight: moving it moves the attention's output along its key's value times W_O."""
        head, query, key = cell
        values = self.events["attn.v", layer]
        size = values.shape[-1]
        group = head * len(values) // self.config["n_heads"]
        out = self.weights[f"blocks.{layer}.attn.W_O"][head * size : (head + 1) * size]
        along = np.zeros_like(self.events["attn.out", layer])
        along[query] = values[group, key] @ out
        return self.slope({}, (("attn.out", layer), along))


def one_at(shape, cell):
    array = np.zeros(shape)
    array[cell] = 1.0
    return array
