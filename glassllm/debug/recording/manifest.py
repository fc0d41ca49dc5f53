"""The manifest of a recording: its JSON, read and checked as far as it can be without looking at an array.

Every number in it that points somewhere points to something that exists.
"""

from typing import Any

from glassllm.autograd.ops import OPS
from glassllm.debug.snapshot import Event, Origin, Position
from glassllm.files import brief

from .encoding import Fault, Json, Member, Ref, number, read_member, read_ref
from .shapes import SHAPES
from .specs import RESULT, Manifest, RowSpec, TraversalSpec
from .values import LARGEST, distinct, each, fields, flag, line, list_of, parse, whole

VERSION = 1
CHARACTERS = 1 << 20
MOST_MEMBERS = 6000
MOST_TRAVERSALS = 200

FIELDS = {
    "version", "facts", "members", "rows", "events", "leaves", "traversals", "position", "selection", "fresh",
    "created", "vocabulary", "origins", "chosen",
}  # fmt: skip
OPTIONAL = {"created", "vocabulary", "origins", "chosen"}
FACTS = {"name", "tokens", "ids", "targets", "dtype", "tracked", "fused", "loss", "parameters", "notes"}
OF_A_PROGRAM = {"printed", "exit_code", "fault"}
LEAF = {"leaf", "array", "scope", "at", "parameter", "place"}
NOTE = {"note", "array", "scope", "at"}
NODE = {"op", "array", "scope", "at", "in", "attrs", "saved", "custom", "tracked", "uncarried", "used"}


def read_manifest(text: str) -> Manifest:
    """Raise Fault for anything but what a version we know writes."""
    content = parse(text)
    if not isinstance(content, dict):
        raise Fault(f"must be a JSON object, got {brief(content)}")
    version = content.get("version")
    if type(version) is not int or version != VERSION:
        raise Fault(f"its version is {brief(version)}, not {VERSION}")
    return _manifest(fields(content, FIELDS, FIELDS - OPTIONAL))


def _manifest(content: dict[str, Json]) -> Manifest:
    members = each(list_of(content["members"], "members", MOST_MEMBERS), "member", read_member)
    origins = each(list_of(content.get("origins", []), "origins"), "origin", _origin)
    rows: list[RowSpec] = []
    for i, value in enumerate(list_of(content["rows"], "rows")):
        try:
            rows.append(_row(value, rows, members, origins))
        except Fault as fault:
            raise Fault(f"row {i}: {fault}") from None
    if all(row.kind == "leaf" for row in rows):
        raise Fault("no op was applied")
    leaves = [i for i, row in enumerate(rows) if row.kind == "leaf"]
    nodes = [i for i, row in enumerate(rows) if row.tracked]
    created = distinct(content.get("created", nodes), "created", nodes)
    if len(created) < len(nodes):
        raise Fault(f"created must hold all {len(nodes)} tracked nodes")
    events = each(list_of(content["events"], "events"), "event", lambda value: _event(value, rows))
    traversals = each(
        list_of(content["traversals"], "traversals", MOST_TRAVERSALS),
        "traversal",
        lambda value: _traversal(value, rows, members),
    )
    return Manifest(
        facts=_facts(content["facts"]),
        members=members,
        rows=rows,
        events=[Event(order, *event) for order, event in enumerate(events)],
        leaves=distinct(content["leaves"], "leaves", leaves),
        created=created,
        traversals=traversals,
        position=_position(content["position"], len(traversals)),
        selection=whole(content["selection"], "the selection", len(rows)),
        fresh=flag(content["fresh"], "fresh"),
        vocabulary=_vocabulary(content.get("vocabulary"), members),
        chosen=_chosen(content.get("chosen"), rows, members),
    )


