"""The packages keep to the architecture, and every check would notice if they did not."""

import subprocess
import sys

import numpy as np
import pytest

from glassllm import Config, GlassLM, Tensor
from glassllm.autograd import graph
from glassllm.debug.report import report
from glassllm.debug.session import Session, drain
from glassllm.debug.snapshot import CommandError
from tests.architecture import (
    LONGEST,
    MODULES,
    ORDER,
    ROOT,
    SOURCES,
    Source,
    against_the_order,
    belongs,
    code_from_data,
    cycles,
    defined,
    foreign,
    impure,
    private_doors,
    rule_holders,
    session_holders,
    silent,
    too_long,
    users,
)

# The packages pass them


def violations(check, *packages, but=(), sources=SOURCES):
    chosen = [s for s in sources if s.name not in but and any(belongs(s.name, package) for package in packages)]
    assert chosen, f"nothing to check in {packages}"
    return [line for source in chosen for line in check(source)]


OURS = set().union(*(defined(source) for source in SOURCES))


def test_modules_import_only_from_above():
    assert violations(against_the_order, "glassllm", "tui") == []
    assert cycles(SOURCES) == []


def test_every_entry_of_the_order_is_there():
    assert [e for e in ORDER if e not in MODULES | {"glassllm.interop"}] == []


def test_the_engine_needs_numpy_alone():
    assert violations(foreign, "glassllm") == []


def test_drawing_knows_neither_screen_nor_tensor():
    assert violations(impure, "tui.draw", "tui.graph_layout") == []


def test_only_the_engine_s_thread_holds_a_session():
    assert violations(session_holders, "tui", but=("tui.app", "tui.report", "tui.breakpoint")) == []


KEY_DOORS = {"XTermParser", "ANSI_SEQUENCES_KEYS", "FUNCTIONAL_KEYS"}


def test_private_doors_stay_shut_but_for_two():
    holders = ("tui.dump", "tui.keyboard")
    assert violations(lambda s: private_doors(s, OURS), "glassllm", "tui", but=holders) == []
    for holder, doors in zip(holders, ({"_compositor"}, KEY_DOORS), strict=True):
        found = violations(lambda s: private_doors(s, OURS), holder)
        assert {line.rpartition(" ")[2] for line in found} == doors


def test_only_contributions_comes_by_a_rule():
    holders = {line.rpartition(".")[2] for line in violations(rule_holders, "glassllm.autograd.graph")}
    (source,) = (s for s in SOURCES if s.name == "glassllm.autograd.graph")
    assert holders
    for holder in holders - {"contributions"}:
        assert users(source, holder) <= holders | {"contributions"}
    assert violations(rule_holders, "glassllm", "tui", but=("glassllm.autograd.graph",)) == []


def test_no_file_runs_what_data_says_but_a_user_s_own_program():
    assert violations(code_from_data, "glassllm", "tui", but=("glassllm.debug.script",)) == []
    runs = violations(code_from_data, "glassllm.debug.script")
    assert {line.rpartition(" ")[2] for line in runs} == {"compile", "exec"}


def test_files_are_short_and_say_what_they_are():
    assert violations(too_long, "glassllm", "tui") == []
    assert violations(silent, "glassllm", "tui") == []


# And would notice


