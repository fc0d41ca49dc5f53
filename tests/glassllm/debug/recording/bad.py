"""Bad recordings: what is wrong, the words that must say so, and how to make one of a good one spelled out."""

import json

import numpy as np

from glassllm.debug.recording.columns import COLUMN_BYTES, COLUMNS, Starts
from tests.glassllm.debug.recording.small import added, parts, row, shape_of

SAID = parts()


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


objects = np.array([{}], dtype=object)
ids = np.array([2, 0, 1])
GOOD = json.dumps(
    {name: SAID[name] for name in ("version", "facts", "traversals", "position", "selection", "fresh")}
)
OF_ROWS = {name: isinstance(said, Starts) for name, said in COLUMNS.items() if said.per == "row"}
TRACKED = [i for i, each in enumerate(SAID["rows"]) if "tracked" in each["flags"]]
BAD = {
    # the manifest as text
    "no JSON": ("not JSON: .*; save the recording again", text("hello")),
    "cut": ("not JSON", text(GOOD[:-40])),
    "empty": ("not JSON", text("")),
    "a list": ("must be a JSON object", text("[1]")),
    "deep": ("nested too deeply", text("[" * 40_000)),
    "deep objects": ("nested too deeply", text('{"a":' * 10_000)),
    "many objects": ("JSON of too many entries", text('{"a":' * 100_000)),
    "many entries": ("JSON of too many entries", text("[" + "[]," * 200_000 + "[]]")),
    "many words": ("JSON of too many entries", text("[" + '"",' * 300_000 + '""]')),
    "long": ("characters, more than", text(" " * ((1 << 20) + 1))),
    "NaN": ("not JSON: NaN;", text('{"version": NaN}')),
    "long integer": ("integer of 5000 digits", text('{"version": ' + "1" * 5000 + "}")),
    "of before": ("an earlier version made this recording; save the run again", text('{"version":1,"facts":{}}')),
    # its fields
    "version missing": ("version is None, not 2", without("version")),
    "version of the future": ("version is 3, not 2", changed("version", to=3)),
    "version true": ("version is True", changed("version", to=True)),
    "version text": ("version is '2'", changed("version", to="2")),
    "field missing": ("facts is missing", without("facts")),
    "field unknown": ("unknown field 'colour'", changed("colour", to=3)),
    "facts a list": ("must be an object", changed("facts", to=[])),
    "facts unknown": ("unknown field 'x'", changed("facts", "x", to=1)),
    "name number": ("name must be one short line", changed("facts", "name", to=3)),
    "name escape": ("name must be one short line", changed("facts", "name", to="\x1b[2J")),
    "name long": ("name must be one short line", changed("facts", "name", to="x" * 1000)),
    "ids without tokens": ("2 ids, 0 tokens", changed("facts", "ids", to=[1, 2])),
    "ids text": ("ids, number 0: an id must be an integer", changed("facts", "ids", to=["1"])),
    "ids negative": ("an id must be an integer from 0", changed("facts", "targets", to=[-1])),
    "tokens numbers": ("tokens must be texts", changed("facts", "tokens", to=[1])),
    "notes": ("notes must be a list", changed("facts", "notes", to="x")),
    "parameters": ("parameters must be an integer", changed("facts", "parameters", to=1.5)),
    "loss": ("must be a number", changed("facts", "loss", to="low")),
    "loss of another kind": ("must be a number", changed("facts", "loss", to={"float": []})),
    "printed": ("a printed line must be", changed("facts", "printed", to=[["out"]])),
    "printed where": ("a printed line must be", changed("facts", "printed", to=[[[], "x"]])),
    "fault": ("kind is missing", changed("facts", "fault", to={"text": "", "traceback": []})),
    "exit code": ("the exit code must be", changed("facts", "exit_code", to=[])),
    "tracked": ("tracked must be true or false", changed("facts", "tracked", to=1)),
    "fresh": ("fresh must be true or false", changed("fresh", to=None)),
    # columns
    "column missing": ("'flags' is missing", member("flags", None)),
    "column of floats": (r"'names' is float64 of shape \(15,\), not a row of", member("names", np.zeros(15))),
    "column of signs": ("'names' is int64 of shape", member("names", np.zeros(15, int))),
    "column of two axes": (r"'names' is uint8 of shape \(3, 5\)", member("names", np.zeros((3, 5), "u1"))),
    "column of texts": ("'names' is <U1 of shape", member("names", np.full(15, "x"))),
    "column of objects": ("'names' is not a plain array: .* never unpickled", member("names", objects)),
    "column of another length": (
        "names has 14 entries, there are 15 of row", member("names", np.zeros(14, "u1")),
    ),
    "column without end": ("input_starts has -1 entries, there are 15", member("input_starts", np.zeros(0, "u1"))),
    "columns of many bytes": ("of its rows, more than 9", member("text_bytes", np.zeros(COLUMN_BYTES, "u1"))),
    "many rows": (
        "it has 262145 of row, more than 262144",
        both(*(member(name, np.zeros((1 << 18) + 1 + more, "u1")) for name, more in OF_ROWS.items())),
    ),
    "starts that fall": ("input_starts must rise from 0 to 14", column("input_starts", 3, 9)),
    "starts elsewhere": ("input_starts must rise from 0 to 14", column("input_starts", 0, 1)),
    "starts beyond": ("input_starts must rise from 0 to 14", column("input_starts", 15, 13)),
    "texts that fall": ("text_starts must rise from 0 to", column("text_starts", 1, 200)),
    "text of no text": ("'utf-8' codec can't decode", column("text_bytes", 0, 255)),
    "name beyond": ("names, number 1: must be an integer from 0 to", column("names", 1, 999)),
    "name far beyond": ("names, number 1: .* got 9223372036854775807", column("names", 1, 2**63 - 1)),
    "attributes beyond": ("attrs, number 1: must be", column("attrs", 1, 99)),
    "origin beyond": ("origins, number 1: must be", column("origins", 1, 99)),
    "array beyond": ("arrays, number 1: must be an integer from 0 to 21, got 22", column("arrays", 1, 22)),
    "result beyond": ("results, number 1: must be", column("results", 1, 22)),
    "input beyond": ("sources, number 0: must be an integer from 0 to 14, got 15", column("sources", 0, 15)),
    "taken beyond": ("taken, number 0: must be", column("taken", 0, 22)),
    "carried beyond": ("carried, number 0: must be an integer from 0 to 1, got 2", column("carried", 0, 2)),
    "saved beyond": ("saved, number 0: must be", column("saved", 0, 22)),
    "leaf beyond": ("leaves, number 0: must be", changed("leaves", to=[15])),
    "created beyond": ("created, number 0: must be", changed("created", to=[99])),
    "event beyond": ("event_rows, number 0: must be an integer", changed("events", 0, 2, to=99)),
    "event layer": ("event_layers, number 0: must be", changed("events", 0, 1, to=1 << 31)),
    "sender beyond": ("senders, number 0: must be", changed("senders", to=[99])),
    "stored beyond": ("ref_arrays, number 1: must be", column("ref_arrays", 1, 99)),
    "dtype beyond": ("array_kinds, number 1: must be an integer from 0 to 11", column("array_kinds", 1, 12)),
    "size beyond": ("array_sizes, number 1: must be", column("array_sizes", 1, 1 << 41)),
    # rows
    "no rows": ("the selection must be", both(changed("rows", to=[]), alone)),
    "only leaves": ("no op was applied", both(changed("rows", to=SAID["rows"][:1]), alone)),
    "row of no kind": ("row 1: must be a leaf, a note or an op", column("flags", 1, 3)),
    "leaf with inputs": ("row 5: has what only an op has", at(5, inputs=[0])),
    "leaf that is tracked": ("row 5: has what only an op has", flags(5, "tracked")),
    "note with saved": ("row 11: has what only an op has", at(11, saved=[0])),
    "op that is a parameter": ("row 4: has what only a leaf has", flags(4, "tracked", "parameter")),
    "op unknown": ("row 1: there is no op 'eval'", at(1, name="eval")),
    "op claimed custom": ("row 1: embedding is an op of ours", flags(1, "tracked", "custom")),
    "op escape": ("names must be one short line", at(13, name="\x1b")),
    "scope escape": ("scopes must be one short line", at(1, scope="a\nb")),
    "scope long": ("scopes must be one short line", at(1, scope="a" * 301)),
    "input forward": ("row 1: an input must be an earlier row", at(1, inputs=[2])),
    "input itself": ("row 4: an input must be an earlier row", at(4, inputs=[4, 3])),
    "inputs too few": ("row 4, matmul: matmul takes 2 inputs, got 1", at(4, inputs=[1])),
    "inputs too many": ("row 7, softmax: softmax takes 1 inputs, got 2", at(7, inputs=[6, 6])),
    "no inputs": ("row 7: it is tracked, but no input", at(7, inputs=[])),
    "tracked without a gradient": ("row 6: it is tracked, but no input", at(6, inputs=[5, 5])),
    "carried nowhere": ("row 7: it is tracked, but no input", at(7, carried=[0])),
    "carried to a constant": ("row 6: a gradient goes where none is taken", at(6, carried=[1, 1])),
    "carried and not tracked": (
        "row 14: a gradient goes where none is taken", both(at(14, carried=[1]), flags(14)),
    ),
    "used shape": (r"row 4, matmul: it used \(2, 2\) in the place of \(3, 2\)", at(4, taken=[3, 5])),
    "used dtype": ("row 4, matmul: it used", at(4, taken=[1, 4])),
    "made shape": (r"row 4, matmul: it used \(2, 2\) in the place of \(3, 2\)", at(4, result=3)),
    "origin": ("must be a file, a line and a function", at(1, at="[1]")),
    "origin no JSON": ("not JSON", at(1, at="[")),
    "origins": ("origins must be a list, got 3 entries", at(1, at='[["",1,""],["",1,""],["",1,""]]')),
    "origin escape": ("its file must be one short line", at(1, at='[["\\u001b",1,""]]')),
    "saved missing": ("row 10, gelu: its rule needs other arrays", at(10, saved=[])),
    "saved of other shapes": ("row 10, gelu: its rule needs other arrays", at(10, saved=[0, 3])),
    "saved where none is": ("row 9, mul: its rule needs other arrays than the 1", at(9, saved=[1])),
    "saved of a custom op": ("a custom op has no saved", at(13, saved=[1])),
    "rows all different": ("differ in op, attributes or shapes in more than 40000 ways", every_row_another),
    # attributes
    "attribute missing": ("row 1, embedding: embedding needs the attribute ids", at(1, attrs={})),
    "attribute unknown": ("row 7, softmax: softmax has no attribute y", attrs(7, y=1)),
    "attributes a list": ("row 7, softmax: attrs must be an object", at(7, attrs=[])),
    "tag unknown": ("unknown tag 'eval'", attrs(7, axis={"eval": "1"})),
    "two tags": ("has the tags", attrs(7, axis={"tuple": [], "slice": []})),
    "no tag": ("unknown tag ''", attrs(7, axis={})),
    "deep value": ("nested too deeply", deep_attribute),
    "axis text": ("row 7, softmax: ", attrs(7, axis="0")),
    "axis beyond": ("axis 2 lies outside of 2 axes", attrs(7, axis=2)),
    "axis float": ("row 7, softmax: ", attrs(7, axis=0.0)),
    "axis twice": ("names one twice", attrs(14, axis={"tuple": [0, -2]})),
    "keepdims": ("row 14, mean", attrs(14, keepdims=True)),
    "ids not there": ("there is no array 99", attrs(1, ids={"array": 99})),
    "ids negative number": ("there is no array -1", attrs(1, ids={"array": -1})),
    "ids no number": ("there is no array 'x'", attrs(1, ids={"array": "x"})),
    "ids of floats": ("ids must be an array of integers", attrs(1, ids={"array": 0})),
    "ids a list": ("ids must be an array of integers", attrs(1, ids=[2, 0, 1])),
    "ids beyond": (r"row 1, embedding: ids from 0 to 3 for 3 rows", numbers(2, np.array([3, 0, 1]))),
    "ids far beyond": ("ids from 0 to 9223372036854775807", numbers(2, np.array([2**63 - 1, 0, 1]))),
    "ids as far as can be": (
        "ids from 0 to 9223372036854775807", numbers(2, np.array([2**64 - 1, 0, 1], np.uint64)),
    ),
    "index beyond": ("row 2, getitem: index 5 is out of bounds", numbers(4, np.array([5, 1]))),
    "index of another size": (r"row 2, getitem: ", attrs(2, index={"array": 2})),
    "index text": ("row 12, getitem: ", attrs(12, index="x")),
    "index tuple": ("row 12, getitem: ", attrs(12, index={"tuple": 3})),
    "index slice": ("row 12, getitem: ", attrs(12, index={"slice": [None]})),
    "index slice of text": ("row 12, getitem: ", attrs(12, index={"slice": ["a", None, None]})),
    "index step 0": ("row 12, getitem: ", attrs(12, index={"slice": [None, None, 0]})),
    "index too many": ("row 12, getitem: ", attrs(12, index={"tuple": [0, 0, 0]})),
    "index of texts": (
        "row 12, getitem: an index must hold integers", attrs(12, index=["x" * 500_000] + [""] * 9000),
    ),
    "index of floats": ("row 2, getitem: an index must hold integers", attrs(2, index={"array": 0})),
    "index None": ("row 12, getitem: its result has the shape", attrs(12, index=None)),
    "index of lists": ("row 12, getitem: ", attrs(12, index=[[0], ["a"]])),
    "index that grows": (r"row 2, getitem: an index that makes \(3000, 3000\)", indexed_twice),
    "mask of another shape": ("row 6, where: ", declared(9, np.ones((2, 3, 2), bool))),
    "mask that stretches": (r"its result has the shape \(3, 2\)", declared(9, np.ones((4, 3, 2), bool))),
    # shapes
    "result of another shape": ("row 4, matmul: its result has the shape", declared(6, np.zeros((3, 3), "f4"))),
    "factors that do not fit": ("row 4, matmul: a matrix product of", at(4, inputs=[1, 1])),
    "terms that do not fit": ("row 9, mul: ", declared(11, np.zeros((5, 7), "f4"))),
    # arrays
    "reshaped": (r"array 1 of 6 elements cannot have the shape \(5,\)", ref(1, shape="[5]")),
    "shape of signs": ("must be a list of sizes, got '\\[-3,-2\\]'", ref(1, shape="[-3,-2]")),
    "shape of texts": ("must be a list of sizes", ref(1, shape='["3",2]')),
    "shape no list": ("must be a list of sizes", ref(1, shape="6")),
    "shape without a size": ("must be a list of sizes", ref(1, shape="[3,,2]")),
    "absurd shape": ("absurdly large", ref(1, shape="[1099511627776,1099511627776,0]")),
    "many axes": ("absurdly large", ref(1, shape=f"[{','.join(['1'] * 64)}]")),
    "axes": ("array 1 has axes that are no order of 2", ref(1, axes="[0,0]")),
    "axes of others": ("array 1 has axes that are no order of 2", ref(1, axes="[0,1,2]")),
    "axis names": ("must be a list of sizes", ref(1, axes='["a",null]')),
    "numbers missing": ("'float32' is missing", member("float32", None)),
    "member extra": ("knows nothing of 'extra'", member("extra", ids)),
    "member escape": (r"knows nothing of 'a\\x1b", member("a\x1b", ids)),
    "a config too": ("knows nothing of '__config__'", member("__config__", ids)),
    "numbers nobody needs": ("knows nothing of 'int8'", member("int8", np.zeros(3, np.int8))),
    "another dtype": ("'float32' is float64 of shape", member("float32", np.zeros(9))),
    "another length": (r"'float32' is float32 of shape \(9,\), not", member("float32", np.zeros(9, "f4"))),
    "other byte order": ("'bool' is >i2", member("bool", np.zeros(2, ">i2"))),
    "two axes": (r"'bool' is bool of shape \(1, 2\)", member("bool", np.zeros((1, 2), bool))),
    "objects": ("'bool' is not a plain array: .* never unpickled", member("bool", objects)),
    "text": ("'bool' is <U1 of shape", member("bool", np.full(2, "x"))),
    "bomb": ("'float32' is float32 of shape", member("float32", np.zeros((20_000_000,), "f4"))),
    "huge": (r"the recording needs 50\.0 GiB, more than the limit of 4\.0 GiB; raise", huge),
    "many visits": ("GiB, more than the limit", many_visits),
    "many masks": ("GiB, more than the limit", rows_of_one_array),
    # events, leaves, order
    "event of a leaf": ("event 0: row 0 is a leaf", changed("events", 0, 2, to=0)),
    "event escape": ("event_steps must be one short line", changed("events", 0, 0, to="\x1b")),
    "leaf of no kind": ("leaves must hold", changed("leaves", to=[1])),
    "leaf twice": ("leaves must hold", changed("leaves", to=[0, 0])),
    "leaf without gradient": ("leaves must hold", changed("leaves", to=[0, 5])),
    "leaf forgotten": ("leaves must hold", changed("leaves", to=[])),
    "created not all": ("created must hold all tracked nodes", changed("created", to=[1, 2])),
    "created backward": ("created has a node before one of its inputs", changed("created", to=TRACKED[::-1])),
    # traversals and where we are
    "traversal text": ("traversal 0: must be an object", changed("traversals", 0, to="x")),
    "root without gradient": ("row 5 takes no gradient", changed("traversals", 0, "root", to=5)),
    "root of a note": ("row 11 takes no gradient", changed("traversals", 0, "root", to=11)),
    "root beyond": ("traversal 0: its root must be", changed("traversals", 0, "root", to=15)),
    "seed beyond": ("traversal 0: there is no array 22", changed("traversals", 0, "seed", to=22)),
    "seed of another shape": ("traversal 1: float32 of shape", changed("traversals", 0, "seed", to=0)),
    "seed of another dtype": ("traversal 1: int64", changed("traversals", 0, "seed", to=2)),
    "visits beyond": ("visits must be", changed("traversals", 0, "visits", to=99)),
    "visits negative": ("visits must be", changed("traversals", 0, "visits", to=-1)),
    "visits more than there are": ("1: 14 visits, there are 12", changed("traversals", 0, "visits", to=14)),
    "nothing sent": (
        "traversal 1: triple has no rule",
        both(changed("traversals", 0, "sent", to=0), changed("senders", to=[]), changed("sent", to=[])),
    ),
    "sent too early": (
        "traversal 2: row 13 sends nothing",
        both(changed("traversals", 1, "sent", to=1), senders(13, 13)),
    ),
    "sent by nobody": ("1 senders of 1 arrays, not 0 of 1", changed("traversals", 0, "sent", to=0)),
    "sent by ours": ("row 4 is no custom op", both(changed("senders", to=[4]), changed("sent", to=[0, 0]))),
    "sent twice": (
        "traversal 1: row 13 sends nothing",
        both(changed("traversals", 0, "sent", to=2), senders(13, 13)),
    ),
    "sent to too many": ("1 senders of 2 arrays, not 1 of 1", changed("sent", to=[21, 21])),
    "sent beyond": ("there is no array 98 that was sent", changed("sent", to=[99])),
    "sent another shape": ("for a gradient", changed("sent", to=[1])),
    "too many traversals": ("traversals must be a list", changed("traversals", to=[{}] * 201)),
    "position beyond": ("there is no position 2, 4, 1", changed("position", to=[2, 4, 1])),
    "position between": ("there is no position 2, 1, 9", changed("position", to=[2, 1, 9])),
    "position without its edges": ("there is no position 2, 1, 0", changed("position", to=[2, 1, 0])),
    "position in no traversal": ("the position's traversal must be", changed("position", to=[3, 0, 0])),
    "position pair": ("the position must be three numbers", changed("position", to=[0, 0])),
    "position forward": ("there is no position 0, 99, 0", changed("position", to=[0, 99, 0])),
    "selection beyond": ("the selection must be an integer from 0 to 14", changed("selection", to=15)),
    "chosen": ("the chosen root must be", changed("chosen", to=[1])),
    "chosen leaf": ("row 5 takes no gradient", changed("chosen", to=[5, None])),
    "chosen seed": ("the chosen seed: float32 of shape", changed("chosen", to=[14, 0])),
    # the vocabulary
    "vocabulary without an id": (
        "ids beyond the vocabulary's 2 entries",
        both(
            changed("vocabulary", to=["a", "b"]),
            changed("facts", "ids", to=[2]),
            changed("facts", "tokens", to=["a"]),
        ),
    ),
    "vocabulary too short": (
        "word_starts must rise from 0 to 4",
        both(changed("vocabulary", to=["ab", "cd"]), column("word_starts", 2, 5)),
    ),
    "vocabulary backward": (
        "word_starts must rise from 0 to 4",
        both(changed("vocabulary", to=["ab", "", "cd"]), column("word_starts", 2, 1)),
    ),
    "vocabulary of no text": (
        "the vocabulary: text 1: 'utf-8' codec can't decode",
        both(changed("vocabulary", to=["ab", "cd"]), column("word_bytes", 2, 255)),
    ),
}  # fmt: skip
