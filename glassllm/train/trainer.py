"""Trainer: one run of training that can be watched, paused, saved and resumed to the bit.

It owns a private copy of the model and takes the steps of `train`, one a slice. Between two slices all of its
state is in plain attributes, so it may be looked at, saved or left there. It knows no clock, thread or screen.
"""

import math
from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from glassllm.autograd.ops import Array
from glassllm.checkpoint import checkpoint_arrays, writing_npz
from glassllm.files import StrPath
from glassllm.model import GlassLM
from glassllm.optim import AdamW, clip_grad_norm, lr_schedule

from .batches import EVALUATION_BATCHES, EVALUATION_SEED, batch_loss, fingerprint, get_batch, mean_loss, row_of_ids
from .curve import Curve
from .divergence import LOWEST_REFERENCE, Divergence, divergence
from .report import LastStep, StepReport, update_ratios
from .settings import RunSettings
from .state import Best, Run, TrainingState, curve_names
from .steps import backpropagate

NO_STEP = "no step is finished yet; s takes one"


def copied(model: GlassLM) -> GlassLM:
    """A float32 model of its own with the same weights and what travels with them; composed."""
    weights = {name: np.array(p.data, np.float32) for name, p in model.named_parameters().items()}
    return GlassLM.of(model.config, weights, model.tokenizer, model.meta, model.sample)


