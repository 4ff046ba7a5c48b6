"""Restrictions on answers: what the user writes, made an acceptor of label codes, and the best admissible answer.

A restriction is "bio", "bioes", or a mapping with one of three keys, so that a JSON file or a model can hold it:

* ``{"forbidden": [["B-ORG", "I-PER"], [null, "I-PER"]]}``: n-grams that must not occur;
* ``{"allowed": [["k", "ae"], ...]}``: the only n-grams that may occur, all of one length;
* ``{"transitions": [[0, 1, "B"], [1, 1, "I"], ...], "final": [1], "start": 0}``: a finite automaton, cycles allowed.

null (None) in an n-gram is the border of the answer. Source: Cortes, Kuznetsov and Mohri (ICML 2014), appendix A.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from structens.automata import LabelAcceptor
from structens.core import GAP, Alphabet, DataError, ParameterError, Slots

Restriction = str | Mapping[str, Any]
SCHEMES = ("bio", "bioes")
KEYS = ("forbidden", "allowed", "transitions")

_TAG = re.compile(r"([BIES])(?:-(.*))?", re.DOTALL)


def compile_restriction(restriction: Restriction, alphabet: Alphabet) -> LabelAcceptor:
    """The acceptor of a restriction in the codes of an alphabet; labels that the alphabet lacks cannot occur.

    Raises
    ------
    ParameterError
        If it is neither a known name nor a mapping as described above.

    Examples
    --------
    >>> a = Alphabet(("O", "B-PER", "I-PER"))
    >>> bio = compile_restriction("bio", a)
    >>> bio.accepts(a.encode(["B-PER", "I-PER"])), bio.accepts(a.encode(["O", "I-PER"]))
    (True, False)
    >>> compile_restriction({"forbidden": [["O", "O"]]}, a).accepts([0, 0])
    False
    """
    kind = check_restriction(restriction)
    if isinstance(restriction, str):
        return tag_acceptor(alphabet.labels, restriction)
    codes = alphabet.codes
    if kind == "transitions":
        rows = [(q, r, codes[label]) for q, r, label in restriction["transitions"] if label in codes]
        options = {"final": restriction.get("final", ()), "start": restriction.get("start", 0)}
        return LabelAcceptor.from_transitions(rows, n_labels=len(alphabet), **options)
    known = [
        [None if label is None else codes[label] for label in gram]
        for gram in restriction[kind]
        if all(label is None or label in codes for label in gram)
    ]
    if kind == "forbidden":
        return LabelAcceptor.forbidden(known, len(alphabet))
    if not known:  # nothing that is allowed can be said
        return LabelAcceptor.from_transitions([], final=[0], n_labels=len(alphabet))
    return LabelAcceptor.allowed_only(known, len(alphabet))


def check_restriction(restriction: Restriction) -> str:
    """Refuse what is no restriction; returns its kind.

    Raises
    ------
    ParameterError

    Examples
    --------
    >>> check_restriction({"forbidden": [["a", "a"]]})
    'forbidden'
    """
    if isinstance(restriction, str) and restriction in SCHEMES:
        return restriction
    rule = "restriction must be bio, bioes, or a mapping with one of the keys forbidden, allowed, transitions"
    if not isinstance(restriction, Mapping):
        raise ParameterError(f"{rule}; got {restriction!r}")
    kinds = [key for key in KEYS if key in restriction]
    extra = set(restriction) - {*KEYS, "final", "start"}
    if len(kinds) != 1 or extra or ("final" in restriction) != (kinds == ["transitions"]):
        raise ParameterError(f"{rule} (transitions with final, and start if it is not 0); got keys {list(restriction)}")
    kind = kinds[0]
    for row in restriction[kind]:
        labels = [row[-1]] if kind == "transitions" and len(row) == 3 else row
        good = not isinstance(row, str) and all(
            isinstance(x, str) or (x is None and kind != "transitions") for x in labels
        )
        if not good or len(row) == 0 or (kind == "transitions" and not all(_is_state(q) for q in row[:2])):
            what = "[state, state, label]" if kind == "transitions" else "list of labels"
            raise ParameterError(f"{kind}: each entry is a {what}; got {row!r}")
    if kind == "allowed" and len({len(gram) for gram in restriction[kind]}) != 1:
        raise ParameterError("allowed: all n-grams have one length, and there is at least one")
    if kind == "transitions" and not all(map(_is_state, [*restriction["final"], restriction.get("start", 0)])):
        raise ParameterError("transitions: states are numbers from 0; got another kind of final or start")
    return kind


def _is_state(q: Any) -> bool:
    return isinstance(q, int) and not isinstance(q, bool) and q >= 0


def tag_acceptor(labels: Sequence[str], scheme: str) -> LabelAcceptor:
    """Acceptor of chunk tags: I-X follows B-X or I-X (bio); chunks run B-X I-X ... E-X, or are one S-X (bioes).

    Labels that are no such tags, like O, stand outside of chunks.

    Examples
    --------
    >>> bioes = tag_acceptor(["O", "B-X", "E-X", "S-X"], "bioes")
    >>> [bioes.accepts(s) for s in ([1, 2, 3, 0], [1], [1, 0], [2])]
    [True, False, False, False]
    """
    tags = [_TAG.fullmatch(label) for label in labels]
    if scheme == "bio":
        tags = [tag if tag and tag[1] in "BI" else None for tag in tags]
    number: dict[str | None, int] = {}
    chunk = [number.setdefault(tag[2], len(number) + 1) if tag else 0 for tag in tags]
    n = len(number) + 1
    follower = np.zeros((n, len(labels)), dtype=np.int32)
    allowed = np.zeros((n, len(labels)), dtype=np.bool_)
    for a, (tag, x) in enumerate(zip(tags, chunk, strict=True)):
        kind = tag[1] if tag else "O"
        follower[:, a] = x if kind in "BI" else 0
        if kind in "IE":
            allowed[x, a] = True
        elif scheme == "bio":
            allowed[:, a] = True
        else:
            allowed[0, a] = True
    is_final = np.ones(n, dtype=np.bool_)
    if scheme == "bioes":
        is_final[1:] = False
    return LabelAcceptor(np.arange(len(labels), dtype=np.int32), follower, allowed, is_final)


def scheme_of(labels: Sequence[str]) -> str | None:
    """The scheme that labels look like: only O and chunk tags, among them I, with a B of every type that has an I.

    Examples
    --------
    >>> scheme_of(["O", "B-PER", "I-PER"]), scheme_of(["O", "I-PER"]), scheme_of(["B", "I", "E", "O"]), scheme_of(["I"])
    ('bio', None, 'bioes', None)
    """
    begins, insides, kinds = set(), set(), set()
    for label in labels:
        tag = _TAG.fullmatch(label)
        if tag is None and label != "O":
            return None
        if tag is not None:
            kinds.add(tag[1])
            if tag[1] == "B":
                begins.add(tag[2])
            elif tag[1] in "IE":
                insides.add(tag[2])
    if not insides or not insides <= begins:
        return None
    return "bioes" if kinds & {"E", "S"} else "bio"


def count_violations(
    labels: NDArray[np.int32], offsets: NDArray[np.int64], acceptor: LabelAcceptor
) -> NDArray[np.int64]:
    """Violations of each record's labels, GAP left out; shape (n_records,).

    Examples
    --------
    >>> no_repeat = LabelAcceptor.forbidden([(0, 0)], 1)
    >>> count_violations(np.array([0, -1, 0, 0], np.int32), np.array([0, 3, 4]), no_repeat).tolist()
    [1, 0]
    """
    out = np.zeros(len(offsets) - 1, dtype=np.int64)
    tables = (acceptor.column, acceptor.follower, acceptor.allowed, acceptor.is_final)
    _count_violations(np.ascontiguousarray(labels), offsets, tables, acceptor.start, out)
    return out


def best_admissible(
    slots: Slots, score: NDArray[np.float64], acceptor: LabelAcceptor, records: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The sequence of alternatives with the fewest violations, and of these the one with the largest summed score.

    Time is linear in slots times alternatives times states of the acceptor. A GAP leaves the acceptor where it is.

    Parameters
    ----------
    slots : Slots
    score : ndarray of float64, shape (n_slots, p)
        Of the label of each expert; -inf where it is no alternative (see `structens.ensembles.vote.shares`). Labels
        that no expert proposes are not invented.
    acceptor : LabelAcceptor
        Of the codes of ``slots.alphabet``.
    records : ndarray of int64
        The records to decide.

    Returns
    -------
    first : ndarray of int32, shape (n_slots,)
        The expert whose label is taken, -1 in other records. Ties go to the earlier expert at the first slot where
        sequences differ; GAP loses them.
    violations : ndarray of int64, shape (len(records),)

    Examples
    --------
    >>> from structens.core import UNKNOWN
    >>> labels = np.array([[0, 1, 1], [2, 3, 4]], dtype=np.int32)
    >>> s = Slots(labels, np.array([0, 2]), np.zeros((2, 3), int), ("a", "b", "c"),
    ...           Alphabet(("B-PER", "B-ORG", "I-PER", "I-ORG", "O")), np.full(2, UNKNOWN, np.int32), np.zeros(1, int))
    >>> score = np.array([[0.4, 0.6, -np.inf], [0.4, 0.35, 0.25]])
    >>> best_admissible(s, score, tag_acceptor(s.alphabet.labels, "bio"), np.array([0]))[0].tolist()
    [1, 1]
    """
    first = np.full(len(slots.labels), -1, dtype=np.int32)
    violations = np.zeros(len(records), dtype=np.int64)
    longest = int(slots.lengths[records].max(initial=0)) + 1
    scratch = (np.empty((longest, acceptor.n_states)), np.empty((longest, acceptor.n_states), dtype=np.int64))
    tables = (acceptor.column, acceptor.follower, acceptor.allowed, acceptor.is_final)
    _best_admissible(slots.labels, score, slots.offsets, records, tables, acceptor.start, scratch, (first, violations))
    return first, violations


