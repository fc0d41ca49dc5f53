"""A short run: the text it is trained on, its length, and going through what it does slice by slice."""

WORDS = "a small fox saw a red ball and a big owl saw the small fox. "
STEPS = 12


def finish(work):
    """Go through it; what it returns."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value
