"""CoBoost: boosting from few labels and many unlabelled rows that are seen from two sides.

Collins and Singer, "Unsupervised models for named entity classification" (EMNLP 1999), section 4: each view boosts
towards the known labels and, on unlabelled rows, towards what the other view says. The guard against collapse is not
in the paper.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from structens.boosting.coboost_rounds import Rounds, learn
from structens.boosting.two_views import TwoViewClassifier, View, class_shares, seed_labels
from structens.core import DataError, ParameterError

VANISHED, VANISHED_ALONE = 1 / 3, 1 / 10
"""The views have collapsed where all classes but the most frequent together, or one of them, have less than this part
of the share that was expected."""
DRIFTED = 0.4
"""... or the most frequent class has so much more than its share, a number from 0 to 1."""
ESTRANGED = 0.6
"""The views have come apart where they agree on less than this part of the rows of which both speak."""

GROWN = 30.0
"""Bound on the weight of all unlabelled rows in later rounds, in units of `unlabelled_mass`.

Labelled rows that are right weigh ever less: without a bound LingSpam had 8.4 and 7.8 % errors after 100 rounds, with
it 6.6 and 4.9. A bound of 3 took from the made-up task what it gains by unlabelled rows; 30 and 100 did not."""

_PLACES = ("round", "view", "feature", "label")
_NUMBERS = ("alpha", "right", "wrong", "criterion")
_DIAGNOSES = ("agreement", "largest_share", "coverage")


class CollapseWarning(UserWarning):
    """The two views talked each other into one class, or disagree; see `CoBoost`."""


class Rule(NamedTuple):
    """A rule that abstains where its feature is absent.

    Parameters
    ----------
    round : int
        From 1.
    view : int
        1 or 2.
    feature : str or int
        Its name, or its column where the view has no names.
    label : object
    alpha : float
        The vote: + alpha for the label, - alpha for the others.
    right, wrong : float
        W+ and W-: shares of the weight where the rule was right and wrong when it was chosen.
    """

    round: int
    view: int
    feature: str | int
    label: Any
    alpha: float
    right: float
    wrong: float

    def __str__(self) -> str:
        name = f"[{self.feature}]" if isinstance(self.feature, int) else self.feature
        return f"{self.round}.{self.view} {name} -> {self.label} {self.alpha:.4f} (+{self.right:.4f} -{self.wrong:.4f})"


class CoBoost(TwoViewClassifier):
    """Boosting over two views, from few labels or seed rules.

    X is a pair of views of the same n rows. A view is a matrix of n rows, sparse or dense, where an entry that is not
    zero is a feature that is present, or for each row a list of the names of its features. Each view should be enough
    to tell the classes, and the views should say independent things of a class.

    A rule votes for a label where its feature is present. A round adds to each view the rule that lowers the
    exponential loss most; with three classes and more, one rule for each label. Unlabelled rows count with what the
    other view says of them so far. The sum of all votes decides.

    Plain CoBoost (`prior` and `unlabelled_mass` None, as in the paper) can collapse: the views agree ever better on
    ever more rows of one class. It does where classes are far from equally frequent and rules are not precise. A
    `CollapseWarning` says so. The guard is ``prior="labelled"``, or better the true shares, and ``unlabelled_mass=1``.

    Parameters
    ----------
    n_rounds : int
        Most rounds; each costs time linear in the number of features present.
    epsilon : float, optional
        Smooths coefficients, > 0; the larger, the more a rule needs to have seen. None: 1 over the weight
        of all rows, where a labelled one weighs 1: 1 / n unless there is `unlabelled_mass`.
    prior : None, "labelled", mapping or sequence
        Shares of the classes, by label or in the order of `classes_`. Unlabelled rows then count in proportion to them:
        of each class those of which the other view is surest. "labelled" takes the shares of the labelled rows, which
        with seed rules are as good as the rules' coverage. None: all rows count of which the other view speaks.
    unlabelled_mass : float, optional
        Weight of all unlabelled rows at the beginning, in units of the weight of all labelled ones, >= 0: each weighs
        so much less than a labelled row, never more. It may grow to `GROWN` times as much in later rounds. With 0 only
        labelled rows are learnt from. None: all rows begin with the same weight, and nothing bounds it.

    Attributes
    ----------
    classes_ : ndarray, shape (K,)
    rules_ : list of Rule
        In the order in which they were found.
    n_rounds_ : int
    seed_labels_ : ndarray of int32, shape (n,)
        Codes of the labels that were known or came from seed rules, -1 for none.
    agreement_, largest_share_, coverage_ : ndarray of float64, shape (n_rounds_,)
        After each round, on unlabelled rows: share on which the views agree, of those of which both speak; share of the
        most frequent label among what they say; share of the rows of which they speak, mean of both.
        NaN for the first two where there are none.
    collapsed_ : bool
        Whether there was a warning.
    class_prior_ : ndarray of float64, shape (K,)
        `prior`, or what the views say of the unlabelled rows: used for rows that no rule speaks of.

    References
    ----------
    Collins and Singer, "Unsupervised models for named entity classification" (EMNLP 1999), section 4.

    Examples
    --------
    >>> names = [["A"], ["B"], ["A"], ["B"], ["C"], ["D"]]
    >>> contexts = [["x"], ["y"], ["z"], ["w"], ["z"], ["w"]]
    >>> model = CoBoost(n_rounds=3).fit((names, contexts), ["yes", "no", None, None, None, None])
    >>> print(*model.rules_[:3], sep="\\n")
    1.1 A -> yes 0.6931 (+0.5000 -0.0000)
    1.2 x -> yes 0.5493 (+0.3333 -0.0000)
    2.1 B -> no 0.8047 (+0.6667 -0.0000)
    >>> model.predict(([["D"], ["unseen"]], [["w"], ["z"]])).tolist()
    ['no', 'no']
    """

    views_: tuple[View, View]
    rounds_: Rounds

    def __init__(
        self,
        n_rounds: int = 1000,
        *,
        epsilon: float | None = None,
        prior: Any = None,
        unlabelled_mass: float | None = None,
    ) -> None:
        self.n_rounds = n_rounds
        self.epsilon = epsilon
        self.prior = prior
        self.unlabelled_mass = unlabelled_mass

    def fit(self, X: Any, y: Any = None, *, seeds: Any = None) -> Self:
        """Learn.

        Parameters
        ----------
        X : pair of views, n rows each
        y : array_like, shape (n,), optional
            Labels; None, NaN or the number -1 for rows without.
        seeds : mapping or sequence of pairs, optional
            Seed rules, from feature to label: rows that have the feature get the label, where y gives none and no other
            seed rule disagrees. A feature is a name, of either view, or a pair (view, column) with view 1 or 2.

        Raises
        ------
        DataError
            If X is no pair of views, y has other than n labels, fewer than two classes are known, or no view has the
            feature of a seed rule.
        ParameterError
            If a parameter is out of its range.

        Warns
        -----
        CollapseWarning
            If the unlabelled rows went to one class, or the views disagree.
        """
        self._check_parameters()
        views, known, rules = self._learn_from(X, y, seeds)
        known = seed_labels(rules, [view.transposed() for view in views], known)
        K = len(self.classes_)
        labelled = np.bincount(known[known >= 0], minlength=K).astype(np.float64)
        if not labelled.any():
            raise DataError("CoBoost: the seed rules leave no row labelled", hint="give labels or other seed rules")
        shares = self._shares(labelled)
        epsilon, light = self._weights_of_rows(known)
        most = None if self.unlabelled_mass is None else GROWN * self.unlabelled_mass
        rounds = learn(views, known, self.n_rounds, epsilon, light, shares, most, n_classes=K)
        self.rounds_, self.seed_labels_, self.n_rounds_ = rounds, known, len(rounds.agreement)
        self.agreement_ = np.array(rounds.agreement)
        self.largest_share_ = np.array(rounds.largest_share)
        self.coverage_ = np.array(rounds.coverage)
        known_shares = labelled / labelled.sum()
        if shares is not None:
            self.class_prior_ = shares
        else:
            self.class_prior_ = rounds.label_shares if any(rounds.coverage[-1:]) else known_shares
        self._warn(known_shares if shares is None else shares)
        return self

    @property
    def rules_(self) -> list[Rule]:
        """The rules, in the order in which they were found."""
        self._check_fitted()
        r = self.rounds_
        columns = zip(r.round, r.view, r.feature, r.label, r.alpha, r.right, r.wrong, strict=True)
        labels = self.classes_.tolist()
        return [
            Rule(t + 1, j + 1, self.views_[j].name(f), labels[label], alpha, right, wrong)
            for t, j, f, label, alpha, right, wrong in columns
        ]

    def strongest(self, view: int, label: Any, n: int = 10) -> list[tuple[str | int, float]]:
        """The features of view 1 or 2 that speak most for a label, with the sums of their votes for it.

        Raises
        ------
        ParameterError
            If there is no such view or label.
        """
        self._check_fitted()
        if view not in (1, 2) or label not in self.classes_.tolist():
            raise ParameterError(
                f"view must be 1 or 2 and label one of {self.classes_.tolist()}; got {view}, {label!r}"
            )
        votes = self._weights(self.n_rounds_)[view - 1][:, self.classes_.tolist().index(label)]
        order = np.argsort(-votes, kind="stable")[:n]
        return [(self.views_[view - 1].name(f), float(votes[f])) for f in order if votes[f] > 0]

    def view_scores(self, X: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Votes of each view alone, shape (n, K) each."""
        views = self._read_again(X)
        first, second = (view.add_up(w) for view, w in zip(views, self._weights(self.n_rounds_), strict=True))
        return first, second

    def state(self) -> dict[str, NDArray[Any]]:
        """What was learnt, without names of classes and features, as arrays: for a model file."""
        self._check_fitted()
        r = self.rounds_
        return {
            **{name: np.array(getattr(r, name), np.int64) for name in _PLACES},
            **{name: np.array(getattr(r, name), np.float64) for name in _NUMBERS},
            **{name: np.array(getattr(r, name), np.float64) for name in _DIAGNOSES},
            "label_shares": r.label_shares,
            "class_prior": self.class_prior_,
            "seed_labels": self.seed_labels_,
            "collapsed": np.array([self.collapsed_]),
        }

    def restore(self, state: dict[str, NDArray[Any]]) -> Self:
        """Take what `state` gave; `classes_` and `views_` are there.

        Raises
        ------
        ValueError
            If the arrays do not fit each other, the classes or the views.
        """
        K, shared = len(self.classes_), {name: state[name].tolist() for name in (*_PLACES, *_NUMBERS, *_DIAGNOSES)}
        r = self.rounds_ = Rounds(**shared, label_shares=state["label_shares"])
        self.n_rounds_ = len(r.agreement)
        places, numbers = (np.array([getattr(r, n) for n in names]) for names in (_PLACES, _NUMBERS))
        if places.shape[1:] != numbers.shape[1:] or not np.isfinite(numbers).all():
            raise ValueError("each rule must have a place and finite numbers")
        widths = np.array([view.n_features for view in self.views_])
        most = np.array([self.n_rounds_ - 1, 1, -1, K - 1])[:, None] * np.ones(places.shape, np.int64)
        if (places[0][:-1] > places[0][1:]).any() or (places < 0).any() or (places[[0, 1, 3]] > most[[0, 1, 3]]).any():
            raise ValueError("a rule is of no round, view or class")
        if (places[2] >= widths[places[1].astype(np.int64)]).any():
            raise ValueError("a rule is of no feature")
        self.agreement_, self.largest_share_, self.coverage_ = (state[name] for name in _DIAGNOSES)
        self.class_prior_, self.seed_labels_ = state["class_prior"], state["seed_labels"]
        self.collapsed_ = bool(state["collapsed"][0])
        return self

    def _weights(self, n_rounds: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What each feature votes in all rules of the first rounds, shape (d, K) a view."""
        r, K = self.rounds_, len(self.classes_)
        out = tuple(np.zeros((view.n_features, K)) for view in self.views_)
        for t, j, f, label, alpha in zip(r.round, r.view, r.feature, r.label, r.alpha, strict=True):
            if t < n_rounds:
                out[j][f] -= alpha
                out[j][f, label] += 2.0 * alpha
        return out[0], out[1]

    def _scores(self, X: tuple[View, View], n_rounds: int) -> NDArray[np.float64]:
        first, second = self._weights(n_rounds)
        return _shown(X[0].add_up(first) + X[1].add_up(second))

    def _staged_scores(self, X: tuple[View, View]) -> Iterator[NDArray[np.float64]]:
        r = self.rounds_
        postings = [view.transposed() for view in X]
        scores = np.zeros((len(X[0]), len(self.classes_)))
        at = 0
        for t in range(self.n_rounds_):
            while at < len(r.round) and r.round[at] == t:
                offsets, rows = postings[r.view[at]]
                here = rows[offsets[r.feature[at]] : offsets[r.feature[at] + 1]]
                scores[here] -= r.alpha[at]
                scores[here, r.label[at]] += 2.0 * r.alpha[at]
                at += 1
            yield _shown(scores)

    def _weights_of_rows(self, known: NDArray[np.int32]) -> tuple[float, float]:
        """Epsilon, and the weight of an unlabelled row."""
        n_labelled = int((known >= 0).sum())
        n_free = len(known) - n_labelled
        light = 1.0
        if self.unlabelled_mass is not None and n_free:
            light = min(1.0, self.unlabelled_mass * n_labelled / n_free)
        return float(self.epsilon or 1.0 / (n_labelled + light * n_free)), light

    def _shares(self, labelled: NDArray[np.float64]) -> NDArray[np.float64] | None:
        if self.prior is None:
            return None
        if isinstance(self.prior, str):
            return class_shares(labelled, self.classes_)
        return class_shares(self.prior, self.classes_)

    def _warn(self, expected: NDArray[np.float64]) -> None:
        """Say it where the unlabelled rows went to one class, or the views came apart."""
        self.collapsed_ = False
        if not self.n_rounds_ or math.isnan(self.largest_share_[-1]) or self.unlabelled_mass == 0:
            return
        said, agree = self.rounds_.label_shares, float(self.agreement_[-1])
        expected = np.maximum(expected, 1e-12)  # a class that seed rules named, but no row has
        largest, least = int(np.argmax(said)), int(np.argmin(said / expected))
        what = ""
        if 1.0 - said[largest] < VANISHED * (1.0 - expected[largest]) or said[largest] - expected[largest] > DRIFTED:
            what = _share_of(self.classes_[largest], said[largest], expected[largest])
        elif said[least] < VANISHED_ALONE * expected[least]:
            what = _share_of(self.classes_[least], said[least], expected[least])
        elif agree < ESTRANGED:
            what = f"the views agree on only {agree:.1%} of the unlabelled rows of which both speak"
        if what:
            self.collapsed_ = True
            ways = ["give prior"] if self.prior is None else []
            ways += ["set unlabelled_mass=1" if self.unlabelled_mass is None else "lower unlabelled_mass"]
            way = f"{', '.join(ways)}, or drop features that most rows have"
            warnings.warn(f"CoBoost: {what}; {way}", CollapseWarning, stacklevel=3)

    def _check_parameters(self) -> None:
        if not isinstance(self.n_rounds, int | np.integer) or isinstance(self.n_rounds, bool) or self.n_rounds < 0:
            raise ParameterError(f"n_rounds must be a whole number >= 0; got {self.n_rounds!r}")
        if self.epsilon is not None and not 0 < self.epsilon < np.inf:
            raise ParameterError(f"epsilon must be positive and finite, or None; got {self.epsilon!r}")
        if self.unlabelled_mass is not None and not 0 <= self.unlabelled_mass < np.inf:
            raise ParameterError(f"unlabelled_mass must be finite and >= 0, or None; got {self.unlabelled_mass!r}")
        if isinstance(self.prior, str) and self.prior != "labelled":
            raise ParameterError(f"prior must be None, 'labelled' or shares of the classes; got {self.prior!r}")


def _share_of(label: Any, said: float, expected: float) -> str:
    return f"{said:.1%} of what the views say of unlabelled rows is {str(label)!r}, where {expected:.1%} were expected"


def _shown(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """With two classes one number a row: what speaks for the second."""
    return scores[:, 1].copy() if scores.shape[1] == 2 else scores
