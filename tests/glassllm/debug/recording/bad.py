"""Bad recordings: what is wrong, the words that must say so, and how to make one of a good one's parts."""

import json

import numpy as np

from tests.glassllm.debug.recording.small import parts

MANIFEST, ARRAYS = parts()


def changed(*keys, to):
    """A manifest with the value at `keys` replaced."""

    def edit(manifest, arrays):
        *front, last = keys
        for key in front:
            manifest = manifest[key]
        manifest[last] = to

    return edit


def without(*keys):
    def edit(manifest, arrays):
        *front, last = keys
        for key in front:
            manifest = manifest[key]
        del manifest[last]

    return edit


def row(i, **fields):
    """Row `i` with these fields."""
    return lambda manifest, arrays: manifest["rows"][i].update(fields)


def member(i, array):
    """Other numbers in a member that the manifest describes as before."""
    return lambda manifest, arrays: arrays.update({f"array{i}": array})


def declared(i, array):
    """Other numbers in a member, and the manifest says so."""

    def edit(manifest, arrays):
        arrays[f"array{i}"] = array
        manifest["members"][i] = [array.dtype.str, list(array.shape)]

    return edit


def both(*edits):
    def edit(manifest, arrays):
        for one in edits:
            one(manifest, arrays)

    return edit


def huge(manifest, arrays):
    """Ten GiB asked for by a member that the file even claims to have."""
    manifest["members"][0] = ["<f4", [2**20, 2560]]


def many_visits(manifest, arrays):
    manifest["traversals"] = [{**manifest["traversals"][1], "visits": 15}] * 200
    for i, dtype in enumerate(manifest["members"]):
        if dtype == ["<f4", [3, 2]]:
            manifest["members"][i] = ["<f4", [3 << 20, 2]]


def rows_of_one_array(manifest, arrays):
    """A chain of rows that all show one large array, each of which would be given a mask of its own."""
    zeros = np.zeros((1 << 24), np.int8)
    arrays["array0"], manifest["members"][0] = zeros, ["|i1", [1 << 24]]
    chain = [{"op": "reshape", "in": [i], "attrs": {"shape": -1}, "array": 0} for i in range(300)]
    manifest["rows"] = [{"leaf": "x", "array": 0}, *chain]
    manifest |= {"events": [], "leaves": [], "traversals": [], "position": [0, 0, 0], "selection": 0}


def deep_attribute(manifest, arrays):
    value = 1
    for _ in range(40):
        value = [value]
    manifest["rows"][2]["attrs"]["index"] = value


