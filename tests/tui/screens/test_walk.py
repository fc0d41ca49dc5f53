"""Walking with the keys: forward and back through the whole run, and what the screen says on the way."""

import re

import pytest

from glassllm.debug.session import Session
from tests.tui.driving import command, position, press, row, send, settled, started, text, wait_for

EVENTS, NODES, VISITS = 77, 175, 213


@pytest.fixture(scope="module")
def paths(tiny) -> list[str]:
    return [event.path for event in Session.open(tiny).tape.events]


def header(pilot) -> str:
    return row(pilot, 0)


async def test_n_names_every_event_once_and_N_goes_the_same_way_back(sample, paths):
    async with started(sample) as pilot:
        start = text(pilot)
        screens = []
        for i, path in enumerate(paths, 1):
            assert f"forward {i}/{EVENTS} " in header(pilot)
            assert i == 1 or re.match(rf" ▶ {name(path)}  ", row(pilot, -2))
            screens.append(body(text(pilot)))
            await press(pilot, "n" if i < EVENTS else "")
        for screen in reversed(screens[:-1]):
            await press(pilot, "N")
            assert body(text(pilot)) == screen
        await press(pilot, "n N")
        assert body(text(pilot)) == body(start)


def name(path: str) -> str:
    """`attn.q` of `blocks.0.attn.q`."""
    return re.escape(path.split(".", 2)[2] if path.startswith("blocks.") else path)


def body(screen: str) -> str:
    """All but the status row, which says where one came from at the very start."""
    lines = screen.splitlines()
    return "\n".join(lines[:-2] + lines[-1:])


async def test_s_walks_every_visit_and_S_leads_back_to_the_start(sample):
    async with started(sample) as pilot:
        start = body(text(pilot))
        send(pilot, *"s" * (NODES + VISITS))
        await settled(pilot)
        assert position(pilot)[:2] == (1, VISITS - 1)
        assert "backward 77/77   visit 213/213" in header(pilot)
        end = body(text(pilot))
        await press(pilot, "s")
        assert "this is the end" in row(pilot, -2)
        assert body(text(pilot)) == end
        send(pilot, *"S" * (NODES + VISITS))
        await settled(pilot)
        assert position(pilot) == (0, 0, 0)
        assert body(text(pilot)) == start
        await press(pilot, "S")
        assert "this is the start" in row(pilot, -2)


LEADS = [
    ("G", (0, 77)), ("10n", (0, 11)), ("10n 3N", (0, 8)), ("05n", (0, 6)), ("f", (0, 19)), ("10n f", (0, 19)),
    ("25n F", (0, 20)), ("25n F F", (0, 2)), ("30n g", (0, 1)), ("c", (0, 77)), ("999n", (1, 77)),
    ("c c", (1, 77)), ("2c", (1, 77)), ("2c C", (1, 2)), ("2c 2C", (0, 1)), ("G", (1, 77)),
]  # fmt: skip


async def test_where_keys_lead(sample):
    async with started(sample, (80, 24)) as pilot:
        for keys, (traversal, events) in LEADS:
            await press(pilot, f"g {keys}")
            assert position(pilot)[0] == traversal
            assert f"{'backward' if traversal else 'forward'} {events}/{EVENTS}" in header(pilot), keys


async def test_a_count_is_shown_while_it_is_typed_and_escape_forgets_it(sample):
    async with started(sample, (80, 24)) as pilot:
        await press(pilot, "1 2")
        assert row(pilot, -2).endswith(" 12…")
        await press(pilot, "escape n")
        assert "…" not in row(pilot, -2)
        assert "forward 2/77" in header(pilot)


async def test_t_runs_to_the_selection_and_T_back_to_it(sample):
    async with started(sample) as pilot:
        await press(pilot, "10n 5j")
        assert row(pilot, -2).startswith(" ▷ blocks.0.ffn.up")
        assert "forward 11/77" in header(pilot)
        await press(pilot, "t")
        assert "forward 16/77" in header(pilot)
        await press(pilot, "3k T")
        assert "forward 13/77" in header(pilot)
        await press(pilot, "T")
        assert row(pilot, -2).startswith(" ✗ ")
        assert "run-to goes on to it" in row(pilot, -2)


async def test_i_delivers_one_contribution_at_a_time_and_I_takes_it_back(sample):
    """The stream behind an attention block goes on as it is, and three times into the norm."""
    async with started(sample, (160, 45)) as pilot:
        await press(pilot, "c c")
        await command(pilot, "run-back-to blocks.1.resid.attn")
        screens = [text(pilot)]
        states = [state(pilot)]
        while states[-1] != "○":
            await press(pilot, "I")
            await command(pilot, "select blocks.1.resid.attn")
            screens.append(text(pilot))
            states.append(state(pilot))
            assert len(states) < 30
        assert list(dict.fromkeys(states)) == ["● 4/4", "◐ 3/4", "◐ 2/4", "◐ 1/4", "○"]
        for screen in screens[-2::-1]:
            await press(pilot, "i")
            await command(pilot, "select blocks.1.resid.attn")
            assert body(text(pilot)) == body(screen)


def state(pilot) -> str:
    """How far the gradient of the tensor shown is, as its tab says it."""
    found = re.search(r"gradient ([○◐●](?: \d/\d)?)", text(pilot))
    assert found
    return found[1]


async def test_u_and_d_walk_the_graph_and_run_nothing(sample):
    async with started(sample) as pilot:
        await press(pilot, "10n")
        at = position(pilot)
        await press(pilot, "u")
        assert "producer of attn.mix" in row(pilot, -2)
        above = text(pilot)
        await press(pilot, "d")
        assert position(pilot) == at
        assert text(pilot) != above


async def test_visited_places_are_a_trail(sample):
    async with started(sample, (80, 24)) as pilot:
        await press(pilot, "10n c ( (")
        assert "forward 1/77" in header(pilot)
        await press(pilot, ") )")
        assert "forward 77/77" in header(pilot)
        await press(pilot, ")")
        assert "no place was visited after this one" in row(pilot, -2)


async def test_playing_steps_on_and_stops_where_it_ends(sample):
    async with started(sample, (80, 24)) as pilot:
        await press(pilot, "c")
        await press(pilot, "999n")
        await press(pilot, "3N")
        await press(pilot, "+ + + + + + space")
        assert "playing" in row(pilot, -2)
        assert "32 events a second" in row(pilot, -2)
        pace = pilot.app.debugger.pace
        await wait_for(pilot, lambda: not pace.is_playing, "playing has ended")
        assert "backward 77/77" in header(pilot)
        await press(pilot, "g space")
        assert pace.is_playing
        await press(pilot, "- space")
        assert not pace.is_playing
        assert "paused" in row(pilot, -2)
