"""The Train screen in tests: a short run set up there."""

from tests.tui.driving import press, settled

SETTINGS = {"steps": 8, "batch_size": 2, "seq_len": 16, "warmup": 2, "eval_every": 4}


async def trained(pilot, keys="", **changes):
    """The Train screen with these settings changed, and then these keys pressed."""
    await pilot.app.show_screen("train")
    await settled(pilot)
    room = pilot.app.screen
    room.do("set " + " ".join(f"{name}={value}" for name, value in (SETTINGS | changes).items()))
    await settled(pilot)
    await press(pilot, keys)
    return room
