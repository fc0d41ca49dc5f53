"""The table: every command does something, every bad one says what to do in one line."""

import pytest

from glassllm import Tokenizer
from glassllm.debug.commands import COMMANDS, parse, perform, run
from glassllm.debug.session import Session
from glassllm.debug.snapshot import CommandError, Snapshot

LINES = {
    "next": "next 3",
    "visited-back": "visited-back",
    "run-to": "run-to logits",
    "run-back-to": "run-back-to embed",
    "select": "select blocks.1.attn.q",
    "search": "search blocks.*.attn.softmax",
    "backward": "backward logits[1, 2] 0.5",
    "text": "text abc def",
    "ids": "ids 1 2 3",
    "targets": "targets 1 2 3 4",
    "no_grad": "no_grad on",
    "save": "save run.npz",
    "save!": "save! run.npz",
}
BEFORE = {
    "visited-back": ["last"],
    "visited-forward": ["last", "visited-back"],
    "run-back-to": ["last"],
    "apply": ["continue 2"],
    "match": ["search softmax"],
    "match-back": ["search softmax"],
    "run-to": ["first"],
    "consumer": ["select embed"],
}


@pytest.fixture
def spoken(model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model.tokenizer = Tokenizer("▁abcdefghijkl", [])
    return Session.open(model, ids=[3, 1, 4, 1, 5])


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_runs(spoken, name):
    for line in BEFORE.get(name, []):
        run(spoken, line)
    before = spoken.snapshot().version
    snapshot = run(spoken, LINES.get(name, name))
    assert isinstance(snapshot, Snapshot)
    assert snapshot.version > before
    assert snapshot.said and all(text and "\n" not in text for text, _ in snapshot.said if text)


@pytest.mark.parametrize("command", COMMANDS.values(), ids=list(COMMANDS))
def test_every_command_is_described(command):
    assert command.help
    assert command.help[0].islower()
    assert command.usage.startswith(command.name)


MANY = "9" * 5000  # digits, more than Python makes a number of
BAD = [
    ("", "give a command"),
    ("nxt", "did you mean next"),
    ("zzzzz", "lists them"),
    ("z" * 5000, "lists them"),
    ("next many", "whole number"),
    ("next 0", "from 1"),
    ("next " + MANY, "whole number from 1, not 9+…$"),
    (MANY + " next", "whole number from 1"),
    ("next ²", "whole number"),
    ("select " + MANY, "nothing here is called"),
    ("select #" + MANY, "nothing here is called"),
    ("select ²", "nothing here is called"),
    ("ids 1 " + MANY, "whole numbers"),
    ("next -1", "whole number"),
    ("next 1 2", r"the command is next \[COUNT\]"),
    ("select", "the command is select ROW"),
    ("first 3", "the command is first$"),
    ("ids", "the command is ids IDS"),
    ("save", "the command is save PATH"),
    ("save .", "is a folder"),
    ("save none/run.npz", "cannot be written"),
    ("ids a b", "whole numbers"),
    ("ids 999", "from 0 to 16, got 999$"),
    ("text", "the command is text TEXT"),
    ("no_grad maybe", "on or off"),
    ("targets 1", "4 ids need 4 targets"),
    ("3 first", "the command is first$"),
    ("backward loss 1 2", r"the command is backward \[ROOT\] \[SEED\]"),
    ("apply", "backward starts"),
    ("match", "search"),
    ("producer 9", "given"),
    ("run-back-to logits", "not current before"),
]


@pytest.mark.parametrize(("line", "words"), BAD, ids=[line[:20] or "nothing" for line, _ in BAD])
def test_bad_commands_say_what_to_do(spoken, line, words):
    before = spoken.position
    with pytest.raises(CommandError, match=words) as caught:
        run(spoken, line)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 160
    assert spoken.position == before


def test_a_count_may_come_first(spoken):
    three = run(spoken, "3 next").position
    run(spoken, "first")
    assert run(spoken, "next 3").position == three
    assert parse("10next") == (COMMANDS["next"], [10])


def test_arguments_are_cut_where_they_end():
    assert parse("  backward  logits[1, 2]   −2.5 ")[1] == ["logits[1, 2]", -2.5]
    assert parse("text  a  b ")[1] == ["a  b"]
    assert parse("ids [1, 2,3]")[1] == [[1, 2, 3]]
    assert parse("targets off")[1] == [None]


def test_keys_ask_by_name(spoken):
    assert run(spoken, "next", count=3).position == spoken.position
    assert run(spoken, "select", 0).focus.title == "E"
    assert run(spoken, "first", count=4).position.place == 0
    assert run(spoken, "text", "abc").run.tokens == ("a", "b")


def test_work_is_done_slice_by_slice(spoken, thin):
    run(spoken, "continue")
    work = perform(spoken, "continue")
    progress = []
    with pytest.raises(StopIteration) as stop:
        while True:
            progress.append(next(work))
    total = len(spoken.tape.plan(1))
    assert progress == [(done, total) for done in range(1, total)]
    assert stop.value.value == spoken.snapshot()


def test_a_bad_line_is_refused_before_any_work(spoken):
    with pytest.raises(CommandError):
        perform(spoken, "nonsense")
