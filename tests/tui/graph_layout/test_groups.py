"""What is visible of a tape: items, edges and what they stand for; stepping costs only what is visible."""

import pytest

from tests.tui.fake_tape import FakeTape, flat, row_at, transformer
from tui.graph_layout import Outline
from tui.graph_layout.folds import Folds


def names(graph):
    return [item.name for item in graph.items]


def edges(graph):
    return {(graph.items[e.source].name, graph.items[e.target].name) for e in graph.edges}


def test_blocks_are_folded_and_neighbours_share_an_item():
    tape = transformer()
    outline = Outline(tape)
    assert names(outline.graph()) == ["embed", "blocks.0–3", "norm.final", "logits", "loss", "loss.grad"]
    graph = outline.graph(frozenset(["blocks.1"]))
    assert names(graph)[:3] == ["embed", "blocks.0", "norm.attn"]
    assert names(graph)[-6:] == ["resid.ffn", "blocks.2–3", "norm.final", "logits", "loss", "loss.grad"]
    assert [item.count for item in graph.items if item.kind == "group"] == [18, 36]
    assert {item.group for item in graph.items} == {"", "blocks.1"}


def test_a_group_shows_the_state_of_its_last_event():
    tape = transformer()
    group = Outline(tape).graph(frozenset(["blocks.1"])).items
    assert next(item.boundary for item in group if item.name == "blocks.0") == row_at(tape, "blocks.0.resid.ffn")
    assert next(item.boundary for item in group if item.name == "blocks.2–3") == row_at(tape, "blocks.3.resid.ffn")


def test_an_edge_lists_every_input_it_stands_for():
    tape = transformer()
    graph = Outline(tape).graph(frozenset(["blocks.1"]))
    source = row_at(tape, "blocks.0.resid.ffn")
    out = [edge for edge in graph.edges if graph.items[edge.source].name == "blocks.0"]
    assert {graph.items[edge.target].name: len(edge.uses) for edge in out} == {"norm.attn": 3, "resid.attn": 1}
    assert sorted(use for edge in out for use in edge.uses) == sorted(tape.consumers(source))


def test_weights_are_folded_into_what_uses_them():
    tape = transformer()
    graph = Outline(tape).graph(frozenset(["blocks.1"]))
    folded = {item.name: [tape.rows[leaf].name for leaf in item.weights] for item in graph.items}
    assert folded["attn.q"] == ["blocks.1.attn.W_Q"] and folded["embed"] == folded["logits"] == ["E"]
    leaf = next(row.id for row in tape.rows if row.name == "blocks.1.attn.W_Q")
    assert graph.items[graph.item_of(leaf)].name == "attn.q"


def test_an_open_event_shows_its_nodes():
    tape = transformer()
    graph = Outline(tape).graph(frozenset(["blocks.1", "blocks.1.norm.attn"]))
    assert names(graph)[2:6] == ["mul", "div", "mul", "attn.q"]
    assert ("blocks.0", "div") in edges(graph)


def test_every_row_has_its_item():
    tape = transformer()
    outline = Outline(tape)
    for keys in (frozenset(), frozenset(["blocks.2"]), frozenset(["blocks.0", "blocks.0.norm.ffn"])):
        graph = outline.graph(keys)
        for i, item in enumerate(graph.items):
            assert all(graph.item_of(row) == i for row in item.rows)
    assert outline.graph().item_of(-1) is None and outline.graph().item_of(99_999) is None


def test_without_events_each_node_is_an_item_and_scopes_are_groups():
    tape = flat([(), (0,), (1,), (2,), (3,)], ["", "net.fc", "net.fc", "loss", ""])
    outline = Outline(tape)
    assert names(outline.graph()) == ["op0", "net.fc", "loss", "op4"]
    graph = outline.graph(frozenset(["net.fc"]))
    assert names(graph) == ["op0", "op1", "op2", "loss", "op4"]
    assert edges(graph) == {("op0", "op1"), ("op1", "op2"), ("op2", "loss"), ("loss", "op4")}


def test_a_scope_that_returns_is_a_group_of_its_own():
    outline = Outline(flat([(), (0,), (1,), (2,)], ["a", "b", "a", "a"]))
    assert [section.key for section in outline.sections] == ["a", "b", "a@2"]
    assert names(outline.graph(frozenset(["a@2"]))) == ["a", "b", "op2", "op3"]


