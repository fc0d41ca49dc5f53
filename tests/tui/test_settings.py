"""The settings file: what it can say, and one line for each thing in it that can't be used."""

import re

import pytest

from tui.draw.formats import USAGE, Format
from tui.draw.palette import Palette
from tui.keys import KEYS, bindings, footer, help_sections, keymap, remapped
from tui.settings import DEFAULTS, MOST_BYTES, Settings, config_file, read


def of(tmp_path, content):
    path = tmp_path / "settings.toml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read(path)


def test_all_of_it(tmp_path):
    content = """
        theme = "light"
        color = "256"
        diverging = "rdbu"
        sequential = "cividis"
        ascii = true
        mouse = false
        collapse = false
        format = "scientific 3"
        [keys]
        next = "x"
        step = ["s", "enter"]
    """
    expected = Settings(
        "light", "256", "rdbu", "cividis", True, False, False, Format("scientific", 3),
        {"next": ("x",), "step": ("s", "enter")},
    )  # fmt: skip
    assert of(tmp_path, content) == (expected, [])
    assert expected.palette == Palette("light", "256", True, "rdbu", "cividis")


def test_no_file_and_an_empty_one_change_nothing(tmp_path):
    assert read(tmp_path / "none.toml") == read(tmp_path / "no" / "folder.toml") == (DEFAULTS, [])
    assert of(tmp_path, "") == of(tmp_path, 'color = "auto"') == (DEFAULTS, [])


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ('theme = "blue"', "theme: 'blue' is none of dark, light; ignored"),
        ("color = 256", "color: 256 is none of auto, truecolor, 256, 16, none; ignored"),
        ('diverging = "cividis"', "diverging: 'cividis' is none of default, rdbu; ignored"),
        ('ascii = "yes"', "ascii: 'yes' is neither true nor false; ignored"),
        ("mouse = 1", "mouse: 1 is neither true nor false; ignored"),
        ("format = 3", "format: 3 is no text; ignored"),
        ('format = "octal"', f"format: 'octal' is no number format; give {USAGE}; ignored"),
        ('colour = "256"', "colour: no such setting, did you mean color?; ignored"),
        ("zzz = 1", "zzz: no such setting; ignored"),
        (r'"a\nb\u001b[2J" = 1', r"'a\nb\x1b[2J': no such setting; ignored"),
        (f"{'x' * 99} = 1", f"'{'x' * 38}…: no such setting; ignored"),
        ("keys = 3", "keys: 3 is no table of actions and keys; ignored"),
        ("keys = {next = 3}", "keys: next needs a key or a list of keys, not 3; ignored"),
        ("keys = {next = []}", "keys: next needs a key or a list of keys, not []; ignored"),
        (r'theme = "a\u001b[31m"', r"theme: 'a\x1b[31m' is none of dark, light; ignored"),
        (f'theme = "{"x" * 99}"', f"theme: '{'x' * 38}… is none of dark, light; ignored"),
    ],
)  # fmt: skip
def test_a_bad_setting_is_named_and_the_others_hold(tmp_path, line, fault):
    settings, faults = of(tmp_path, f"collapse = false\n{line}")
    assert settings == Settings(collapse=False)
    assert faults == [f"settings.toml: {fault}"]


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("theme = ", r"Invalid value \(.+\); ignored"),
        ('theme = "dark"\ntheme = "light"', r"Cannot overwrite a value \(.+\); ignored"),
        (b"theme = '\xff'", "not UTF-8; ignored"),
        ("#" * (MOST_BYTES + 1), "more than 64 KiB; ignored"),
    ],
)
def test_a_file_that_cannot_be_read_is_ignored_whole(tmp_path, content, fault):
    settings, faults = of(tmp_path, content)
    assert settings == DEFAULTS
    assert len(faults) == 1 and re.fullmatch(f"settings.toml: {fault}", faults[0]), faults


def test_a_folder_in_its_place_is_named(tmp_path):
    assert read(tmp_path) == (DEFAULTS, [f"{tmp_path.name}: Is a directory; ignored"])


def test_it_is_looked_for_in_the_platforms_folder(monkeypatch, tmp_path):
    monkeypatch.setattr("platformdirs.user_config_dir", lambda name, appauthor: str(tmp_path / name))
    assert config_file() == tmp_path / "glassllm" / "settings.toml"


# Keys


def keys_of(table):
    return {key.action: key.keys for key in table}


def test_an_action_gets_the_keys_chosen_for_it():
    table, faults = remapped(
        {"next": ("Z", "enter"), "enter": ("o",), "group": (",",), "previous_match": ("ctrl+o",)}
    )
    assert faults == []
    assert keymap(table) == {"next": "Z,enter", "enter": "o", "group": "comma", "previous_match": "ctrl+o"}
    assert keys_of(table)["step"] == "s"


def test_two_actions_may_change_places():
    table, faults = remapped({"next": ("s",), "step": ("n",)})
    assert faults == [] and keymap(table) == {"next": "s", "step": "n"}


@pytest.mark.parametrize(
    ("chosen", "faults", "left"),
    [
        ({"nxt": ("x",)}, ["keys: no action nxt, did you mean next?; ignored"], {}),
        ({"zzz": ("x",)}, ["keys: no action zzz; ignored"], {}),
        ({"next": ("hyperspace",)}, ["keys: hyperspace is no key for next; ignored"], {}),
        ({"next": ("s",)}, ["keys: s is step and can't be next too; ignored"], {}),
        ({"next": ("Z",), "step": ("Z",)}, ["keys: Z is next and can't be step too; ignored"], {"next": "Z"}),
        ({"next": ("s",), "step": ("c",)}, ["keys: c is continue and can't be step too; ignored",
                                            "keys: s is step and can't be next too; ignored"], {}),
    ],
)  # fmt: skip
def test_what_cannot_be_chosen_is_named_and_left_out(chosen, faults, left):
    table, found = remapped(chosen)
    assert sorted(found) == sorted(faults)
    assert keymap(table) == left


def test_footer_and_help_name_the_keys_as_chosen():
    table, _ = remapped({"next": ("J",), "up": ("Z",)})
    assert footer("events", False, 160, table)[0].keys == "J/N"
    entries = [entry.keys for _, section in help_sections("events", table) for entry in section]
    assert "J N" in entries
    assert "Z ↓ j ← h → l" in entries
    assert footer("events", False, 160, KEYS) == footer("events", False, 160)


def test_every_action_can_be_chosen_a_key():
    ids = {binding.id for binding in bindings() if binding.id}
    assert ids == {key.action for key in KEYS}
