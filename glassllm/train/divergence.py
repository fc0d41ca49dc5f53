"""Divergence: a step whose loss or gradient went out of hand, and where in the model to look first."""

import math
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from glassllm.autograd import Tensor, no_grad
from glassllm.autograd.ops import Array
from glassllm.model import GlassLM
from glassllm.trace import StepRecord, Tracer, scope_of

LOWEST_REFERENCE = 0.5  # nats; below, a multiple of the best loss is no news
MASKED = "attn.mask"  # its −inf are meant


@dataclass(frozen=True)
class Divergence:
    """Why a run stopped by itself."""

    step: int
    fault: str  # "the loss is NaN"
    place: str  # an event or parameter, like "blocks.2.ffn.act"
    where: str  # how it is to be read: "first not finite in the forward pass"
    remedy: str

    def __str__(self) -> str:
        return f"step {self.step}: {self.fault}; {self.where}: {self.place}; {self.remedy}"


def divergence(
    model: GlassLM,
    step: int,
    batch: tuple[Array, Array],
    loss: float,
    gradients: Mapping[str, Array],
    norm: float,
    limit: float,
) -> Divergence | None:
    """What is wrong with a step, its gradients as they are before the update; None where nothing is.

    `norm` is that of all gradients, `limit` the loss above which a step counts as astray.
    """
    if not math.isfinite(loss):
        fault = f"the loss is {_spelled(loss)}"
    elif not math.isfinite(norm):
        fault = f"the gradient's norm is {_spelled(norm)}"
    elif loss > limit:
        largest = max(gradients, key=lambda name: float(np.linalg.norm(gradients[name].astype(np.float64))))
        fault = f"the loss rose to {loss:.4g}, above {limit:.4g}"
        return Divergence(step, fault, largest, "largest gradient", "look at this step, or take a lower rate")
    else:
        return None
    place, where = first_abnormal(model, batch, gradients)
    return Divergence(step, fault, place, where, "the update was left out; look at this step")


def first_abnormal(model: GlassLM, batch: tuple[Array, Array], gradients: Mapping[str, Array]) -> tuple[str, str]:
    """The first place that is not finite, on the way forward and then back, and how it was found."""
    for name, parameter in model.named_parameters().items():
        if not np.isfinite(parameter.data).all():
            return name, "weights not finite"
    composed = copy(model)
    composed.fused = False
    watch = Watch()
    with no_grad(), np.errstate(all="ignore"):
        composed.loss(*batch, trace=watch)
    if watch.place:
        return watch.place, "first not finite in the forward pass"
    for name in reversed(list(gradients)):
        if not np.isfinite(gradients[name]).all():
            return name, "first gradient not finite"
    return "all gradients together", "too large to sum"


class Watch(Tracer):
    """A notebook that writes down no more than the first event which is not finite, of any batch."""

    place = ""  # empty: all were finite so far

    def record(
        self, step_id: str, value: Any, layer: int | None = None, batched: bool = True, *, head: int | None = None
    ) -> StepRecord:
        array = np.asarray(value.data if isinstance(value, Tensor) else value)
        if not self.place and step_id != MASKED and not np.isfinite(array).all():
            self.place = scope_of(step_id, layer)
        return StepRecord(step_id, layer, head, array, 0)


def _spelled(value: float) -> str:
    return "NaN" if math.isnan(value) else "Inf" if value > 0 else "−Inf"