class Trainer:
    """A run: `run()` takes its steps, `state()` freezes it, `Trainer.of` goes on from there.

    `step` counts the steps done, `curves` hold what they reported, `report` and `last_step` the newest of them
    (None before the first one, and after a resume). `validated` is the step behind which validation was measured
    last, 0 where it was not yet. `fault` is what stopped the run by itself, None once it goes on.
    """

    def __init__(
        self,
        model: GlassLM,
        data: ArrayLike,
        settings: RunSettings | None = None,
        val_data: ArrayLike | None = None,
    ) -> None:
        """Data and val_data are one row of ids each. ValueError where they, the settings and the model do not fit.

        settings None: the default ones, rows no longer than the model takes.
        """
        cfg = model.config
        self.settings = RunSettings(seq_len=min(128, cfg.max_len)) if settings is None else settings
        self.settings.check_model(cfg)
        self.data = row_of_ids("data", data, cfg.vocab_size, self.settings.seq_len)
        self.val_data = (
            None if val_data is None else row_of_ids("val_data", val_data, cfg.vocab_size, self.settings.seq_len)
        )
        rows = self.data, self.val_data
        self._fingerprints = fingerprint(rows[0]), None if rows[1] is None else fingerprint(rows[1])
        self._val_batches = self._draw_val_batches()
        self._begin(model)

    def _begin(self, model: GlassLM) -> None:
        """Stand before the first step, with the weights of this model."""
        self.model = copied(model)
        self.model.fused = self.settings.fused
        self.optimizer = AdamW(
            self.model.parameters(), lr=self.settings.lr, weight_decay=self.settings.weight_decay
        )
        self.rng = np.random.Generator(np.random.PCG64(self.settings.seed))
        self.step = 0
        self.best: Best | None = None
        self.best_val: Best | None = None
        self.clipped = 0
        self.curves = {name: Curve() for name in curve_names(model.config)}
        self.report: StepReport | None = None
        self.last_step: LastStep | None = None
        self.fault: Divergence | None = None
        self.validated = 0
        self._reference = math.inf  # the lowest loss since the last alarm
        self._val_losses: list[Array] = []
        self._is_asked = False  # for a validation that is not due

    def _draw_val_batches(self) -> list[tuple[Array, Array]]:
        """The batches that `evaluate` draws."""
        if self.val_data is None:
            return []
        rng, shape = np.random.default_rng(EVALUATION_SEED), (self.settings.batch_size, self.settings.seq_len)
        return [get_batch(self.val_data, *shape, rng) for _ in range(EVALUATION_BATCHES)]

    @property
    def is_done(self) -> bool:
        """Whether all steps are taken and measured."""
        return self.step >= self.settings.steps and not self.owes_validation

    @property
    def owes_validation(self) -> bool:
        """Whether a validation is due here, or asked for, and not measured yet on all of its batches."""
        return bool(self._val_batches) and self.validated < self.step and (self._is_asked or self._is_due)

    @property
    def _is_due(self) -> bool:
        report = self.report
        if report is None or report.fault is not None:
            return False
        return report.step % self.settings.eval_every == 0 or report.step == self.settings.steps - 1

    def ask_validation(self) -> None:
        """Have validation measured behind the newest step too. ValueError where there is nothing to measure."""
        if not self._val_batches:
            raise ValueError("the text is too short to keep a part of it for validation")
        if self.step == 0:
            raise ValueError(NO_STEP)
        self._is_asked = True

    def run(self) -> Iterator[StepReport | None]:
        """Take the steps that are left, one a slice; a batch of validation is a slice too, and yields None.

        It ends with the last step, or with one whose report has a `fault`; pulled anew, it goes on behind that.
        A step that is not finite updates nothing; one whose loss only rose too far counts like all others.
        """
        self.fault = None
        while self.fault is None and not self.is_done:
            if self.owes_validation:
                self.measure()
            else:
                self.advance()
            yield None if self.owes_validation else self.report

    def advance(self) -> None:
        """One step, no validation: what `train` does, and notes of it."""
        settings, step = self.settings, self.step
        rate = lr_schedule(step, settings.steps, settings.lr, settings.warmup)
        x, y, loss = self._backpropagate()
        named = self.model.named_parameters()
        before = {name: p.data for name, p in named.items()}
        gradients = {name: p.grad for name, p in named.items() if p.grad is not None}
        norm = clip_grad_norm(self.optimizer.params, settings.max_norm)
        factor = settings.max_norm / norm if settings.max_norm < norm < math.inf else 1.0
        self.fault = divergence(self.model, step, (x, y), loss, gradients, norm, self._limit())
        if math.isfinite(loss) and math.isfinite(norm):
            for p in named.values():
                p.data = p.data.copy()  # AdamW writes in place, and the graph and last_step keep what was
            self.optimizer.step(rate)
        self._note(
            StepReport(
                step,
                loss,
                rate,
                norm,
                factor,
                updates=update_ratios(before, {name: p.data for name, p in named.items()}),
                tokens=(step + 1) * settings.batch_size * settings.seq_len,
                fault=self.fault,
            )
        )
        for array in (x, y, *before.values(), *gradients.values()):
            array.flags.writeable = False
        self.last_step = LastStep(
            step, x, y, self.model.config, self.model.tokenizer, before, gradients, factor, rate, loss
        )
        self.step += 1

    def _backpropagate(self) -> tuple[Array, Array, float]:
        """The next batch and the loss on it, each parameter given its gradient; broken off, nothing was."""
        drawn = self.rng.bit_generator.state
        try:
            x, y = get_batch(self.data, self.settings.batch_size, self.settings.seq_len, self.rng)
            with np.errstate(all="ignore"):  # what is not finite is found and named below
                return x, y, backpropagate(self.model, self.optimizer, x, y)
        except BaseException:
            self.rng.bit_generator.state = drawn
            raise

    def _limit(self) -> float:
        """The loss above which a step is astray; Inf where there is no alarm or nothing to compare with."""
        if self.settings.alarm is None:
            return math.inf
        return self.settings.alarm * max(self._reference, LOWEST_REFERENCE)

    def _note(self, report: StepReport) -> None:
        """Enter a step into the curves and records."""
        self.report = report
        self.clipped += report.clip_factor < 1
        for name in ("loss", "lr", "grad_norm"):
            self.curves[name].add(report.step, getattr(report, name))
        for group, ratio in report.updates.items():
            self.curves[f"update.{group}"].add(report.step, ratio)
        if math.isfinite(report.loss):
            self.best = _better(self.best, report.step, report.loss)
            is_alarm = report.fault is not None
            self._reference = report.loss if is_alarm else min(report.loss, self._reference)

    def measure(self) -> None:
        """The validation loss on one more batch; on the last one, their mean is entered."""
        x, y = self._val_batches[len(self._val_losses)]
        with np.errstate(all="ignore"):
            self._val_losses.append(batch_loss(self.model, x, y))
        if len(self._val_losses) == len(self._val_batches):
            self._enter_validation(mean_loss(self._val_losses))

    def _enter_validation(self, loss: float) -> None:
        self._val_losses, self._is_asked, self.validated = [], False, self.step
        if self.report is not None:
            self.report = replace(self.report, val_loss=loss)
        self.curves["val_loss"].add(self.step - 1, loss)
        if math.isfinite(loss):
            self.best_val = _better(self.best_val, self.step - 1, loss)

    def frozen(self) -> GlassLM:
        """A model of the weights as they are now, which no later step writes into."""
        weights = {name: p.data for name, p in self.model.named_parameters().items()}
        model = GlassLM.of(self.model.config, weights, self.model.tokenizer, self.model.meta, self.model.sample)
        model.fused = self.model.fused
        return model

    def save_model(self, path: StrPath) -> None:
        """Write a checkpoint of the model as it is now, the run's facts in its meta under `run`.

        float16, or float32 where a weight is too large for that. CheckpointError where it cannot be written.
        """
        for _ in self.writing_model(path):
            pass

    def writing_model(self, path: StrPath) -> Iterator[tuple[int, int]]:
        """`save_model` array by array, yielding (done, total); the model is that of now, of the call."""
        model, report = self.model, self.report
        facts = {
            "settings": self.settings.to_json(),
            "steps": self.step,
            "best": self.best,
            "best_val": self.best_val,
        }
        if report is not None and math.isfinite(report.loss):
            facts["loss"] = report.loss
        largest = max(float(np.abs(p.data).max()) for p in model.parameters())
        dtype = np.float32 if largest > float(np.finfo(np.float16).max) else np.float16
        weights = {name: p.data.astype(dtype) for name, p in model.named_parameters().items()}
        meta = {**model.meta, "run": facts}
        arrays = checkpoint_arrays(
            model.config, weights, tokenizer=model.tokenizer, meta=meta, sample=model.sample
        )
        return writing_npz(path, arrays)

    def state(self) -> TrainingState:
        """The run as it stands, frozen; a validation that is owed is measured first."""
        while self.owes_validation:
            self.measure()
        curves = {name: Curve.of(curve.stride, curve.bins) for name, curve in self.curves.items()}
        return replace(self.bare(), curves=curves)

    def bare(self) -> TrainingState:
        """The run as it stands, frozen, without curves and whatever it owes: enough to take its steps again."""
        names, optimizer = list(self.model.named_parameters()), self.optimizer
        rng: dict[str, Any] = dict(self.rng.bit_generator.state)
        numbers = {**rng["state"], "has_uint32": rng["has_uint32"], "uinteger": rng["uinteger"]}
        run = Run(
            self.settings,
            self.step,
            {name: int(value) for name, value in numbers.items()},
            self.best,
            self.best_val,
            self._reference if math.isfinite(self._reference) else None,
            self.clipped,
            *self._fingerprints,
        )
        return TrainingState(
            self.model.config,
            {name: p.data for name, p in self.model.named_parameters().items()},
            {name: m.copy() for name, m in zip(names, optimizer.first, strict=True)},
            {name: v.copy() for name, v in zip(names, optimizer.second, strict=True)},
            dict(zip(names, optimizer.counts, strict=True)),
            run,
            {},
            self.model.tokenizer,
            self.model.meta,
            self.model.sample,
        )

    @classmethod
    def of(
        cls, state: TrainingState, data: ArrayLike, val_data: ArrayLike | None = None, steps: int | None = None
    ) -> Self:
        """Go on with a run on the data it began with; `steps`: how many in all, None: as it was.

        With as many steps as before, what follows is bit for bit what would have followed. ValueError where the
        data is not that of the state.
        """
        settings = state.run.settings if steps is None else replace(state.run.settings, steps=steps)
        trainer = cls(state.model(), data, settings, val_data)
        trainer._take(state)
        return trainer

    def at(self, state: TrainingState) -> Self:
        """This run where it was at one of its own states; the two share their data, and nothing else."""
        trainer = copy(self)
        trainer._begin(state.model())
        trainer._take(state)
        return trainer

    def _take(self, state: TrainingState) -> None:
        run = state.run
        if self._fingerprints != (run.data, run.val_data):
            raise ValueError("the data is not what this run was trained on")
        names = list(self.model.named_parameters())
        self.optimizer.first = [state.first[name].copy() for name in names]
        self.optimizer.second = [state.second[name].copy() for name in names]
        self.optimizer.counts = [state.counts[name] for name in names]
        numbers = {name: run.rng[name] for name in ("has_uint32", "uinteger")}
        inner = {name: run.rng[name] for name in ("state", "inc")}
        self.rng.bit_generator.state = {"bit_generator": "PCG64", "state": inner, **numbers}
        self.step, self.best, self.best_val, self.clipped = run.step, run.best, run.best_val, run.clipped
        self._reference = math.inf if run.reference is None else run.reference
        self.curves |= {name: Curve.of(curve.stride, curve.bins) for name, curve in state.curves.items()}


def _better(best: Best | None, step: int, loss: float) -> Best:
    return best if best is not None and best.loss <= loss else Best(step, loss)
