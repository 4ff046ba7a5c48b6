"""How much memory boosting will need, and how much there is: an error before, rather than a kill after."""

from __future__ import annotations

import os
from pathlib import Path

from structens.core import DataError

_GIB = 2.0**30


def check_memory(needed: float, what: str, most: float | None = None) -> None:
    """Compare bytes needed with what there is.

    Parameters
    ----------
    needed : float
        Bytes.
    what : str
        What needs them, for the message.
    most : float, optional
        Bytes allowed; default nine tenths of what is free.

    Raises
    ------
    DataError
        If they are too many.

    Examples
    --------
    >>> check_memory(2.0**50, "1,000,000 rows x 100,000 classes", most=2.0**34)
    Traceback (most recent call last):
    structens.core.errors.DataError: 1,000,000 rows x 100,000 classes need about 1,048,576.0 GiB of memory; 16.0 GiB ...
    """
    allowed = most if most is not None else 0.9 * free_memory()
    if needed > allowed:
        raise DataError(
            f"{what} need about {needed / _GIB:,.1f} GiB of memory; {allowed / _GIB:,.1f} GiB may be used",
            hint="take fewer rows or classes, fewer max_bins, a smaller tree, or raise max_memory",
        )


def free_memory() -> float:
    """Bytes that can still be had, infinite where the system does not say."""
    free = float("inf")
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                free = float(line.split()[1]) * 1024.0
    except OSError:
        names = getattr(os, "sysconf_names", {})
        if "SC_PHYS_PAGES" in names and "SC_PAGE_SIZE" in names:
            free = float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    for folder, limit, used in (
        ("/sys/fs/cgroup", "memory.max", "memory.current"),
        ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
    ):
        try:
            text = Path(folder, limit).read_text(encoding="ascii").strip()
            if text != "max":
                free = min(free, float(text) - float(Path(folder, used).read_text(encoding="ascii")))
        except (OSError, ValueError):
            continue
    return free
