"""Memory that is kept: a steady step takes no new pages from the system."""

import subprocess
import sys

import pytest

from glassllm.train import reuse_memory

STEPS = """
import resource
import numpy as np
from glassllm import Config, GlassLM
from glassllm.optim import AdamW
from glassllm.train import reuse_memory, train_step

print(reuse_memory())
model = GlassLM(Config(d_model=64, n_layers=2))
model.fused = {fused}
optimizer = AdamW(model.parameters())
ids = np.random.default_rng(0).integers(0, 1024, (8, 65))
for _ in range(12):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    train_step(model, optimizer, ids[:, :-1], ids[:, 1:], 1e-3)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""
ALLOWED = 50  # pages


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_where_the_system_does_not_offer_it_no_memory_is_kept(monkeypatch, platform):
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr("ctypes.CDLL", lambda name: object())
    assert reuse_memory() is False


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc alone keeps memory on request")
@pytest.mark.parametrize("fused", [False, True])
def test_a_steady_step_takes_no_new_pages(fused):
    done = subprocess.run(
        [sys.executable, "-c", STEPS.format(fused=fused)], capture_output=True, check=True, text=True
    )
    is_kept, *faults = done.stdout.split()
    if is_kept != "True":
        pytest.skip("this C library keeps no memory on request")
    first, *_ = faults = list(map(int, faults))
    assert first > ALLOWED, "the first step takes all that the others use again"
    assert sorted(faults[4:])[4] <= ALLOWED, faults
