"""Reading a picture back: which chips its lines join, found from the characters alone."""

from itertools import product

from tui.graph_layout import DONE, layered
from tui.graph_layout.cells import GLYPHS
from tui.graph_layout.phrases import chip_label

NORTH, EAST, SOUTH, WEST = range(4)
STEP = {NORTH: (0, -1), EAST: (1, 0), SOUTH: (0, 1), WEST: (-1, 0)}
SIDES = {
    glyph: {side for side, weight in enumerate(weights) if weight}
    for glyph, weights in zip(GLYPHS, product(range(3), repeat=4), strict=True)
}


def laid_out(tape, graph, room=48):
    labels = [chip_label(item, tape.rows, bool(tape.events)) for item in graph.items]
    return layered(graph, labels, room)


def chip_cells(layout):
    """Cell -> item, for every cell of every chip without a gradient's sign."""
    cells = {}
    for i, (x, y) in enumerate(layout.chips):
        first = x - layout.sizes[i].plain // 2
        for column in range(first, first + layout.sizes[i].plain):
            assert (column, y) not in cells, f"chips {i} and {cells.get((column, y))} overlap"
            cells[column, y] = i
    return cells


def line_cells(rows, edges):
    """Cell -> glyph, of lines in one state."""
    state = [DONE] * edges
    return {(cell.x, y): cell.glyph(state)[0] for y, row in enumerate(rows) for cell in row}


def picture(layout):
    """The layout as text."""
    glyphs = line_cells(layout.rows, len(layout.graph.edges))
    canvas = [[glyphs.get((x, y), " ") for x in range(layout.width)] for y in range(layout.height)]
    for label, (x, y), size in zip(layout.labels, layout.chips, layout.sizes, strict=True):
        first = x - size.plain // 2
        canvas[y][first : first + size.plain] = f" {label} "
    return "\n".join("".join(row).rstrip() for row in canvas)


def joined(glyphs, chips):
    """The groups of chips that lines join: each a set of (chip, side of the chip that the line leaves from).

    A flat line that meets an upright one goes on behind it. Raises AssertionError for a line that ends nowhere.
    """
    glyphs = {cell: glyph for cell, glyph in glyphs.items() if cell not in chips}
    parent = {cell: cell for cell in glyphs}

    def root(cell):
        while parent[cell] != cell:
            cell = parent[cell]
        return cell

    touched = {}
    for cell, glyph in glyphs.items():
        for side in SIDES[glyph]:
            dx, dy = STEP[side]
            back = (side + 2) % 4
            at = (cell[0] + dx, cell[1] + dy)
            while side in (EAST, WEST) and at in glyphs and SIDES[glyphs[at]] == {NORTH, SOUTH}:
                at = (at[0] + dx, at[1])
            if at in chips:
                touched.setdefault(cell, set()).add((chips[at], back))
            else:
                assert at in glyphs and back in SIDES[glyphs[at]], f"the line at {cell} ends at {at}"
                parent[root(at)] = root(cell)
    groups = {}
    for cell, ends in touched.items():
        groups.setdefault(root(cell), set()).update(ends)
    return list(groups.values())


def read_back(groups, chips_at):
    """(producer, consumer) of every edge that somebody looking at the picture would see.

    Lines leave a chip downwards, and sideways only from the topmost chip of what they join.
    """
    seen = []
    for group in groups:
        top = min(chips_at[chip][1] for chip, _ in group)
        out = {c for c, side in group if side == SOUTH or (side != NORTH and chips_at[c][1] == top)}
        into = {c for c, side in group if c not in out or side == NORTH}
        assert out and into, f"a line that leads nowhere: {group}"
        seen += product(out, into)
    return seen
