"""The graph of a recording as a picture: what is visible, where it stands, which cells its lines take.

Pure functions of a TapeView and of what is open. Two pictures: chips in ranks, and one line an item with rails.
"""

from .cells import AHEAD, DONE, LIT, PART, Cell
from .groups import Outline, Section
from .items import Edge, Graph, Item
from .layout import Layout, layered
from .rails import Rails, rails

__all__ = [
    "AHEAD",
    "DONE",
    "LIT",
    "PART",
    "Cell",
    "Edge",
    "Graph",
    "Item",
    "Layout",
    "Outline",
    "Rails",
    "Section",
    "layered",
    "rails",
]
