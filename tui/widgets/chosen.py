"""What widgets say of rows that a person chooses: each shows the same selection, and none makes it."""

from textual.message import Message


class RowChosen(Message):
    """The row that a cursor moved to, or whose place was clicked."""

    def __init__(self, row: int):
        super().__init__()
        self.row = row
