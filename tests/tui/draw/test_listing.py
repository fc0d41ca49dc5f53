"""Lines to read and scroll in."""

import pytest

from glassllm.debug.snapshot import Line
from tui.draw.listing import Listing, farthest, listing_rows, room_for, top_for
from tui.draw.printed import log_listing
from tui.draw.text import Span, row_width

TITLE = (Span("title"),)


def drawn(listing, palette, top=0, left=0, width=80, height=24):
    return [
        "".join(s.text for s in row).rstrip() for row in listing_rows(listing, top, left, width, height, palette)
    ]


def test_lines_are_numbered_and_the_marked_one_is_marked(palette):
    shown = drawn(Listing(TITLE, ["a", "\tb", "c"], marked=1), palette)
    assert shown[3:6] == ["   1  a", " ▶ 2      b", "   3  c"]


def test_what_controls_a_terminal_is_shown_as_a_sign(palette):
    assert any("␛[2J" in line for line in drawn(Listing(TITLE, ["\x1b[2J"]), palette))


def test_lines_can_be_shifted(palette):
    assert any(line.endswith("  cdef") for line in drawn(Listing(TITLE, ["abcdef"]), palette, left=2))


def test_without_lines_it_says_why(palette):
    assert any("nothing here" in line for line in drawn(Listing(TITLE, [], said="nothing here"), palette))


@pytest.mark.parametrize(("marked", "top"), [(0, 0), (50, 42), (99, 84), (None, 84)])
def test_the_marked_line_stands_in_the_middle_as_far_as_it_can(marked, top):
    assert room_for(24) == 16
    assert top_for(Listing(TITLE, ["x"] * 100, marked), 24) == top


@pytest.mark.parametrize("count", [0, 3, 500])
def test_all_rows_are_equally_wide_and_fit(count, palette):
    listing = Listing(TITLE, ["word " * 60] * count, 0 if count else None)
    for width in range(60, 200, 7):
        for height in (18, 24, 45):
            rows = listing_rows(listing, 0, 0, width, height, palette)
            assert {row_width(row) for row in rows} == {row_width(rows[0])}
            assert row_width(rows[0]) <= width and len(rows) <= height


@pytest.mark.parametrize(
    ("printed", "said", "lines"),
    [
        ([], [], []),
        ([Line("out", "a")], ["b"], ["a", "b"]),
        ([Line("err", "a")], [], ["a"]),
        ([Line("out", "a"), Line("err", "b")], ["c"], ["     a", "err  b", "c"]),
    ],
)
def test_the_log_marks_a_stream_only_where_there_are_two(printed, said, lines):
    listing = log_listing(printed, said)
    assert list(listing.lines) == lines
    assert listing.dim == frozenset(range(len(printed), len(lines)))


def gone(count, kept):
    return [Line("err", f"… {count} earlier line{'s' * (count > 1)} not kept"), *kept]


@pytest.mark.parametrize(
    ("printed", "title", "first"),
    [
        ([], "log  nothing was printed", 1),
        ([Line("out", "a")], "log  1 line printed", 1),
        (gone(1, [Line("out", "a")]), "log  2 lines printed, the last 1 kept", 2),
        (
            gone(20_000, [Line("out", "a")] * 10_001),
            "log  30\u2009001 lines printed, the last 10\u2009001 kept",
            20_001,
        ),
    ],
)
def test_the_log_counts_what_was_printed_and_numbers_lines_as_they_were(printed, title, first, palette):
    listing = log_listing(printed, ["said"])
    assert "".join(span.text for span in listing.title) == title
    assert listing.first_number == first
    assert list(listing.lines)[-1] == "said" and "not kept" not in "".join(listing.lines)
    assert not any(line.startswith(" ") for line in listing.lines), "one stream needs no marks"


@pytest.mark.parametrize(
    "line", ["x" * 300 + "END", "語" * 300 + "END", "\t" * 60 + "END", "a END"], ids=["x", "wide", "tabs", "short"]
)
@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_as_far_as_it_goes_the_longest_line_ends_in_sight(line, width, palette):
    listing = Listing(TITLE, ["short", line])
    left = farthest(listing, width)
    shown = "\n".join(drawn(listing, palette, left=left, width=width))
    assert "END" in shown and "…" not in shown
    assert bool(left) == ("← → sideways" in shown)
