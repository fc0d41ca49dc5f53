"""Draw the README's pictures: press keys on a screen nobody sees and keep what it shows.

Run `python samples/make_pictures.py`; the pictures are written to samples/pictures/.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tui.cli import main as glassllm_tui

FOLDER = Path(__file__).resolve().parent / "pictures"


@dataclass(frozen=True)
class Picture:
    """One picture: its file name, the keys pressed for it, columns x rows, and the theme."""

    name: str
    keys: str
    size: str
    theme: str = "dark"

    @property
    def path(self) -> Path:
        return FOLDER / f"{self.name}.svg"

    @property
    def words(self) -> list[str]:
        """What stands behind `glassllm-tui` to draw it."""
        drawn = ["--screenshot", str(self.path), "--size", self.size, "--theme", self.theme]
        return [*drawn, "--keys", self.keys] if self.keys else drawn


PICTURES = (
    Picture("attention", "2 7 n", "120x36"),
    Picture("contributions", "c 1 0 n u ]", "160x45"),
    Picture("light", "c 1 3 n %", "120x36", "light"),
    Picture("small", "2 7 n", "80x24"),
    Picture("generate", "\\ \\ 1 3 n", "160x45"),
)


def main(pictures: Sequence[Picture] = PICTURES) -> int:
    """Draw them; 0 if all could be."""
    FOLDER.mkdir(exist_ok=True)
    for picture in pictures:
        if code := glassllm_tui(picture.words):
            return code
        print(picture.path.relative_to(FOLDER.parent.parent))
    return 0


if __name__ == "__main__":
    sys.exit(main())
