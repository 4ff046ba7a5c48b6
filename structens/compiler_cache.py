"""Compiled kernels are kept in files; where there is no place for these, they are compiled anew in every process.

numba refuses to import a function whose compiled code is to be kept when neither ``NUMBA_CACHE_DIR``, nor the package's
own folder, nor the user's cache can be written to: a read-only installation without a home, as in containers and build
sandboxes. A folder for all users, such as that of temporary files, is no way out: loading the files runs their code.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path


def compile_anew_if_nothing_can_be_kept() -> None:
    """Make numba go without its files where none can be written; free of cost where one can."""
    home = Path(os.path.expanduser("~"))  # Path.home fails where there is none
    if sys.platform == "darwin":
        user = home / "Library" / "Caches"
    elif sys.platform == "win32":
        user = Path(os.environ.get("LOCALAPPDATA") or home)
    else:
        user = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    given = os.environ.get("NUMBA_CACHE_DIR")
    places = [Path(__file__).parent, user / "numba", *([Path(given)] if given else [])]
    if any(_can_be_written(place) for place in places):
        return
    from numba.core.dispatcher import Dispatcher

    keep = Dispatcher.enable_caching

    def enable_caching(self: Dispatcher) -> None:
        try:
            keep(self)
        except RuntimeError:  # no place found: the function stays without files
            return

    Dispatcher.enable_caching = enable_caching  # type: ignore[method-assign]


def _can_be_written(folder: Path) -> bool:
    """Whether a folder, or the nearest one above it that exists, can be written to."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)
