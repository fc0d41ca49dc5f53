"""The command of the shell, called by tests."""

import pytest

from tui import cli


def refused(capsys, *words):
    """The line on stderr of a command that must be refused, without the program's name."""
    with pytest.raises(SystemExit) as left:
        cli.main(words)
    out, err = capsys.readouterr()
    assert left.value.code == 2 and out == ""
    assert err.startswith("glassllm-tui: ") and err.count("\n") == 1
    return err.removeprefix("glassllm-tui: ").rstrip("\n")
