"""The papers' protocol: learn on one of ten disjoint sets, test on all other records; mean and deviation over folds."""

from dataclasses import dataclass, field

import numpy as np

from structens.align import align
from structens.ensembles import BestExpert, DeepESPBoost, ESPBoost, ForwardSelection, PathExpertEnsemble
from structens.evaluate import count_errors
from structens.evaluate.bootstrap import interval, resampled_rates
from structens.evaluate.oracle import best_path

HINDSIGHT, ORACLE = "best h_j", "oracle path"
MEASURES = {  # loss of a record: errors, and what they are divided by before the mean over records
    "hamming": ("hamming", lambda counts: counts.reference_length),
    "edit": ("edit", lambda counts: np.ones(len(counts))),
    "wer": ("edit", lambda counts: counts.reference_length),
}


DEEP_ROUNDS = 200  # most rounds of Deep ESPBoost, the dearest method here; a quick look sets fewer


def papers_methods(beta=None, tie="position", metric="hamming"):
    """Name -> maker of the papers' methods, with their parameters, in the order of their tables.

    Without a beta the rates (beta, epsilon) are chosen on held-out records of the learning set, as by default.
    """
    rate, scale = ({}, {}) if beta is None else ({"beta": beta}, {"epsilon": "papers"})
    return {
        "H_MVote": lambda: PathExpertEnsemble("mvote", tie=tie, **rate),
        "H_FPL": lambda: PathExpertEnsemble("fpl", tie=tie, **scale),
        "H_CV": lambda: PathExpertEnsemble("cv", tie=tie, **rate),
        "H_FPL-CV": lambda: PathExpertEnsemble("fplcv", tie=tie, **scale),
        "H_ESPBoost": lambda: ESPBoost(tie=tie),
        "Deep ESPBoost": lambda: DeepESPBoost(tie=tie, n_rounds=DEEP_ROUNDS),
        "H_SLE": lambda: ForwardSelection(metric, n_rounds=100),
        "H_Rand": lambda: PathExpertEnsemble("rand", tie=tie, **rate),
        "best h_j, learnt": BestExpert,
    }


@dataclass
class Results:
    """Losses of one way to measure.

    folds: name -> mean loss on each fold's test records; record: name -> (loss, length) of each record that was tested,
    means over the folds it was tested in.
    """

    folds: dict = field(default_factory=dict)
    record: dict = field(default_factory=dict)
    pooled: bool = False

    def cell(self, name, digits=4):
        """Mean and deviation over folds, as the papers print them."""
        if name not in self.folds:
            return ""
        values = np.array(self.folds[name])
        return f"{values.mean():.{digits}f}±{values.std():.{digits + 1}f}".replace("0.", ".")

    def against(self, name, other):
        """Difference in points with its paired bootstrap interval over records, and folds in which `name` is better."""
        if name not in self.record:
            return None
        mine, theirs = self.record[name], self.record[other]
        errors = np.array([mine[0], theirs[0]])
        rates = resampled_rates(errors, np.array([mine[1], theirs[1]]), n_resamples=1000, seed=0)
        low, high = interval(rates[0] - rates[1])
        better = sum(a < b for a, b in zip(self.folds[name], self.folds[other], strict=True))
        middle = errors[0].sum() / mine[1].sum() - errors[1].sum() / theirs[1].sum()
        return 100 * middle, 100 * low, 100 * high, better

    def mark(self, name, other=HINDSIGHT):
        """An arrow where the difference to another row is significant: down for fewer errors."""
        found = self.against(name, other)
        if found is None or name == other:
            return ""
        return " ↓" if found[2] < 0 else " ↑" if found[1] > 0 else ""


