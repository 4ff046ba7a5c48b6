import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from structens.core import DataError, ExpertPredictions, ParameterError
from structens.datasets import (
    PAD,
    disjoint_folds,
    folds_of,
    letters,
    padded,
    pronunciations,
    read_experts,
    speech,
    tagging,
)
from structens.io import read_records

SHARED = Path(__file__).resolve().parents[1].parent / "shared" / "data"
needs_data = pytest.mark.skipif(not SHARED.exists(), reason="the data files lie in ../shared/data, which is not there")

LINES = [
    {"id": "r1", "gold": ["a", "b"], "experts": {"y": ["a"], "x": ["b", "b"]}, "fold": 3},
    {"id": "r2", "gold": None, "experts": {"x": ["b"]}, "fold": 4},
    {"id": "r3", "gold": ["c"], "experts": {"x": ["c"]}, "fold": 5},
]


@pytest.mark.parametrize("name", ["e.jsonl", "e.jsonl.gz"])
def test_files_are_read_as_the_reader_does(tmp_path, name):
    text = "\n".join(json.dumps(line) for line in LINES) + "\n\n"
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    X = read_experts(path, keep=["fold"])
    assert X.names == ("x", "y")
    assert X.ids == ("r1", "r3")
    assert X["y"] == [["a"], None]
    assert X.fields == ({"fold": 3}, {"fold": 5})
    assert read_experts(path, chosen=lambda name: name == "y").names == ("y",)
    whole = read_records(path)
    assert [whole[name] for name in X.names] == [
        [*answers[:1], other, *answers[1:]] for answers, other in ((X["x"], ["b"]), (X["y"], None))
    ]


@pytest.mark.parametrize(
    ("text", "said"), [("{", "no JSON Lines"), ('{"id": 1, "experts": {"a": ["x"]}}', "no record has gold")]
)
def test_bad_files_are_refused(tmp_path, text, said):
    (tmp_path / "e.jsonl").write_text(text)
    with pytest.raises(DataError, match=said):
        read_experts(tmp_path / "e.jsonl")
    with pytest.raises(DataError, match="cannot be read"):
        read_experts(tmp_path / "none.jsonl")


def test_padding():
    X = ExpertPredictions.of({"a": [["x"], ["x", "y", "z"], []], "b": [["x", "y"], None, ["z"]]}, gold=[["x"]] * 3)
    Y = padded(X)
    for rows in (Y["a"], Y["b"], Y.gold):
        assert {len(row) for row in rows} == {3}
    assert [[u for u in row if u != PAD] for row in Y["a"]] == X["a"]
    assert Y["b"][1] == [PAD] * 3
    assert Y.gold[0] == ["x", PAD, PAD]
    with pytest.raises(DataError, match="padding symbol"):
        padded(X, "x")
    with pytest.raises(DataError, match="texts"):
        padded(ExpertPredictions.of({"a": ["xy"]}))


def test_training_sets_are_disjoint_and_the_rest_is_tested():
    made = list(disjoint_folds(53, 5, 10, seed=1))
    learnt = np.concatenate([train for train, _ in made])
    assert len(np.unique(learnt)) == 50
    for train, test in made:
        assert sorted([*train, *test]) == list(range(53))
        assert len(train) == 5
    assert [len(train) for train, _ in disjoint_folds(53)] == [5] * 10
    assert next(disjoint_folds(20, 2, seed=None))[0].tolist() == [0, 1]
    with pytest.raises(DataError, match="disjoint"):
        next(disjoint_folds(9, 1))
    by = np.array([2, 0, 2, 1])
    assert [(a.tolist(), b.tolist()) for a, b in folds_of(by)] == [([1], [0, 2, 3]), ([3], [0, 1, 2]), ([0, 2], [1, 3])]


@needs_data
def test_sets_of_the_papers_kinds():
    X = letters(SHARED)
    assert (X.n_experts, len({f["fold"] for f in X.fields})) == (9, 10)
    types = letters(SHARED, "type_fold")
    of = {}
    for gold, fields in zip(types.gold, types.fields, strict=True):
        of.setdefault("".join(gold), set()).add(fields["type_fold"])
    assert max(map(len, of.values())) == 1  # no word type is in two folds
    one, two = tagging(SHARED, "tr1", "fr_sequoia_upos"), tagging(SHARED, "tr2", "fr_sequoia_upos")
    assert (one.n_experts, two.n_experts) == (9, 5)
    assert max(map(len, one.gold)) == 19
    assert pronunciations(SHARED).n_experts == 10
    assert {len(gold) for gold in speech(SHARED, "asr_librispeech_clean", 4).gold} == set(range(4, 16))
    for call in (lambda: letters(SHARED, "writer"), lambda: tagging(SHARED, "tr3")):
        with pytest.raises(ParameterError, match="must be one of"):
            call()
