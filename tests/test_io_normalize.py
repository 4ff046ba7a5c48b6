"""Folding on request, surfaces, and the warnings of inputs that mix forms."""

import io
import json
import random
import unicodedata
import warnings

import numpy as np
import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from naive.io import naive_key, naive_surfaces

from structens.core import Encoder, ParameterError, Ragged
from structens.core.units import cut, is_plain
from structens.io import DataWarning, Folder, Folding, iter_records, printed_units, read_records, read_sequences

CAFE = {"id": "l1", "experts": {"A": "caf\u00e9", "B": "cafe\u0301", "C": "cafe"}}
YES = {"id": "u1", "experts": {"A": ["Yes,", "sir."], "B": ["yes", "sir"], "C": ["yes", "sire"]}}


def source(*records):
    return io.BytesIO("\n".join(map(json.dumps, records)).encode())


def quietly(*records, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return read_records(source(*records), **options)


def test_composed_and_decomposed_letters_agree_after_nfc():  # COMB-05
    X = quietly(CAFE, normalize="NFC")
    assert X["A"] == X["B"] == ["caf\u00e9"]
    assert X["C"] == ["cafe"]
    a, b = X.hypotheses[0].tolist(), X.hypotheses[1].tolist()
    assert a == b
    assert len(a) == 4
    written = [X.surface.alphabet.decode(X.surface.rows[u]) for u in range(8)]
    assert written[3] == ["\u00e9"]
    assert written[7] == ["e\u0301"]


def test_mixed_normal_forms_are_reported_once():
    with pytest.warns(DataWarning) as caught:
        X = read_records(source(CAFE, {**CAFE, "id": "l2", "experts": {"A": "\u00e0", "B": "a\u0300"}}))
    assert len(caught) == 1
    assert "mix Unicode normal forms ('\u00e9' is written in two ways); normalize with NFC" in str(caught[0].message)
    assert X["A"] != X["B"]
    with pytest.warns(DataWarning, match="mix Unicode normal forms"):
        list(
            iter_records(
                source({"id": 1, "experts": {"A": ["e\u0301"]}}, {"id": 2, "experts": {"A": ["\u00e9"]}}), batch_size=1
            )
        )
    quietly({"id": "l1", "experts": {"A": "cafe\u0301", "B": "cafe\u0301"}})


def test_case_and_punctuation():  # COMB-10
    assert quietly(YES)["A"] == [["Yes,", "sir."]]
    X = quietly(YES, casefold=True, strip_punct=True)
    assert [X[name][0] for name in "ABC"] == [["yes", "sir"], ["yes", "sir"], ["yes", "sire"]]
    # The keys "yes" and "sir" win; the first expert behind both is A: units 0 and 1.
    yes, sir = X.alphabet.index(["yes", "sir"])
    printed, owner = printed_units(X.surface, X.alphabet, Ragged.of([[yes, sir]]), np.array([0, 1]))
    assert X.surface.alphabet.decode(printed.values) == ["Yes,", "sir."]
    assert owner.tolist() == [0, 1]
    gold = read_sequences(
        source({"id": 1, "text": "yes"}, {"id": 2, "text": "yes,"}, {"id": 3, "text": "yes!"}), strip_punct=True
    )
    assert gold.values == ("yes", "yes", "yes")


def test_odd_spaces_stay_and_are_reported_once():  # COMB-11
    odd = {"id": "u2", "experts": {"A": "5\u00a0km a", "B": " 5 \t km  a "}}
    with pytest.warns(DataWarning) as caught:
        X = read_records(source(odd, {**odd, "id": "u3"}), unit="word")
    assert len(caught) == 1
    assert "'5\\xa0km' holds the space U+00A0, which is kept and separates nothing" in str(caught[0].message)
    assert X.hypotheses.lengths.tolist() == [2, 3, 2, 3]
    assert quietly(odd).hypotheses.lengths.tolist() == [6, 11]


def test_units_of_punctuation_are_printed_with_their_neighbour():
    X = quietly({"id": 1, "experts": {"A": '"Yes", he', "B": "yes he"}}, casefold=True, strip_punct=True)
    assert X["A"] == ["yes he"]
    n = int(X.hypotheses.lengths[0])
    printed, owner = printed_units(X.surface, X.alphabet, X.hypotheses[:1], np.arange(n))
    assert "".join(X.surface.alphabet.decode(printed.values)) == '"Yes", he'
    assert owner.tolist() == [0, 0, 1, 2, 2, 2, 3, 4, 5]
    words = quietly({"id": 1, "experts": {"A": ["-", "a", ",", "b"], "B": [",", "."]}}, strip_punct=True)
    assert (words["A"], words["B"], words.present.tolist()) == ([["a", "b"]], [[]], [[True, True]])


def test_a_character_that_folds_to_two():
    X = quietly(
        {
            "id": 1,
            "experts": {"A": "Stra\u00dfe", "B": "STRASSE"},
            "gold": "strasse",
            "confidences": {"A": [0, 0, 0, 0, 1, 0]},
        },
        casefold=True,
    )
    assert X["A"] == X["B"] == X.gold == ["strasse"]
    assert X.confidence[:7].tolist() == [0, 0, 0, 0, 1, 1, 0]
    rows = X.hypotheses[:1]
    printed, _ = printed_units(X.surface, X.alphabet, rows, np.arange(7))
    assert "".join(X.surface.alphabet.decode(printed.values)) == "Stra\u00dfe"
    printed, _ = printed_units(X.surface, X.alphabet, rows, np.array([0, -1, 2, -1, 4, 5, -1]))
    assert "".join(X.surface.alphabet.decode(printed.values)) == "Stra\u00dfe"


def test_labels_of_a_model_keep_their_codes():
    parts = list(
        iter_records(
            source(CAFE, {"id": 2, "experts": {"A": "zz"}}), batch_size=1, normalize="NFC", labels=["x", "\u00e9"]
        )
    )
    assert parts[0].alphabet.labels == ("x", "\u00e9", "c", "a", "f", "e")
    assert parts[1].alphabet.labels == ("x", "\u00e9", "c", "a", "f", "e", "z")
    assert parts[1][0]["A"] == ["zz"]
    both = parts[1].surface
    printed, _ = printed_units(both, parts[1].alphabet, Ragged.of([[0, 6]]), np.array([-1, -1]))
    assert both.alphabet.decode(printed.values) == ["x", "z"]


def test_slices_and_late_experts_keep_their_surfaces():
    rows = [{"id": i, "experts": {"B": [f"X{i}", ","], "C": ["y"]}} for i in range(400)] + [
        {"id": -1, "experts": {"A": ["Q"]}}
    ]
    X = quietly(*rows, casefold=True, strip_punct=True)
    part = X[[400, 7]].select(["C", "B", "A"])
    assert (part["B"], part["A"]) == ([None, ["x7"]], [["q"], None])
    printed, _ = printed_units(part.surface, part.alphabet, Ragged.of([part.hypotheses.values]), np.arange(3))
    assert part.surface.alphabet.decode(printed.values) == ["Q", "y", "X7", ","]
    assert X.add("D", [["d"]] * 401).surface is None


def test_wrong_options():
    with pytest.raises(ParameterError, match="normalize must be one of none, NFC, NFD, NFKC, NFKD; got 'nfc'"):
        quietly(CAFE, normalize="nfc")
    with pytest.raises(ParameterError, match="code points cannot be folded"):
        quietly(CAFE, normalize="NFC", unit="codepoint")


ALPHABET = "aA\u00df\u00e9e\u0301,.'- \ufb01\u1e9e\u0130\uac00\u1100\u1161\u00a0"
FOLDINGS = st.builds(Folding, st.sampled_from(["none", "NFC", "NFD", "NFKC", "NFKD"]), st.booleans(), st.booleans())


@given(st.lists(st.text(ALPHABET, max_size=7), min_size=1, max_size=4), FOLDINGS, st.sampled_from(["char", "word"]))
def test_folding_is_the_slow_twin(texts, folding, unit):
    encoder = Encoder()
    surfaces = encoder.texts(texts, unit)
    folder = Folder(folding, unit)
    folder.look_up(encoder.alphabet.labels)
    keys, owner, behind = folder.fold(surfaces)

    def key(label):
        return naive_key(label, folding.normalize, folding.casefold, folding.strip_punct)

    def pieces(text):
        return cut(text, "char") if unit == "char" and len(text) > 1 else [text] if text else []

    wanted = [naive_surfaces(cut(text, unit), key, pieces) for text in texts]
    assert [folder.encoder.alphabet.decode(row) for row in keys] == [[k for k, _ in row] for row in wanted]
    assert [encoder.alphabet.decode(row) for row in behind] == [forms for row in wanted for _, forms in row]
    assert len(owner) == len(keys.values)
    for text, row in zip(texts, keys, strict=True):
        assert (
            folding.answer(text, unit) == (" " if unit == "word" else "").join(folder.encoder.alphabet.decode(row))
            or folding.is_identity
        )


@given(st.text(max_size=8), st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]))
def test_folding_clusters_is_folding_texts(text, form):
    assert Folding(form).answer(text, "char") == unicodedata.normalize(form, text)


JOINERS = st.sampled_from("\u1100\u1161\uac00\uac01\u200d\u0301\r\n\u0e33\u0915\u094d")


@given(st.text(st.characters(exclude_categories=("Cs",)) | JOINERS, max_size=12))
def test_texts_are_cut_at_cluster_borders(text):
    borders = regex.findall(r"\X", text)
    assert cut(text, "char") == borders
    encoder = Encoder()
    coded = encoder.texts([text, "ab"], "char")
    assert [encoder.alphabet.decode(row) for row in coded] == [borders, ["a", "b"]]


def test_no_pair_of_plain_characters_joins():
    plain = [c for c in map(chr, range(0x20000)) if not "\ud800" <= c <= "\udfff" and is_plain(c)]
    assert len(plain) > 100_000
    text = "".join(random.Random(0).choices(plain, k=200_000))
    assert is_plain(text)
    assert len(regex.findall(r"\X", text)) == len(text)
