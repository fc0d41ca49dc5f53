"""Files: replaced whole or not at all, and spoken of on one harmless line."""

import json
import os
import tracemalloc
from pathlib import Path

import pytest

from glassllm.files import LONGEST_SHOWN, brief, expanded, parse_json, printable, replacing, shown


def test_printable_keeps_letters_and_escapes_the_rest() -> None:
    assert printable("naïve ▁ 猫") == "naïve ▁ 猫"
    assert printable("a\x1b[31m\n\u202e\ud800") == r"a\x1b[31m\n\u202e\ud800"


def test_brief_is_short_and_cheap() -> None:
    assert brief("x" * 10**7) == "'" + "x" * 56 + "..."
    assert brief([1] * 1000) == "a list" and brief({}) == "a dict"
    assert brief(10**5000) == "an integer of 16610 bits"
    assert brief("\x1b") == r"'\x1b'" and brief(None) == "None" and brief(1.5) == "1.5"


def test_of_a_long_path_only_the_end_is_shown() -> None:
    assert shown("a\x1b.npz") == shown(Path("a\x1b.npz")) == r"a\x1b.npz"
    assert shown("x" * LONGEST_SHOWN) == "x" * LONGEST_SHOWN
    long = "folder/" * 600 + "model.npz"
    assert shown(long) == "…" + long[1 - LONGEST_SHOWN :] and len(shown(long)) == LONGEST_SHOWN


LARGE_JSON = {
    "objects": "[" + '{"a":0.5},' * 9000 + "0]",
    "objects in objects": "[" + ('{"":' * 900 + "{}" + "}" * 900 + ",") * 20 + "0]",
    "keys": "{" + ",".join(f'"猫{i}":{i}' for i in range(9000)) + "}",
    "lists": "[" + "[]," * 9000 + "0]",
    "lists in lists": "[" + ("[" * 900 + "]" * 900 + ",") * 20 + "0]",
    "lists of one": "[" + "[1]," * 9000 + "0]",
    "numbers": "[" + "0.5," * 9000 + "0]",
    "long numbers": "[" + f"{2**64}," * 9000 + "0]",
    "texts": "[" + '"猫犬",' * 9000 + '""]',
    "faces": "[" + '"😀",' * 9000 + '""]',
    "escapes": "[" + r'"\u732b",' * 9000 + '""]',
}


@pytest.mark.parametrize("name", LARGE_JSON)
def test_json_takes_no_more_memory_than_was_foreseen(name: str) -> None:
    """And is refused where it would, before that: the same text is parsed only under a limit high enough."""
    text, limit = LARGE_JSON[name], 0
    while True:
        tracemalloc.start()
        try:
            parsed = parse_json(text, limit)
        except ValueError as error:
            assert str(error) == "JSON of too many entries" and tracemalloc.get_traced_memory()[1] < 10_000
            limit += 200_000
        else:
            assert tracemalloc.get_traced_memory()[1] < limit
            assert parsed == json.loads(text)
            return
        finally:
            tracemalloc.stop()


def test_json_that_is_none() -> None:
    for text, words in {"": "not JSON", "[" * 5000: "nested too deeply", "9" * 5000: "not JSON"}.items():
        with pytest.raises(ValueError, match=words) as refusal:
            parse_json(text, 1 << 20)
        assert str(refusal.value).isprintable()


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


def test_a_path_as_it_was_typed(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert expanded("~/a.npz") == tmp_path / "a.npz"
    assert expanded("a/~b") == Path("a/~b")
    with pytest.raises(ValueError, match=r"^~no\\x1bbody/a: there is no such home; choose another place$"):
        expanded("~no\x1bbody/a")