def _facts(value: Json) -> dict[str, Any]:
    facts = fields(value, FACTS | OF_A_PROGRAM, FACTS)
    for key in ("name", "dtype"):
        line(facts[key], key)
    for key in ("tracked", "fused"):
        flag(facts[key], key)
    whole(facts["parameters"], "parameters", 2**63)
    number(facts["loss"])
    for key in ("ids", "targets"):
        each(list_of(facts[key], key), f"{key}, number", lambda i: whole(i, "an id", LARGEST))
    each(list_of(facts["notes"], "notes", 100), "note", lambda note: line(note, "a note"))
    _check_program(facts)
    tokens = list_of(facts["tokens"], "tokens")
    if not all(isinstance(token, str) for token in tokens):
        raise Fault("tokens must be texts")
    if len(tokens) != len(facts["ids"]) or len(facts["targets"]) not in (0, len(tokens)):
        raise Fault(f"{len(facts['ids'])} ids, {len(tokens)} tokens and {len(facts['targets'])} targets")
    return facts


def _check_program(facts: dict[str, Json]) -> None:
    """What a program left behind: `[["out", "a line"], …]`, its exit code, and how it ended."""
    whole(facts.get("exit_code", 0), "the exit code", LARGEST, -LARGEST)
    for value in list_of(facts.get("printed", []), "printed"):
        if not isinstance(value, list) or len(value) != 2 or value[0] not in ("out", "err"):
            raise Fault(f"a printed line must be out or err and a text, got {brief(value)}")
        line(value[1], "a printed line")
    if facts.get("fault") is not None:
        fault = fields(facts["fault"], {"kind", "text", "traceback"}, {"kind", "text", "traceback"})
        for text in (fault["kind"], fault["text"], *list_of(fault["traceback"], "a traceback")):
            line(text, "a line of the fault")


def _origin(value: Json) -> Origin:
    if not isinstance(value, list) or len(value) != 3:
        raise Fault(f"must be a file, a line and a function, got {brief(value)}")
    file, number, function = value
    return Origin(line(file, "its file"), whole(number, "its line", LARGEST), line(function, "its function"))


def _row(value: Json, earlier: list[RowSpec], members: list[Member], origins: list[Origin]) -> RowSpec:
    kinds = [kind for kind in ("leaf", "note", "op") if isinstance(value, dict) and kind in value]
    if len(kinds) != 1:
        raise Fault("must be a leaf, a note or an op")
    places = [whole(i, "an origin", len(origins)) for i in list_of(value.get("at", []), "at", 2)]
    made_at = tuple(origins[i] for i in places)
    if kinds == ["op"]:
        return _node(fields(value, NODE, {"op", "array", "in"}), earlier, members, made_at)
    fields(value, LEAF if kinds == ["leaf"] else NOTE, {"array"})
    return RowSpec(
        kind="leaf" if kinds == ["leaf"] else "note",
        name=line(value[kinds[0]], "its name"),
        scope=line(value.get("scope", ""), "its scope"),
        array=read_ref(value["array"], members),
        made_at=made_at,
        parameter=flag(value.get("parameter", False), "parameter"),
        is_place=flag(value.get("place", False), "place"),
    )


def _node(
    value: dict[str, Json], earlier: list[RowSpec], members: list[Member], made_at: tuple[Origin, ...]
) -> RowSpec:
    name, is_custom = line(value["op"], "its op"), flag(value.get("custom", False), "custom")
    op = None if is_custom else OPS.get(name) if name in SHAPES else None
    if op is None and not is_custom:
        raise Fault(f"there is no op {brief(name)}")
    if is_custom and name in OPS:
        raise Fault(f"{name} is an op of ours, not a custom one")
    inputs = [whole(source, "an input, an earlier row,", len(earlier)) for source in list_of(value["in"], "in")]
    slots = len(inputs)
    row = RowSpec(
        kind="node",
        name=name,
        scope=line(value.get("scope", ""), "its scope"),
        array=read_ref(value["array"], members),
        inputs=tuple(inputs),
        op=op,
        attrs=value.get("attrs", {}),
        saved=tuple(read_ref(ref, members) for ref in list_of(value.get("saved", []), "saved")),
        tracked=flag(value.get("tracked", False), "tracked"),
        uncarried=frozenset(whole(s, "a slot", slots) for s in list_of(value.get("uncarried", []), "uncarried")),
        made_at=made_at,
        used=tuple(_used(pair, slots, members) for pair in list_of(value.get("used", []), "used")),
    )
    if not isinstance(row.attrs, dict):
        raise Fault("attrs must be an object")
    _check_tracked(row, earlier)
    return row


