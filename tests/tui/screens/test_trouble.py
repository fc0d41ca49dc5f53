"""Why something could not be done, in one line."""

import pytest

from tui.screens.trouble import is_trouble, refusal

LONG = "/srv/a long/way/down/run.train.npz: cannot be written: No space left on device; choose another place"


@pytest.mark.parametrize(
    ("why", "width", "said"),
    [
        (LONG, 160, LONG),
        (LONG, 100, "…/run.train.npz: cannot be written: No space left on device; choose another place"),
        ("nothing: a/b: c", 10, "nothing: a/b: c"),
        ("lr must be above 0 and at most 10, got 1e6/s", 10, "lr must be above 0 and at most 10, got 1e6/s"),
    ],
)
def test_folders_give_way_to_the_reason(why, width, said):
    assert refusal(why, width) == (("✗ ", "stop"), (said, "text"))


@pytest.mark.parametrize(
    ("said", "is_so"), [((), False), (refusal("no", 80), True), ((("▶ ", "fwd"), ("training", "bright")), False)]
)
def test_trouble_is_told_by_how_it_begins(said, is_so):
    assert is_trouble(said) is is_so
