"""The whole model: its numbers, its events, its gradients, what it refuses."""

import math
from dataclasses import asdict, replace

import numpy as np
import pytest

from glassllm import STEPS, Config, GlassLM, Tracer, no_grad
from glassllm.autograd import graph
from glassllm.nn import Cache
from tests.reference import forward as reference_forward

TINY = Config(vocab_size=11, d_model=8, n_layers=2, n_heads=4, n_kv_heads=2, max_len=12, init_std=0.3)
SHAPES = {
    "tiny": TINY,
    "one key head": replace(TINY, n_kv_heads=1, n_layers=1),
    "as many key heads": replace(TINY, n_kv_heads=4, n_layers=1),
    "untied": replace(TINY, tied=False, n_layers=1),
    "sizes of its own": replace(TINY, head_dim=6, d_ff=5, n_layers=1, rope_base=100.0, eps=0.1),
}
IDS = np.array([3, 1, 4, 1, 5, 9, 2, 6])
TARGETS = np.array([1, 4, 1, 5, 9, 2, 6, 10])

IN_BLOCK = [id for id, step in STEPS.items() if step.in_block]


def arrays(model):
    return {name: p.data for name, p in model.named_parameters().items()}


# numbers of the contract


def test_the_default_model_has_852608_parameters():
    model = GlassLM(Config())
    assert sum(p.size for p in model.parameters()) == 852_608
    assert all(p.dtype == np.float32 and p.requires_grad for p in model.parameters())


@pytest.mark.parametrize("config", SHAPES.values(), ids=SHAPES)
def test_parameters_have_the_names_shapes_and_order_of_a_checkpoint(config):
    named = GlassLM(config).named_parameters()
    assert [(name, p.shape) for name, p in named.items()] == list(config.parameter_shapes().items())


def test_the_same_seed_means_the_same_model():
    one, two, other, double = (GlassLM(TINY, s, t) for s, t in ((1, "f4"), (1, "f4"), (2, "f4"), (1, "f8")))
    for a, b, c, d in zip(*(m.parameters() for m in (one, two, other, double)), strict=True):
        assert np.array_equal(a.data, b.data) and np.array_equal(a.data, d.data.astype(np.float32))
        assert a.ndim == 1 or not np.array_equal(a.data, c.data)


def test_the_loss_of_a_new_model_is_about_that_of_a_guess():
    rng = np.random.default_rng(0)
    ids, targets = rng.integers(0, 1024, (2, 4, 32))
    with no_grad():
        loss = GlassLM(Config(n_layers=2)).loss(ids, targets)
    assert abs(float(loss.data) - math.log(1024)) < 0.2


# events


def test_a_forward_of_the_default_model_says_75_events_and_a_loss_77():
    model, trace = GlassLM(Config()), Tracer()
    with no_grad():
        model.loss([1, 2, 3], [2, 3, 4], trace)
    forward = ["embed", *IN_BLOCK * 4, "norm.final", "logits"]
    assert len(forward) == 75
    assert trace.step_ids() == [*forward, "loss", "loss.grad"]
    assert [r.layer for r in trace.records] == [None, *(i for i in range(4) for _ in range(18)), *[None] * 4]
    assert [r.order for r in trace.records] == list(range(77))


@pytest.mark.parametrize("config", SHAPES.values(), ids=SHAPES)
def test_every_event_has_the_shape_of_its_axes(config):
    trace, n = Tracer(), len(IDS)
    GlassLM(config).loss(IDS, TARGETS, trace)
    sizes = {"n": n, "m": n, "H": config.n_heads, "K": config.n_kv_heads, "c": config.head_size}
    sizes |= {"d": config.d_model, "f": config.ffn_size, "V": config.vocab_size}
    for record in trace.records:
        assert record.shape == tuple(sizes[axis] for axis in STEPS[record.id].axes), record.id


@pytest.mark.parametrize("config", SHAPES.values(), ids=SHAPES)
def test_every_event_equals_the_plain_loops(config):
    trace = Tracer()
    model = GlassLM(config, seed=5, dtype=np.float64)
    model.loss(IDS, TARGETS, trace)
    wanted = reference_forward(arrays(model), asdict(config), IDS, TARGETS)
    assert {(r.id, r.layer) for r in trace.records} == set(wanted)
    for record in trace.records:
        np.testing.assert_allclose(record.value, wanted[record.id, record.layer], 1e-10, 1e-12, err_msg=record.id)


