"""Ways to spoil a recording that is spelled out: each makes, or is, a function that edits it in place."""

import numpy as np

from tests.glassllm.debug.recording.small import added, row, shape_of


def changed(*keys, to):
    """The value at `keys` replaced."""

    def edit(said):
        *front, last = keys
        for key in front:
            said = said[key]
        said[last] = to

    return edit


def without(*keys):
    def edit(said):
        *front, last = keys
        for key in front:
            said = said[key]
        del said[last]

    return edit


def at(i, **fields):
    """Row `i` with these fields; `inputs` are its `in`."""

    def edit(said):
        said["rows"][i].update({"in" if name == "inputs" else name: value for name, value in fields.items()})

    return edit


def attrs(i, **values):
    """Attributes of row `i`."""
    return lambda said: said["rows"][i]["attrs"].update(values)


def flags(i, *names):
    return lambda said: said["rows"][i].update(flags=[*names])


def text(content):
    """Another manifest."""
    return changed("text", to=content)


def numbers(ref, array):
    """Other numbers of the same shape."""
    return lambda said: said["arrays"].__setitem__(said["refs"][ref][0], array)


def declared(ref, array):
    """Other numbers, of another shape or dtype."""

    def edit(said):
        stored = said["refs"][ref][0]
        said["arrays"][stored] = array
        for other in said["refs"]:
            if other[0] == stored:
                other[1:] = [shape_of(array), ""]

    return edit


def ref(i, array=None, shape=None, axes=None):
    """Ref `i` with another array, shape or axes."""
    parts = enumerate((array, shape, axes))
    return lambda said: said["refs"][i].__setitem__(
        slice(None), [old if new is None else new for (_, new), old in zip(parts, said["refs"][i], strict=True)]
    )


def column(name, place, number):
    """Another number in a column."""
    return lambda said: said.setdefault("edits", []).append((name, place, number))


def member(name, array):
    """Another member of the file; None: it is missing."""
    return lambda said: said.setdefault("members", {}).update({name: array})


def both(*edits):
    def edit(said):
        for one in edits:
            one(said)

    return edit


def senders(*rows):
    """Custom ops of one input each, all of which sent the same."""
    return both(changed("senders", to=[*rows]), changed("sent", to=[21] * len(rows)))


def huge(said):
    """GiB asked for by one column."""
    said["refs"][0][1] = "[1048576,2560]"
    said.setdefault("edits", []).append(("array_sizes", 0, 2**20 * 2560))


def many_visits(said):
    said["traversals"] = [{**said["traversals"][1], "visits": 15, "sent": 0}] * 200
    for array, shape, _ in said["refs"]:
        if shape == "[3,2]":
            said.setdefault("edits", []).append(("array_sizes", array, 6 << 20))
    for other in said["refs"]:
        other[1] = "[3145728,2]" if other[1] == "[3,2]" else other[1]


def rows_of_one_array(said):
    """A chain of rows that all show one large array, each of which would be given a mask of its own."""
    zeros = added(said, np.zeros(1 << 24, np.int8))
    chain = [row("node", "reshape", zeros, [i], attrs={"shape": -1}) for i in range(300)]
    said["rows"] = [row("leaf", "x", zeros), *chain]
    alone(said)


def alone(said):
    """Nothing but rows without gradients."""
    said |= {"events": [], "leaves": [], "traversals": [], "senders": [], "sent": []}
    said |= {"position": [0, 0, 0], "selection": 0}


def deep_attribute(said):
    value = 1
    for _ in range(40):
        value = [value]
    said["rows"][2]["attrs"]["index"] = value


def indexed_twice(said):
    """An index of two arrays that make a square of them."""
    first, second = added(said, np.zeros((3000, 1), int)), added(said, np.zeros((1, 3000), int))
    said["rows"][2]["attrs"]["index"] = {"tuple": [{"array": first}, {"array": second}]}


def every_row_another(said):
    """More attributes than are looked at."""
    chain = [row("node", "clip", 0, [0], attrs={"low": i}) for i in range(41_000)]
    said["rows"] = [row("leaf", "x", 0), *chain]
    alone(said)
