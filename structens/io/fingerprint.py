"""A short hash of a data set, written into models and reports."""

from __future__ import annotations

import hashlib
import json

import numpy as np

from structens.core import ExpertPredictions


def fingerprint(X: ExpertPredictions) -> str:
    """Hash of the ids, the experts, their answers and the gold: 16 hexadecimal digits.

    It does not depend on how labels are coded, nor on the machine.

    Examples
    --------
    >>> X = ExpertPredictions.of({"a": ["cat"], "b": ["cut"]}, gold=["cat"])
    >>> fingerprint(X) == fingerprint(X.select(["a", "b"])), fingerprint(X) == fingerprint(X.with_gold(["cut"]))
    (True, False)
    """
    used = np.unique(np.concatenate([X.hypotheses.values, X.references.values]))
    labels = X.alphabet.decode(used.tolist())
    order = sorted(range(len(labels)), key=labels.__getitem__)
    table = np.zeros(len(X.alphabet), dtype="<i4")
    table[used[order]] = np.arange(len(used))
    digest = hashlib.blake2b(digest_size=8)
    head = [list(map(str, X.ids)), list(X.names), [labels[k] for k in order], X.unit]
    digest.update(json.dumps(head).encode())
    for rows in (X.hypotheses, X.references):
        digest.update(table[rows.values].tobytes())
        digest.update(rows.offsets.astype("<i8").tobytes())
    digest.update(X.reference_offsets.astype("<i8").tobytes())
    digest.update(np.packbits(X.present).tobytes())
    return digest.hexdigest()
