"""The rows of the parameter table."""

import numpy as np
import pytest

from glassllm.debug.commands import run
from glassllm.debug.snapshot import GradientState
from tui.draw.parameters import Parameter, Table, ordered, parameter_rows, parameters
from tui.draw.text import row_width

DONE = GradientState(True, 1, 1)


def entry(i, weight=1.0, gradient=1.0, shape=(2,)):
    return Parameter(i, f"p{i}", shape, weight, gradient, DONE)


def rows(table):
    return [each.row for each in table]


TABLE = [
    entry(0, 2.0, 1.0, (3, 4)),
    entry(1, None, None),
    entry(2, 0.0, 5.0),
    entry(3, 8.0, float("nan"), (100,)),
    entry(4, 1.0, 3.0),
]


@pytest.mark.parametrize(
    ("column", "order", "backwards"),
    [
        (0, [0, 1, 2, 3, 4], [4, 3, 2, 1, 0]),
        (1, [3, 0, 1, 2, 4], [1, 2, 4, 0, 3]),
        (2, [3, 0, 4, 2, 1], [2, 4, 0, 3, 1]),
        (3, [3, 2, 4, 0, 1], [3, 0, 4, 2, 1]),
        (4, [3, 4, 0, 1, 2], [3, 0, 4, 1, 2]),
    ],
)
def test_any_column_sorts_with_nan_first_and_nothing_last(column, order, backwards):
    assert rows(ordered(TABLE, column)) == order
    assert rows(ordered(TABLE, column, True)) == backwards


def test_a_session_s_parameters_with_their_norms(graph):
    found = parameters(run(graph, "3 continue"))
    assert [each.name for each in found] == ["x", "w"]
    for each in found:
        value = graph.tape.rows[each.row].array
        gradient = graph.tape.gradient(each.row, graph.position)
        assert each.gradient == pytest.approx(np.linalg.norm(gradient))
        assert each.weight in (None, pytest.approx(np.linalg.norm(value)))
    for row in range(len(graph.tape.rows)):
        graph.tape.count_health(row)
    counted = parameters(graph.snapshot())
    assert [each.ratio for each in counted] == [pytest.approx(e.gradient / e.weight) for e in counted]


@pytest.mark.parametrize("entries", [[], TABLE, [entry(i) for i in range(100)]])
def test_every_row_is_as_wide_as_the_first_and_fits(entries, palette):
    for width in range(62, 170, 6):
        for height in (12, 24, 45):
            for chosen in (0, max(len(entries) - 1, 0)):
                drawn = parameter_rows(Table(entries, 2, False, chosen), width, height, palette)
                assert {row_width(row) for row in drawn} == {row_width(drawn[0])}
                assert row_width(drawn[0]) <= width and len(drawn) <= height
                if entries:
                    assert any("▸" in "".join(s.text for s in row) for row in drawn), "the chosen one is in sight"
