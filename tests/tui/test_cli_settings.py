"""Options of the shell over the settings file, and what in the file can't be used said where it is read."""

import os
import sys
from pathlib import Path

import pytest

from glassllm import Config, GlassLM
from tests.tui.fake_app import FakeApp
from tui import cli, log, terminal
from tui.draw.formats import Format


@pytest.fixture(autouse=True)
def _own_surroundings(monkeypatch, tmp_path):
    """A terminal, a folder and a settings file of this test's own; switches of the process put back."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "1")
    for name in ("TEXTUAL_COLOR_SYSTEM", "NO_COLOR", "COLORTERM"):
        monkeypatch.setenv(name, "")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr(cli, "has_terminal", lambda: True)
    monkeypatch.setattr(terminal, "has_all_signs", lambda stream: True)
    monkeypatch.setattr("tui.settings.config_file", lambda: tmp_path / "settings.toml")
    monkeypatch.setattr("tui.app.GlassApp", FakeApp)
    monkeypatch.chdir(tmp_path)
    FakeApp.made.clear()
    before = sys.getswitchinterval()
    yield
    sys.setswitchinterval(before)


def opened(*words, settings=""):
    """The screen as these words and this settings file open it."""
    Path("settings.toml").write_text(settings, encoding="utf-8")
    assert cli.main(["model.npz", *words]) == 0
    return FakeApp.made[-1]


def test_options_go_before_the_file():
    content = 'theme = "light"\ncolor = "16"\nformat = "hex"\nascii = true'
    app = opened(settings=content)
    assert (app.settings.theme, app.settings.color, app.settings.ascii) == ("light", "16", True)
    assert app.settings.format == Format("hex") and app.mouse is True
    app = opened("--theme", "dark", "--color", "none", "--no-mouse", settings=content)
    assert (app.settings.theme, app.settings.color, app.settings.ascii) == ("dark", "none", True)
    assert app.mouse is False


def test_without_the_file_nothing_of_it_holds():
    app = opened("--no-config", settings='theme = "light"\nzzz = 1')
    assert app.settings.theme == "dark" and app.faults == []


@pytest.mark.parametrize(
    ("environ", "settings", "words", "colors"),
    [
        ({}, "", [], "256"),
        ({"COLORTERM": "truecolor"}, 'color = "auto"', [], "truecolor"),
        ({"NO_COLOR": "1"}, "", [], "none"),
        ({"NO_COLOR": "1"}, 'color = "256"', [], "256"),
        ({"NO_COLOR": "1"}, 'color = "256"', ["--color", "16"], "16"),
    ],
)
def test_option_then_file_then_environment_say_the_colours(monkeypatch, environ, settings, words, colors):
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert opened(*words, settings=settings).settings.color == colors
    assert os.environ["TEXTUAL_COLOR_SYSTEM"] == terminal.SYSTEMS[colors]


def test_a_terminal_that_takes_ascii_only_gets_it(monkeypatch):
    monkeypatch.setattr(terminal, "has_all_signs", lambda stream: False)
    assert opened().settings.ascii is True


def test_faults_of_the_file_go_to_the_screen():
    assert opened(settings="zzz = 1").faults == ["settings.toml: zzz: no such setting; ignored"]


@pytest.fixture
def model():
    GlassLM(Config(vocab_size=12, d_model=8, n_layers=1, n_heads=2, n_kv_heads=1, max_len=8), seed=1).save(
        "model.npz"
    )


def test_a_report_says_them_on_stderr_and_is_in_ascii_if_asked(model, capfd):
    Path("settings.toml").write_text("zzz = 1\ntheme = 3", encoding="utf-8")
    assert cli.main(["model.npz", "--ids", "1,2", "--report", "--ascii"]) == 0
    out, err = capfd.readouterr()
    assert err == (
        "glassllm-tui: settings.toml: zzz: no such setting; ignored\n"
        "glassllm-tui: settings.toml: theme: 3 is none of dark, light; ignored\n"
    )
    assert "2x8" in out and out.isascii()


def test_failures_go_into_the_file_that_was_named(tmp_path, monkeypatch):
    assert opened("--log", "crash.log").log_file == Path("crash.log")
    path = log.write("stepping: boom", "Traceback…", tmp_path / "logs" / "crash.log")
    assert path is not None and "stepping: boom\nTraceback…" in path.read_text(encoding="utf-8")
    monkeypatch.setattr(log, "log_file", lambda: tmp_path / "today.log")
    assert log.write("stepping: boom", "") == tmp_path / "today.log"
    assert log.write("stepping: boom", "", tmp_path) is None
