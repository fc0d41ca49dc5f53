"""What is recorded of a program: its arrays as they were, its own ops, scopes, names and events."""

from glassllm.debug.commands import run
from glassllm.debug.explain.rule import rule_lines
from glassllm.debug.session import Session
from tests.glassllm.debug.script.program import ops, printed


def test_results_are_the_user_s_own_and_kept_as_they_were(record):
    tape, _ = record("y = x * 2\ny.data[0] = 99\nz = y.sum()\nz.backward()\n")
    assert tape.rows[tape.forward[0]].array.tolist() == [2, -4]
    assert tape.kept.staleness(tape.forward[0]) == "between"
    assert tape.inputs(tape.forward[1])[0].tolist() == [99, -4]
    assert tape.rows[tape.forward[1]].array == 95


def test_what_the_program_writes_later_changes_no_gradient(record):
    tape, facts = record(
        "from glassllm.autograd import op, where\n"
        "@op\ndef square(x):\n    return x**2, x\n"
        "@square.rule\ndef _(g, y, saved, x):\n    return (2 * g * saved,)\n"
        "mask, index = np.array([True, False]), np.array([0, 0, 1])\n"
        "y = square(x)[index]\n"
        "z = where(mask, x * x, x * 5)\n"
        "(y.sum() + z.sum()).backward()\n"
        "own = x.grad.tolist()\n"
        "x.data[:] = y.data[:] = 99\nmask[:] = False\nindex[:] = 1\n"
        "print(own)\n"
    )
    session = Session(tape, facts)
    run(session, "2 continue")
    assert str(run(session, "select x").focus.gradient.tolist()) == printed(facts)[0] == "[6.0, 1.0]"


def test_what_the_program_writes_between_two_uses_is_taken_as_each_used_it(record):
    tape, facts = record("a = x * x\nx.data[:] = 99\nb = x * x\n(a + b).sum().backward()\n")
    session = Session(tape, facts)
    run(session, "2 continue")
    focus = run(session, "select x").focus
    assert focus.value.tolist() == [1, -2]
    assert focus.gradient.tolist() == [2 * 1 + 2 * 99, 2 * -2 + 2 * 99]
    assert facts.notes == ("written into between two uses: x; shown as first used",)
    second = run(session, "select 2").focus
    assert rule_lines(second, (0,)).numbers == "= +99.0000 × +99.0000 = +9801.0000"


def test_what_is_too_large_to_keep_is_said_when_the_program_has_written_into_it(record, monkeypatch):
    from glassllm.debug import kept

    monkeypatch.setattr(kept.Kept.__init__, "__defaults__", (100,))
    text = "w = Tensor(np.ones(50), requires_grad=True)\nv = Tensor(np.ones(50), requires_grad=True)\n"
    _, facts = record(f"{text}(x.sum() + (w * v).sum()).backward()\nw.data += 1\nx.data += 1\n")
    assert facts.notes == ("written into since: w; too large to keep, shown as now",)


def test_an_optimizer_writes_between_two_runs_and_not_in_one(record):
    _, facts = record(
        "for _ in range(3):\n    x.grad = None\n    (x * x).sum().backward()\n    x.data -= 0.1 * x.grad\n"
    )
    assert facts.notes == ("run 3 of 3",)


def test_ops_of_the_user_s_and_tensors_built_by_hand_are_recorded_and_stepped(record):
    tape, facts = record(
        "from glassllm.autograd import op\n"
        "@op\ndef cube(x):\n    return x**3, x\n"
        "@cube.rule\ndef _(g, y, saved, x):\n    return (3 * g * saved**2,)\n"
        "y = cube(x)\n"
        "z = Tensor(y.data * 2, parents=(y,), backward=lambda g: (g * 2,))\n"
        "z.backward()\n"
    )
    assert ops(tape) == ["cube", "custom"]
    session = Session(tape, facts)
    for _ in range(2):
        run(session, "continue")
    assert run(session, "select x").focus.gradient.tolist() == [6, 24]


def test_scopes_and_names_come_from_the_program(record):
    tape, _ = record(
        "from glassllm.debug import scope\n"
        "from glassllm.nn import Module\n"
        "class Linear(Module):\n"
        "    def __init__(self, n):\n        self.W = Tensor(np.ones((n, 1)), requires_grad=True)\n"
        "    def forward(self, x):\n        return x @ self.W\n"
        "class Net(Module):\n"
        "    def __init__(self):\n        self.first = Linear(2)\n"
        "    def forward(self, x):\n        return self.first(x)\n"
        "net, layers, weights = Net(), [Tensor(2.0, requires_grad=True)], {'b': Tensor(1.0, requires_grad=True)}\n"
        "with scope('outer'):\n    y = net(x) * layers[0] + weights['b']\n"
        "y.sum().backward()\n"
    )
    assert {tape.rows[row].name for row in tape.leaves} == {"x", "first.W", "layers.0", "weights.b"}
    assert [tape.rows[row].scope for row in tape.forward] == ["outer.first", "outer", "outer", ""]


def test_a_program_with_the_model_has_its_events(record):
    tape, facts = record(
        "from glassllm import Config, GlassLM\n"
        "model = GlassLM(Config(vocab_size=9, d_model=4, n_layers=1, n_heads=1, n_kv_heads=1, max_len=4))\n"
        "for _ in range(2):\n    model.loss([1, 2], [2, 3]).backward()\n"
    )
    assert facts.events == 23 and tape.rows[tape.leaves[0]].name == "E"
    made_at = tape.rows[tape.events[5].row].made_at
    assert [origin.short for origin in made_at] == [made_at[0].short, "program.py:9"]
    assert made_at[0].file.endswith("glassllm/nn.py") and made_at[0].function.startswith("Attention.")


def test_a_script_that_records_itself_is_recorded_all_the_same(record):
    tape, facts = record(
        "import glassllm\nwith glassllm.debug.record() as own:\n    y = x * 2\nprint(len(own.rows))\n"
    )
    assert ops(tape) == ["mul"] and printed(facts) == ["3"]
