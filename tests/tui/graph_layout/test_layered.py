"""Chips in ranks: the picture of a block to the character, and every edge of any graph drawn and read back."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tui.fake_tape import flat, transformer
from tests.tui.graph_layout.tracing import chip_cells, joined, laid_out, line_cells, picture, read_back
from tui.graph_layout import Outline
from tui.graph_layout.layered import spread

BLOCK = """\
                 embed
                   │
            ▸ blocks.0 ×18 ──────────────╮
                   │                     │
               norm.attn                 │
     ╭─────────────┼─────────────╮       │
     q             k             v       │
     │             │             │       │
  rope_q        rope_k           │       │
     ╰──────┬──────╯             │       │
         scores                  │       │
            │                    │       │
          mask                   │       │
            │                    │       │
         softmax                 │       │
            ╰──────╮             │       │
                  mix ───────────╯       │
                   │                     │
                  out                    │
                   │                     │
              resid.attn ────────────────╯
                   ├─────────────────────╮
               norm.ffn                  │
            ╭──────┴──────╮              │
          gate           up              │
            ╰──────┬──────╯              │
                  act                    │
                   │                     │
                 down                    │
                   │                     │
               resid.ffn ────────────────╯
                   │
           ▸ blocks.2–3 ×36
                   │
              norm.final
                   │
                logits
                   │
                 loss

               loss.grad"""


def check(layout):
    """Every edge of the graph is seen in the picture, and no other; chips stand apart, inside the picture."""
    chips = chip_cells(layout)
    glyphs = line_cells(layout.rows, len(layout.graph.edges))
    assert all(0 <= x < layout.width and 0 <= y < layout.height for x, y in [*chips, *glyphs])
    seen = read_back(joined(glyphs, chips), layout.chips)
    wanted = sorted((edge.source, edge.target) for edge in layout.graph.edges)
    assert sorted(seen) == wanted, f"\n{picture(layout)}"


def test_a_block_looks_like_this():
    tape = transformer()
    layout = laid_out(tape, Outline(tape).graph(frozenset(["blocks.1"])))
    assert picture(layout) == BLOCK
    check(layout)


def test_a_block_takes_31_rows_and_fits_beside_other_panels():
    tape = transformer()
    outline = Outline(tape)
    for layer in range(4):
        graph = outline.graph(frozenset([f"blocks.{layer}"]))
        layout = laid_out(tape, graph)
        inside = [i for i, item in enumerate(graph.items) if item.group]
        first, last = layout.chips[inside[0] - 1][1], layout.chips[inside[-1] + 1][1]
        assert last - first + 1 == 31 and layout.width <= 48
    assert laid_out(tape, graph, room=36).width <= 36


def test_opened_events_show_their_nodes_and_every_edge():
    tape = transformer(2)
    steps = ("norm.attn", "attn.q", "attn.v", "ffn.act")
    keys = frozenset(["blocks.0", "blocks.1", *(f"blocks.1.{step}" for step in steps)])
    graph = Outline(tape).graph(keys)
    layout = laid_out(tape, graph)
    check(layout)
    assert [item.name for item in graph.items if item.kind == "node"][:3] == ["mul", "div", "mul"]


def test_lines_of_two_producers_cross_without_joining():
    layout = laid_out(tape := flat([(), (), (0,), (1,), (0, 1), (1, 0)]), Outline(tape).graph())
    check(layout)


@st.composite
def dags(draw, most=14):
    """Inputs of each node among those before it, mostly near ones."""
    inputs = []
    for i in range(draw(st.integers(1, most))):
        near = st.integers(max(0, i - draw(st.sampled_from([1, 3, 14]))), i - 1) if i else st.nothing()
        inputs.append(tuple(draw(st.lists(near, max_size=3, unique=True))) if i else ())
    return inputs


@settings(max_examples=300, deadline=None)
@given(dags(), st.sampled_from([20, 48, 200]))
def test_any_graph_reads_back_as_it_is(inputs, room):
    layout = laid_out(tape := flat(inputs), Outline(tape).graph(), room)
    check(layout)


@given(st.lists(st.integers(-20, 20), min_size=1, max_size=8), st.integers(1, 9))
def test_spread_keeps_order_and_distances(wanted, apart):
    x = spread([float(w) for w in wanted], [float(apart)] * (len(wanted) - 1))
    assert all(b - a >= apart for a, b in pairwise(x))
    if all(b - a >= apart for a, b in pairwise(wanted)):
        assert x == wanted


def test_the_same_graph_gives_the_same_picture():
    tape = transformer()
    keys = frozenset(["blocks.2"])
    assert laid_out(tape, Outline(tape).graph(keys)).rows == laid_out(tape, Outline(tape).graph(keys)).rows
