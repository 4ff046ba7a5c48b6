"""Error counts: substitutions, deletions and insertions of every record, against its best matching reference.

Policies: a missing answer (None) counts as an empty one, so all of its reference is deleted, and it is listed; an
empty answer is an answer. Among several references the one with the fewest errors is used, the first in a tie. Counts
are never clipped, and reference lengths hold units of the reference only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.core import DataError, Encoder, ExpertPredictions, ParameterError, Ragged
from structens.core.predictions import Sequenced, encode_answers
from structens.evaluate.alignment import Loss, edit_errors
from structens.evaluate.error_counts import ErrorCounts, choose_references, unequal_lengths

Answers = Sequence[Sequenced | None] | Ragged


def count_errors(
    predictions: Answers | str,
    X: ExpertPredictions,
    *,
    loss: Loss = "edit",
    present_only: bool = False,
    ignore_tokens: Iterable[str] = (),
) -> ErrorCounts:
    """Errors of a system's answers against the references of X; records without gold are left out.

    Parameters
    ----------
    predictions : sequence of answers, Ragged, or str
        One answer a record, None where there is none; codes of ``X.alphabet``; or the name of an expert of X.
    X : ExpertPredictions
        Holds gold and alternatives.
    loss : {"edit", "hamming"}
        "hamming" compares position by position and needs equal lengths.
    present_only : bool
        Leave out records that the system did not answer. The default counts them as deletions.
    ignore_tokens : iterable of str
        Units removed from both sides before anything is compared.

    Raises
    ------
    DataError
        If there is no record, no gold, another number of answers than records, or, under "hamming", no reference is
        as long as the answer.

    Examples
    --------
    >>> X = ExpertPredictions.of({"a": [["x"]]}, gold=[["a", "b"]])
    >>> count_errors([["a", "x", "b", "y"]], X).insertions.tolist()
    [2]
    """
    return count_systems({"": predictions}, X, loss=loss, present_only=present_only, ignore_tokens=ignore_tokens)[""]


def count_systems(
    systems: Mapping[str, Answers | str | ErrorCounts],
    X: ExpertPredictions,
    *,
    loss: Loss | str = "auto",
    present_only: bool = False,
    ignore_tokens: Iterable[str] = (),
) -> dict[str, ErrorCounts]:
    """`count_errors` for several systems under one loss.

    Parameters
    ----------
    systems : mapping of name to answers
        As in `count_errors`; an `ErrorCounts` passes through unchanged.
    X : ExpertPredictions
    loss : {"auto", "edit", "hamming"}
        "auto" is "hamming" where every answer of every system is as long as all references of its record, else "edit".
    present_only, ignore_tokens
        As in `count_errors`.
    """
    if loss not in ("auto", "edit", "hamming"):
        raise ParameterError(f"loss must be auto, edit or hamming, got {loss!r}")
    if isinstance(ignore_tokens, str):
        raise ParameterError(f"ignore_tokens must be a list of units, got the text {ignore_tokens!r}")
    _check_gold(X)
    encoder = Encoder(X.alphabet.labels)
    coded = {n: _coded(n, s, X, encoder) for n, s in systems.items() if not isinstance(s, ErrorCounts)}
    table = encoder.alphabet.codes
    dropped = np.array([table[token] for token in ignore_tokens if token in table], dtype=np.int32)
    references = _without(X.references, dropped)
    coded = {name: (_without(rows, dropped), present) for name, (rows, present) in coded.items()}
    ready = {name: s for name, s in systems.items() if isinstance(s, ErrorCounts)}
    if loss == "auto":
        # texts of equal length are shifted as often as not; lists of equal length are tags
        same = not X.is_text and all(
            _same_lengths(rows, present, references, X.reference_offsets) for rows, present in coded.values()
        )
        loss = "hamming" if same and all(c.loss == "hamming" for c in ready.values()) else "edit"
    out = {}
    for name in systems:
        if name in ready:
            out[name] = ready[name]
        else:
            rows, present = coded[name]
            out[name] = _count(rows, present, references, X, "edit" if loss == "edit" else "hamming", name)
        if present_only:
            out[name] = out[name][~out[name].missing]
    return out


def _check_gold(X: ExpertPredictions) -> None:
    if len(X) == 0:
        raise DataError("there are no records to evaluate", hint="a file without records has no error rate")
    if not X.has_gold.any():
        raise DataError(f"none of the {len(X)} records has gold", hint="give each record a right answer as 'gold'")


def _coded(
    name: str, answers: Answers | str | ErrorCounts, X: ExpertPredictions, encoder: Encoder
) -> tuple[Ragged, NDArray[np.bool_]]:
    """Codes of one system's answers (empty where missing), and where it has one."""
    label = name or None
    if isinstance(answers, str):
        column = X.column(answers)
        return X.hypotheses[np.arange(len(X)) * X.n_experts + column], X.present[:, column]
    if isinstance(answers, ErrorCounts):
        raise ParameterError("counts are already counted")
    if len(answers) != len(X):
        rule = f"{len(answers)} answers for {len(X)} records"
        raise DataError(rule, expert=label, hint="give one answer a record, None where there is none")
    if isinstance(answers, Ragged):
        highest = int(answers.values.max(initial=-1))
        if highest >= len(X.alphabet) or int(answers.values.min(initial=0)) < 0:
            raise DataError(f"codes must be those of an alphabet of {len(X.alphabet)} labels", expert=label)
        return answers, np.ones(len(X), dtype=bool)
    is_text = {isinstance(answer, str) for answer in answers if answer is not None}
    if is_text - {X.is_text}:
        kinds = ("texts", "lists of tokens") if X.is_text else ("lists of tokens", "texts")
        raise DataError(f"answers must be {kinds[0]} like the records', got {kinds[1]}", expert=label)
    rows, _ = encode_answers(encoder, list(answers), X.unit)
    return rows, np.array([answer is not None for answer in answers], dtype=bool)


