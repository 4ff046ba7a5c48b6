"""Memory for large arrays, taken over from arrays that nobody holds any more.

Freed memory goes back to the system where a piece is over 32 MB or lies at the end of the heap (glibc), and pages that
come anew have to be cleared, which takes longer than filling them. Here large pieces are kept, up to `KEPT` bytes of a
process, marked so that the system takes them when it is short of memory (Linux: MADV_FREE). A piece is kept only once
its array and all views of it are gone.
"""

from __future__ import annotations

import contextlib
import mmap
import weakref
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

LARGE, KEPT = 4 << 20, 512 << 20
"""Bytes: from which size on arrays are made here, and how much is kept."""
_PAGE = 2 << 20  # a huge page

_free: list[mmap.mmap] = []


def room(size: int, dtype: DTypeLike) -> NDArray[Any]:
    """An array of one axis with nothing particular in it, as `numpy.empty` makes it.

    Examples
    --------
    >>> room(3, np.int32).shape
    (3,)
    """
    dtype = np.dtype(dtype)
    needed = size * dtype.itemsize
    if needed < LARGE:
        return np.empty(size, dtype)
    piece = _kept(needed) or _fresh(-(-needed // _PAGE) * _PAGE)
    whole = np.frombuffer(piece, dtype)
    # Views of views hold `whole`; when it goes, so have all of them.
    weakref.finalize(whole, _keep, piece).atexit = False
    return whole[:size]


def forget() -> None:
    """Give all memory that is kept back to the system."""
    _free.clear()


# A finalizer runs at any time, in the middle of these functions too: single operations on the list only, no lock.


def _kept(needed: int) -> mmap.mmap | None:
    for piece in sorted(_free, key=len):
        if needed <= len(piece) <= 2 * needed:
            try:
                _free.remove(piece)
            except ValueError:  # another thread was faster
                continue
            return piece
    return None


def _keep(piece: mmap.mmap) -> None:
    _advise(piece, "MADV_FREE")
    _free.append(piece)
    while sum(map(len, list(_free))) > KEPT:
        try:
            _free.pop(0)
        except IndexError:
            return


def _fresh(size: int) -> mmap.mmap:
    try:
        if not hasattr(mmap, "MAP_PRIVATE"):
            return mmap.mmap(-1, size)
        piece = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError:
        raise MemoryError(f"no memory for an array of {size} bytes") from None
    _advise(piece, "MADV_HUGEPAGE")
    return piece


def _advise(piece: mmap.mmap, advice: str) -> None:
    if hasattr(mmap, advice):
        with contextlib.suppress(OSError):  # a kernel that does not know it
            piece.madvise(getattr(mmap, advice))
