"""What the graph's pictures need to know of a tape's rows, read once."""

from array import array
from collections.abc import Sequence

from glassllm.debug.by_number import ByNumber
from glassllm.debug.snapshot import TapeView


class Texts(ByNumber[str]):
    """Texts of which many are the same."""

    def __init__(self) -> None:
        self._codes = array("i")
        self._known: dict[str, int] = {}
        self._texts: list[str] = []

    def __len__(self) -> int:
        return len(self._codes)

    def at(self, i: int) -> str:
        return self._texts[self._codes[i]]

    def append(self, text: str) -> None:
        code = self._known.setdefault(text, len(self._texts))
        if code == len(self._texts):
            self._texts.append(text)
        self._codes.append(code)


class Columns:
    """The rows of a tape as it was, a column for each fact."""

    def __init__(self, tape: TapeView):
        self.forward = array("i", tape.forward)
        self.rows = tape.rows
        self.names = Texts()
        self.scopes = Texts()
        self.is_event = bytearray()
        self.is_note = bytearray()
        self._inputs = array("i")
        self._first_input = array("i", [0])
        for row in tape.rows:
            self.names.append(row.name)
            self.scopes.append(row.scope)
            self.is_event.append(row.event >= 0)
            self.is_note.append(row.kind == "note")
            self._inputs.extend(row.inputs)
            self._first_input.append(len(self._inputs))
        self.place_of = array("i", [-1]) * len(self.scopes)  # among the forward rows; −1 for leaves
        for place, row_id in enumerate(self.forward):
            self.place_of[row_id] = place

    def inputs(self, row: int) -> Sequence[int]:
        return self._inputs[self._first_input[row] : self._first_input[row + 1]]