def _used(value: Json, slots: int, members: list[Member]) -> tuple[int, Ref]:
    if not isinstance(value, list) or len(value) != 2:
        raise Fault(f"an array used must be a slot and an array, got {brief(value)}")
    return whole(value[0], "a slot", slots, RESULT), read_ref(value[1], members)


def _check_tracked(row: RowSpec, earlier: list[RowSpec]) -> None:
    sources = [earlier[source] for source in row.inputs]
    carried = [s for i, s in enumerate(sources) if i not in row.uncarried and (s.tracked or s.is_place)]
    if row.tracked and not carried:
        raise Fault("it is tracked, but no input takes a gradient")
    if not row.tracked and (row.used or row.uncarried):
        raise Fault("it is not tracked, and so used no arrays but its rows'")


def _event(value: Json, rows: list[RowSpec]) -> tuple[str, int | None, int]:
    if not isinstance(value, list) or len(value) != 3:
        raise Fault(f"must be a step, a layer and a row, got {brief(value)}")
    step, layer, row = value
    if rows[whole(row, "its row", len(rows))].kind == "leaf":
        raise Fault(f"row {row} is a leaf")
    return line(step, "its step"), None if layer is None else whole(layer, "its layer", LARGEST), row


def _traversal(value: Json, rows: list[RowSpec], members: list[Member]) -> TraversalSpec:
    fields(value, {"root", "seed", "fresh", "visits", "sent"}, {"root", "seed", "fresh", "visits"})
    sent = [_sent(one, rows, members) for one in list_of(value.get("sent", []), "sent")]
    if len({row for row, _ in sent}) < len(sent):
        raise Fault("a row sent twice")
    return TraversalSpec(
        root=whole(value["root"], "its root", len(rows)),
        seed=read_ref(value["seed"], members),
        fresh=flag(value["fresh"], "fresh"),
        visits=whole(value["visits"], "its visits", len(rows) + 1),
        sent=tuple(sent),
    )


def _sent(value: Json, rows: list[RowSpec], members: list[Member]) -> tuple[int, tuple[Ref | None, ...]]:
    if not isinstance(value, list) or len(value) != 2:
        raise Fault(f"what was sent must be a row and arrays, got {brief(value)}")
    row, arrays = whole(value[0], "the row", len(rows)), list_of(value[1], "arrays")
    if not rows[row].tracked or rows[row].op is not None or len(arrays) != len(rows[row].inputs):
        raise Fault(f"row {row} is no custom op with {len(arrays)} inputs")
    return row, tuple(None if ref is None else read_ref(ref, members) for ref in arrays)


def _position(value: Json, traversals: int) -> Position:
    if not isinstance(value, list) or len(value) != 3:
        raise Fault(f"the position must be three numbers, got {brief(value)}")
    return Position(
        whole(value[0], "the position's traversal", traversals + 1),
        whole(value[1], "the position's place", LARGEST),
        whole(value[2], "the position's edges", LARGEST),
    )


def _vocabulary(value: Json, members: list[Member]) -> tuple[Ref, Ref] | None:
    """The texts, joined, as bytes; and where each of them ends."""
    if value is None:
        return None
    if not isinstance(value, list) or len(value) != 2:
        raise Fault(f"the vocabulary must be two arrays, got {brief(value)}")
    return read_ref(value[0], members), read_ref(value[1], members)


def _chosen(value: Json, rows: list[RowSpec], members: list[Member]) -> tuple[int, Ref | None] | None:
    """The root that traversals start from, and their seed."""
    if value is None:
        return None
    if not isinstance(value, list) or len(value) != 2:
        raise Fault(f"the chosen root must be a row and a seed, got {brief(value)}")
    return whole(value[0], "a root", len(rows)), None if value[1] is None else read_ref(value[1], members)
