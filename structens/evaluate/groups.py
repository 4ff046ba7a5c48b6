"""Groups of records: by the value of a field that travels with each record."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.core import DataError, ExpertPredictions


def groups(X: ExpertPredictions, by: str) -> list[tuple[Any, NDArray[np.int64]]]:
    """Records of each value of a field.

    Parameters
    ----------
    X : ExpertPredictions
        With `fields`.
    by : str
        Name of the field.

    Returns
    -------
    list of (value, ndarray of int64)
        Numbers in rising order, then texts, then other values, then None: records where the field is null or missing.

    Raises
    ------
    DataError
        If no record has the field.

    Examples
    --------
    >>> from dataclasses import replace
    >>> X = ExpertPredictions.of({"a": ["x", "y", "z"]})
    >>> X = replace(X, fields=({"fold": 10}, {"fold": 9}, {}))
    >>> [(value, rows.tolist()) for value, rows in groups(X, "fold")]
    [(9, [1]), (10, [0]), (None, [2])]
    """
    fields = X.fields or ({},) * len(X)
    if not any(by in record for record in fields):
        known = sorted({name for record in fields for name in record})
        there = f"there are {', '.join(known)}" if known else "the records have no further fields"
        raise DataError(f"no record has a field {by!r}", hint=there)
    members: dict[tuple[int, Any, str], tuple[Any, list[int]]] = {}
    for i, record in enumerate(fields):
        value = record.get(by)
        members.setdefault(_key(value), (value, []))[1].append(i)
    return [(value, np.array(rows, dtype=np.int64)) for _, (value, rows) in sorted(members.items(), key=lambda m: m[0])]


def _key(value: Any) -> tuple[int, Any, str]:
    """Order of values of any JSON type; 1 and true differ, 1 and 1.0 do not."""
    if value is None:
        return (3, 0, "")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return (0, value, "")
    if isinstance(value, str):
        return (1, 0, value)
    return (2, 0, json.dumps(value, sort_keys=True, ensure_ascii=True, default=str))
