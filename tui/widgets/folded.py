"""What panels say of groups that a person opens and closes: a block is folded in all of them or in none."""

from textual.message import Message


class Folded(Message):
    """Groups by name, as `blocks.1`, that were just opened or closed by hand in one panel."""

    def __init__(self, opened: frozenset[str], shut: frozenset[str]):
        super().__init__()
        self.opened, self.shut = opened, shut