objects = np.array([{}], dtype=object)
ids = np.array([2, 0, 1])
index = [12, "attrs", "index"]
BAD = {
    # the manifest as text
    "no JSON": ("not JSON: .*; save the recording again", "hello"),
    "cut": ("not JSON", json.dumps(MANIFEST)[:-40]),
    "empty": ("not JSON", ""),
    "a list": ("must be a JSON object", "[1]"),
    "deep": ("nested too deeply", "[" * 100_000),
    "deep objects": ("nested too deeply", '{"a":' * 30_000),
    "many objects": ("JSON of too many entries", '{"a":' * 100_000),
    "many entries": ("JSON of too many entries", "[" + "[]," * 200_000 + "[]]"),
    "many words": ("JSON of too many entries", "[" + '"",' * 300_000 + '""]'),
    "long": ("characters, more than", " " * ((1 << 20) + 1)),
    "NaN": ("not JSON: NaN;", '{"version": NaN}'),
    "long integer": ("integer of 5000 digits", '{"version": ' + "1" * 5000 + "}"),
    # its fields
    "version missing": ("version is None, not 1", without("version")),
    "version of the future": ("version is 2, not 1", changed("version", to=2)),
    "version true": ("version is True", changed("version", to=True)),
    "version text": ("version is '1'", changed("version", to="1")),
    "field missing": ("rows is missing", without("rows")),
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
    # rows
    "rows text": ("rows must be a list", changed("rows", to="x")),
    "no rows": ("no op was applied", changed("rows", to=[])),
    "only leaves": ("no op was applied", changed("rows", to=MANIFEST["rows"][:1])),
    "row number": ("row 1: must be a leaf, a note or an op", changed("rows", 1, to=7)),
    "row of no kind": ("row 1: must be a leaf, a note or an op", changed("rows", 1, to={"array": 0})),
    "row of two kinds": ("row 1: must be a leaf", row(1, leaf="x")),
    "row unknown": ("row 1: unknown field 'y'", row(1, y=1)),
    "leaf with inputs": ("row 0: unknown field 'in'", row(0, **{"in": []})),
    "array missing": ("row 1: array is missing", without("rows", 1, "array")),
    "op unknown": ("row 1: there is no op 'eval'", row(1, op="eval")),
    "op number": ("row 1: its op must be one short line", row(1, op=3)),
    "op claimed custom": ("row 1: embedding is an op of ours", row(1, custom=True)),
    "op escape": ("row 13: its op must be one short line", row(13, op="\x1b")),
    "scope escape": ("row 1: its scope must be one short line", row(1, scope="a\nb")),
    "input forward": ("row 1: an input, an earlier row, must be .* from 0 to 0, got 2", row(1, **{"in": [2]})),
    "input itself": ("row 4: an input, an earlier row,", row(4, **{"in": [4, 3]})),
    "input negative": ("row 4: an input, an earlier row,", row(4, **{"in": [-1, 3]})),
    "input huge": ("row 4: an input, an earlier row,", row(4, **{"in": [10**18, 3]})),
    "input true": ("row 4: an input, an earlier row,", row(4, **{"in": [True, 3]})),
    "input float": ("row 4: an input, an earlier row,", row(4, **{"in": [1.0, 3]})),
    "inputs too few": ("row 4, matmul: matmul takes 2 inputs, got 1", row(4, **{"in": [1]})),
    "inputs too many": ("row 7, softmax: softmax takes 1 inputs, got 2", row(7, **{"in": [6, 6]})),
    "no inputs": ("row 7: it is tracked, but no input", row(7, **{"in": []})),
    "tracked without a gradient": ("row 6: it is tracked, but no input", row(6, **{"in": [5, 5]})),
    "uncarried all": ("row 7: it is tracked, but no input", row(7, uncarried=[0])),
    "uncarried beyond": ("row 7: a slot must be an integer", row(7, uncarried=[1])),
    "used and not tracked": ("not tracked, and so used", both(row(14, used=[[0, 1]]), row(14, tracked=False))),
    "used slot": ("row 4: a slot must be an integer from -1 to 1", row(4, used=[[2, 0]])),
    "used shape": (r"row 4, matmul: it used \(2, 2\) in the place of \(3, 2\)", row(4, used=[[0, 3]])),
    "used pair": ("row 4: an array used must be", row(4, used=[3])),
    "reference beyond": ("row 1: there is no array 99", row(1, array=99)),
    "reference negative": ("row 1: there is no array -1", row(1, array=-1)),
    "reference empty": ("row 1: there is no array", row(1, array=[])),
    "reference text": ("row 1: there is no array '1'", row(1, array="1")),
    "reference reshaped": (r"array 1 of shape \(3, 2\) cannot have the shape", row(1, array=[1, [5]])),
    "reference sizes": ("row 1: a shape must be a list of sizes", row(1, array=[1, [-3, -2]])),
    "reference axes": ("array 1 has axes that are no order", row(1, array=[1, [3, 2], [0, 0]])),
    "reference axis names": ("array 1 has axes that are no order", row(1, array=[1, [3, 2], ["a", None]])),
    "absurd shape": ("absurdly large", row(1, array=[1, [2**40, 2**40, 0]])),
    "many axes": ("a shape must be a list", row(1, array=[1, [1] * 64])),
    "origin beyond": ("row 1: an origin must be an integer", row(1, at=[99])),
    "origin": ("origin 0: must be a file", changed("origins", to=[1])),
    "saved missing": ("row 10, gelu: its rule needs other arrays", row(10, saved=[])),
    "saved of other shapes": ("row 10, gelu: its rule needs other arrays", row(10, saved=[0, 3])),
    "saved where none is": ("row 9, mul: its rule needs other arrays than the 1", row(9, saved=[1])),
    "saved of a custom op": ("a custom op has no saved", row(13, saved=[1])),
    # attributes
    "attribute missing": ("row 1, embedding: embedding needs the attribute ids", row(1, attrs={})),
    "attribute unknown": ("row 7, softmax: softmax has no attribute y", row(7, attrs={"y": 1})),
    "attributes a list": ("row 7: attrs must be an object", row(7, attrs=[])),
    "tag unknown": ("unknown tag 'eval'", changed("rows", 7, "attrs", "axis", to={"eval": "1"})),
    "two tags": ("has the tags", changed("rows", 7, "attrs", "axis", to={"tuple": [], "slice": []})),
    "no tag": ("unknown tag ''", changed("rows", 7, "attrs", "axis", to={})),
    "deep value": ("nested too deeply", deep_attribute),
    "axis text": ("row 7, softmax: ", changed("rows", 7, "attrs", "axis", to="0")),
    "axis beyond": ("axis 2 lies outside of 2 axes", changed("rows", 7, "attrs", "axis", to=2)),
    "axis float": ("row 7, softmax: ", changed("rows", 7, "attrs", "axis", to=0.0)),
    "axis twice": ("names one twice", changed("rows", 14, "attrs", "axis", to={"tuple": [0, -2]})),
    "keepdims": ("row 14, mean", changed("rows", 14, "attrs", "keepdims", to=True)),
    "ids not there": ("there is no array 99", changed("rows", 1, "attrs", "ids", to={"array": 99})),
    "ids of floats": ("ids must be an array of integers", changed("rows", 1, "attrs", "ids", to={"array": 0})),
    "ids a list": ("ids must be an array of integers", changed("rows", 1, "attrs", "ids", to=[2, 0, 1])),
    "ids beyond": (r"row 1, embedding: ids from 0 to 3 for 3 rows", member(2, np.array([3, 0, 1]))),
    "ids far beyond": ("ids from 0 to 9223372036854775807", member(2, np.array([2**63 - 1, 0, 1]))),
    "index beyond": ("row 2, getitem: index 5 is out of bounds", member(4, np.array([5, 1]))),
    "index of another size": (r"row 2, getitem: ", changed("rows", 2, "attrs", "index", to={"array": 2})),
    "index text": ("row 12, getitem: ", changed("rows", *index, to="x")),
    "index tuple": ("row 12, getitem: ", changed("rows", *index, to={"tuple": 3})),
    "index slice": ("row 12, getitem: ", changed("rows", *index, to={"slice": [None]})),
    "index slice of text": ("row 12, getitem: ", changed("rows", *index, to={"slice": ["a", None, None]})),
    "index step 0": ("row 12, getitem: ", changed("rows", *index, to={"slice": [None, None, 0]})),
    "index too many": ("row 12, getitem: ", changed("rows", *index, to={"tuple": [0, 0, 0]})),
    "index of texts": (
        "row 12, getitem: an index must hold integers",
        changed("rows", *index, to=["x" * 500_000] + [""] * 9000),
    ),
    "index None": ("row 12, getitem: its result has the shape", changed("rows", *index, to=None)),
    "index of lists": ("row 12, getitem: ", changed("rows", *index, to=[[0], ["a"]])),
    "index that grows": (
        r"row 2, getitem: an index that makes \(3000, 3000\)",
        both(
            changed("rows", 2, "attrs", "index", to={"tuple": [{"array": 4}, {"array": [21, [1, 3000]]}]}),
            declared(4, np.zeros((3000, 1), int)),
            lambda manifest, arrays: manifest["members"].append(["<i8", [3000]]),
            lambda manifest, arrays: arrays.update(array21=np.zeros(3000, int)),
        ),
    ),
    "mask of another shape": ("row 6, where: ", declared(8, np.ones((2, 3, 2), bool))),
    "mask that stretches": (r"its result has the shape \(3, 2\)", declared(8, np.ones((4, 3, 2), bool))),
    # shapes
    "result of another shape": ("row 4, matmul: its result has the shape", declared(5, np.zeros((3, 3), "f4"))),
    "factors that do not fit": ("row 4, matmul: a matrix product of", row(4, **{"in": [1, 1]})),
    "terms that do not fit": ("row 9, mul: ", declared(10, np.zeros((5, 7), "f4"))),
    # members
    "member missing": ("'array3' is missing", lambda manifest, arrays: arrays.pop("array3")),
    "member extra": ("knows nothing of 'extra'", lambda manifest, arrays: arrays.update(extra=ids)),
    "member escape": (r"knows nothing of 'a\\x1b", lambda manifest, arrays: arrays.update({"a\x1b": ids})),
    "a config too": ("knows nothing of '__config__'", lambda manifest, arrays: arrays.update(__config__=ids)),
    "members text": ("members must be a list", changed("members", to="x")),
    "member text": ("member 0: must be a dtype and a shape", changed("members", 0, to="x")),
    "member objects": (r"member 0: its dtype is '\|O'", changed("members", 0, to=["|O", [3, 2]])),
    "member structured": ("member 0: its dtype is a list", changed("members", 0, to=[[["a", "<f4"]], [3, 2]])),
    "member complex": ("member 0: its dtype is '<c8'", changed("members", 0, to=["<c8", [3, 2]])),
    "members too many": ("members must be a list, got 6001 entries", changed("members", to=[["<f4", []]] * 6001)),
    "another dtype": ("'array0' is float64 of shape", member(0, np.zeros((3, 2)))),
    "another shape": (r"'array0' is float32 of shape \(2, 3\)", member(0, np.zeros((2, 3), "f4"))),
    "other byte order": ("'array0' is >f4", member(0, np.zeros((3, 2), ">f4"))),
    "Fortran order": ("'array0' is float32", member(0, np.asfortranarray(np.zeros((3, 2), "f4")))),
    "objects": ("'array0' is not a plain array: .* never unpickled", member(0, objects)),
    "text": ("'array0' is <U1 of shape", member(0, np.full((3, 2), "x"))),
    "bomb": ("'array0' is float32 of shape", member(0, np.zeros((20_000_000,), "f4"))),
    "huge": (r"the recording needs 50\.0 GiB, more than the limit of 4\.0 GiB; raise", huge),
    "many visits": ("GiB, more than the limit", many_visits),
    "many masks": ("GiB, more than the limit", rows_of_one_array),
    # events, leaves, order
    "event number": ("event 0: must be a step", changed("events", 0, to=3)),
    "event of a leaf": ("event 0: row 0 is a leaf", changed("events", 0, 2, to=0)),
    "event beyond": ("event 0: its row must be an integer", changed("events", 0, 2, to=99)),
    "event layer": ("event 0: its layer must be", changed("events", 0, 1, to=-1)),
    "event escape": ("event 0: its step must be", changed("events", 0, 0, to="\x1b")),
    "leaf of no kind": ("leaves must be rows of that kind", changed("leaves", to=[1])),
    "leaf twice": ("leaves must be rows of that kind", changed("leaves", to=[0, 0])),
    "leaf a list": ("leaves must be rows of that kind", changed("leaves", to=[[0]])),
    "leaf without gradient": ("leaves must hold", changed("leaves", to=[0, 5])),
    "leaf forgotten": ("leaves must hold", changed("leaves", to=[])),
    "created not all": ("created must hold all 11", changed("created", to=[1, 2])),
    "created backward": (
        "created has a node before one of its inputs",
        changed("created", to=[i for i, r in enumerate(MANIFEST["rows"]) if r.get("tracked")][::-1]),
    ),
    "created beyond": ("created must be rows of that kind", changed("created", to=[99])),
    # traversals and where we are
    "traversal text": ("traversal 0: must be an object", changed("traversals", 0, to="x")),
    "root without gradient": ("row 5 takes no gradient", changed("traversals", 0, "root", to=5)),
    "root of a note": ("row 11 takes no gradient", changed("traversals", 0, "root", to=11)),
    "root beyond": ("traversal 0: its root must be", changed("traversals", 0, "root", to=15)),
    "seed of another shape": ("traversal 1: float32 of shape", changed("traversals", 0, "seed", to=0)),
    "seed of another dtype": ("traversal 1: int64", both(changed("traversals", 0, "seed", to=[2, [3]]))),
    "visits beyond": ("visits must be", changed("traversals", 0, "visits", to=99)),
    "visits negative": ("visits must be", changed("traversals", 0, "visits", to=-1)),
    "visits more than there are": ("1: 14 visits, there are 12", changed("traversals", 0, "visits", to=14)),
    "nothing sent": ("traversal 1: triple has no rule", changed("traversals", 0, "sent", to=[])),
    "sent too early": ("traversal 2: row 13 sends nothing", changed("traversals", 1, "sent", to=[[13, [18]]])),
    "sent by ours": ("row 4 is no custom op", changed("traversals", 0, "sent", to=[[4, [0, 0]]])),
    "sent twice": ("a row sent twice", changed("traversals", 0, "sent", to=[[13, [18]], [13, [18]]])),
    "sent to too many": ("row 13 is no custom op with 2", changed("traversals", 0, "sent", to=[[13, [18, 18]]])),
    "sent another shape": ("for a gradient", changed("traversals", 0, "sent", to=[[13, [0]]])),
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
    "vocabulary text": ("the vocabulary must be two arrays", changed("vocabulary", to="x")),
    "vocabulary of floats": ("the vocabulary must be bytes", changed("vocabulary", to=[0, 2])),
    "vocabulary without end": (
        "the vocabulary: its texts end where there are none",
        both(changed("vocabulary", to=[0, 2]), declared(0, np.zeros(2, "u1")), changed("rows", 0, "array", to=1)),
    ),
    "vocabulary of no text": (
        "the vocabulary: 'utf-8' codec can't decode",
        both(
            changed("vocabulary", to=[19, 20]),
            changed("traversals", to=[]),
            changed("position", to=[0, 0, 0]),
            declared(19, np.array([255, 254], np.uint8)),
            declared(20, np.array([2])),
        ),
    ),
}  # fmt: skip
