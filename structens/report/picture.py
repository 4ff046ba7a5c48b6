"""What is drawn of an automaton: texts, thickness and the best path, apart from how it is drawn."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structens.automata import Semiring, as_weights, expert_automaton, flows, merge_parallel, shortest_path
from structens.automata.graph import named
from structens.core import Alphabet, Automaton, AutomatonError, DataError, ParameterError, Slots
from structens.report.text import visible

EMPTY = "ε"
MOST_NAMES = 2
"""Experts named at a transition; more are counted."""


@dataclass(frozen=True, eq=False)
class Picture:
    """An automaton ready to be drawn, by `to_svg` or `to_dot`; a notebook shows it.

    Parameters
    ----------
    automaton : Automaton
    labels : tuple of str, n_transitions
        What stands at each transition.
    notes : tuple of str, n_transitions
        What stands below it, smaller; "" is nothing.
    hints : tuple of str, n_transitions
        What is told of it when the pointer is there.
    thickness : ndarray of float64, shape (n_transitions,)
        In [0, 1].
    best : frozenset of int
        Transitions to bring out.
    states : tuple of str, n_states
        Names of the states.
    stops : tuple of str, n_states
        Final weights as text; "" is nothing.
    title : str
    """

    automaton: Automaton
    labels: tuple[str, ...]
    notes: tuple[str, ...]
    hints: tuple[str, ...]
    thickness: NDArray[np.float64]
    best: frozenset[int]
    states: tuple[str, ...]
    stops: tuple[str, ...]
    title: str = ""

    def _repr_svg_(self) -> str:
        from structens.report.svg import to_svg

        return to_svg(self)


def picture(
    automaton: Automaton,
    weight: ArrayLike | None = None,
    final_weight: ArrayLike | None = None,
    *,
    alphabet: Alphabet | None = None,
    output_alphabet: Alphabet | None = None,
    best: bool | Collection[int] = False,
    states: Sequence[object] = (),
    title: str = "",
) -> Picture:
    """The picture of any automaton; weights are costs, and the thickness is what part of the paths goes through.

    Parameters
    ----------
    automaton : Automaton
    weight : array_like, shape (n_transitions,), or None
    final_weight : array_like, shape (n_states,), or None
    alphabet, output_alphabet : Alphabet or None
        Names of labels; without them their codes are shown.
    best : bool or collection of int
        Bring out the path of least cost, or these transitions.
    states : sequence, n_states
        Names of the states; default their numbers.
    title : str

    Raises
    ------
    DataError
        If weights do not fit or a label is not in the alphabet.

    Examples
    --------
    >>> a = Automaton.from_transitions([(0, 1, 0), (0, 1, 1)], final=[1])
    >>> p = picture(a, [1.0, 2.0], alphabet=Alphabet(("K", "T")), best=True)
    >>> p.labels, p.notes, sorted(p.best), p.thickness.round(2).tolist()
    (('K', 'T'), ('1', '2'), [0], [0.73, 0.27])
    """
    costs = np.zeros(automaton.n_transitions) if weight is None else weight
    costs, finals = as_weights(automaton, costs, final_weight, Semiring.LOG)
    try:
        thickness = flows(automaton, costs, finals).transition
        path = shortest_path(automaton, costs, finals).tolist() if best is True else best or ()
    except AutomatonError:  # nothing is accepted
        thickness, path = np.zeros(automaton.n_transitions), () if best is True else best or ()
    labels = tuple(_label(automaton, alphabet, output_alphabet))
    return Picture(
        automaton,
        labels,
        ("",) * len(labels) if weight is None else tuple(map(short_number, costs.tolist())),
        tuple(f"{label}: {share:.1%} of the paths" for label, share in zip(labels, thickness.tolist(), strict=True)),
        thickness,
        frozenset(int(e) for e in path),
        tuple(map(str, states)) or tuple(map(str, range(automaton.n_states))),
        ("",) * automaton.n_states
        if final_weight is None
        else tuple(short_number(cost) if cost < np.inf else "" for cost in finals.tolist()),
        title,
    )


def expert_picture(
    slots: Slots,
    record: int,
    weights: NDArray[np.float64] | None = None,
    *,
    best: bool = True,
    title: str = "",
) -> Picture:
    """The path-expert automaton of a record, the experts that say the same in a slot as one transition.

    Parameters
    ----------
    slots : Slots
    record : int
        Number of the record.
    weights : ndarray of float64, shape (n_slots, p), or None
        Weight of each expert in each slot of all records; None is one vote each.
    best : bool
        Bring out the label with the most weight in each slot, of equal ones the first expert's.
    title : str

    Raises
    ------
    DataError
        As `structens.automata.expert_automaton`; also if the weights do not fit or are negative.

    Examples
    --------
    >>> from structens.core import UNKNOWN
    >>> labels = np.array([[0, 0, 1]], dtype=np.int32)
    >>> s = Slots(labels, np.array([0, 1]), np.zeros((1, 3), int), ("a", "b", "c"), Alphabet(("x", "y")),
    ...           np.full(1, UNKNOWN, np.int32), np.zeros(1, int))
    >>> p = expert_picture(s, 0)
    >>> p.labels, p.notes, p.thickness.round(3).tolist(), sorted(p.best)
    (('x', 'y'), ('a, b', 'c'), [0.667, 0.333], [0])
    """
    made = expert_automaton(slots, record)
    share = expert_shares(slots, record, weights)
    merged = merge_parallel(made.automaton, share, Semiring.REAL)
    members: list[list[int]] = [[] for _ in range(merged.automaton.n_transitions)]
    for group, expert in zip(merged.group.tolist(), made.expert.tolist(), strict=True):
        members[group].append(expert)
    awake = np.bincount(made.slot, minlength=1)[merged.automaton.source]
    notes, hints = [], []
    labels = tuple(_label(merged.automaton, slots.alphabet, None))
    for e, experts in enumerate(members):
        names = ", ".join(visible(slots.names[j]) for j in experts)
        count = f"{len(experts)} of {awake[e]}"
        part = "" if weights is None else f" · {merged.weight[e]:.2f}"
        few = len(experts) <= MOST_NAMES and (len(experts) < awake[e] or awake[e] == 1)
        notes.append((names if few else count) + part)
        hints.append(f"{labels[e]}: {count} experts{part and f', weight {merged.weight[e]:.3g}'}: {names}")
    cuts, path = merged.automaton.offsets.tolist(), []
    if best:
        # rounded, so that sums of equal weights in another order do not decide
        path = [int(a + np.argmax(merged.weight[a:b].round(12))) for a, b in pairwise(cuts) if b > a]
    return Picture(
        merged.automaton,
        labels,
        tuple(notes),
        tuple(hints),
        merged.weight,
        frozenset(path),
        tuple(map(str, range(merged.automaton.n_states))),
        ("",) * merged.automaton.n_states,
        title,
    )


def expert_shares(slots: Slots, record: int, weights: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Weight of each transition of a record's path-expert automaton, summing to one in each slot.

    Raises
    ------
    DataError
        If the weights do not fit, or one is negative or no number.

    Examples
    --------
    >>> from structens.core import UNKNOWN
    >>> s = Slots(np.array([[0, 1]], dtype=np.int32), np.array([0, 1]), np.zeros((1, 2), int), ("a", "b"),
    ...           Alphabet(("x", "y")), np.full(1, UNKNOWN, np.int32), np.zeros(1, int))
    >>> expert_shares(s, 0, np.array([[3.0, 1.0]])).tolist()
    [0.75, 0.25]
    """
    made = expert_automaton(slots, record)
    given = np.ones(slots.labels.shape) if weights is None else np.asarray(weights, dtype=np.float64)
    if given.shape != slots.labels.shape or not (np.isfinite(given) & (given >= 0)).all():
        raise DataError(f"need a weight >= 0 for each slot and expert, shape {slots.labels.shape}")
    weight = given[slots.offsets[record] + made.slot, made.expert]
    total = np.bincount(made.slot, weights=weight, minlength=1)[made.slot]
    count = np.bincount(made.slot, minlength=1)[made.slot]
    # where no expert that is there has weight, they all count the same
    return np.where(total > 0, weight / np.where(total > 0, total, 1.0), 1.0 / np.maximum(count, 1))


