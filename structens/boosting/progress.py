"""How far long work has come: a function of the caller's, or a line on the terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

Progress = Callable[[int, int], Any] | bool | None
"""Called with what is done, and with all there is to do; True: a line on standard error, where that is a terminal."""

_PAUSE = 0.2  # seconds between two lines


class Reporter:
    """Passes on what is done to a function, or to nobody."""

    def __init__(self, function: Callable[[int, int], Any] | None = None) -> None:
        self.function = function

    def __call__(self, done: int, total: int) -> None:
        """So much is done."""
        if self.function is not None:
            self.function(done, total)

    def close(self) -> None:
        """The work is over, or was given up."""


def progress_of(progress: Progress, what: str, unit: str) -> Reporter:
    """What to call after each piece of work, and to close at the end.

    Parameters
    ----------
    progress : function, bool or None
        See `Progress`.
    what, unit : str
        Who works, and what is counted.

    Examples
    --------
    >>> progress_of(print, "AdaBoostMH", "rounds")(3, 10)
    3 10
    >>> progress_of(None, "AdaBoostMH", "rounds")(3, 10)
    """
    if callable(progress):
        return Reporter(progress)
    return TerminalLine(what, unit) if progress and sys.stderr is not None and sys.stderr.isatty() else Reporter()


class TerminalLine(Reporter):
    """One line on standard error that is written again and again, and is gone at the end.

    Parameters
    ----------
    what, unit : str

    Examples
    --------
    >>> TerminalLine("select", "fits").text(30, 90, seconds=10.0)
    'select: 30 of 90 fits, 33 %, 20 s left'
    """

    def __init__(self, what: str, unit: str) -> None:
        super().__init__()
        self.what, self.unit = what, unit
        self.begin = self.last = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        """So much is done; the line is written a few times a second."""
        now = time.monotonic()
        if now - self.last >= _PAUSE:
            self.last = now
            self._write(self.text(done, total, now - self.begin))

    def close(self) -> None:
        """Clear the line."""
        self._write("")

    def text(self, done: int, total: int, seconds: float) -> str:
        """What the line says after so many seconds."""
        left = seconds * (total - done) / max(done, 1)
        shown = f"{left:.0f} s" if left < 120 else f"{left / 60:.0f} min" if left < 7200 else f"{left / 3600:.1f} h"
        return f"{self.what}: {done:,} of {total:,} {self.unit}, {100 * done // max(total, 1)} %, {shown} left"

    def _write(self, text: str) -> None:
        try:
            sys.stderr.write(f"\r{text}\x1b[K")
            sys.stderr.flush()
        except (OSError, ValueError):  # the terminal has gone: work goes on
            pass