def _without(rows: Ragged, dropped: NDArray[np.int32]) -> Ragged:
    if not len(dropped):
        return rows
    keep = ~np.isin(rows.values, dropped)
    kept = np.concatenate([[0], np.cumsum(keep)])
    return Ragged(rows.values[keep], kept[rows.offsets])


def _same_lengths(
    rows: Ragged, present: NDArray[np.bool_], references: Ragged, reference_offsets: NDArray[np.int64]
) -> bool:
    owner = np.repeat(np.arange(len(rows)), np.diff(reference_offsets))
    return bool((rows.lengths[owner] == references.lengths)[present[owner]].all())


def _count(
    rows: Ragged, present: NDArray[np.bool_], references: Ragged, X: ExpertPredictions, loss: Loss, name: str
) -> ErrorCounts:
    """Counts against each reference of each record with gold, then the first best one of each."""
    owner = np.repeat(np.arange(len(X)), np.diff(X.reference_offsets))
    surplus = references.lengths - rows.lengths[owner]  # deletions less insertions
    if loss == "edit":
        errors, substitutions = edit_errors(references, rows, np.arange(len(owner)), owner)
        deletions = (errors - substitutions + surplus) // 2
        edits = np.stack([substitutions, deletions, deletions - surplus], axis=1)
        return choose_references(X, edits, references.lengths, present, loss=loss)
    if (unequal := unequal_lengths(X, surplus == 0, present)) is not None:
        rule = f"the answer has {rows.lengths[unequal]} units, its gold {references.lengths[owner == unequal][0]}"
        hint = "loss='edit' compares unequal lengths"
        raise DataError(rule, record=X.ids[unequal], expert=name or None, hint=hint)
    edits = np.zeros((len(owner), 3), dtype=np.int64)
    edits[:, 0] = _hamming_errors(references, rows, owner)
    return choose_references(X, edits, references.lengths, present, allowed=surplus == 0, loss=loss)


def _hamming_errors(references: Ragged, rows: Ragged, owner: NDArray[Any]) -> NDArray[np.int64]:
    """Differing positions of each reference and its record's answer over their common length."""
    lengths = np.minimum(references.lengths, rows.lengths[owner])
    pair = np.repeat(np.arange(len(owner)), lengths)
    place = np.arange(len(pair)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    left = references.values[references.offsets[:-1][pair] + place]
    right = rows.values[rows.offsets[:-1][owner][pair] + place]
    return np.bincount(pair[left != right], minlength=len(owner)).astype(np.int64)
