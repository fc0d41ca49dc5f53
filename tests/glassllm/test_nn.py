"""The parts of the model: names and order of parameters, rotary tables, masks, the cache."""

import numpy as np
import pytest

from glassllm import Config, Tensor
from glassllm.nn import Cache, Initial, Module, RMSNorm, join_heads, keys_ahead, rope_angles, split_heads
from glassllm.trace import current_scope, scope

TINY = Config(vocab_size=7, d_model=8, n_layers=2, n_heads=4, n_kv_heads=2, max_len=6)


class Pair(Module):
    def __init__(self):
        self.second = Tensor(np.ones(2), requires_grad=True)
        self.label = "not a parameter"
        self.table = np.zeros(3)
        self.parts = [
            RMSNorm(3, 1e-6, Initial(0, 0.02, np.float32)),
            RMSNorm(4, 1e-6, Initial(0, 0.02, np.float64)),
        ]
        self.frozen = Tensor(np.ones(5))


def test_parameters_are_the_tensors_in_the_order_they_were_set():
    pair = Pair()
    assert list(pair.named_parameters()) == ["second", "parts.0.gamma", "parts.1.gamma", "frozen"]
    assert [p.shape for p in pair.parameters()] == [(2,), (3,), (4,), (5,)]


class Layer(Module):
    def forward(self, seen):
        seen.append(current_scope())
        if len(seen) > 9:
            raise RecursionError("too deep")


class Network(Module):
    def __init__(self):
        self.layers = [Layer(), Layer()]
        self.head = Layer()

    def forward(self, seen):
        for layer in self.layers:
            layer(seen)
        with scope("last"):
            self.head(seen)


def test_a_call_is_scoped_by_the_path_of_the_module():
    seen = []
    Network()(seen)
    assert seen == ["layers.0", "layers.1", "last.head"]
    with scope("outer"), pytest.raises(RecursionError):
        Network()(seen * 3)
    assert current_scope() == ""


def test_a_module_without_forward_says_so():
    with pytest.raises(NotImplementedError, match="Pair"):
        Pair()()


def test_initial_weights():
    single, double = Initial(3, 0.02, np.float32), Initial(3, 0.02, np.float64)
    a, b = single.matrix(50, 40), double.matrix(50, 40)
    assert (a.dtype, b.dtype) == (np.float32, np.float64)
    assert np.array_equal(a.data, b.data.astype(np.float32))
    assert abs(b.data.std() / 0.02 - 1) < 0.05 and abs(b.data.mean()) < 0.002
    assert np.array_equal(single.gamma(3).data, np.ones(3))
    assert a.requires_grad and single.gamma(3).requires_grad


@pytest.mark.parametrize("base", [10000.0, 500.0])
def test_rope_angles(base):
    cos, sin = rope_angles(6, 5, base)
    assert cos.shape == sin.shape == (5, 3)
    for m in range(5):
        for i in range(3):
            angle = m * base ** (-2 * i / 6)
            assert cos[m, i] == pytest.approx(np.cos(angle), abs=1e-15)
            assert sin[m, i] == pytest.approx(np.sin(angle), abs=1e-15)


@pytest.mark.parametrize("d_k", [0, -2, 3])
def test_rope_turns_pairs(d_k):
    with pytest.raises(ValueError, match="even"):
        rope_angles(d_k, 4, 10000.0)


@pytest.mark.parametrize("n, m", [(1, 1), (4, 4), (1, 5), (3, 5)])
def test_a_key_is_ahead_when_its_position_is_later_than_the_querys(n, m):
    ahead = keys_ahead(n, m)
    assert ahead.dtype == bool and ahead.shape == (n, m)
    assert all(ahead[i, j] == (j > m - n + i) for i in range(n) for j in range(m))


def test_rms_norm_by_hand():
    norm = RMSNorm(2, 0.0, Initial(0, 0.02, np.float64))
    norm.gamma.data[:] = [1, 2]
    assert norm(Tensor(np.array([[3.0, 4.0]]))).data == pytest.approx(np.array([[3, 8]]) / np.sqrt(12.5))


def test_heads_split_and_join():
    x = np.arange(24.0).reshape(1, 3, 8)
    heads = split_heads(Tensor(x), 2)
    assert np.array_equal(heads.data[0, 1, 2], x[0, 2, 4:])
    assert np.array_equal(join_heads(heads).data, x)


def test_the_cache_returns_all_keys_and_never_changes_what_it_gave():
    cache, rng = Cache(TINY, np.float32), np.random.default_rng(0)
    whole = rng.normal(size=(1, 2, 5, 2)).astype(np.float32)
    first, _ = cache.extend(1, Tensor(whole[:, :, :3]), Tensor(whole[:, :, :3]))
    cache.length = 3
    keys, values = cache.extend(1, Tensor(whole[:, :, 3:]), Tensor(-whole[:, :, 3:]))
    assert np.array_equal(keys.data, whole) and np.array_equal(values.data[:, :, 3:], -whole[:, :, 3:])
    assert np.array_equal(first.data, whole[:, :, :3])
    assert keys.dtype == np.float32