PLANTED = [
    (against_the_order, "glassllm.nn", "from .model import GlassLM"),
    (against_the_order, "glassllm.nn", "def f():\n    from glassllm import model"),
    (against_the_order, "tui.draw.text", "import tui.engine"),
    (against_the_order, "glassllm.files", "import tui"),
    (foreign, "glassllm.nn", "import scipy.special"),
    (foreign, "glassllm.nn", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import textual"),
    (impure, "tui.draw.text", "from textual.widget import Widget"),
    (impure, "tui.draw.text", "from glassllm import Tensor"),
    (impure, "tui.graph_layout.ranks", "from glassllm.autograd import tensor"),
    (session_holders, "tui.widgets.page", "from glassllm.debug.session import Session"),
    (session_holders, "tui.widgets.page", "def f():\n    from glassllm.debug import opening"),
    (lambda s: private_doors(s, OURS), "tui.app", "from textual._wait import wait_for_idle"),
    (lambda s: private_doors(s, OURS), "tui.app", "from textual.widgets import _select"),
    (lambda s: private_doors(s, OURS), "tui.app", "def f(app):\n    return app.screen._compositor"),
    (rule_holders, "tui.app", "def f(node, g):\n    return node.op.backward(g)"),
    (rule_holders, "tui.app", "def f(node):\n    rule = node.op.backward"),
    (rule_holders, "tui.app", "f = lambda o, g: o.backward(g, o.y)"),
    (rule_holders, "tui.app", "def f(o):\n    return getattr(o, 'backward')"),
    (code_from_data, "glassllm.files", "import pickle"),
    (code_from_data, "glassllm.files", "def f(x):\n    return eval(x)"),
    (code_from_data, "glassllm.files", "import numpy as np\nx = np.load('x')"),
    (code_from_data, "glassllm.files", "x = read('x', allow_pickle=True)"),
    (too_long, "glassllm.files", "\n" * (LONGEST + 1)),
    (silent, "glassllm.files", "x = 1"),
]
INNOCENT = [
    (against_the_order, "glassllm.model", "from .nn import Block"),
    (
        against_the_order,
        "tui.dump",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .app import GlassApp",
    ),
    (rule_holders, "glassllm.train", "def f(loss):\n    loss.backward()\n    loss.backward(2)"),
    (code_from_data, "glassllm.files", "import re\nx = re.compile('x')"),
    (
        lambda s: private_doors(s, OURS),
        "tui.app",
        "class A:\n    def f(self):\n        return self.__class__.__name__",
    ),
]


@pytest.mark.parametrize(("check", "name", "text"), PLANTED, ids=[text for _, _, text in PLANTED])
def test_a_planted_violation_is_found(check, name, text):
    assert check(Source(name, text))


@pytest.mark.parametrize(("check", "name", "text"), INNOCENT, ids=[text for _, _, text in INNOCENT])
def test_what_is_allowed_is_not_reported(check, name, text):
    assert check(Source(name, text)) == []


def test_a_circle_is_found():
    circle = [Source("tui.a", "from . import b"), Source("tui.b", "def f():\n    import tui.a")]
    assert cycles(circle) and not cycles(circle[:1])


# And while it runs


@pytest.mark.parametrize("door", ["backward_steps", "contributions"])
def test_all_gradients_pass_through_one_door(monkeypatch, door):
    model = GlassLM(Config(vocab_size=5, d_model=4, n_layers=1, n_heads=1, n_kv_heads=1, max_len=4))
    session, x = Session.open(model, ids=[1, 2, 3]), Tensor(np.ones(2), requires_grad=True)
    y = (x * x).sum()
    drain(session.proceed())

    def shut(*_):
        raise RuntimeError("the door is shut")

    def reported():  # a rule that raises is a note there
        raise RuntimeError(*report(session)["notes"][-1:])

    monkeypatch.setattr(graph, door, shut)
    for way in (y.backward, lambda: drain(session.step()), reported):
        with pytest.raises((RuntimeError, CommandError), match="the door is shut"):
            way()


def loaded_by(statement):
    """Top-level packages that an interpreter of its own has after a statement."""
    code = f"import sys\n{statement}\nprint(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True, timeout=60
    )
    return set(done.stdout.split())


def test_importing_tui_imports_nothing():
    assert not {"glassllm", "numpy", "textual", "rich"} & loaded_by("import tui")


def test_the_first_frame_waits_for_neither_numpy_nor_the_engine():
    assert not {"glassllm", "numpy"} & loaded_by("import tui.app")


def test_drawing_can_be_used_without_the_screen():
    names = [s.name for s in SOURCES if belongs(s.name, "tui.draw") or belongs(s.name, "tui.graph_layout")]
    assert "textual" not in loaded_by(f"import {', '.join(names)}")


def test_what_is_loaded_is_seen():
    assert {"tui", "textual"} <= loaded_by("import tui, textual")
