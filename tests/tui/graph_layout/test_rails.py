"""Rails: few lanes, every edge found by walking from a node up its lines, and only the window drawn."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tui.fake_tape import flat, transformer
from tests.tui.graph_layout.test_layered import dags
from tests.tui.graph_layout.tracing import EAST, NORTH, SIDES, SOUTH, WEST, line_cells
from tui.graph_layout import Outline, rails
from tui.graph_layout.cells import Canvas

BLOCK = """\
■
▸
├──■
│  ├──■
│  ├──│──■
│  ■  │  │
│  │  ■  │
│  │  │  ■
│  │  ■──╯
│  │  ■
│  │  ■
│  ■──╯
│  ■
■──╯
├──■
│  ├──■
│  ■  │
│  ■──╯
│  ■
■──╯
▸
■
■
■
   ■"""


def nodes_of(drawn, step=3):
    return {(step * lane, i): i for i, lane in enumerate(drawn.lane)}


def picture(drawn):
    count = len(drawn.graph.items)
    glyphs = line_cells(drawn.cells(0, count), len(drawn.graph.edges))
    glyphs |= {at: "▸" if drawn.graph.items[i].kind == "group" else "■" for at, i in nodes_of(drawn).items()}
    rows = ["".join(glyphs.get((x, y), " ") for x in range(3 * drawn.lanes)).rstrip() for y in range(count)]
    return "\n".join(rows)


def inputs_seen(glyphs, nodes, at):
    """The nodes that feed the one at a cell: up its own lane, and up each lane that its flat line branches off."""
    found = set()
    x, y = at
    if (x, y - 1) in nodes or SOUTH in SIDES[glyphs.get((x, y - 1), " ")]:
        found.add(up(glyphs, nodes, x, y))
    for side, step, back in ((WEST, -1, EAST), (EAST, 1, WEST)):
        column = x + step
        while back in SIDES[glyphs.get((column, y), " ")] or SIDES[glyphs.get((column, y), " ")] == {NORTH, SOUTH}:
            sides = SIDES[glyphs[column, y]]
            if back in sides and NORTH in sides:
                found.add(up(glyphs, nodes, column, y))
            if back in sides and side not in sides:
                break
            column += step
    return found


def up(glyphs, nodes, x, y):
    while (x, y - 1) not in nodes:
        y -= 1
        assert SOUTH in SIDES[glyphs[x, y]] and NORTH in SIDES[glyphs[x, y]], f"the lane ends at {x, y}"
    return nodes[x, y - 1]


def test_a_block_on_rails():
    tape = transformer()
    drawn = rails(Outline(tape).graph(frozenset(["blocks.1"])))
    assert picture(drawn) == BLOCK
    assert drawn.lanes == 4


def test_a_whole_forward_pass_needs_five_lanes_at_most():
    tape = transformer()
    outline = Outline(tape)
    keys = frozenset(section.key for section in outline.sections)
    assert rails(outline.graph(keys)).lanes <= 5
    events = frozenset(event.path for event in tape.events)
    assert rails(outline.graph(keys | events)).lanes <= 5


@settings(max_examples=300, deadline=None)
@given(dags(most=30))
def test_any_graph_reads_back_as_it_is(inputs):
    graph = Outline(flat(inputs)).graph()
    drawn = rails(graph)
    nodes = nodes_of(drawn)
    glyphs = line_cells(drawn.cells(0, len(graph.items)), len(graph.edges))
    glyphs = {at: glyph for at, glyph in glyphs.items() if at not in nodes}
    for at, i in nodes.items():
        wanted = {graph.edges[e].source for e in graph.into[i]}
        assert inputs_seen(glyphs, nodes, at) == wanted, f"node {i}\n{picture(drawn)}"


@settings(deadline=None)
@given(dags(most=40), st.data())
def test_a_window_is_the_same_as_that_part_of_the_whole(inputs, data):
    graph = Outline(flat(inputs)).graph()
    drawn = rails(graph)
    count = len(graph.items)
    start = data.draw(st.integers(0, count - 1))
    stop = data.draw(st.integers(start, count))
    whole = drawn.cells(0, count)[start:stop]
    assert line_cells(drawn.cells(start, stop), len(graph.edges)) == line_cells(whole, len(graph.edges))


def test_only_what_touches_the_window_is_drawn(monkeypatch):
    count = 10_000
    graph = Outline(flat([(i - 1, max(i - 5, 0)) if i > 4 else () for i in range(count)])).graph()
    drawn = rails(graph)
    laid = []
    line = Canvas.line
    monkeypatch.setattr(Canvas, "line", lambda self, edge, points: laid.append(edge) or line(self, edge, points))
    assert len(drawn.cells(5_000, 5_030)) == 30
    assert 30 <= len(laid) <= 100


def test_lines_from_lanes_out_of_sight_come_in_at_the_right():
    count, columns = 400, 12
    drawn = rails(Outline(flat([*[()] * (count - 1), tuple(range(count - 1))])).graph())
    assert drawn.lanes == count - 1
    rows = drawn.cells(count - 40, count, 3, columns)
    assert all(cell.x <= columns for row in rows for cell in row)
    assert all({cell.x for cell in row} <= {0, 3, 6, 9} for row in rows[:-1])
    assert [cell.x for cell in rows[-1]] == list(range(columns + 1))
    assert all(cell.east and cell.west for cell in rows[-1][1:-1])
