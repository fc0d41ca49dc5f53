"""The texts of a recording that are shown: names, scopes and steps, where rows were made, and the vocabulary."""

import numpy as np

from glassllm.debug.slices import Slice, Sliced
from glassllm.debug.snapshot import Origin
from glassllm.files import brief

from .columns import Columns
from .encoding import Fault, Json
from .values import LARGEST, each, line, list_of, parse, whole

MOST_ORIGINS = 40_000  # distinct ones


def checking_texts(columns: Columns) -> Sliced[None]:
    """Raise Fault for what may not be shown as it is, and for bytes that are no text."""
    pace, texts = Slice(), columns.texts
    for what in ("names", "scopes", "event_steps"):
        for text in np.unique(getattr(columns, what)).data:
            line(texts[text], what)
            if pace.is_full():
                yield text, len(texts)
    origins = np.unique(columns.origins)
    if len(origins) > MOST_ORIGINS:
        raise Fault(f"it has {len(origins)} origins, more than {MOST_ORIGINS}")
    for text in origins.data:
        origins_of(texts[text])
        if pace.is_full():
            yield text, len(texts)
    yield from _checking_words(columns)


def _checking_words(columns: Columns) -> Sliced[None]:
    pace, words = Slice(), columns.words
    for word in range(len(words)):
        try:
            words.at(word)
        except Fault as fault:
            raise Fault(f"the vocabulary: {fault}") from None
        if pace.is_full():
            yield word, len(words)


def origins_of(text: str) -> tuple[Origin, ...]:
    """The lines that made a row: `[["file.py", 3, "main"]]`, or nothing."""
    return tuple(each(list_of(parse(text), "origins", 2), "origin", _origin)) if text else ()


def _origin(value: Json) -> Origin:
    if not isinstance(value, list) or len(value) != 3:
        raise Fault(f"must be a file, a line and a function, got {brief(value)}")
    file, number, function = value
    return Origin(line(file, "its file"), whole(number, "its line", LARGEST), line(function, "its function"))
