"""Whether the rows of a recording make a graph: checked column by column, without looking at a shape."""

from typing import Any

import numpy as np

from glassllm.autograd.ops import OPS, Array
from glassllm.debug.rows import KINDS, PARAMETER, TRACKED
from glassllm.files import brief

from .columns import CUSTOM, LEAF, NODE, PLACE, Columns, first_wrong
from .encoding import Fault
from .shapes import SHAPES
from .texts import Texts


def check_graph(columns: Columns) -> None:
    """Raise Fault where rows are none, where one takes what comes later, and where gradients go astray."""
    _check_kinds(columns)
    _check_ops(columns)
    _check_edges(columns)
    _check_events(columns)


def _check_kinds(columns: Columns) -> None:
    """Every row is of a kind, and only nodes have what ops have."""
    kinds = columns.kinds
    _refuse(kinds >= len(KINDS), "must be a leaf, a note or an op")
    if not (kinds != LEAF).any():
        raise Fault("no op was applied")
    is_node = kinds == NODE
    of_nodes = (columns.has(TRACKED | CUSTOM)) | (np.diff(columns.input_starts) > 0)
    _refuse(~is_node & (of_nodes | (np.diff(columns.saved_starts) > 0)), "has what only an op has")
    _refuse((kinds != LEAF) & columns.has(PLACE | PARAMETER), "has what only a leaf has")


def _check_ops(columns: Columns) -> None:
    """Nodes are of ops of ours that have shapes, or of custom ones with other names."""
    is_node, is_custom = columns.kinds == NODE, columns.has(CUSTOM)
    for name in names_of(columns, OPS):
        ours = columns.texts[name]
        _refuse(is_custom & (columns.names == name), f"{ours} is an op of ours, not a custom one")
    known = np.isin(columns.names, names_of(columns, SHAPES))
    if (row := first_wrong(is_node & ~is_custom & ~known)) is not None:
        raise Fault(f"row {row}: there is no op {brief(columns.texts[columns.names[row]])}")


def names_of(columns: Columns, known: Any) -> list[int]:
    """The texts that name one of these among the names of rows."""
    texts: Texts = columns.texts
    return [text for text in np.unique(columns.names).data if texts[text] in known]


def _check_edges(columns: Columns) -> None:
    """Inputs are earlier rows, gradients go to what takes one, and nodes were made after their inputs."""
    owners, sources = columns.owners(), columns.sources
    _refuse_at(owners, sources >= owners, "an input must be an earlier row")
    is_tracked, carried = columns.has(TRACKED), columns.carried != 0
    takes = is_tracked | columns.has(PLACE)
    _refuse_at(owners, carried & ~(is_tracked[owners] & takes[sources]), "a gradient goes where none is taken")
    carrying = np.zeros(len(columns), bool)
    carrying[owners[carried]] = True
    _refuse(is_tracked & ~carrying, "it is tracked, but no input takes a gradient")
    _check_created(columns, owners[carried], sources[carried])
    taking = np.unique(sources[carried & (columns.kinds[sources] == LEAF)])
    if not np.array_equal(np.sort(columns.leaves), taking):
        raise Fault("leaves must hold the leaves that take a gradient, each once, and no others")


def _check_created(columns: Columns, owners: Array, sources: Array) -> None:
    if not len(columns.created):
        return
    if not np.array_equal(np.sort(columns.created), np.flatnonzero(columns.has(TRACKED))):
        raise Fault("created must hold all tracked nodes, each once, and no others")
    made = made_order(columns)
    if (made[sources] >= made[owners]).any():
        raise Fault("created has a node before one of its inputs")


def made_order(columns: Columns) -> Array:
    """Of each tracked node the place in the order of creation; −1 for all other rows."""
    made = np.full(len(columns), -1, np.int32)
    created = columns.tracked
    made[created] = np.arange(len(created), dtype=np.int32)
    return made


def _check_events(columns: Columns) -> None:
    if (event := first_wrong(columns.kinds[columns.event_rows] == LEAF)) is not None:
        raise Fault(f"event {event}: row {columns.event_rows[event]} is a leaf")


def _refuse(wrong: Array, why: str) -> None:
    if (row := first_wrong(wrong)) is not None:
        raise Fault(f"row {row}: {why}")


def _refuse_at(owners: Array, wrong: Array, why: str) -> None:
    if (edge := first_wrong(wrong)) is not None:
        raise Fault(f"row {owners[edge]}: {why}")
