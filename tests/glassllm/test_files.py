"""Files: replaced whole or not at all, and spoken of on one harmless line."""

import os
from pathlib import Path

import pytest

from glassllm.files import brief, printable, replacing


def test_printable_keeps_letters_and_escapes_the_rest() -> None:
    assert printable("naïve ▁ 猫") == "naïve ▁ 猫"
    assert printable("a\x1b[31m\n\u202e\ud800") == r"a\x1b[31m\n\u202e\ud800"


def test_brief_is_short_and_cheap() -> None:
    assert brief("x" * 10**7) == "'" + "x" * 56 + "..."
    assert brief([1] * 1000) == "a list" and brief({}) == "a dict"
    assert brief(10**5000) == "an integer of 16610 bits"
    assert brief("\x1b") == r"'\x1b'" and brief(None) == "None" and brief(1.5) == "1.5"


def test_replacing_keeps_links_and_permissions(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    with replacing(link) as file:
        file.write(b"new")
        assert target.read_text() == "old"
    assert target.read_text() == "new" and link.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o640
    assert sorted(tmp_path.iterdir()) == [link, target]


def test_a_new_file_gets_the_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "usual").write_text("")
    with replacing(tmp_path / "new") as file:
        file.write(b"new")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_failed_block_leaves_nothing_behind(tmp_path: Path, error: type[BaseException]) -> None:
    with pytest.raises(error), replacing(tmp_path / "new") as file:
        file.write(b"half")
        raise error
    assert list(tmp_path.iterdir()) == []


def test_only_files_are_replaced(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="not a regular file"), replacing(tmp_path):
        pass
    with pytest.raises(OSError, match="not a regular file"), replacing(os.devnull):
        pass
