"""AdaBoost.MH: many classes, or many labels at once, with Hamming trees; as accurate as boosting gets, and fast.

Schapire and Singer, "Improved boosting algorithms using confidence-rated predictions" (Machine Learning 37, 1999);
Kegl, "The return of AdaBoost.MH: multi-class Hamming trees" (ICML 2014).
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structens.boosting.bandit import BanditRounds, FeatureBandit
from structens.boosting.calibration import Calibrator
from structens.boosting.held_out import calibrator_for, rows_held_out
from structens.boosting.mh_classifier import ForestClassifier, threads_of, truth_of
from structens.boosting.mh_rounds import Callback, Limits, Validation, boost
from structens.boosting.mh_start import Start, start_rounds
from structens.boosting.mh_targets import Targets, targets_of
from structens.boosting.parameters import check_adaboost_mh
from structens.boosting.product import OneAgainstAll
from structens.boosting.progress import Progress, progress_of
from structens.boosting.trees import Forest
from structens.boosting.validation import row_weights_of
from structens.core import DataError, ParameterError

KEPT_WEIGHTS = 100_000
"""Most numbers that ``keep_weights="auto"`` keeps."""


class AdaBoostMH(ForestClassifier):
    """Multi-class and multi-label AdaBoost.MH over Hamming trees.

    Each round grows a tree on the weighted pairs of examples and labels, adds its votes, and gives more weight to the
    pairs that they have wrong. A row's class is that of most votes; with many labels a row has those with positive
    votes. Rows of weight 0 are left out; scaling weights changes nothing. A weight of 2 is a row given twice, but for
    rounding (1e-7 of a vote); on histograms with trim=0 only, and where every value has a bin. NaN is a missing value,
    and the side it goes to is learnt; where none was seen, it counts as very large. Thresholds part ``x < b`` from
    ``x >= b``, in float64.

    Parameters
    ----------
    base : HammingTree, Stump or another base learner, optional
        Default ``HammingTree(n_inner_nodes=20)``.
    n_rounds : int
        Most rounds.
    votes : {"discrete", "abstain", "real"}
        "discrete": votes +1 and -1, one coefficient a tree. "abstain": 0 for those leaves and classes whose votes do
        not pay, which makes Z least. "real": each leaf and class has half its smoothed log-odds as its vote; better on
        noisy data, with a learning rate of .1 to .3.
    learning_rate : float
        Multiplies every vote, > 0.
    edge_offset : float
        theta of AdaBoost_rho, 0 to under 1: coefficients are those of an edge that is smaller by it, which asks for
        margins over theta; learning ends at an edge up to theta. For votes that are not real.
    smoothing : float
        s of real votes: (W+ + s / (K n)) / (W- + s / (K n)).
    label_weights : str, optional
        Scheme of `structens.losses.signed_weights`. Default "sharepoints" for single labels, "uniform" for many.
    engine : {"auto", "exact", "histogram"}
        "exact" tries every threshold in float64, "histogram" those between bins, on all threads. "auto" is exact up to
        1000 rows.
    max_bins : int, optional
        2 to 255 bins a feature; default 255, or 64 for more than 100 features.
    trim : float
        Rows that together have this share of the weight sit out the growing of a tree (histograms, from the second
        round on). 0 for none.
    min_weight_fraction_leaf : float
        Share of the weight that both sides of a cut must have, 0 to 1/2: a guard where a class weighs almost nothing.
        Exact engine only, which "auto" then takes.
    max_features : int, float or None
        How many features, or which share, drawn anew, a tree may cut; None for all.
    feature_choice : {"uniform", "ucb", "ucbv", "exp3", "exp3p"}
        How the `max_features` of a round are drawn: anew and at random, or from sets of so many features by a bandit
        whose reward is what a round takes off the bound on the error (`structens.boosting.bandit`).
    nominal_features : array_like, optional
        Numbers of the features whose values have no order, or a mask; a cut on one parts a value from all others.
    early_stopping : {None, "smoothed", "online"}
        Look at rows held out: keep the rounds of the least smoothed error (`smoothed_minimum`), or stop by
        `OnlineStopping` while learning.
    validation_fraction : float
        Share of the rows held out where `fit` is given none.
    min_rounds : int
        Early stopping keeps more rounds than this, where there are so many.
    calibrate : {None, "temperature", "sigmoid", "isotonic"}
        Calibrator fitted on held-out votes; None: softmax of twice the votes.
    n_folds : int
        Folds for those votes.
    class_weight : dict, "balanced" or None
        Multiplies the weights of a class's rows.
    warm_start : bool
        `fit` adds rounds to those there are, up to n_rounds, as if they had never been apart. The same X and y must be
        given.
    keep_weights : bool or "auto"
        Keep the weights of the rows in every round, for pictures; "auto": while they are at most 100,000 numbers.
    time_limit : float, optional
        Seconds by the clock; no round but the first begins after them.
    callback : function, optional
        Called after each round with its number, its edge, and errors by name ("bound": product of all Z, "validation");
        learning stops when it answers true.
    progress : bool or function, optional
        True: a line on standard error while learning, where that is a terminal. A function is called after each round
        with the rounds done, and n_rounds.
    max_memory : float, optional
        Bytes that learning may take; default nine tenths of what is free.
    random_state : int or generator of numpy, optional
        Seed of folds, of the rows held out, and of features drawn. None: no chance, but for the features, seed 0.
    n_jobs : int
        Threads; -1 for one a core. The model is the same bit for bit.

    Attributes
    ----------
    classes_ : ndarray, shape (K,)
    n_rounds_ : int
    edges_, coefficients_, normalizers_ : ndarray of float64, shape (n_rounds_,)
        Edge gamma, coefficient alpha (1 for real votes), and Z of each round. Their product bounds the training error.
    feature_importances_ : ndarray of float64, shape (d,)
        Share of the fall of log Z that each feature's cuts have earned.
    validation_errors_ : ndarray of float64
        After each round; empty if there were no such rows.
    row_weights_ : ndarray of float32, shape (n_rounds_ + 1, n), or None
        Weights of the rows that were learnt from, of sum 1, before each round and after the last; see `keep_weights`.
    stopped_ : str
        Why there are not more rounds.
    forest_ : Forest
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X was a data frame.

    Examples
    --------
    >>> from structens.boosting import HammingTree, Stump
    >>> X, y = np.arange(1.0, 7.0)[:, None], ["a", "a", "b", "b", "c", "c"]
    >>> model = AdaBoostMH(Stump(), n_rounds=1).fit(X, y)
    >>> model.edges_.round(4).tolist(), model.coefficients_.round(6).tolist()
    ([0.6667], [0.804719])
    >>> AdaBoostMH(HammingTree(3), n_rounds=10).fit(X, y).predict([[0.0], [3.2], [9.0]]).tolist()
    ['a', 'b', 'c']
    """

    allows_nan = True
    allows_sparse = True
    dtypes = (np.float64, np.float32, np.uint8)

    forest_: Forest
    calibrator_: Calibrator | None
    validation_errors_: NDArray[np.float64]
    row_weights_: NDArray[np.float32] | None
    stopped_: str
    _learnt: NDArray[Any] | None = None

    def __init__(
        self,
        base: Any = None,
        n_rounds: int = 100,
        *,
        votes: str = "discrete",
        learning_rate: float = 1.0,
        edge_offset: float = 0.0,
        smoothing: float = 0.5,
        label_weights: str | None = None,
        engine: str = "auto",
        max_bins: int | None = None,
        trim: float = 0.01,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | None = None,
        feature_choice: str = "uniform",
        nominal_features: Any = None,
        early_stopping: str | None = None,
        validation_fraction: float = 0.1,
        min_rounds: int = 50,
        calibrate: str | None = None,
        n_folds: int = 5,
        class_weight: Any = None,
        warm_start: bool = False,
        keep_weights: bool | str = "auto",
        time_limit: float | None = None,
        callback: Callback | None = None,
        progress: Progress = None,
        max_memory: float | None = None,
        random_state: int | None = None,
        n_jobs: int = 1,
    ) -> None:
        self.base = base
        self.n_rounds = n_rounds
        self.votes = votes
        self.learning_rate = learning_rate
        self.edge_offset = edge_offset
        self.smoothing = smoothing
        self.label_weights = label_weights
        self.engine = engine
        self.max_bins = max_bins
        self.trim = trim
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.feature_choice = feature_choice
        self.nominal_features = nominal_features
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.min_rounds = min_rounds
        self.calibrate = calibrate
        self.n_folds = n_folds
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.keep_weights = keep_weights
        self.time_limit = time_limit
        self.callback = callback
        self.progress = progress
        self.max_memory = max_memory
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        *,
        label_weight: ArrayLike | None = None,
        init_score: ArrayLike | None = None,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: ArrayLike | None = None,
    ) -> Self:
        """Learn.

        Parameters
        ----------
        X : array_like or scipy sparse matrix, shape (n, d)
            Numbers; float64, float32 and uint8 stay as they are. NaN is a missing value. Nothing sparse is made dense.
        y : array_like, shape (n,) or (n, K)
            Single labels of any kind that has an order; or for each label 1 or 0, with NaN where it is not known; or 1,
            -1 and 0 where it is not known.
        sample_weight : array_like of float, shape (n,), optional
            >= 0, not all zero.
        label_weight : array_like of float, shape (n, K), optional
            >= 0; what the weights of labels start from.
        init_score : array_like of float, shape (n, K), or (n,) for two classes, optional
            Votes cast before the first round, by another model; predictions do not contain them.
        X_val, y_val, sample_weight_val : array_like, optional
            Rows for early stopping; their errors are recorded in any case.

        Raises
        ------
        DataError
            If X, y or weights cannot be used, or memory does not suffice.
        ParameterError
            If a parameter is out of its range.
        """
        base = check_adaboost_mh(self)
        self._seed = _seed_of(self.random_state)
        before = self if self.warm_start and hasattr(self, "forest_") else None
        X, targets = targets_of(self, X, y, sample_weight, label_weight, init_score)
        validation = None
        if X_val is not None or y_val is not None:
            validation = self._validation(X_val, y_val, sample_weight_val, targets)
        elif self.early_stopping is not None and targets.n_classes > 1:
            codes = np.zeros(X.shape[0], np.int32) if targets.multi_label else targets.y
            held = rows_held_out(self, codes)
            validation = Validation(X[held], targets.y[held], targets.row_weight[held], targets.n_classes)
            X, targets = X[~held], targets.rows(~held)
        forest = self._begun(before, X, targets)
        kept = self._kept(before, X.shape[0])
        self.classes_, self.prior_, self.multi_label_ = targets.classes, targets.prior(), targets.multi_label
        if forest is None:
            forest = Forest(targets.n_classes, width=targets.n_classes if isinstance(base, OneAgainstAll) else 1)
        if targets.n_classes == 1 and not targets.multi_label:
            self.stopped_ = "there is one class only: nothing to learn"
        else:
            rounds = start_rounds(
                Start(self, base, X, targets, threads_of(self.n_jobs), None if before is None else self._learnt)
            )
            self._boost(rounds, forest, validation, kept, going_on=before is not None)
        self.validation_errors_ = np.array([] if validation is None else validation.errors)
        self.forest_, self.n_rounds_ = forest, forest.n_trees
        self.row_weights_ = np.array(kept[: forest.n_trees + 1]) if kept else None
        self.calibrator_ = calibrator_for(self, X, targets.y, targets.row_weight, targets.n_classes)
        return self

    # ---- learning

    def _boost(
        self, rounds: Any, forest: Forest, validation: Validation | None, kept: list[Any] | None, going_on: bool
    ) -> None:
        """Add rounds to the forest."""
        if self.feature_choice != "uniform":
            rounds = BanditRounds(rounds, self._bandit_of_fit(going_on))
        limits = Limits(
            self.n_rounds,
            self.callback,
            self.time_limit,
            self.early_stopping,
            self.min_rounds,
            self.max_features is None,
            validation,
            rounds.least_edge,
            1.0 - (rounds.least_edge if self.edge_offset == 0 else 1e-6),
            progress_of(self.progress, type(self).__name__, "rounds"),
            kept,
        )
        try:
            self.stopped_ = boost(rounds, forest, limits, self._features_of_round)
            self._learnt = rounds.weights().copy() if self.warm_start else None
        finally:
            rounds.close()
            limits.progress.close()
        if forest.n_trees == 0:
            warnings.warn(
                f"{type(self).__name__}: no weak learner with positive edge; the most frequent class is predicted",
                stacklevel=3,
            )

    def _begun(self, before: Self | None, X: Any, targets: Targets) -> Forest | None:
        """The forest of the last fit, for more rounds."""
        if before is None:
            return None
        forest, classes, learnt = before.forest_, before.classes_, before._learnt
        same = len(classes) == targets.n_classes and bool((classes == targets.classes).all())
        if not same or learnt is None or learnt.shape[0] != X.shape[0]:
            raise DataError(
                f"{type(self).__name__}: warm_start goes on from the rows and classes of the last fit, not others",
                hint="warm_start=False begins anew",
            )
        if self.n_rounds < forest.n_trees:
            raise ParameterError(f"n_rounds is {self.n_rounds}, but warm_start has {forest.n_trees} rounds already")
        return Forest(forest.n_classes, list(forest.trees), width=forest.width)

    def _kept(self, before: Self | None, n: int) -> list[Any] | None:
        """Where the weights of the rows go; None if they are not kept."""
        small = n * (self.n_rounds + 1) <= KEPT_WEIGHTS
        if not (small if self.keep_weights == "auto" else self.keep_weights):
            return None
        if before is None:
            return []
        return None if before.row_weights_ is None else list(before.row_weights_[:-1])

    def _features_of_round(self, t: int) -> NDArray[np.int64] | None:
        """The features that round t may cut: drawn by a generator of its own, so that a warm start draws the same."""
        if self.max_features is None or self.feature_choice != "uniform":
            return None
        d = self.n_features_in_
        rng = np.random.default_rng([self._seed, t])
        return np.sort(rng.permutation(d)[: self._n_features()]).astype(np.int64)

    def _bandit_of_fit(self, going_on: bool) -> FeatureBandit:
        """A new bandit, or that of the fit that a warm start goes on from."""
        if not going_on or not hasattr(self, "_bandit"):
            self._bandit = FeatureBandit(self.n_features_in_, self._n_features(), self.feature_choice, self._seed)
        return self._bandit

    def _n_features(self) -> int:
        d, most = self.n_features_in_, self.max_features
        wanted = d if most is None else most * d if isinstance(most, float) else most
        return max(1, min(d, int(wanted)))

    def _validation(self, X: Any, y: Any, sample_weight: ArrayLike | None, targets: Targets) -> Validation:
        if X is None or y is None:
            raise DataError(f"AdaBoostMH: X_val and y_val go together; {'X_val' if X is None else 'y_val'} is missing")
        X = self._features(X)
        if X.shape[1] != self.n_features_in_:
            raise DataError(f"AdaBoostMH: X_val has {X.shape[1]} features, X has {self.n_features_in_}")
        weight = row_weights_of(sample_weight, X.shape[0], "AdaBoostMH")
        truth = truth_of(y, X.shape[0], targets.classes, targets.multi_label)
        return Validation(X, truth, weight, targets.n_classes)


def _seed_of(random_state: Any) -> int:
    """A whole number; a generator draws one, so that two fits differ, and the rounds of one fit do not."""
    if random_state is None or isinstance(random_state, (int, np.integer)):
        return int(random_state or 0)
    return int(np.random.default_rng(random_state).integers(2**31))
