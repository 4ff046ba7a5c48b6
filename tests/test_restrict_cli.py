import json

import pytest
from run_cli import lines, run


def write(folder, **files):
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text, encoding="utf-8")


TAG_03 = lines(
    {
        "id": "s1",
        "experts": {"A": ["B-PER", "I-PER"], "B": ["B-ORG", "I-ORG"], "C": ["B-ORG", "O"]},
        "weights": {"A": 0.4, "B": 0.35, "C": 0.25},
    }
)
WORDS = lines(*({"id": k, "experts": {"a": "cat", "b": "cut", "c": "cat"}} for k in range(3)))


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, tags__jsonl=TAG_03, words__jsonl=WORDS)


def test_constraint_bio():
    plain = run("combine", "tags.jsonl", "--method", "vote")
    assert plain.answers == {"s1": ["B-ORG", "I-PER"]}
    assert next(note for note in plain.notes if "valid BIO" in note).startswith("1 answers are not valid BIO")
    bio = run("combine", "tags.jsonl", "--method", "vote", "--constraint", "bio")
    assert bio.answers == {"s1": ["B-ORG", "I-ORG"]}
    assert sum(bio.rows[0]["confidence"]) == pytest.approx(0.95)
    assert not [note for note in bio.notes if "valid" in note]


def test_constraint_from_a_file(tmp_path):
    write(tmp_path, r__json=json.dumps({"forbidden": [["B-ORG", "I-PER"], ["B-ORG", "I-ORG"]]}), bad__json="{}")
    done = run("combine", "tags.jsonl", "--method", "vote", "--constraint", "r.json")
    assert done.answers == {"s1": ["B-ORG", "O"]}
    run("combine", "tags.jsonl", "--constraint", "bad.json").refused("bad.json", "no restriction")
    run("combine", "tags.jsonl", "--constraint", "bilou").refused("bilou", "bio, bioes or a file")


def test_nbest_lists_answers_with_probabilities():
    done = run("combine", "words.jsonl", "--method", "vote", "--nbest", "5")
    assert [row["nbest"] for row in done.rows] == [[["cat", 0.666667], ["cut", 0.333333]]] * 3
    assert "nbest" not in run("combine", "words.jsonl", "--method", "vote").rows[0]
    restricted = run("combine", "tags.jsonl", "--method", "vote", "--nbest", "9", "--constraint", "bio").rows[0][
        "nbest"
    ]
    assert sum(p for _, p in restricted) == pytest.approx(1, abs=1e-4)
    assert len(restricted) == 4


def test_nbest_prints_surfaces_and_leaves_missing_answers_empty(tmp_path):
    write(
        tmp_path,
        x__jsonl=lines({"id": 1, "experts": {"a": "Cat", "b": "cAt", "c": "cut"}}, {"id": 2, "experts": {"a": None}}),
    )
    rows = run("combine", "x.jsonl", "--method", "vote", "--casefold", "--nbest", "2").rows
    assert rows[0]["nbest"] == [["Cat", 0.666667], ["Cut", 0.333333]]
    assert rows[1]["prediction"] is None
    assert rows[1]["nbest"] == []


def test_decoder_and_constraint_of_a_model_can_be_changed(tmp_path):
    gold = lines(
        *(
            {"id": k, "experts": {"a": ["B-X", "I-X"], "b": ["B-Y", "I-Y"], "c": ["B-Y", "O"]}, "gold": ["B-Y", "I-Y"]}
            for k in range(20)
        )
    )
    write(tmp_path, gold__jsonl=gold)
    assert (
        run("fit", "gold.jsonl", "-o", "m.structens", "--constraint", "bio", "--decode", "mbr", "--beta", ".5").code
        == 0
    )
    assert run("combine", "gold.jsonl", "-m", "m.structens").answers[0] == ["B-Y", "I-Y"]
    assert run("combine", "gold.jsonl", "-m", "m.structens", "--decode", "viterbi").code == 0
    run("combine", "gold.jsonl", "--decode", "best").refused("decode must be one of", code=2)


def test_notes_of_batches_are_added(monkeypatch):
    monkeypatch.setattr("structens.cli.combine.pieces", lambda X: iter([X[[k]] for k in range(len(X))]))
    many = "".join(TAG_03.replace("s1", f"s{k}") for k in range(3))
    done = run("combine", "-", "--method", "vote", stdin=many.encode())
    assert [note.split(";")[0] for note in done.notes if "BIO" in note] == ["3 answers are not valid BIO"]


def test_learning_under_a_constraint(tmp_path):
    first = {"a": ["B", "I", "O"], "b": ["O", "I", "O"], "c": ["O", "I", "O"], "d": ["O", "O", "O"]}
    then = {"a": ["O", "B", "I"], "b": ["O", "B", "O"], "c": ["O", "B", "O"], "d": ["O", "O", "O"]}
    made = [
        {"id": 2 * k + i, "experts": said, "gold": said["a"]} for k in range(4) for i, said in enumerate((first, then))
    ]
    write(tmp_path, gold__jsonl=lines(*made))
    options = ("--constraint", "bio", "--beta", "1")
    found = {}
    for how in ("", "per_round", "permanent"):
        extra = ("--restrict", how) if how else ()
        assert run("fit", "gold.jsonl", "-o", "m.structens", *options, *extra).code == 0
        done = run("combine", "gold.jsonl", "-m", "m.structens")
        assert done.rows == run("combine", "gold.jsonl", *options, *extra).rows
        found[how] = [done.rows[i]["prediction"] + done.rows[i]["confidence"] for i in (0, 1)]
    assert found[""] == [["B", "I", "O", 0.25, 0.75, 1.0], ["O", "B", "O", 1.0, 0.75, 0.75]]
    assert found["per_round"] == [["B", "I", "O", 0.5, 0.5, 1.0], ["O", "B", "O", 1.0, 0.75, 0.75]]
    assert found["permanent"] == [["B", "I", "O", 0.5, 0.5, 1.0], ["O", "B", "I", 1.0, 0.5, 0.5]]
    assert run("combine", "gold.jsonl", "-m", "m.structens", "--constraint", "bio").rows == done.rows
    other = run("combine", "gold.jsonl", "-m", "m.structens", "--constraint", "bioes")
    other.refused("--constraint does not go with this model", code=2)
    run("combine", "gold.jsonl", "-m", "m.structens", "--restrict", "per_round").refused("with --model", code=2)
    run("fit", "gold.jsonl", "-o", "m", "--restrict", "permanent").refused("give one with --constraint", code=2)
    run("fit", "gold.jsonl", "-o", "m", "--restrict", "never", "--constraint", "bio").refused("restrict must", code=2)
    other = run("combine", "gold.jsonl", "--method", "vote", "--constraint", "bio", "--restrict", "permanent")
    other.refused("--restrict", "method vote", code=2)
    online = run("combine", "gold.jsonl", "--online", "--constraint", "bio", "--restrict", "permanent")
    assert online.answers[0] == ["B", "I", "O"]
    bad = lines(*({"id": k, "experts": {"a": ["O", "I"], "b": ["I", "O"]}, "gold": ["O", "B"]} for k in range(2)))
    write(tmp_path, bad__jsonl=bad)
    nobody = run("combine", "bad.jsonl", *options, "--restrict", "permanent")
    nobody.refused("no path expert is left", "take --restrict per_round")
