"""What the readers notice and do not refuse: reported once a file, with Python's `warnings`."""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Sequence

_ODD_SPACE = re.compile("[\x1c-\x1f\x85\u00a0\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u3000\ufeff]")


class DataWarning(UserWarning):
    """A file holds something that is allowed, but probably not meant."""


class Watch:
    """Looks at the labels of one file as they come, and warns once of each finding.

    Parameters
    ----------
    path : str
    normal_forms : bool
        Warn if a label and its NFC form both occur: they look alike but never agree.
    spaces : bool
        Warn of spaces beyond ASCII inside labels: they do not separate words.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     Watch("a.jsonl").look(["caf\u00e9", "cafe\u0301"])
    >>> print(caught[0].message)  # doctest: +ELLIPSIS
    a.jsonl: the inputs mix Unicode normal forms ('caf\u00e9' is written in two ways); normalize with NFC ...
    """

    def __init__(self, path: str, *, normal_forms: bool = True, spaces: bool = True) -> None:
        self.path = path
        self._normal_forms, self._spaces = normal_forms, spaces
        self._composed: set[str] = set()
        self._seen: set[str] = set()

    def look(self, labels: Sequence[str]) -> None:
        """Look at labels not seen before."""
        for label in labels:
            if label.isascii() and (not self._spaces or label.isprintable()):
                continue
            if self._spaces and (match := _ODD_SPACE.search(label)):
                self._spaces = False
                space = f"U+{ord(match.group()):04X}"
                self.say(f"{label!r} holds the space {space}, which is kept and separates nothing")
            if self._normal_forms:
                self._compare(label)

    def _compare(self, label: str) -> None:
        composed = unicodedata.normalize("NFC", label)
        self._seen.add(label)
        if composed != label:
            self._composed.add(composed)
        met = composed if composed in self._seen and composed in self._composed else None
        if met is not None:
            self._normal_forms = False
            self.say(
                f"the inputs mix Unicode normal forms ({met!r} is written in two ways); "
                "normalize with NFC to make them agree"
            )

    def say(self, text: str) -> None:
        """Warn, naming the file."""
        warnings.warn(f"{self.path}: {text}", DataWarning, stacklevel=2)
