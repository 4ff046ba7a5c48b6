"""What each printed number means, in plain words."""

from __future__ import annotations

DEFINITIONS: dict[str, str] = {
    "error %": "token error rate: errors of all records / units of all references; never cut at 100 %",
    "[low, high]": "interval of that rate over resamples of whole records (paired bootstrap, percentiles)",
    "sub": "substitutions: units of the reference that the answer has differently",
    "del": "deletions: units of the reference that the answer lacks; a missing answer lacks them all",
    "ins": "insertions: units of the answer that the reference lacks",
    "mean %": "mean over records of each record's own error rate; short records weigh as much as long ones",
    "wrong %": "sequence error: share of records that are not exactly right",
    "missing": "records that the system did not answer",
    "expert": "an input of the combination",
    "baseline": "a simple combination to compare with",
    "ensemble": "a learnt or voted combination",
    "oracle": "a bound, not a system: it looks at the right answers",
    "best expert per record": "oracle that takes for each record the answer of the expert with fewest errors",
    "best path of the slots": "oracle that takes in each slot the best word any expert proposes there",
    "difference": "error rate of the first system less that of the second; negative means fewer errors",
    "p": "two-sided p-value of the difference; the best system was picked on the same records, which flatters it",
    "better": "records in which the first system has fewer errors than the second",
    "worse": "records in which the first system has more errors than the second",
    "data": "fingerprint of ids, answers and references, whatever their order",
    "loss edit": "errors of the alignment with fewest errors, then fewest substitutions",
    "loss hamming": "errors position by position; answer and reference are of equal length",
}


def legend(names: list[str] | None = None) -> list[str]:
    """Lines "name: definition" of the names given, or of all.

    Examples
    --------
    >>> legend(["missing"])
    ['missing: records that the system did not answer']
    """
    chosen = list(DEFINITIONS) if names is None else [name for name in names if name in DEFINITIONS]
    return [f"{name}: {DEFINITIONS[name]}" for name in chosen]