def test_a_trace_takes_a_batch_of_one():
    model = GlassLM(TINY)
    with pytest.raises(ValueError, match="batch of 1"):
        model.forward([[1, 2], [3, 4]], trace=Tracer())


def test_a_trace_needs_composed_ops():
    model = GlassLM(TINY)
    model.fused = True
    for ask in (lambda: model.forward(IDS, trace=Tracer()), lambda: model.generate(IDS, 1, trace=True)):
        with pytest.raises(ValueError, match="fused=False"):
            ask()
    assert model.forward(IDS).shape == (1, 8, 11)


class Ear:
    def __init__(self):
        self.heard = []

    def applied(self, op, inputs, attrs, saved, result):
        self.heard.append((op.name, result.data))

    def marked(self, step_id, value, layer):
        self.heard.append((step_id, getattr(value, "data", value)))


def test_the_hook_hears_each_event_right_after_the_op_that_makes_it(hooked):
    ear, model = Ear(), GlassLM(TINY)
    with hooked(ear):
        model.loss(np.stack([IDS, IDS]), np.stack([TARGETS, TARGETS]))
    marks = [i for i, (name, _) in enumerate(ear.heard) if name in STEPS]
    assert [ear.heard[i][0] for i in marks] == [
        "embed",
        *IN_BLOCK * 2,
        "norm.final",
        "logits",
        "loss",
        "loss.grad",
    ]
    for i in marks[:-1]:
        assert ear.heard[i - 1][1] is ear.heard[i][1]
    assert ear.heard[-1][1].shape == (2, 8, 11)


# what a language model must do


@pytest.mark.parametrize("config", SHAPES.values(), ids=SHAPES)
def test_what_comes_later_cannot_change_what_was_said(config):
    model, rng = GlassLM(config, dtype=np.float64), np.random.default_rng(2)
    with no_grad():
        whole = model.forward(IDS).data
        for cut in range(1, len(IDS)):
            changed = IDS.copy()
            changed[cut:] = rng.integers(0, config.vocab_size, len(IDS) - cut)
            again = model.forward(changed).data
            np.testing.assert_allclose(again[:, :cut], whole[:, :cut], rtol=0, atol=1e-13)
            np.testing.assert_allclose(model.forward(IDS[:cut]).data, whole[:, :cut], rtol=0, atol=1e-13)


def test_a_batch_is_its_rows():
    model = GlassLM(TINY, dtype=np.float64)
    rows = np.random.default_rng(0).integers(0, 11, (3, 5))
    together = model.forward(rows).data
    for row, logits in zip(rows, together, strict=True):
        np.testing.assert_allclose(model.forward(row).data[0], logits, rtol=0, atol=1e-13)


def test_only_distances_between_positions_matter():
    model = GlassLM(TINY, dtype=np.float64)
    np.testing.assert_allclose(model.forward(IDS, start=4).data, model.forward(IDS).data, rtol=0, atol=1e-12)


@pytest.mark.parametrize("cuts", [[8], [1, 1, 1, 1, 1, 1, 1, 1], [5, 1, 2], [1, 7]])
def test_a_cache_changes_no_logit(cuts):
    model = GlassLM(TINY)
    whole = model.forward(IDS).data
    cache, pieces = Cache(TINY, np.float32), []
    for n in cuts:
        trace, start = Tracer(), cache.length
        logits = model.forward(IDS[start : start + n], trace, cache, start)
        assert not logits.requires_grad and cache.length == start + n
        assert trace.get("attn.rope_k").shape == (2, n, 2)
        assert trace.get("attn.scores").shape == (4, n, start + n)
        pieces.append(logits.data)
    np.testing.assert_allclose(np.concatenate(pieces, axis=1), whole, rtol=0, atol=1e-5)


# gradients


def test_the_gradient_of_every_parameter_agrees_with_finite_differences():
    model, rng = GlassLM(replace(TINY, init_std=0.5), dtype=np.float64), np.random.default_rng(3)
    model.loss(IDS, TARGETS).backward()

    def loss_at(p, direction, h):
        start = p.data
        p.data = start + h * direction
        with no_grad():
            value = float(model.loss(IDS, TARGETS).data)
        p.data = start
        return value

    for name, p in model.named_parameters().items():
        direction, h = rng.normal(size=p.shape), 1e-5
        measured = (loss_at(p, direction, h) - loss_at(p, direction, -h)) / (2 * h)
        assert np.sum(p.grad * direction) == pytest.approx(measured, rel=1e-6, abs=1e-9), name


