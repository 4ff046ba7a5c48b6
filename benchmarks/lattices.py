"""The machines of the comparison of automata libraries: slots of parallel transitions, and random layered graphs.

The definition is that of ``../shared/peers/wfa_lattices.py``, seeds and order of draws included; `differing` holds the
one against the other where that file is there. Labels are 0 to 49 here, 1 to 50 there (0 is OpenFst's epsilon).
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.core import Automaton

N_LABELS = 50
LENGTH = {"s10x5": 10, "s1000x50": 50, "s100000x10": 10, "d1e3": 20, "d1e5": 10, "d1e6": 5}
"""Labels of the string of the edit composition."""
SOURCE = Path(__file__).resolve().parents[1].parent / "shared" / "peers" / "wfa_lattices.py"

Machine = tuple[Automaton, NDArray[np.float64]]


def slots(n_slots: int, p: int) -> Machine:
    """p parallel transitions in each of n_slots slots."""
    rng = np.random.default_rng(0)
    size = n_slots * p
    label = rng.integers(1, N_LABELS + 1, size) - 1
    weight = rng.exponential(1.0, size) + 0.05
    offsets = np.concatenate([np.arange(0, size + 1, p), [size]])
    return Automaton(offsets, np.repeat(np.arange(1, n_slots + 1), p), label, np.arange(n_slots + 1) == n_slots), weight


def layers(width: int, depth: int, degree: int) -> Machine:
    """A start, then layers of states; each state has `degree` ways on, one in ten of them over one layer."""
    rng = np.random.default_rng(1)
    source, target = [np.zeros(width, dtype=np.int64)], [1 + np.arange(width)]
    for layer in range(depth - 1):
        here = np.repeat(1 + layer * width + np.arange(width), degree)
        step = np.where((rng.random(len(here)) < 0.1) & (layer + 2 < depth), 2, 1)
        there = 1 + (layer + step) * width + rng.integers(0, width, len(here))
        there[::degree] = 1 + (layer + 1) * width + np.arange(width)  # so that every state is reached
        source.append(here)
        target.append(there)
    n_states, size = 1 + width * depth, sum(map(len, source))
    offsets = np.concatenate([[0], np.cumsum(np.bincount(np.concatenate(source), minlength=n_states))])
    label = rng.integers(1, N_LABELS + 1, size) - 1
    weight = rng.exponential(1.0, size) + 0.05
    return Automaton(offsets, np.concatenate(target), label, np.arange(n_states) >= n_states - width), weight


MACHINES: dict[str, Callable[[], Machine]] = {
    "s10x5": lambda: slots(10, 5),
    "s1000x50": lambda: slots(1000, 50),
    "s100000x10": lambda: slots(100_000, 10),
    "d1e3": lambda: layers(5, 40, 5),
    "d1e5": lambda: layers(100, 101, 10),
    "d1e6": lambda: layers(500, 201, 10),
}


def string_of(name: str) -> NDArray[np.int32]:
    """The string of the edit composition."""
    string: NDArray[Any] = np.random.default_rng(7).integers(1, N_LABELS + 1, LENGTH[name]) - 1
    return string.astype(np.int32)


def differing(names: list[str], source: Path = SOURCE) -> list[str]:
    """Machines that are not, number by number, those of the file.

    Raises
    ------
    FileNotFoundError
        If it is not there.
    """
    spec = importlib.util.spec_from_file_location("wfa_lattices", source)
    if spec is None or spec.loader is None or not source.exists():
        raise FileNotFoundError(source)
    other = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(other)

    def same(name: str) -> bool:
        (automaton, weight), theirs = MACHINES[name](), other.CASES[name]()
        columns = (
            (automaton.offsets, theirs["row"]),
            (automaton.target, theirs["dst"]),
            (automaton.label + 1, theirs["lab"]),
            (weight, theirs["w"]),
            (np.where(automaton.is_final, 0.0, np.inf), theirs["fin"]),
            (string_of(name) + 1, other.ref(name)),
        )
        return all(np.array_equal(a, b) for a, b in columns)

    return [name for name in names if not same(name)]