def refuse_large(picture: Picture, most: int) -> None:
    """Refuse a picture that nobody could read.

    Raises
    ------
    ParameterError
    """
    n = picture.automaton.n_transitions
    if n > most or picture.automaton.n_states > most:
        raise ParameterError(
            f"{n:,} transitions are too many for a drawing (at most {most:,}); prune the automaton, or write DOT"
        )


def short_number(value: float) -> str:
    """A weight in a few characters.

    Examples
    --------
    >>> short_number(1.0), short_number(0.12345), short_number(-0.0), short_number(np.inf)
    ('1', '0.1235', '0', '∞')
    """
    return "∞" if value == np.inf else f"{value + 0.0:.4g}"


def shown(label: object) -> str:
    r"""A label as text that can be seen: blanks at its ends, control characters.

    Examples
    --------
    >>> shown("a b "), shown(" "), shown("x\n"), shown("")
    ('a b␣', '␣', 'x\\n', '""')
    """
    text = visible(label)
    if not text:
        return '""'
    core = text.strip()
    lead = len(text) - len(text.lstrip()) if core else len(text)
    return "␣" * lead + core + ("␣" * (len(text) - lead - len(core)))


def _label(automaton: Automaton, alphabet: Alphabet | None, output_alphabet: Alphabet | None) -> list[str]:
    inputs = _texts(automaton.label, alphabet)
    if automaton.output is None:
        return inputs
    return [f"{a}:{b}" for a, b in zip(inputs, _texts(automaton.output, output_alphabet or alphabet), strict=True)]


def _texts(codes: NDArray[np.int32], alphabet: Alphabet | None) -> list[str]:
    return [EMPTY if name is None or name == -1 else shown(name) for name in named(codes, alphabet)]
