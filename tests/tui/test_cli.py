"""The shell's side: exit codes, one-line faults, and nothing imported before it is needed."""

import json
import os
import re
import signal
import subprocess
import sys

import pytest

from glassllm import Config, GlassLM, Tokenizer
from tests.tui.fake_app import FakeApp
from tests.tui.shell import refused
from tui import cli


@pytest.fixture(autouse=True)
def _settings_restored(monkeypatch):
    before = sys.getswitchinterval()
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "1")
    for name in ("TEXTUAL_COLOR_SYSTEM", "NO_COLOR"):
        monkeypatch.setenv(name, "")
    yield
    sys.setswitchinterval(before)


CONFIG = Config(vocab_size=12, d_model=8, n_layers=1, n_heads=2, n_kv_heads=1, max_len=8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """`model.npz` knows text, `mute.npz` has no tokenizer, `text.npz` is no archive."""
    place = tmp_path_factory.mktemp("models")
    model = GlassLM(CONFIG, seed=1)
    model.save(place / "mute.npz")
    model.tokenizer = Tokenizer.train("abc abc ", 12)
    model.save(place / "model.npz")
    (place / "text.npz").write_text("no archive")
    return place


@pytest.fixture(autouse=True)
def _in_folder(folder, monkeypatch):
    monkeypatch.chdir(folder)


@pytest.fixture
def at_a_terminal(monkeypatch):
    monkeypatch.setattr(cli, "has_terminal", lambda: True)


# What is refused


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["zzz"], "zzz: no such file; check the name"),
        (["modle.npz"], r"modle\.npz: no such file; did you mean model\.npz\?"),
        (["nowhere/x.npz"], r"nowhere/x\.npz: no such file; there is no folder nowhere"),
        (["text.npz"], r"text\.npz: .+; .+"),
        (["."], r"\.: a folder, not a file; name the file in it"),
        (["no\x1b[31m.npz"], r"no\\x1b\[31m\.npz: no such file; .+"),
        (["model.npz", "--ids", "1,99"], r"model\.npz: .*0 to 11, got 99.*"),
        (["model.npz", "--ids=-1"], r"model\.npz: .*0 to 11, got -1.*"),
        (["model.npz", "--text", ""], r"model\.npz: the text is empty; .+"),
        (["mute.npz", "--text", "abc"], r"mute\.npz: .*without a tokenizer; .+"),
    ],
)
def test_a_file_that_cannot_be_opened_or_run(capsys, words, line):
    assert re.fullmatch(line, refused(capsys, *words))


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--ids", "1,b"], "--ids: '1,b' is no list of ids like 1,2,3; see glassllm-tui --help"),
        (["--ids", ""], "--ids: '' is no list .*"),
        (["--ids", "1,,2"], "--ids: .*"),
        (["--ids", "9" * 5000], "--ids: '9{39}…' is no list .*"),
        (["--text", "a", "--ids", "1"], "--ids: not allowed with argument --text; .*"),
        (["--report", "--json"], "--json: not allowed with argument --report; .*"),
        (["--report", "--screenshot", "x.svg"], "--screenshot: not allowed with argument --report; .*"),
        (["--reprot"], r"--reprot: not understood; did you mean --report\?"),
        (["--zzz"], "--zzz: not understood; see glassllm-tui --help"),
        (["model.npz", "mute.npz"], "mute.npz: not understood; .*"),
        (["--theme", "pink"], "--theme: invalid choice: 'pink' .*"),
        (["--keys", "n"], "--keys and --size belong to --screenshot FILE; give one"),
        (["--size", "80x24"], "--keys and --size belong to --screenshot FILE; give one"),
        (["--size", "80"], "--size: '80' is no size like 120x36; .*"),
        (["--size", "x".join("99")], "--size: 9x9 is out of range; .*"),
        (["--size", "9999x30"], "--size: 9999x30 is out of range; .*"),
        (["--size", "٣٠x٣٠"], "--size: .* is no size like 120x36; .*"),
        (["--screenshot", "x.png"], "x.png: a screenshot is a .svg or a .txt file; .*"),
        (["--screenshot", ".svg"], ".svg: a screenshot is a .svg or a .txt file; .*"),
        (["--screenshot", "x.svg", "--keys", "n sapce"], "--keys: sapce is no key; .*"),
    ],
)
def test_words_that_mean_nothing(capsys, words, line):
    assert re.fullmatch(line, refused(capsys, *words))


