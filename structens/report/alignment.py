"""A printed alignment: reference, hypothesis and the operation under each column."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

from structens.evaluate.alignment import Loss, alignment
from structens.report.text import fit, visible

_MARK = {"hit": "", "sub": "S", "del": "D", "ins": "I"}
_NOTHING = "***"


def render_alignment(
    reference: Sequence[str], hypothesis: Sequence[str], *, loss: Loss = "edit", width: int = 100
) -> str:
    """Lines REF, HYP and EVAL, cut into blocks of `width` cells; the marks add up to the counts of the totals.

    Parameters
    ----------
    reference, hypothesis : sequence of str
        Units.
    loss : {"edit", "hamming"}
    width : int
        A block holds at least one column.

    Examples
    --------
    >>> print(render_alignment(["the", "cat", "sat"], ["the", "old", "hat", "sat"]), end="")
    REF:  the cat *** sat
    HYP:  the old hat sat
    EVAL:     S   I
    """
    columns = []
    for op, ref, hyp in alignment(reference, hypothesis, loss=loss):
        cells = (_NOTHING if ref is None else shown(ref), _NOTHING if hyp is None else shown(hyp), _MARK[op])
        columns.append((cells, max(map(cell_len, cells))))
    blocks: list[list[tuple[tuple[str, str, str], int]]] = [[]]
    used = 6
    for column in columns:
        if blocks[-1] and used + column[1] > width:
            blocks.append([])
            used = 6
        blocks[-1].append(column)
        used += column[1] + 1
    return "\n".join(_block(block) for block in blocks)


def shown(unit: str) -> str:
    r"""A unit that can be seen: a blank becomes an open box, nothing at all two quotes.

    Examples
    --------
    >>> shown(" "), shown("\t"), shown("a b")
    ('␣', '\\t', 'a␣b')
    """
    return visible(unit).replace(" ", "␣") or "''"


def _block(columns: list[tuple[tuple[str, str, str], int]]) -> str:
    out = []
    for k, head in enumerate(("REF:  ", "HYP:  ", "EVAL: ")):
        out.append((head + " ".join(fit(cells[k], size) for cells, size in columns)).rstrip())
    return "\n".join(out) + "\n"
