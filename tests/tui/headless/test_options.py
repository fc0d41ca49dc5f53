"""What the commands take, and what they refuse in one line; a file of a command's name is opened as ./NAME."""

import os
import re
import subprocess
import sys

import pytest

from tests.tui.shell import refused
from tui import cli

TRAIN = ["train", "model.npz", "--text", "text.txt"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["train"], "the following arguments are required: FILE, --text; see glassllm-tui train --help"),
        (["generate"], "the following arguments are required: FILE; see glassllm-tui generate --help"),
        ([*TRAIN, "--steps", "0"], "--steps: give a whole number from 1 to 1000000000, not '0'; see .*"),
        ([*TRAIN, "--steps", "-5"], "--steps: .*"),
        ([*TRAIN, "--steps", "9" * 30], "--steps: .*"),
        ([*TRAIN, "--steps", "1.5"], "--steps: .*"),
        ([*TRAIN, "--steps", "٣"], "--steps: .*"),
        ([*TRAIN, "--batch", "0"], "--batch: .*from 1 to 65536.*"),
        ([*TRAIN, "--seq", "0"], "--seq: .*"),
        ([*TRAIN, "--seed", "-1"], "--seed: .*"),
        ([*TRAIN, "--eval-every", "0"], "--eval-every: .*"),
        ([*TRAIN, "--lr", "0"], "--lr: give a number above 0, at most 10, not '0'; .*"),
        ([*TRAIN, "--lr", "nan"], "--lr: .*"),
        ([*TRAIN, "--lr", "1e9"], "--lr: .*"),
        ([*TRAIN, "--lr", "fast"], "--lr: .*"),
        ([*TRAIN, "--out", "model"], "--out: give it a name that ends in .npz, not 'model'; .*"),
        ([*TRAIN, "--out", "/dev/full"], "--out: .*"),
        ([*TRAIN, "--stpes", "3"], "--stpes: not understood; did you mean --steps\\?"),
        ([*TRAIN, "more"], "more: not understood; see glassllm-tui train --help"),
        (["generate", "model.npz", ""], "the prompt is empty; .*"),
        (["generate", "model.npz", "-n", "0"], "-n: .*from 1 to 1000000.*"),
        (["generate", "model.npz", "--temperature", "0"], "--temperature: give a number above 0 and finite.*"),
        (["generate", "model.npz", "--temperature", "inf"], "--temperature: .*"),
        (["generate", "model.npz", "--top-k", "0"], "--top-k: .*"),
        (["generate", "model.npz", "--top-p", "1.5"], "--top-p: give a number above 0, at most 1, .*"),
    ],
)
def test_words_that_mean_nothing(capsys, words, line):
    assert re.fullmatch(line, refused(capsys, *words))


def test_a_file_of_that_name_is_opened_as_a_path(capsys, folder):
    (folder / "model.npz").rename(folder / "train")
    assert cli.main(["./train", "--report"]) == 0
    assert "loss" in capsys.readouterr().out
    assert refused(capsys, "train").startswith("the following arguments are required")


HELP = """
import sys
from tests.tui.shell import refused
from tui import cli
try:
    cli.main({words!r})
except SystemExit as left:
    assert not left.code, left.code
heavy = sorted({{"numpy", "textual", "rich", "glassllm", "platformdirs"}} & set(sys.modules))
assert not heavy, heavy
"""


@pytest.mark.parametrize("command", ["train", "generate"])
def test_help_imports_next_to_nothing(command):
    code = HELP.format(words=[command, "--help"])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, env=environment, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.startswith(f"usage: glassllm-tui {command}".encode())