def test_numbered_scopes_of_a_script_fold_together():
    outline = Outline(flat([(), (0,), (1,), (2,)], ["net.0.fc", "net.1.fc", "net.2.fc", "net.2.act"]))
    assert names(outline.graph()) == ["net.0–2"]
    assert names(outline.graph(frozenset(["net.2"]))) == ["net.0–1", "fc", "act"]


@pytest.mark.parametrize(("uses", "is_item"), [(1, False), (2, True), (8, True), (9, False)])
def test_a_leaf_with_several_uses_is_an_item_of_a_script(uses, is_item):
    tape = FakeTape()
    x = tape.add("x", kind="leaf")
    for _ in range(uses):
        tape.add("op", (x,))
    graph = Outline(tape).graph()
    assert (graph.items[0].kind == "leaf") is is_item
    assert len(graph.edges) == (uses if is_item else 0)
    assert all((x in item.weights) is not is_item for item in graph.items if item.kind == "node")


class CountedRows(list):
    reads = 0

    def __getitem__(self, i):
        self.reads += 1
        return super().__getitem__(i)


def test_a_step_reads_no_row_and_opening_a_block_reads_that_block_only():
    tape = transformer(blocks=40)
    outline = Outline(tape)
    outline.graph(frozenset(["blocks.7"]))
    outline.rows = rows = CountedRows(tape.rows)
    outline.graph(frozenset(["blocks.7"]))
    assert rows.reads == 0
    outline.graph(frozenset(["blocks.8"]))
    of_one_block = sum(row.scope.startswith("blocks.8.") for row in tape.rows)
    assert rows.reads <= 12 * of_one_block + 40


def test_ten_thousand_nodes_are_read_a_few_times_each():
    tape = flat([(i - 1,) if i else () for i in range(10_000)])
    tape.rows = CountedRows(tape.rows)
    graph = Outline(tape).graph()
    assert len(graph.items) == 10_000 and len(graph.edges) == 9_999
    assert tape.rows.reads <= 10 * 10_000


def test_the_selections_block_is_open_until_it_is_closed_by_hand_or_left():
    tape = transformer()
    outline, folds = Outline(tape), Folds()
    inside, outside = row_at(tape, "blocks.1.attn.q"), row_at(tape, "blocks.2.attn.q")
    assert folds.keys(outline, inside) == {"blocks.1"}
    graph = outline.graph(folds.keys(outline, inside))
    folds.toggle(outline, graph.items[graph.item_of(inside)], inside)
    assert folds.keys(outline, inside) == {"blocks.1", "blocks.1.attn.q"}
    graph = outline.graph(folds.keys(outline, inside))
    folds.toggle(outline, graph.items[graph.item_of(inside)], inside)
    assert folds.keys(outline, inside) == {"blocks.1"}
    resid = row_at(tape, "blocks.1.resid.attn")  # one node: nothing to open in it
    graph = outline.graph(folds.keys(outline, resid))
    folds.toggle(outline, graph.items[graph.item_of(resid)], resid)
    assert folds.keys(outline, resid) == frozenset()
    assert folds.keys(outline, outside) == {"blocks.2"}
    assert folds.keys(outline, resid) == {"blocks.1"}


def test_sections_opened_and_closed_elsewhere_are_so_here():
    tape = transformer()
    outline, folds = Outline(tape), Folds()
    inside = row_at(tape, "blocks.1.attn.q")
    folds.fold({"blocks.0"}, {"blocks.1"})
    assert folds.keys(outline, inside) == {"blocks.0"}
    folds.fold({"blocks.1"}, {"blocks.0"})
    assert folds.keys(outline, inside) == {"blocks.1"}
    folds.open_all(outline)
    assert folds.keys(outline, inside) == {section.key for section in outline.sections if section.foldable}
    assert len(folds.keys(outline, inside)) > 1


def test_of_a_run_of_groups_the_one_opens_that_is_selected_in():
    tape = transformer()
    outline, folds = Outline(tape), Folds()
    inside = row_at(tape, "blocks.0.attn.q")
    folds.fold(set(), {"blocks.0"})
    graph = outline.graph(folds.keys(outline, inside))
    item = graph.items[graph.item_of(inside)]
    assert item.name.startswith("blocks.0–") and inside != item.boundary
    folds.toggle(outline, item, inside)
    assert folds.keys(outline, inside) == {"blocks.0"}
