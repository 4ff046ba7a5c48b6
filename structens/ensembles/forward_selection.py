"""ForwardSelection: experts enter one by one, each time the one that improves the vote most (SLE).

Nguyen and Guo, "Comparisons of sequence labeling algorithms and extensions" (ICML 2007), as Cortes, Kuznetsov and Mohri
(ICML 2014) describe and use it: H_SLE. The exact vote and its tie rule are not known from a text; here equal counts go
to the label of the expert that entered first. Sorted initialisation, bags of experts and the best prefix are from
Caruana et al., "Ensemble selection from libraries of models" (ICML 2004).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from structens.boosting.ranges import check_whole, within
from structens.core import GAP, DataError, ExpertPredictions, ParameterError, Slots
from structens.ensembles.base import Ensemble
from structens.ensembles.decoding import Decode
from structens.ensembles.forward_selection_kernels import Counts
from structens.ensembles.restriction import Restriction
from structens.ensembles.vote import Votes, vote
from structens.losses import AdditiveLoss, edit_distance, slot_losses

StringLoss = Callable[[Sequence[str], Sequence[str]], float]
CANDIDATE_TIES = ("spread", "index")


class ForwardSelection(Ensemble):
    """A number of copies of each expert; a slot's answer is the label with the most copies behind it.

    Parameters
    ----------
    metric : "hamming", "edit", AdditiveLoss, or callable
        What is to become small on the records learnt from: a loss summed over slots, where labels with equal copies
        count with their mean loss; the edit distance of whole answers to the nearest reference; or a function of
        (reference, answer), both lists of labels, summed over records. Whole answers are compared as they are voted.
    n_rounds : int
        Copies that enter, T.
    tie : {"spread", "index"}
        Which of equally good candidates enters: the one with the fewest copies, then the first; or always the first.
        By index a selection that begins with many equally good experts stays with the first of them for ever.
    n_init : int
        So many of the best single experts are there from the start, the best first.
    n_bags : int
        Where above 0: so many selections, each from a random part of the experts, are averaged.
    fraction : float
        Part of the experts in a bag, in (0, 1].
    best_prefix : bool
        Keep the copies up to the round that was best on the records learnt from, the first of such rounds; none but
        the `n_init` first where these are no worse than any round. Else all.
    align, ties, seed, decode, restriction
        As in `structens.ensembles.MajorityVote`; `seed` also draws the bags. Ties of equal counts go to the label of
        the expert that entered first.

    Attributes
    ----------
    counts_ : ndarray of float64, shape (p,)
        Copies of each expert; with bags their mean.
    path_ : ndarray of float64, shape (max(n_bags, 1), n_rounds), or n_rounds + 1 columns
        Metric on the records learnt from after each round, and in front, where there are any, of the `n_init` experts;
        divided by the slots ("hamming", AdditiveLoss), the units of gold ("edit") or the records.
    selected_ : list of list of str
        For each bag the experts in the order of their rounds, after the initial ones.
    weights_ : ndarray of float64, shape (1, p)
        Weight of each expert's vote: the counts, or with bags the mean of each bag's shares.
    entered_ : list of int
        Experts in the order that decides ties; with bags from the largest weight down.

    Raises
    ------
    ParameterError
        In `fit`, if an option is out of range.
    DataError
        In `fit`, if a function as metric returns what is no finite number.

    Examples
    --------
    >>> X = ExpertPredictions.of({"a": ["cat", "dig", "sin"], "b": ["cut", "dog", "sin"], "c": ["cat", "dog", "sun"]},
    ...                          gold=["cat", "dog", "sin"])
    >>> model = ForwardSelection(n_rounds=6).fit(X)
    >>> model.counts_.tolist(), model.path_.round(2).tolist(), model.predict(X)
    ([1.0, 1.0, 1.0], [[0.11, 0.11, 0.0, 0.06, 0.0, 0.0]], ['cat', 'dog', 'sin'])
    """

    needs_gold = True

    counts_: NDArray[np.float64]
    path_: NDArray[np.float64]
    selected_: list[list[str]]
    weights_: NDArray[np.float64]
    entered_: list[int]

    def __init__(
        self,
        metric: str | AdditiveLoss | StringLoss = "hamming",
        n_rounds: int = 100,
        tie: str = "spread",
        n_init: int = 0,
        n_bags: int = 0,
        fraction: float = 0.5,
        best_prefix: bool = True,
        align: str = "auto",
        ties: str = "order",
        seed: int = 0,
        decode: Decode = "marginal",
        restriction: Restriction | None = None,
    ) -> None:
        self.metric = metric
        self.n_rounds = n_rounds
        self.tie = tie
        self.n_init = n_init
        self.n_bags = n_bags
        self.fraction = fraction
        self.best_prefix = best_prefix
        self.align = align
        self.ties = ties
        self.seed = seed
        self.decode = decode
        self.restriction = restriction

    def _learn(self, slots: Slots, X: ExpertPredictions) -> None:
        self._check_options()
        metric = _metric(self.metric, slots, X)
        p, rng = X.n_experts, np.random.default_rng(self.seed)
        in_bag = max(1, round(self.fraction * p))
        bags = [np.sort(rng.permutation(p)[:in_bag]) for _ in range(self.n_bags)] or [np.arange(p)]
        counts, paths, entered = [], [], []
        self.selected_ = []
        for bag in bags:
            initial, chosen, path = self._select(slots, metric, bag)
            keep = int(path.argmin()) + (not initial) if self.best_prefix else len(chosen)
            kept = [*initial, *chosen[:keep]]
            counts.append(np.bincount(kept, minlength=p).astype(np.float64))
            entered += kept
            paths.append(path / metric.size)
            self.selected_.append([X.names[j] for j in chosen])
        self.counts_, self.path_ = np.mean(counts, axis=0), np.array(paths)
        if self.n_bags:
            self.weights_ = np.mean([c / c.sum() for c in counts], axis=0)[None, :]
            entered = np.argsort(-self.weights_[0], kind="stable").tolist()
        else:
            self.weights_ = self.counts_[None, :].copy()
        self.entered_ = list(dict.fromkeys([*entered, *range(p)]))

    def _check_options(self) -> None:
        if self.tie not in CANDIDATE_TIES:
            raise ParameterError(f"tie must be one of {', '.join(CANDIDATE_TIES)}; got {self.tie!r}")
        for name, least in (("n_rounds", 1), ("n_init", 0), ("n_bags", 0), ("seed", 0)):
            check_whole(name, getattr(self, name), least)
        if not within(self.fraction, 0.0, 1.0, open_low=True):
            raise ParameterError(f"fraction must be above 0 and at most 1; got {self.fraction!r}")

    def _select(
        self, slots: Slots, metric: _Metric, bag: NDArray[np.int64]
    ) -> tuple[list[int], list[int], NDArray[np.float64]]:
        """Initial experts, those of the rounds, and the metric of the initial ones, if any, and after each round."""
        counts = Counts(slots)
        copies = np.zeros(slots.n_experts, np.int64)
        alone = metric.of_candidates(counts, bag)
        initial = bag[np.argsort(alone, kind="stable")][: self.n_init].tolist()
        for j in initial:
            counts.add(j)
            copies[j] += 1
        chosen, path = [], np.empty(self.n_rounds)
        start = [metric.of_counts(counts)] if initial else []
        for t in range(self.n_rounds):
            values = metric.of_candidates(counts, bag)
            equal = bag[values <= values.min() + 1e-12 * (1.0 + abs(values.min()))]
            best = int(equal[copies[equal].argmin()] if self.tie == "spread" else equal[0])
            counts.add(best)
            copies[best] += 1
            chosen.append(best)
            path[t] = values[np.searchsorted(bag, best)]
        return initial, chosen, np.append(start, path)

    def _weights(self, slots: Slots, X: ExpertPredictions) -> NDArray[np.float64]:
        return np.broadcast_to(self.weights_[0], slots.labels.shape)

    def _vote(self, slots: Slots, X: ExpertPredictions, draw: NDArray[np.float64] | None) -> Votes:
        order = np.array(self.entered_)
        votes = vote(slots.labels[:, order], self._weights(slots, X)[:, order], draw=draw)
        return votes._replace(first=order[votes.first].astype(np.int32))


class _Metric:
    """The metric of every candidate; `size` is what it is divided by to be read."""

    size: float

    def of_candidates(self, counts: Counts, bag: NDArray[np.int64]) -> NDArray[np.float64]:
        raise NotImplementedError

    def of_counts(self, counts: Counts) -> float:
        """As it stands, without a candidate."""
        raise NotImplementedError


class _OfSlots(_Metric):
    """A loss summed over slots."""

    def __init__(self, slots: Slots, loss: str | AdditiveLoss) -> None:
        self._loss = slot_losses(slots, loss)
        self.size = float(max(len(self._loss), 1))

    def of_candidates(self, counts: Counts, bag: NDArray[np.int64]) -> NDArray[np.float64]:
        return counts.losses(self._loss)[bag]

    def of_counts(self, counts: Counts) -> float:
        return counts.loss(self._loss)


class _OfAnswers(_Metric):
    """A loss of whole answers: only those that a candidate would change are compared anew."""

    def __init__(self, slots: Slots, X: ExpertPredictions, loss: StringLoss | None) -> None:
        self._slots, self._record, self._loss, self._alphabet = slots, slots.record, loss, X.alphabet
        rows, cuts = X.references.to_list(), X.reference_offsets.tolist()
        self._golds = [[self._readable(row) for row in rows[a:b]] for a, b in pairwise(cuts)]
        self.size = float(max(len(X), 1) if loss else max(sum(len(golds[0]) for golds in self._golds), 1))
        self._winner = np.full(len(slots.labels), -2, np.int32)
        self._known = np.array([self._value(i, ()) for i in range(len(slots))])

    def of_candidates(self, counts: Counts, bag: NDArray[np.int64]) -> NDArray[np.float64]:
        self._known, self._winner = self._values(counts.winner), counts.winner
        return np.array([self._values(counts.with_one_more(int(j))).sum() for j in bag])

    def of_counts(self, counts: Counts) -> float:
        return float(self._values(counts.winner).sum())

    def _values(self, winner: NDArray[np.int32]) -> NDArray[np.float64]:
        out = self._known.copy()
        labels = np.where(winner < 0, GAP, self._slots.labels[np.arange(len(winner)), winner])
        offsets = self._slots.offsets
        for i in np.unique(self._record[winner != self._winner]).tolist():
            row = labels[offsets[i] : offsets[i + 1]]
            out[i] = self._value(i, row[row != GAP].tolist())
        return out

    def _value(self, i: int, answer: Sequence[int]) -> float:
        said = self._readable(answer)
        if self._loss is None:
            return float(min(edit_distance(gold, said) for gold in self._golds[i]))
        return min(_number(self._loss, self._loss(gold, said)) for gold in self._golds[i])

    def _readable(self, codes: Sequence[int]) -> Sequence[str]:
        return self._alphabet.decode(codes)


def _number(metric: StringLoss, value: object) -> float:
    if isinstance(value, (bool, np.bool_)):
        return float(value)
    if not within(value, -sys.float_info.max, sys.float_info.max):
        name = getattr(metric, "__name__", repr(metric))
        raise DataError(f"metric {name} must return a finite number for every (reference, answer); got {value!r}")
    return float(value)  # type: ignore[arg-type]


def _metric(metric: str | AdditiveLoss | StringLoss, slots: Slots, X: ExpertPredictions) -> _Metric:
    if metric == "edit":
        return _OfAnswers(slots, X, None)
    if isinstance(metric, AdditiveLoss) or metric == "hamming":
        return _OfSlots(slots, metric)
    if callable(metric):
        return _OfAnswers(slots, X, metric)
    raise ParameterError(f"metric must be 'hamming', 'edit', an AdditiveLoss or a function; got {metric!r}")
