"""Which panels a terminal of a given size gets, and how large each is. Width alone decides the columns."""

from dataclasses import dataclass

SMALLEST = (60, 18)
EVENTS_LEAST, GRAPH_MOST = 30, 60


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Columns of each panel (0: not there as a column) and which of the rows below and above are shown.

    `tabs`: the graph is a tab of the panel beside the events. `single`: one panel shows at a time.
    """

    events: int
    graph: int
    tensor: int
    tabs: bool
    single: bool
    has_blank: bool
    rules: int
    has_tokens: bool
    has_track: bool
    is_too_small: bool = False

    @property
    def tensor_column(self) -> int:
        """Where the tensor panel's text begins: a gutter after each column, and the panel's padding."""
        return self.events + self.graph + 3


def arrange(width: int, height: int) -> Arrangement:
    """The arrangement for a terminal of `width` columns and `height` rows."""
    if width < SMALLEST[0] or height < SMALLEST[1]:
        return Arrangement(width, 0, 0, False, True, False, 0, False, False, is_too_small=True)
    if width < 80 or height < 24:
        return Arrangement(
            width, 0, width, True, True, False, int(height >= 22), height >= 21, has_track=height >= 20
        )
    is_wide = width >= 120
    has_two_rules = is_wide and height >= 36
    rules = 1 + has_two_rules
    if not is_wide:
        return Arrangement(
            EVENTS_LEAST, 0, width - EVENTS_LEAST - 1, True, False, has_two_rules, rules, True, True
        )
    events, graph = (34, 50) if width >= 160 else (32, 38)
    tensor = width - events - graph - 2
    # A tensor panel of 150 columns holds two maps side by side; what is left after that widens the graph.
    spare = min(max(tensor - 150, 0), GRAPH_MOST - graph) if width >= 160 else 0
    return Arrangement(events, graph + spare, tensor - spare, False, False, has_two_rules, rules, True, True)
