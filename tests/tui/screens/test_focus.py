"""Which panel the keys go to: the focus and its mark, the footer, what escape and enter do."""

import re

from tests.tui.driving import focused, position, press, row, send, settled, started, text

WIDE = (160, 45)


def marked(pilot) -> list[str]:
    """The panels whose title has the mark of the focus."""
    return re.findall(r"▌(events|graph|[\w.· ]+?)(?= {2}|$)", row(pilot, 2))


async def test_tab_goes_round_the_panels_and_the_mark_with_it(sample):
    async with started(sample, WIDE) as pilot:
        await press(pilot, "12n")
        seen = []
        for _ in range(4):
            assert row(pilot, 2).count("▌") == 1
            seen.append((focused(pilot), marked(pilot)[0].split()[0]))
            await press(pilot, "tab")
        assert seen == [("events", "events"), ("graph", "graph"), ("tensor", "blocks.0"), ("events", "events")]
        assert focused(pilot) == "graph"
        await press(pilot, "shift+tab shift+tab")
        assert focused(pilot) == "tensor"
        assert row(pilot, 2).count("▌") == 1


async def test_the_footer_follows_the_focus_and_the_direction_of_time(sample):
    async with started(sample, WIDE) as pilot:
        assert "o open" in row(pilot, -1)
        await press(pilot, "tab tab")
        assert "</> slice" in row(pilot, -1)
        assert "s/S op" in row(pilot, -1)
        await press(pilot, "c s")
        assert "s/S visit  i/I contribution" in row(pilot, -1)


async def test_typed_ahead_every_key_finds_what_the_one_before_has_done(sample):
    async with started(sample) as pilot:
        send(pilot, "tab", "tab", *":next")
        await settled(pilot)
        assert row(pilot, -2).startswith(" :next")
        assert position(pilot) == (0, 0, 0)
        await press(pilot, "escape")
        assert not pilot.app.debugger.line.is_open
        assert focused(pilot) == "tensor"


async def test_escape_takes_back_one_thing_at_a_time(sample):
    async with started(sample) as pilot:
        await press(pilot, "10n 3j tab z : escape")
        screen = pilot.app.debugger
        assert (screen.line.is_open, screen.is_enlarged, focused(pilot)) == (False, True, "graph")
        await press(pilot, "escape")
        assert (screen.is_enlarged, focused(pilot)) == (False, "graph")
        await press(pilot, "escape")
        assert focused(pilot) == "events"
        assert screen.snapshot.selection != screen.snapshot.current
        await press(pilot, "escape")
        assert screen.snapshot.selection == screen.snapshot.current


async def test_enter_opens_a_fold_then_leads_to_the_tensor_and_on_to_its_producer(sample):
    async with started(sample) as pilot:
        await press(pilot, "12n 99j 4k")
        assert "▸ blocks.1–3 ×54" in text(pilot)
        assert row(pilot, -2).startswith(" ▷ blocks.3.resid.ffn")
        await press(pilot, "enter")
        assert "blocks.1–3" not in text(pilot)
        await press(pilot, "enter")
        assert focused(pilot) == "tensor"
        await press(pilot, "enter")
        assert "producer of" in row(pilot, -2)


async def test_z_gives_one_panel_the_whole_width_and_back(sample):
    async with started(sample) as pilot:
        await press(pilot, "12n tab tab")
        before = text(pilot)
        await press(pilot, "z")
        assert row(pilot, 2).startswith("▌blocks.0 · resid.attn")
        assert "events" not in row(pilot, 2)
        await press(pilot, "z")
        assert text(pilot) == before
