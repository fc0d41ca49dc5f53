"""What a screen says when something cannot be done: why, in the one line there is for it."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from glassllm.debug.snapshot import Said

FOLDERS = re.compile(r"[^:]*/(?=[^/:]+: )")
"""Those of the file that a reason begins with."""
MARGIN = 3  # columns before the reason and behind it


def refusal(why: str, width: int) -> "Said":
    """The status line; where it is too long for the width, a file's folders give way to what is wrong with it."""
    if len(why) > width - MARGIN and (folders := FOLDERS.match(why)):
        why = f"…/{why[folders.end() :]}"
    return (("✗ ", "stop"), (why, "text"))


def is_trouble(said: "Said") -> bool:
    """Whether a status line says that something is wrong: it begins with a word in that colour."""
    return said[:1] != () and said[0][1] == "stop"