def read_restriction(text: str, path: str) -> Restriction:
    """The restriction that a JSON file holds.

    Raises
    ------
    DataError
        If it is no JSON, or no restriction.

    Examples
    --------
    >>> read_restriction('{"forbidden": [["a", "a"]]}', "r.json")
    {'forbidden': [['a', 'a']]}
    """
    import json

    try:
        restriction: Restriction = json.loads(text)
        if isinstance(restriction, str):
            raise ParameterError("a file holds a mapping, not a name")
        check_restriction(restriction)
    except (ValueError, TypeError) as error:
        raise DataError(f"is no restriction: {error}", path=path) from None
    return restriction


@njit(cache=True)
def _count_violations(labels, offsets, tables, start, out):  # type: ignore[no-untyped-def]
    column, follower, allowed, is_final = tables
    for i in range(len(out)):
        q = start
        for s in range(offsets[i], offsets[i + 1]):
            if labels[s] != GAP:
                c = column[labels[s]]
                if not allowed[q, c]:
                    out[i] += 1
                q = follower[q, c]
        if not is_final[q]:
            out[i] += 1


@njit(cache=True)
def _best_admissible(labels, score, offsets, records, tables, start, scratch, out):  # type: ignore[no-untyped-def]
    value, broken = scratch
    is_final = tables[3]
    p = labels.shape[1]
    for k in range(len(records)):
        begin, end = offsets[records[k]], offsets[records[k] + 1]
        n = end - begin
        for q in range(len(is_final)):
            value[n, q] = 0.0
            broken[n, q] = 0 if is_final[q] else 1
        for t in range(n - 1, -1, -1):
            for q in range(len(is_final)):
                value[t, q] = -np.inf
                broken[t, q] = 1 << 60
                for j in range(p):
                    if score[begin + t, j] > -np.inf:
                        bad, r = _step(labels[begin + t, j], q, tables)
                        bad += broken[t + 1, r]
                        total = score[begin + t, j] + value[t + 1, r]
                        if bad < broken[t, q] or (bad == broken[t, q] and total > value[t, q]):
                            broken[t, q] = bad
                            value[t, q] = total
        out[1][k] = broken[0, start]
        q = start
        for t in range(n):
            least = value[t, q] - 1e-12 * (1.0 + abs(value[t, q]))
            winner, onward = -1, q
            for j in range(p):
                if score[begin + t, j] > -np.inf and (winner < 0 or labels[begin + t, winner] == GAP):
                    bad, r = _step(labels[begin + t, j], q, tables)
                    same = bad + broken[t + 1, r] == broken[t, q]
                    if same and score[begin + t, j] + value[t + 1, r] >= least:
                        winner, onward = j, r
            out[0][begin + t] = winner
            q = onward


@njit(cache=True)
def _step(label, q, tables):  # type: ignore[no-untyped-def]
    """Violations of reading a label, and the state after it."""
    if label == GAP:
        return 0, q
    c = tables[0][label]
    return (0 if tables[2][q, c] else 1), tables[1][q, c]
