"""How boosting on binned features lays out its memory: bins, weights, cells of the tree; constants that name columns.

Words: a *cell* is a node of the tree being grown, *code* a bin number, *weight* the signed weights w * y, rows padded
to whole lanes (`kp` numbers a row), *mass* the sum of a row's weights. A cut sends codes from `low` to `high` to the +
side.
"""

from __future__ import annotations

from typing import Any, NamedTuple

NUMERIC, MISSING, NOMINAL = 0, 1, 2  # kinds of features: numbers, numbers whose last bin is NaN, values without order
N_BUCKETS = 1024  # of the masses of rows: sign and exponent and three bits of the mantissa
HYBRID, PAPER, MULTIBOOST = 0, 1, 2  # rules for constant cuts
GRID = 1048576.0  # steps of scores for the total weight: what differs by less is a tie

# columns of `Work.cell`
START, END, SLOT, LEFT, RIGHT, STATE, FEATURE, LOW, HIGH, INNER = range(10)
OPEN, CUT, CLOSED = 0, 1, 2


class Table(NamedTuple):
    """Binned features: blocks of `fb` features, in each all rows; the listed features take part in the round."""

    code: Any  # uint8, (blocks * n * fb,)
    first: Any  # int64, (blocks + 1,): listed features of a block
    block: Any  # int64, one a listed feature, as all below
    place: Any  # int64: in its block
    offset: Any  # int64: of its histogram, in numbers
    n_bins: Any  # int64
    kind: Any  # int64
    value: Any  # int64: where its bins begin in the next two
    lower: Any  # float64: least value in a bin
    upper: Any  # float64: largest value in a bin


class Work(NamedTuple):
    """Everything that is written: by all threads (row blocks, own features) or by each in a row of its own."""

    weight: Any  # float32, (n * kp,)
    mass: Any  # float32, (n,)
    mass_bits: Any  # int32, the same memory
    bucket: Any  # float64, (row blocks, N_BUCKETS)
    weight_sum: Any  # float64, (threads, 8)
    pool: Any  # float32: histograms
    row: Any  # int32, (threads, n)
    spare: Any  # int32, (threads, n)
    leaf: Any  # int32, (threads, n)
    cell: Any  # int64, (threads, cells, 10)
    key: Any  # float64, (threads, cells, 2): improvement of the edge; edge of the parent's vote
    threshold: Any  # float64, (threads, cells)
    total: Any  # float32, (threads * cells * kp,)
    plus: Any  # float32, (threads * cells * kp,): sums on the + side of the best cut
    vote: Any  # float32, (threads * cells * kp,): of the cell as a leaf; at the end one row a leaf, times the step
    found: Any  # int64, (2, threads, 2, 4): grid score, feature, low, high
    found_plus: Any  # float32, (2 * threads * 2 * kp,)
    part: Any  # float32, (threads * 256 * 8,)
    leaf_sum: Any  # float64, (row blocks * 2 * leaves * kp,)
    gate: Any  # int64, (16,)
    seen: Any  # bool, (threads, 256): bins that a cell has
    stack: Any  # int64, (threads, cells)
