"""The application without a terminal: keys are pressed one by one, each when all before it has been answered."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.pilot import Pilot

from .dump import picture, write

if TYPE_CHECKING:
    from .app import GlassApp


def screenshot(app: "GlassApp", keys: Sequence[str], path: Path, size: tuple[int, int]) -> bool:
    """Press the keys and write what is then on the screen; False if the program was left before.

    Raises OSError where the file cannot be written.
    """
    pictures: list[str] = []

    async def play(pilot: Pilot[Any]) -> None:
        if await press(app, pilot, keys):
            pictures.append(picture(app, path.suffix))
            app.exit()

    app.run(headless=True, size=size, auto_pilot=play)
    for content in pictures:
        write(path, content)
    return bool(pictures)


async def press(app: "GlassApp", pilot: Pilot[Any], keys: Iterable[str]) -> bool:
    """Press each key once the program has come to rest; False if it was left."""
    await settle(app, pilot)
    for key in keys:
        if app.return_code is not None:
            break
        await pilot.press(key)
        await settle(app, pilot)
    return app.return_code is None


async def settle(app: "GlassApp", pilot: Pilot[Any]) -> None:
    """Wait until the engine has answered everything and all it said is on the screen, or the program was left."""
    was_idle = False
    while app.return_code is None:
        is_idle = app.engine.activity.is_idle
        if is_idle and was_idle:
            return
        await pilot.pause()
        was_idle = is_idle
