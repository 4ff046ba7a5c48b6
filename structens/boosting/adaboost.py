"""AdaBoost: two classes, axis-parallel cuts and the constant, with a trace of every round.

Freund and Schapire, "A decision-theoretic generalization of on-line learning and an application to boosting" (JCSS 55,
1997), Figure 2, and Schapire and Singer, "Improved boosting algorithms using confidence-rated predictions" (Machine
Learning 37, 1999): the same votes, written with beta = error / (1 - error) or with alpha = log(1 / beta) / 2.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structens.boosting.adaboost_kernels import add_votes
from structens.boosting.adaboost_rounds import NOTHING, PERFECT, Rounds, shares, vote_error
from structens.boosting.adaboost_trace import Trace
from structens.boosting.calibration import Calibrator
from structens.boosting.classifier import Classifier
from structens.boosting.held_out import calibrator_for, rows_held_out
from structens.boosting.parameters import check_adaboost
from structens.boosting.posteriors import softmax_posteriors
from structens.boosting.progress import Progress, progress_of
from structens.boosting.stopping import OnlineStopping, smoothed_minimum
from structens.boosting.validation import row_weights_of
from structens.core import DataError

Callback = Callable[[int, float, Mapping[str, float]], Any]
KEPT_WEIGHTS = 100_000
"""Most numbers that ``keep_weights="auto"`` keeps."""


class AdaBoost(Classifier):
    """Binary AdaBoost over axis-parallel cuts.

    A round picks, of all cuts ``x[j] >= b`` of all features and the constant, the one of least weighted error; it votes
    with half the logarithm of its odds, and rows that it names wrongly get half of the weight of the next round. Among
    equals the constant wins, then the first feature, then the lowest threshold; a lead of less than 1e-12 is a tie.

    Rounds end early when no cut is better than a coin, or when a cut makes no error at all (alone, it votes 1). Rows of
    weight 0 are left out; scaling weights changes nothing. Missing values are refused.

    Parameters
    ----------
    n_rounds : int
        Most rounds.
    form : {"SS99", "FS97"}
        Words of the trace, and who wins a tie of the vote: the first class, as in all of scikit-learn, or in "FS97" the
        second, as printed there. The votes are the same.
    learning_rate : float
        Multiplies every coefficient, > 0. With 1 the bound on the training error falls fastest.
    min_weight_fraction_leaf : float
        Share of the weight that both sides of a cut must have, 0 to 1/2: a guard where a class weighs almost nothing.
    stop_when_perfect : bool
        End when the vote makes no error on the training rows. Margins would go on growing.
    early_stopping : {None, "smoothed", "online"}
        Look at rows held out: keep the rounds of the least smoothed error (`smoothed_minimum`), or stop by
        `OnlineStopping` while learning.
    validation_fraction : float
        Share of the rows held out where `fit` is given none, over 0 and under 1.
    min_rounds : int
        Early stopping keeps more rounds than this, where there are so many.
    calibrate : {None, "temperature", "sigmoid", "isotonic"}
        Calibrator fitted on held-out votes; see `structens.boosting.calibration`. None: 1 / (1 + exp(-2 f)).
    n_folds : int
        Folds for those votes.
    class_weight : dict, "balanced" or None
        Multiplies the weights of a class's rows.
    keep_weights : bool or "auto"
        Keep the row weights of every round in the trace; "auto": while they are at most 100,000 numbers.
    time_limit : float, optional
        Seconds by the clock; no round but the first begins after them.
    callback : function, optional
        Called after each round with its number, its edge, and errors by name ("training"; "bound": product of all Z;
        "validation"); learning stops when it answers true.
    progress : bool or function, optional
        True: a line on standard error while learning, where that is a terminal. A function is called after each round
        with the rounds done, and n_rounds.
    random_state : int, optional
        Seed of the folds and of the rows held out. None takes them in the order of the rows.

    Attributes
    ----------
    classes_ : ndarray, shape (2,) or (1,)
        A vote above 0 is for the second.
    n_rounds_ : int
    feature_, sign_ : ndarray of int64, shape (n_rounds_,)
        A cut says `sign` where its feature is at least its threshold; feature -1 is the constant.
    threshold_ : ndarray of float64, shape (n_rounds_,)
        Minus infinity for the constant.
    alpha_ : ndarray of float64, shape (n_rounds_,)
    trace_ : Trace
    feature_importances_ : ndarray of float64, shape (d,)
        Share of the coefficients that went to each feature's cuts.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X was a data frame.

    Examples
    --------
    >>> X, y = np.arange(1.0, 7.0)[:, None], ["yes", "yes", "no", "no", "yes", "yes"]
    >>> model = AdaBoost(n_rounds=3).fit(X, y)
    >>> model.predict(X).tolist(), model.alpha_.round(4).tolist()
    (['yes', 'yes', 'no', 'no', 'yes', 'yes'], [0.3466, 0.5493, 0.8047])
    """

    multi_class = False

    feature_: NDArray[np.int64]
    threshold_: NDArray[np.float64]
    sign_: NDArray[np.int64]
    alpha_: NDArray[np.float64]
    trace_: Trace
    calibrator_: Calibrator | None

    def __init__(
        self,
        n_rounds: int = 100,
        *,
        form: str = "SS99",
        learning_rate: float = 1.0,
        min_weight_fraction_leaf: float = 0.0,
        stop_when_perfect: bool = False,
        early_stopping: str | None = None,
        validation_fraction: float = 0.1,
        min_rounds: int = 50,
        calibrate: str | None = None,
        n_folds: int = 5,
        class_weight: Any = None,
        keep_weights: bool | str = "auto",
        time_limit: float | None = None,
        callback: Callback | None = None,
        progress: Progress = None,
        random_state: int | None = None,
    ) -> None:
        self.n_rounds = n_rounds
        self.form = form
        self.learning_rate = learning_rate
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.stop_when_perfect = stop_when_perfect
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.min_rounds = min_rounds
        self.calibrate = calibrate
        self.n_folds = n_folds
        self.class_weight = class_weight
        self.keep_weights = keep_weights
        self.time_limit = time_limit
        self.callback = callback
        self.progress = progress
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: ArrayLike | None = None,
    ) -> Self:
        """Learn.

        Parameters
        ----------
        X : array_like, shape (n, d)
            Finite numbers; used as float64.
        y : array_like, shape (n,)
            One or two classes of any kind that has an order. With one, there are no rounds and it is predicted.
        sample_weight : array_like of float, shape (n,), optional
            >= 0, not all zero.
        X_val, y_val, sample_weight_val : array_like, optional
            Rows for early stopping; their errors are in the trace in any case.

        Raises
        ------
        DataError
            If X, y or weights cannot be used, or y has more than two classes.
        ParameterError
            If a parameter is out of its range.
        """
        check_adaboost(self)
        X, classes, codes, weight = self._read(X, y, sample_weight, self.class_weight)
        if len(classes) > 2:
            raise DataError(
                f"AdaBoost: Only binary classification is supported. The type of the target is multiclass: "
                f"{len(classes)} classes",
                hint="take AdaBoostMH",
            )
        self.classes_, self.n_rounds_ = classes, 0
        validation = None
        if X_val is not None or y_val is not None:
            validation = self._validation(X_val, y_val, sample_weight_val)
        elif self.early_stopping is not None and len(classes) == 2:
            held = rows_held_out(self, codes)
            validation = _Validation(X[held], np.where(codes[held] > 0, 1.0, -1.0), weight[held])
            X, codes, weight = X[~held], codes[~held], weight[~held]
        trace = self._boost(X, codes, weight, validation)
        self.trace_, self.n_rounds_ = trace, len(trace)
        self.feature_, self.threshold_, self.sign_, self.alpha_ = (
            trace.feature,
            trace.threshold,
            trace.sign,
            trace.alpha,
        )
        self.calibrator_ = calibrator_for(self, X, codes, weight, 2)
        return self

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of the coefficients of all cuts that went to each feature, shape (d,); zeros where there is no cut."""
        self._check_fitted()
        cuts = self.feature_ >= 0
        total = np.bincount(self.feature_[cuts], self.alpha_[cuts], minlength=self.n_features_in_)
        out: NDArray[np.float64] = total / total.sum() if total.any() else np.zeros(self.n_features_in_)
        return out

    def margins(self, X: Any, y: Any) -> NDArray[np.float64]:
        """Normalised margins, shape (n,), from -1 to 1: the vote for the true class over the sum of the coefficients.

        Schapire, Freund, Bartlett and Lee, "Boosting the margin" (Annals of Statistics 26, 1998). 0 without rounds.

        Raises
        ------
        DataError
            If y holds a class that was not learnt.
        """
        f = self.decision_function(X)
        total = self.alpha_.sum()
        return self._signs(y, len(f)) * f / total if total > 0 else np.zeros(len(f))

    def trace_table(self, max_rounds: int | None = None, *, digits: int = 4, max_rows: int = 12) -> str:
        """The rounds as a table: cut, error, coefficient, Z, bound, training error, weights; see `Trace.table`."""
        self._check_fitted()
        return self.trace_.table(max_rounds, digits=digits, max_rows=max_rows)

    # ---- what Classifier asks for

    def _scores(self, X: Any, n_rounds: int) -> NDArray[np.float64]:
        out = np.zeros(len(X))
        if n_rounds:
            vote = self.alpha_ * self.sign_
            columns = np.ascontiguousarray(X.T)
            add_votes(columns, self.feature_[:n_rounds], self.threshold_[:n_rounds], vote[:n_rounds], out)
            self._settle(out)
        return out

    def _staged_scores(self, X: Any) -> Iterator[NDArray[np.float64]]:
        total = np.zeros(len(X))
        for t in range(self.n_rounds_):
            a = float(self.alpha_[t] * self.sign_[t])
            total += a if self.feature_[t] < 0 else np.where(X[:, self.feature_[t]] >= self.threshold_[t], a, -a)
            out = total.copy()
            self._settle(out)
            yield out

    def _probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        if len(self.classes_) == 1:
            return np.ones((len(scores), 1))
        return softmax_posteriors(scores) if self.calibrator_ is None else self.calibrator_.probabilities(scores)

    # ---- learning

    def _settle(self, scores: NDArray[np.float64]) -> None:
        """In the form of 1997 a tied vote is for the second class: a vote of the smallest number there is."""
        if self.form == "FS97":
            scores[scores == 0.0] = np.nextafter(0.0, 1.0)

    def _boost(
        self,
        X: NDArray[np.float64],
        codes: NDArray[np.int32],
        weight: NDArray[np.float64],
        validation: _Validation | None,
    ) -> Trace:
        truth = np.where(codes == len(self.classes_) - 1, 1.0, -1.0)
        keep = len(codes) * (self.n_rounds + 1) <= KEPT_WEIGHTS if self.keep_weights == "auto" else self.keep_weights
        columns, tie_is_second = np.ascontiguousarray(X.T), self.form == "FS97"
        least = float(self.min_weight_fraction_leaf)
        rounds = Rounds(columns, truth, weight, self.learning_rate, tie_is_second, bool(keep), least)
        rule = OnlineStopping(self.min_rounds) if self.early_stopping == "online" else None
        stopped = "" if len(self.classes_) == 1 else self._play(rounds, validation, rule)
        if len(self.classes_) == 1:
            stopped = f"There is one class only, {self.classes_[0]}: nothing to learn."
        elif rounds.n == 0:
            warnings.warn("AdaBoost: no weak learner with positive edge; the first class is predicted", stacklevel=3)
        trace = rounds.trace(
            validation_error=None if validation is None else np.array(validation.errors),
            form=self.form,
            feature_names=tuple(getattr(self, "feature_names_in_", ())),
            classes=tuple(map(str, self.classes_.tolist())),
            stopped=stopped,
        )
        if validation is None or self.early_stopping is None or rounds.n == 0:
            return trace
        best = rule.best_rounds if rule is not None else smoothed_minimum(validation.errors, min_rounds=self.min_rounds)
        return trace.head(best or rounds.n)

    def _play(self, rounds: Rounds, validation: _Validation | None, rule: OnlineStopping | None) -> str:
        """Rounds until one is the last; says why."""
        report = progress_of(self.progress, "AdaBoost", "rounds")
        end = math.inf if self.time_limit is None else time.monotonic() + self.time_limit
        try:
            while True:
                said = rounds.play()
                if said == NOTHING:
                    return f"No cut is better than a coin in round {rounds.n + 1}; it is not kept."
                error = 0.0 if validation is None else validation.add(rounds.vote(), self.form == "FS97")
                report(rounds.n, self.n_rounds)
                if self.callback is not None and self.callback(rounds.n, *_noted(rounds, validation)):
                    return "The callback said so."
                if said == PERFECT:
                    return f"The cut of round {rounds.n} makes no error."
                if rule is not None and rule.update(error):
                    return f"The smoothed validation error has not fallen since round {rule.best_rounds}."
                if self.stop_when_perfect and rounds.cuts[-1].training_error == 0.0:
                    return f"The vote of {rounds.n} rounds makes no error on the training rows."
                if rounds.n == self.n_rounds:
                    return f"{rounds.n} rounds, as many as asked for."
                if time.monotonic() >= end:
                    return f"Time limit of {self.time_limit:g} s."
        finally:
            report.close()

    # ---- rows to validate on

    def _validation(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> _Validation:
        if X is None or y is None:
            raise DataError(f"AdaBoost: X_val and y_val go together; {'X_val' if X is None else 'y_val'} is missing")
        X = self._features(X)
        if X.shape[1] != self.n_features_in_:
            raise DataError(f"AdaBoost: X_val has {X.shape[1]} features, X has {self.n_features_in_}")
        return _Validation(X, self._signs(y, len(X)), row_weights_of(sample_weight, len(X), "AdaBoost"))

    def _signs(self, y: Any, n: int) -> NDArray[np.float64]:
        truth = np.asarray(y).reshape(-1)
        if len(truth) != n:
            raise DataError(f"AdaBoost: X has {n} rows, y has {len(truth)} labels; there must be one a row")
        known = np.isin(truth, self.classes_)
        if not known.all():
            strange = truth[[np.argmin(known)]].tolist()[0]
            raise DataError(f"AdaBoost: class {strange!r} was not learnt; known: {self.classes_.tolist()}")
        return np.where(truth == self.classes_[-1], 1.0, -1.0)


class _Validation:
    """Rows held out: what the rounds so far vote for them, and how often they err."""

    def __init__(self, X: NDArray[np.float64], truth: NDArray[np.float64], weight: NDArray[np.float64]) -> None:
        self.columns, self.truth, self.weight = np.ascontiguousarray(X.T), truth, shares(weight)
        self.f = np.zeros(len(truth))
        self.errors: list[float] = []

    def add(
        self, vote: tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]], tie_is_second: bool
    ) -> float:
        add_votes(self.columns, *vote, self.f)
        self.errors.append(vote_error(self.f, self.truth, self.weight, tie_is_second))
        return self.errors[-1]


def _noted(rounds: Rounds, validation: _Validation | None) -> tuple[float, dict[str, float]]:
    """Edge and errors of the last round, for a callback."""
    last = rounds.cuts[-1]
    errors = {"training": last.training_error, "bound": math.prod(cut.z for cut in rounds.cuts)}
    if validation is not None:
        errors["validation"] = validation.errors[-1]
    return 1.0 - 2.0 * last.error, errors