# The report


def test_without_a_terminal_the_report_is_printed(capsys):
    assert cli.main(["model.npz"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[-1].startswith("model.npz   loss ") and err == ""


def test_a_terminal_that_cannot_place_the_cursor_gets_it_too(capsys, monkeypatch, at_a_terminal):
    monkeypatch.setenv("TERM", "dumb")
    assert cli.main(["model.npz", "--text", "abc abc"]) == 0
    out, err = capsys.readouterr()
    assert err == "glassllm-tui: TERM=dumb cannot place the cursor; here is the text report instead\n"
    assert out.splitlines()[-1].startswith("model.npz   loss ")


@pytest.mark.parametrize("option", ["--report", "--json"])
def test_asked_for_it_comes_without_excuses(capsys, monkeypatch, at_a_terminal, option):
    monkeypatch.setenv("TERM", "dumb")
    assert cli.main([option, "model.npz"]) == 0
    assert capsys.readouterr().err == ""


def test_json_is_json(capsys):
    assert cli.main(["--json", "model.npz", "--ids", "4, 5 ,6"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["ids"], data["targets"]) == ([4, 5], [5, 6])


def test_one_id_and_no_tokenizer_are_fine(capsys):
    assert cli.main(["mute.npz", "--ids", "3"]) == 0
    assert "no loss" in capsys.readouterr().out.splitlines()[-1]


def test_text_that_no_encoding_knows(capsys):
    assert cli.main(["model.npz", "--text", "\udcff\x1b[31mabc"]) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_the_sample_is_opened_by_default():
    assert cli.sample_path().name == "tiny.npz"


@pytest.mark.parametrize("where", ["tui.report.open_session", "tui.report.as_tables"])
def test_an_interrupt_ends_it(monkeypatch, where):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(where, interrupted)
    assert cli.main(["model.npz"]) == 130


def test_a_failure_of_ours_is_not_passed_off_as_the_file_s(monkeypatch):
    def broken(*_):
        raise ValueError("ours")

    monkeypatch.setattr("tui.report.open_file", broken)
    with pytest.raises(ValueError, match="ours"):
        cli.main(["model.npz"])


# The screen


@pytest.fixture
def fake_app(monkeypatch, at_a_terminal):
    monkeypatch.setattr("tui.app.GlassApp", FakeApp)
    FakeApp.made.clear()
    return FakeApp


def test_at_a_terminal_the_screen_opens(fake_app):
    assert cli.main(["model.npz", "--ids", "1,2", "--theme", "light", "--no-mouse"]) == 0
    (app,) = fake_app.made
    assert app.given == ("model.npz", None, [1, 2], "light") and app.mouse is False


def test_what_the_screen_could_not_open_is_said_by_the_shell(fake_app, capsys, monkeypatch):
    monkeypatch.setattr(fake_app, "run", lambda app, mouse: setattr(app, "refusal", "x.npz: bad; mend it"))
    assert refused(capsys, "x.npz") == "x.npz: bad; mend it"


def test_the_screen_s_exit_code_is_the_command_s(fake_app, monkeypatch):
    monkeypatch.setattr(fake_app, "run", lambda app, mouse: setattr(app, "return_code", 1))
    assert cli.main(["model.npz"]) == 1


# Pictures of it


def test_a_screenshot_as_text(tmp_path):
    picture = tmp_path / "x.txt"
    assert cli.main(["model.npz", "--screenshot", str(picture), "--size", "80x24", "--keys", "n n"]) == 0
    rows = picture.read_text(encoding="utf-8").splitlines()
    assert len(rows) == 24 and "model.npz" in rows[0] and "3/23" in rows[0]


def test_a_screenshot_as_a_picture(tmp_path):
    picture = tmp_path / "x.svg"
    assert cli.main(["model.npz", "--screenshot", str(picture)]) == 0
    assert picture.read_text(encoding="utf-8").lstrip().startswith("<svg")


def test_a_picture_that_cannot_be_written(capsys):
    line = refused(capsys, "model.npz", "--screenshot", "nowhere/x.txt")
    assert line == "nowhere/x.txt: No such file or directory; choose another place to write"


def test_keys_that_leave_the_program(capsys, tmp_path):
    line = refused(capsys, "model.npz", "--screenshot", str(tmp_path / "x.txt"), "--keys", "n ctrl+q n")
    assert line.startswith("--keys: they leave the program") and not list(tmp_path.iterdir())


def test_a_picture_of_a_file_that_cannot_be_opened(capsys, tmp_path):
    assert refused(capsys, "nope.npz", "--screenshot", str(tmp_path / "x.txt")).startswith(
        "nope.npz: no such file"
    )


# A process of its own


def run(*words, **options):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **options.pop("env", {})}
    command = [sys.executable, "-m", "tui.cli", *words]
    settings = {"stdin": subprocess.DEVNULL, "stderr": subprocess.PIPE, "env": environment, "timeout": 60}
    return subprocess.run(command, check=False, **{"stdout": subprocess.PIPE, **settings, **options})


IMPORTED = """
import sys
from tui import cli
before = set(sys.modules)
try:
    cli.main({words!r})
except SystemExit as left:
    assert not left.code, left.code
heavy = sorted({{"numpy", "textual", "rich", "glassllm", "platformdirs"}} & set(sys.modules))
assert not heavy, heavy
"""


@pytest.mark.parametrize("words", [["--help"], ["--version"]])
def test_help_and_version_import_next_to_nothing(words):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    code = IMPORTED.format(words=words)
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, env=environment, timeout=60
    )
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.startswith(b"usage: glassllm-tui" if words == ["--help"] else b"glassllm-tui ")


def test_a_reader_that_left_is_no_fault():
    readable, writable = os.pipe()
    os.close(readable)
    done = run("model.npz", stdout=writable)
    os.close(writable)
    assert (done.returncode, done.stderr) == (0, b"")


ANSWERS = [["model.npz"], ["model.npz", "--json"], ["--help"], ["--version"], ["train", "--help"]]


@pytest.mark.parametrize("words", ANSWERS)
def test_an_answer_that_cannot_be_written_is_one_line(words):
    if not os.path.exists("/dev/full"):
        pytest.skip("no file to which nothing can be written")
    with open("/dev/full", "wb") as full:
        done = run(*words, stdout=full)
    assert done.returncode == 2
    assert done.stderr.decode() == (
        "glassllm-tui: stdout: cannot be written: No space left on device; choose another place\n"
    )


@pytest.mark.parametrize("words", ANSWERS)
def test_descriptors_that_are_closed_are_no_traceback(words):
    done = run(*words, preexec_fn=lambda: os.close(1))
    assert done.returncode == 2
    assert done.stderr.decode().startswith("glassllm-tui: stdout: cannot be written: ")
    assert len(done.stderr.splitlines()) == 1
    done = run(*words, preexec_fn=lambda: (os.close(0), os.close(2)))
    assert done.returncode == 0 and done.stdout


def test_an_encoding_without_our_signs_gets_others():
    env = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = run("model.npz", "--text", "abc ü", env=env)
    assert (done.returncode, done.stderr) == (0, b"")
    softmax = next(line for line in done.stdout.decode("ascii").splitlines() if "softmax" in line)
    assert re.search(r"2x\dx\d", softmax)


def test_an_interrupt_from_outside():
    code = (
        "import os, signal, tui.report; tui.report.open_session = lambda *_: os.kill(os.getpid(), signal.SIGINT)"
    )
    code += "\nfrom tui import cli; raise SystemExit(cli.main(['model.npz']))"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, env=environment, timeout=60,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (130, b"")


@pytest.mark.parametrize(
    ("text", "keys"),
    [("n n c", ["n", "n", "c"]), ("27n enter", ["2", "7", "n", "enter"]), ("3 @ 10", ["3", "@", "10"]), ("", [])],
)
def test_keys_are_named_with_spaces_and_counts_stand_before_theirs(text: str, keys: list[str]) -> None:
    assert cli.pressed(text) == keys


def test_the_report_of_a_model_with_inf_says_so_and_warns_of_nothing(tmp_path, capsys):
    model = GlassLM(Config(vocab_size=8, d_model=8, n_layers=1, n_heads=2, n_kv_heads=1, max_len=4))
    model.E.data[1, 0] = float("inf")
    model.save(tmp_path / "inf.npz", fp16=False)
    assert cli.main([str(tmp_path / "inf.npz"), "--ids", "1,2,3", "--report"]) == 0
    said = capsys.readouterr()
    assert "Inf" in said.out and not said.err
