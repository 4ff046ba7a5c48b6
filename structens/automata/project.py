"""Projection: the acceptor of what a transducer reads, or of what it writes.

Source: Mohri, "Weighted automata algorithms" (2009).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from structens.core import Automaton, ParameterError


def project(automaton: Automaton, side: Literal["input", "output"]) -> Automaton:
    """The acceptor with the input or the output labels; its transitions, and so all weights, are those of the argument.

    Raises
    ------
    ParameterError
        If the side is neither.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 7, 17)], final=[1])
    >>> project(a, "output").label.tolist(), project(a, "input").output
    ([17], None)
    """
    if side not in ("input", "output"):
        raise ParameterError(f'side must be "input" or "output"; got {side!r}')
    label = automaton.label if side == "input" or automaton.output is None else automaton.output
    return replace(automaton, label=label, output=None)