def run(X, folds, makers, measures=("hamming",), ignore_tokens=(), oracle=True, hindsight=True):
    """Learn and test every method on every fold.

    Parameters
    ----------
    X : ExpertPredictions
    folds : list of (train, test)
    makers : dict of name to callable
    measures : names of MEASURES
    ignore_tokens : labels taken out before edit distances, such as padding

    Returns
    -------
    dict of measure to Results, and dict of method to list of fitted ensembles' notes (rounds, reason to stop)
    """
    results = {measure: Results(pooled=measure == "wer") for measure in measures}
    sums = {measure: {} for measure in measures}
    rounds = {}
    whole = {measure: _single(X, measure, ignore_tokens, oracle) for measure in measures}
    for k, (train, test) in enumerate(folds):
        learn, rest = X[train], X[test]
        for name, maker in makers.items():
            ensemble = maker()
            if "seed" in ensemble.get_params(deep=False):  # noise and draws of a fold are its own
                ensemble.set_params(seed=k)
            ensemble.fit(learn)
            answers = ensemble.combine(rest).prediction
            for measure in measures:
                loss, size = _losses(answers, rest, measure, ignore_tokens)
                _enter(results[measure], sums[measure], name, test, loss, size, len(X))
            if hasattr(ensemble, "steps_"):
                rounds.setdefault(name, []).append((len(ensemble.steps_), ensemble.stopped_))
            elif hasattr(ensemble, "counts_"):
                rounds.setdefault(name, []).append((int((ensemble.counts_ > 0).sum()), "experts"))
            elif getattr(ensemble, "rule", "") == "cv":
                rounds.setdefault(name, []).append((ensemble.suffix_start_ + 1, "round"))
        for measure in measures:
            experts, path = whole[measure]
            if hindsight:
                best = min(experts.values(), key=lambda pair: _mean(pair, test, results[measure].pooled))
                _enter(results[measure], sums[measure], HINDSIGHT, test, best[0][test], best[1][test], len(X))
            if path is not None:
                _enter(results[measure], sums[measure], ORACLE, test, path[0][test], path[1][test], len(X))
    for measure in measures:
        for name, (loss, size, times) in sums[measure].items():
            shown = times > 0
            results[measure].record[name] = (loss[shown] / times[shown], size[shown] / times[shown])
    return results, rounds


def _single(X, measure, ignore_tokens, oracle):
    """Losses of every expert alone, and of the oracle path, on all records."""
    loss = MEASURES[measure][0]
    experts = {}
    for j, name in enumerate(X.names):
        rows = X.hypotheses[np.arange(len(X)) * X.n_experts + j]
        experts[name] = _losses(rows, X, measure, ignore_tokens)
    if not oracle or (ignore_tokens and loss == "edit"):
        return experts, None
    return experts, _scaled(best_path(X, align(X), loss=loss), measure)


def _losses(answers, X, measure, ignore_tokens):
    loss = MEASURES[measure][0]
    ignored = ignore_tokens if loss == "edit" else ()
    return _scaled(count_errors(answers, X, loss=loss, ignore_tokens=ignored), measure)


def _scaled(counts, measure):
    """Loss of each record, and what it counts for: pooled measures are sums over sums, others means over records."""
    errors, size = counts.errors.astype(float), MEASURES[measure][1](counts)
    return (errors, size.astype(float)) if measure == "wer" else (errors / np.maximum(size, 1), np.ones(len(errors)))


def _mean(pair, test, pooled):
    return pair[0][test].sum() / max(pair[1][test].sum(), 1)


def _enter(results, sums, name, test, loss, size, n):
    results.folds.setdefault(name, []).append(loss.sum() / max(size.sum(), 1))
    totals = sums.setdefault(name, (np.zeros(n), np.zeros(n), np.zeros(n)))
    for total, values in zip(totals, (loss, size, 1), strict=True):
        total[test] += values


def markdown(head, rows):
    """A table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(map(str, row)) + " |" for row in rows)])


def span(values):
    """Least and greatest, or the one value."""
    return f"{min(values)}" if min(values) == max(values) else f"{min(values)} to {max(values)}"


def stops(rounds, name):
    """Rounds of a boosted ensemble over the folds, and why they ended."""
    if name not in rounds:
        return ""
    lengths, reasons = zip(*rounds[name], strict=True)
    return f"{span(lengths)} ({'/'.join(sorted(set(reasons)))})"


def difference(results, name, other=HINDSIGHT):
    """Difference to another row in points, with its interval and the folds won."""
    found = results.against(name, other)
    if found is None:
        return ""
    middle, low, high, better = found
    return f"{middle:+.2f} [{low:+.2f}, {high:+.2f}], {better}/{len(results.folds[name])}"


def comparisons(found):
    """Differences to the best expert in hindsight, and how boosting ended, a row for each set."""
    shown = ("H_MVote", "H_ESPBoost", "Deep ESPBoost", "H_SLE")
    head = ["data", *(f"{name} - best h_j" for name in shown), "rounds of ESPBoost", "of Deep ESPBoost"]
    rows = [
        [key, *(difference(results, name) for name in shown), *(stops(rounds, name) for name in shown[1:3])]
        for key, (results, rounds) in found.items()
    ]
    said = (
        "Differences to the best expert in points, 95 % intervals, folds won; rounds of boosting, and why they ended:"
    )
    return f"{said}\n\n{markdown(head, rows)}"
