import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import decoding as naive

from structens.core import DataError
from structens.evaluate.entities import entities, entity_counts

spans = st.lists(st.tuples(st.sampled_from(["X", "Y", None]), st.integers(1, 3)), max_size=6)


def tagged(parts, scheme):
    """Tags of entities and of tokens outside (None), and the entities."""
    tags, found = [], []
    for name, length in parts:
        if name is None:
            tags += ["O"] * length
            continue
        found.append((name, len(tags), len(tags) + length))
        if scheme == "bioes":
            inner = ["B-"] + ["I-"] * (length - 2) + ["E-"] if length > 1 else ["S-"]
        else:
            inner = ["B-"] + ["I-"] * (length - 1)
        tags += [kind + name for kind in inner]
    return tags, found


@given(spans, st.sampled_from(["bio", "bioes"]))
def test_entities_of_valid_tags(parts, scheme):
    tags, found = tagged(parts, scheme)
    assert entities(tags) == found
    assert naive.bioes_valid(tags) if scheme == "bioes" else naive.bio_violations(tags) == 0


def test_invalid_tags_are_read_leniently():
    assert entities(["I-X", "I-Y", "O", "E-X", "I-X"]) == [("X", 0, 1), ("Y", 1, 2), ("X", 3, 4), ("X", 4, 5)]
    assert entities(["B", "I", "O"]) == [("", 0, 2)]


def test_counts():
    counts = entity_counts([["B-X", "I-X", "B-Y"], ["O"]], [["B-X", "I-X", "B-X"], ["B-X"]])
    assert counts == (2, 3, 1)
    assert (counts.precision, counts.recall, counts.f1) == pytest.approx((1 / 3, 0.5, 0.4))
    assert entity_counts([], []).f1 == entity_counts([], []).precision == entity_counts([], []).recall == 0.0
    with pytest.raises(DataError, match="1 answers for 0"):
        entity_counts([], [["O"]])
    with pytest.raises(DataError, match="1 tags for 2 tokens"):
        entity_counts([["O", "O"]], [["O"]])
