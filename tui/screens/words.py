"""The screens' own words: what the command line takes besides the commands of a table."""

from collections.abc import Mapping
from typing import NamedTuple

from glassllm.debug.arguments import shown

ALIASES = {"q": "quit", "w": "export"}


class Word(NamedTuple):
    """The action of a screen of this name, and what may stand behind the word."""

    name: str
    help: str
    arguments: str = ""

    def call(self, rest: str) -> str:
        """The call as Textual spells it; of a refusal, where something stands behind a word that takes nothing."""
        if self.arguments:
            return f"{self.name}({rest!r})"
        return f"refuse({self._why_not(rest)!r})" if rest else f"{self.name}()"

    def _why_not(self, rest: str) -> str:
        return f"{self.name} takes nothing behind it, not {shown(rest)!r}"


def _table(*words: Word) -> dict[str, Word]:
    return {word.name: word for word in words}


EVERYWHERE = _table(
    Word("export", "write this view into files, as text and as a picture"),
    Word("help", "keys and signs"),
    Word("log", "what was said and printed so far"),
    Word("quit", "leave"),
    Word("redraw", "paint the whole screen again"),
    Word("reopen", "back to what the debugger showed before, or to another thing opened", "[NAME]"),
    Word("screen", "go to another screen, by the beginning of its name", "[NAME]"),
)
DEBUGGING = EVERYWHERE | _table(
    Word("axes", "other axes as rows and columns"),
    Word("copy", "copy cell and row, or write them into a new file", "[PATH]"),
    Word("enlarge", "give the panel the whole width, or take it back"),
    Word("format", "write cells in another form, or say which it is", "[FORM]"),
    Word("parameters", "the table of parameters"),
    Word("play", "play, or pause"),
    Word("scale", "one scale for all slices, or one for each"),
    Word("source", "the lines of the program that made this"),
    Word("view", "draw the graph in ranks, or as a line an item"),
)


def found(text: str, words: Mapping[str, Word]) -> str | None:
    """The call that a line makes; None where its first word is none of these."""
    name, _, rest = text.partition(" ")
    word = words.get(ALIASES.get(name, name))
    return None if word is None else word.call(rest.strip())
