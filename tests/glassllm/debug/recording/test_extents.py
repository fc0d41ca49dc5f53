"""How far the numbers of arrays reach is found piece by piece as it is at once."""

from types import SimpleNamespace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from glassllm.debug.recording.arrays import Refs
from glassllm.debug.recording.columns import COLUMNS, NUMBER_KINDS, Columns
from glassllm.debug.recording.extents import Extents
from glassllm.debug.recording.indices import extent_of
from glassllm.debug.recording.texts import packed
from glassllm.debug.slices import finished

numbers = st.lists(st.integers(-300, 300), max_size=9)
dtypes = st.sampled_from(["bool", "int64", "uint8", "int16"])
arrays = st.builds(lambda values, dtype: np.array(values, np.int64).astype(dtype), numbers, dtypes)


@given(st.lists(arrays, min_size=1, max_size=6), st.sets(st.integers(0, 5)), st.integers(1, 4))
def test_in_pieces_as_at_once(arrays, wanted, length):
    columns = columns_of(arrays)
    manifest = SimpleNamespace(columns=columns, refs=Refs(columns))
    extents = Extents(manifest)
    wanted = [ref for ref in wanted if ref < len(arrays)]
    for ref in wanted:
        extents.want(ref)
    finished(extents.look(lambda name: pieces(arrays, name, length)))
    for ref in wanted:
        found, expected = extents.of(ref), extent_of(arrays[ref])
        assert found.shape == expected.shape and found.is_mask == expected.is_mask
        if arrays[ref].size:
            assert found == expected


def pieces(arrays, name, length):
    numbers = np.concatenate([array for array in arrays if str(array.dtype) == name])
    return (numbers[start : start + length] for start in range(0, len(numbers), length))


def columns_of(arrays):
    texts = [f"[{array.size}]" for array in arrays]
    text_bytes, text_starts = packed(["", *texts])
    columns = {
        "ref_arrays": range(len(arrays)),
        "ref_shapes": range(1, len(arrays) + 1),
        "ref_axes": [0] * len(arrays),
        "array_kinds": [NUMBER_KINDS.index(str(array.dtype)) for array in arrays],
        "array_sizes": [array.size for array in arrays],
        "text_bytes": text_bytes,
        "text_starts": text_starts,
    }
    return Columns.made({name: [] for name in COLUMNS} | columns)