def test_the_analytic_gradient_of_the_logits_is_what_backward_carries():
    model, trace = GlassLM(TINY, dtype=np.float64), Tracer()
    logits = []
    original = model.forward
    model.forward = lambda *args: logits.append(original(*args)) or logits[0]
    loss = model.loss(IDS, TARGETS, trace)
    assert all(p.grad is None for p in model.parameters()), "a trace runs no backward"
    loss.backward()
    np.testing.assert_allclose(trace.get("loss.grad").value, logits[0].grad[0], rtol=0, atol=1e-16)


def edges_into(root):
    """How many contributions each place receives in the traversal from root."""
    counts = {}
    for visit in graph.backward_steps(root.place, np.ones(root.shape, root.dtype)):
        if isinstance(visit.place, graph.Node):
            for source, contribution in zip(visit.place.inputs, visit.contributions, strict=True):
                if source is not None:
                    assert contribution is not None
                    counts[source] = counts.get(source, 0) + 1
    return counts


def test_the_shared_embedding_gets_two_contributions_every_other_weight_one():
    tied, untied = GlassLM(TINY), GlassLM(replace(TINY, tied=False))
    for model, lookups in ((tied, 2), (untied, 1)):
        counts = edges_into(model.loss(IDS, TARGETS))
        assert counts[model.E] == lookups
        assert all(counts[p] == 1 for p in model.parameters()[1:])


def test_the_stream_gets_one_contribution_per_reader(hooked):
    streams = []

    class Listener(Ear):
        def marked(self, step_id, value, layer):
            if step_id in ("embed", "resid.attn", "resid.ffn"):
                streams.append((step_id, layer, value))

    model = GlassLM(TINY)
    with hooked(Listener()):
        loss = model.loss(IDS, TARGETS)
    counts = edges_into(loss)
    for _, _, stream in streams:
        readers = 3  # the norm reads it twice in x·x and once in x/…; the addition that follows makes it four
        is_last = stream is streams[-1][2]
        assert counts[stream.node] == (readers if is_last else readers + 1)


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_training_step_has_one_dtype_throughout(dtype, fused):
    model = GlassLM(TINY, dtype=dtype)
    model.fused = fused
    loss = model.loss(np.stack([IDS, IDS]), np.stack([TARGETS, TARGETS]))
    for node in graph.reach(loss.place).nodes:
        kept = [
            node.y,
            *node.arrays,
            *(s for s in (*node.saved, *node.attrs.values()) if isinstance(s, np.ndarray)),
        ]
        assert all(a.dtype == dtype for a in kept if a.dtype.kind == "f"), node
    for visit in graph.backward_steps(loss.place, np.ones((), dtype)):
        for g in (visit.grad, *visit.contributions):
            assert g is None or g.dtype == dtype, visit.place


# refusals


@pytest.mark.parametrize(
    "ids, error",
    [
        ([], ValueError),
        ([[]], ValueError),
        (3, ValueError),
        ([[[1]]], ValueError),
        ([0.0, 1.0], IndexError),
        ([True, False], IndexError),
        ([-1], IndexError),
        ([11], IndexError),
        ([1] * 13, ValueError),
    ],
)
def test_ids_that_do_not_fit_are_refused(ids, error):
    model = GlassLM(TINY)
    with pytest.raises(error, match=r"ids|max_len"):
        model.forward(ids)
    with pytest.raises(error, match=r"ids|max_len"):
        model.generate(ids, 1) if error is IndexError else model.loss(ids, ids)


@pytest.mark.parametrize("start", [-1, 5])
def test_positions_must_fit_in_max_len(start):
    with pytest.raises(ValueError, match="max_len"):
        GlassLM(TINY).forward(IDS, start=start)


def test_start_must_be_what_the_cache_holds():
    with pytest.raises(ValueError, match="cache holds 0"):
        GlassLM(TINY).forward(IDS, cache=Cache(TINY, np.float32), start=1)


def test_targets_have_the_shape_of_ids():
    with pytest.raises(ValueError, match="shape"):
        GlassLM(TINY).loss(IDS, [TARGETS])


@pytest.mark.parametrize("dtype", [np.float16, np.int64])
def test_a_model_is_float32_or_float64(dtype):
    with pytest.raises(ValueError, match="float32 or float64"):
        GlassLM(TINY, dtype=dtype)
