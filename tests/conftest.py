"""Settings every test shares: no colour switches from outside, no settings file, no animation; and a full disk."""

import errno
import os
import signal

import pytest
from hypothesis import settings

if not os.environ.get("CI"):  # there Hypothesis has a profile of its own: the same examples every time
    settings.register_profile("patient", deadline=None)
    settings.load_profile("patient")
for name in ("NO_COLOR", "COLORTERM", "TEXTUAL_THEME", "TEXTUAL_COLOR_SYSTEM", "TEXTUAL_DRIVER"):
    os.environ.pop(name, None)
os.environ["XDG_CONFIG_HOME"] = os.devnull  # nobody's own settings
os.environ["TEXTUAL_ANIMATIONS"] = "none"
os.environ["TERM"] = "xterm-256color"
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

for number, usual in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGTERM, signal.SIG_DFL),
    *((getattr(signal, name), signal.SIG_DFL) for name in ("SIGHUP", "SIGQUIT") if hasattr(signal, name)),
):
    if signal.getsignal(number) is signal.SIG_IGN:  # what is begun in the background ignores some of them
        signal.signal(number, usual)


def pytest_addoption(parser):
    parser.addoption("--update-looks", action="store_true", help="write the golden screens of tests/looks anew")


@pytest.fixture
def full(monkeypatch):
    """`full.append(True)` fills the disk, `full.clear()` makes room."""
    state, real = [], os.fsync

    def fsync(descriptor):
        if state:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(descriptor)

    monkeypatch.setattr("os.fsync", fsync)
    return state
