"""README.md says nothing that does not hold: programs run, the tour is walked, tables are the program's own.

Run as a program, `python -m tests.test_readme`, it writes the tables anew.
"""

import doctest
import importlib.util
import io
import re
import shlex
import sys
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from glassllm.debug.commands import COMMANDS
from tests.architecture import ORDER
from tui import cli
from tui.app import GlassApp
from tui.draw.palette import Palette
from tui.dump import text as screen_text
from tui.headless.options import PARSERS
from tui.headless.options import parse as parse_command
from tui.keys import GROUPS, LABELS, PANELS, Entry, footer, help_sections
from tui.screens.room_keys import GENERATE_KEYS
from tui.scripted import press, settle

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SAMPLE = ROOT / "samples" / "tiny.npz"


def load_pictures():
    spec = importlib.util.spec_from_file_location("make_pictures", ROOT / "samples" / "make_pictures.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module.PICTURES


PICTURES = load_pictures()


def blocks(language: str) -> list[str]:
    """The fenced blocks in this language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def part(name: str) -> str:
    """What stands between `<!-- name -->` and `<!-- end -->`."""
    (found,) = re.findall(rf"^<!-- {name} -->\n(.*?)\n<!-- end -->$", README, re.MULTILINE | re.DOTALL)
    return found


def rows(table: str) -> list[list[str]]:
    """The cells of a table's rows, without its head."""
    return [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]


def spans(text: str) -> list[str]:
    """What is set as code."""
    return re.findall(r"`([^`]+)`", text)


def table(head: str, rows: Iterable[tuple[str, str]]) -> str:
    """A table of Markdown: code, and what it does."""
    lines = [f"| {head} | |", "| --- | --- |"]
    lines += ["| `{}` | {} |".format(code.replace("|", r"\|"), words) for code, words in rows]
    return "\n".join(lines)


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    """A folder to write in that has the samples, and the settings of the command restored."""
    (tmp_path / "samples").symlink_to(ROOT / "samples", target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    before = sys.getswitchinterval()
    yield
    sys.setswitchinterval(before)


# Setting up


def commands() -> list[list[str]]:
    """The words of every command in the sh blocks, `&&` between commands taken apart."""
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    return [shlex.split(command) for line in lines for command in line.split(" && ")]


def test_one_line_sets_up_and_runs_and_one_sets_up_and_tests():
    run, check = [block.strip() for block in blocks("sh")[:2]]
    for line in (run, check):
        make, install, _ = map(shlex.split, line.split(" && "))
        assert make == ["python3", "-m", "venv", ".venv"]
        assert install[:3] == [".venv/bin/pip", "install", "-e"]
    assert run.split(" && ")[-1].removeprefix(".venv/bin/") in PROJECT["scripts"]
    assert check.endswith(" && .venv/bin/python -m pytest")


def test_what_is_installed_exists():
    wanted = [words[-1] for words in commands() if words[1:2] == ["install"]]
    assert wanted
    for name in wanted:
        extras = re.fullmatch(r"\.(?:\[(.*)\])?", name)[1]
        assert extras is None or set(extras.split(",")) <= set(PROJECT["optional-dependencies"])
    assert PROJECT["requires-python"] == ">=3.11" and "Python 3.11 or newer" in README


def test_the_check_of_every_commit_finds_the_test_command():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    pattern = re.search(r"grep -m 1 -E '(.*)' README\.md", script)[1]
    found = [line for line in README.splitlines() if re.search(pattern, line)]
    assert found == [blocks("sh")[1].strip()]


def test_every_program_that_is_named_is_there():
    for first, *rest in commands():
        if first.startswith(".venv/bin/"):
            assert first.removeprefix(".venv/bin/") in {"python", "pip", "ruff", "mypy", *PROJECT["scripts"]}
        elif first not in ("python3", *PROJECT["scripts"]):
            assert (ROOT / first).is_file()
        for word in rest:
            assert not word.startswith("samples/") or (ROOT / word).is_file()


# Five minutes


def keys_of(press: str) -> list[str]:
    """`8n`, `esc` or `:text …` as the single keys that are pressed."""
    names = {label: key for key, label in LABELS.items()} | {" ": "space"}
    typed = press.startswith(":") or re.fullmatch(r"[0-9]+.", press)
    return [names.get(char, char) for char in press] if typed else [names.get(press, press)]


async def test_the_tour_shows_what_it_promises():
    app = GlassApp(SAMPLE, colors="truecolor")
    steps = rows(part("tour"))
    assert len(steps) > 12
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(app, pilot)
        assert "forward 1/77" in screen_text(app)
        for pressed, words in steps[:-1]:
            keys = [key for name in spans(pressed) for key in keys_of(name)]
            assert await press(app, pilot, keys), pressed
            shown = screen_text(app)
            assert [promise for promise in spans(words) if promise not in shown] == [], f"{pressed}\n{shown}"
        (help_, _), leaving = steps[-1], spans(steps[-1][1])
        await press(app, pilot, keys_of(*spans(help_)))
        assert all(title in screen_text(app) for title, _ in help_sections("events"))
        assert leaving == ["esc", "q"]
        assert not await press(app, pilot, [key for name in leaving for key in keys_of(name)])


def test_the_story_of_the_tour_is_the_sample_s():
    with np.load(SAMPLE) as file:
        length = file["__sample__"].size
    assert length == 13 and "*Once upon a time there was a small fox named Pip.*" in README


# Tables


def keys_table() -> str:
    """All keys, group by group."""
    (panel,) = (panel for panel, groups in PANELS.items() if groups == ("tensor",))
    sections = dict(help_sections(panel))
    sections[GROUPS["tensor"]] = sections.pop("this panel")
    named = [(title, entry) for title in GROUPS.values() for entry in sections[title]]
    lines = ["| keys | |", "| --- | --- |"]
    for i, (title, entry) in enumerate(named):
        if i == 0 or named[i - 1][0] != title:
            lines.append(f"| | **{title}** |")
        lines.append(f"| {' '.join(f'`{key}`' for key in entry.keys.split())} | {entry.words} |")
    return "\n".join(lines)


def commands_table() -> str:
    return table("command", ((command.usage, command.help) for command in COMMANDS.values()))


def options_table(parser=None) -> str:
    """What the shell's command, or one of those without a screen, takes."""
    parser = parser or cli.parser()
    actions = [action for action in parser._actions if "--help" not in action.option_strings]
    usages = ((" ".join([*a.option_strings, usage(a)]).strip(), a.help) for a in actions)
    return table(f"`{parser.prog}`", usages)


def usage(action) -> str:
    return "|".join(action.choices) if action.choices else action.metavar or ""


TABLES = {"keys": keys_table, "commands": commands_table, "options": options_table}
TABLES |= {name: partial(lambda made: options_table(made()), made) for name, made in PARSERS.items()}


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_the_program_s_own(name):
    """Where this fails, `python -m tests.test_readme` writes them anew."""
    assert part(name) == TABLES[name]()


def write_tables() -> None:
    """Put the tables of the program as it is into the page."""
    page = README
    for name, made in TABLES.items():
        page = page.replace(part(name), made())
    (ROOT / "README.md").write_text(page, encoding="utf-8")


def test_the_keys_of_the_file_are_all_there():
    with np.load(SAMPLE) as file:
        names = {re.sub(r"\.\d+\.", ".i.", name) for name in file.files}
    assert {name for row in rows(part("file")) for name in spans(row[0])} == names


# Programs


def first_line(text: str) -> str:
    return text.partition("\n")[0]


def printed(program: str) -> str:
    """What the comments behind and under its print calls promise."""
    promised = re.findall(r"^ *print\(.*?\)(?:  # (.*))?$|^# (.*)$", program, re.MULTILINE)
    return "".join(f"{behind or under}\n" for behind, under in promised if behind or under)


@pytest.mark.parametrize("program", blocks("python"), ids=first_line)
def test_python_prints_what_is_promised(program):
    out = io.StringIO()
    with redirect_stdout(out):
        exec(compile(program, "README.md", "exec"), {"__name__": "readme"})
    assert printed(program) and out.getvalue() == printed(program)


@pytest.mark.parametrize("session", blocks("console"), ids=first_line)
def test_shell_answers_what_is_promised(session, capsys):
    command, _, promised = session.partition("\n")
    program, *words = shlex.split(command.removeprefix("$ "))
    assert program == cli.PROGRAM
    try:
        code = cli.main(words)
    except SystemExit as left:
        code = left.code
    out, err = capsys.readouterr()
    loosely = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.OutputChecker().check_output(promised, out + err, loosely), out + err
    assert code == (2 if err else 0)


def test_other_calls_of_the_program_parse():
    calls = [words for first, *words in commands() if first == cli.PROGRAM]
    assert len(calls) > 3
    for words in calls:
        parse = parse_command if words[0] in PARSERS else cli.parser().parse
        parse(words)


# Pictures


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
def test_pictures_are_of_the_program_as_it_is(picture):
    """Where this fails, `python samples/make_pictures.py` draws them anew."""
    columns, height = cli.size(picture.size)
    drawn = picture.path.read_text(encoding="utf-8")
    rows = svg_rows(drawn)
    assert svg_columns(drawn) == columns and len(rows) == height
    footers = [said(footer(panel, back, columns)) for panel in PANELS for back in (False, True)]
    assert unspaced(rows[-1]) in [*footers, said(footer("generate", False, columns, GENERATE_KEYS))]
    assert Palette(picture.theme).hex("panel") in drawn
    assert 'xml:space="preserve"' in drawn


def said(entries: Iterable[Entry]) -> str:
    return unspaced("".join(f"{entry.keys}{entry.words}" for entry in entries))


def unspaced(text: str) -> str:
    """The text without its spaces, which Rich draws only inside of words' colours."""
    return "".join(text.split())


def svg_columns(drawn: str) -> int:
    """How many cells fit into the screen; Rich draws one 12.2 wide."""
    return round(float(re.search(r'clip-terminal">\s*<rect [^>]*width="([0-9.]+)"', drawn)[1]) / 12.2)


def svg_rows(drawn: str) -> list[str]:
    """The text of each row of the screen."""
    found: dict[int, list[tuple[float, str]]] = {}
    for element in ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text"):
        if line := re.search(r"-line-(\d+)\)", element.get("clip-path", "")):
            found.setdefault(int(line[1]), []).append((float(element.get("x")), element.text or ""))
    return ["".join(text for _, text in sorted(found.get(i, []))) for i in range(max(found) + 1)]


def test_the_page_shows_every_picture_there_is():
    shown = [ROOT / path for path in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)]
    assert sorted(shown) == sorted(p.path for p in PICTURES) == sorted((ROOT / "samples/pictures").iterdir())


# The map


def map_entries() -> Iterator[tuple[str, str]]:
    """Each line's path, folders with a slash at the end, and what it says of it."""
    folders: list[str] = []
    for line in part("map").strip("`").strip().splitlines():
        indent, name, words = re.fullmatch(r"( *)(\S+) +(\S.*)", line).groups()
        del folders[len(indent) // 2 :]
        yield "".join(folders) + name, words
        if name.endswith("/"):
            folders.append(name)


def tree() -> set[str]:
    """The folders that hold modules, and the files right inside a package or the samples."""
    found = set()
    for top in ("glassllm", "tui", "samples"):
        found |= {f"{p.parent.relative_to(ROOT)}/" for p in (ROOT / top).rglob("*.py")}
        found |= {str(p.relative_to(ROOT)) for p in (ROOT / top).glob("[!_]*.*") if p.suffix != ".typed"}
    return found | {"samples/pictures/", "tests/"}


def test_the_map_is_of_this_tree():
    assert sorted(path for path, _ in map_entries()) == sorted(tree())


@pytest.mark.parametrize("package", ["glassllm", "tui"])
def test_the_map_has_the_order_of_imports(package):
    modules = [re.sub(r"/|\.py$", ".", path).strip(".") for path, _ in map_entries()]
    mapped = [name for name in modules if name.count(".") == 1 and name.startswith(f"{package}.")]
    places = [ORDER.index(name) for name in mapped if name in ORDER]
    assert places == sorted(places)


if __name__ == "__main__":
    write_tables()
