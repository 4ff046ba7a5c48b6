"""AdaBoostMH beside LightGBM, XGBoost, random forest and SVM: error, time to an equal error, memory, prediction.

    python benchmarks/boosting.py speed [letter pendigits ...]  # to LightGBM's error; a tree, a prediction, threads
    python benchmarks/boosting.py error [letter pendigits ...]  # trees and rounds chosen on the train part
    python benchmarks/boosting.py small [iris wine ...]         # the nine small sets of Kegl (2014), ten folds
    python benchmarks/boosting.py scale                         # time against rows, features, classes; 1,000,000 rows

Data: ``../shared/data/classification/*.npz``. Times are CPU-seconds of one thread, kernels compiled before; sides take
turns in one run. Peers have sensible fixed settings, which are printed. In `speed` the number of rounds that reaches
LightGBM's error is read from the curve on test rows: it is a measure of speed only. In `error` nothing sees a test row
before the end: five folds of the train part choose nodes and rounds by the smoothed curve of Kegl (2014), equation 15.
"""

import argparse
import os
import statistics
import sys
import time
from pathlib import Path

import numpy as np

from structens.boosting import AdaBoostMH, HammingTree, select

os.environ.setdefault("OMP_NUM_THREADS", "1")
DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "classification"
MIDDLE = ("letter", "pendigits", "optdigits", "usps", "isolet_lite", "mnist5k")
SMALL = ("balance", "blood", "wdbc", "breast", "ecoli", "iris", "pima", "sonar", "wine")
PAPER = {"letter": "2.1", "pendigits": "2.1", "optdigits": "2.0", "usps": "4.5", "isolet_lite": "(3.5 on all)"}
PAPER |= dict(zip(SMALL, ("6±4", "22±4", "3±2", "34±13", "15±6", "7±6", "24±5", "13±10", "2±3"), strict=True))
# inner nodes tried, most rounds, bins
GRID = {
    "letter": ([20, 30, 50], 4000, None),
    "pendigits": ([8, 10, 20], 4000, None),
    "optdigits": ([8, 10, 20], 4000, None),
    "usps": ([10, 20], 3000, 32),
    "isolet_lite": ([8, 20], 600, None),
    "mnist5k": ([8, 20], 800, None),
}


def load(name):
    z = np.load(DATA / f"{name}.npz", allow_pickle=True)
    return z["X"], z["y"], z.get("train_idx"), z.get("test_idx")


def split(name):
    X, y, train, test = load(name)
    return X[train], y[train], X[test], y[test]


def cpu(function, repeats=1):
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        out = function()
        times.append(time.process_time() - begin)
    return statistics.median(times), out


def lightgbm(bins=255):
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=100, num_leaves=31, max_bin=bins, n_jobs=1, verbose=-1)


def peers(d):
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler
    from sklearn.svm import SVC
    from xgboost import XGBClassifier

    gammas = {"svc__gamma": [c / d for c in (2, 8, 32, 128)]}
    return {
        "LightGBM 100": lightgbm(),
        "XGBoost 100": XGBClassifier(n_estimators=100, tree_method="hist", n_jobs=1),
        "random forest 300": RandomForestClassifier(300, n_jobs=1, random_state=0),
        "SVM-RBF, width by 3 folds": GridSearchCV(make_pipeline(MinMaxScaler(), SVC(C=10)), gammas, cv=3),
    }


def kilobytes(field):
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1])
    return 0


def memory(function):
    """Most MB in use while the function ran beyond what was in use before; Linux only."""
    Path("/proc/self/clear_refs").write_text("5")
    before = kilobytes("VmRSS")
    out = function()
    return (kilobytes("VmHWM") - before) / 1024, out


def warm(X, y):
    AdaBoostMH(n_rounds=2, engine="histogram", n_jobs=2).fit(X[:500], y[:500]).predict(X[:64])


def speed(names):
    print(f"{'data':10} {'bins':>4} | {'LightGBM 100':>22} | {'AdaBoostMH(HammingTree(20))':>44} | ratios")
    print(f"{'':15} | {'error':>7} {'CPU s':>7} {'ms/rd':>6} | {'rounds':>6} {'error':>7} {'CPU s':>7} {'ms/tree':>7}")
    for name in names:
        X, y, X_test, y_test = split(name)
        for bins in (255,) if X.shape[1] <= 100 else (63, 255):
            warm(X, y)
            ours = AdaBoostMH(HammingTree(20), n_rounds=1000, max_bins=bins, random_state=0)
            extra, _ = memory(lambda: ours.fit(X, y))  # noqa: B023
            curve = [1 - s for s in ours.staged_score(X_test, y_test)]
            theirs = lightgbm(bins)
            taken = [cpu(lambda: theirs.fit(X, y))[0]]  # noqa: B023
            error = 1 - theirs.score(X_test, y_test)
            reached = int(np.argmax(np.array(curve) <= error)) + 1
            short = AdaBoostMH(HammingTree(20), n_rounds=reached, max_bins=bins, random_state=0)
            own = [cpu(lambda: short.fit(X, y))[0]]  # noqa: B023
            for _ in range(2):
                taken.append(cpu(lambda: theirs.fit(X, y))[0])  # noqa: B023
                own.append(cpu(lambda: short.fit(X, y))[0])  # noqa: B023
            lgb, mh = statistics.median(taken), statistics.median(own)
            full, _ = cpu(lambda: ours.fit(X, y))  # noqa: B023
            rows, _ = cpu(lambda: ours.predict(X_test), 3)  # noqa: B023
            print(
                f"{name:10} {bins:4} | {error:7.2%} {lgb:7.2f} {lgb * 10:6.1f} | {reached:6} {curve[reached - 1]:7.2%} "
                f"{mh:7.2f} {full:7.2f} | time to that error {mh / lgb:.3f}; a tree / a round {full / (lgb * 10):.3f}; "
                f"1000 trees predict in {rows / len(X_test) * 1e6:.1f} us a row, memory {extra:.1f} MB, "
                f"error at 1000 {curve[-1]:.2%}",
                flush=True,
            )
            threads(X, y, bins)


def threads(X, y, bins):
    """Seconds by the clock with one and two threads, taking turns; the model must be the same."""
    wall, models = {1: [], 2: []}, {}
    for _ in range(3):
        for k in (1, 2):
            begin = time.perf_counter()
            models[k] = AdaBoostMH(HammingTree(20), n_rounds=150, max_bins=bins, n_jobs=k).fit(X, y)
            wall[k].append(time.perf_counter() - begin)
    same = all(
        (a.vote == b.vote).all() and (a.threshold == b.threshold).all() and a.coefficient == b.coefficient
        for a, b in zip(models[1].forest_.trees, models[2].forest_.trees, strict=True)
    )
    load = os.getloadavg()[0]
    gain = min(wall[1]) / min(wall[2])
    print(f"{'':15} two threads {gain:.2f} times as fast by the clock at load {load:.1f}; same: {same}")


def error(names):
    for name in names:
        X, y, X_test, y_test = split(name)
        nodes, rounds, bins = GRID[name]
        model = AdaBoostMH(HammingTree(), n_rounds=rounds, max_bins=bins, random_state=0)
        taken, found = cpu(lambda: select(model, X, y, {"base__n_inner_nodes": nodes}, n_folds=5))  # noqa: B023
        chosen = found.params
        fit, _ = cpu(lambda: found.estimator.fit(X, y))  # noqa: B023
        ours = 1 - found.estimator.score(X_test, y_test)
        spread = np.sqrt(ours * (1 - ours) / len(y_test))
        print(
            f"{name}: AdaBoostMH {ours:.2%} ± {spread:.2%} (paper {PAPER.get(name, '-')} %), nodes "
            f"{chosen['base__n_inner_nodes']}, rounds {chosen['n_rounds']}; fit {fit:.1f} s, selection {taken:.0f} s",
            flush=True,
        )
        print(found.table(), flush=True)
        for peer, estimator in peers(X.shape[1]).items():
            fit, _ = cpu(lambda: estimator.fit(X, y))  # noqa: B023
            predict, score = cpu(lambda: estimator.score(X_test, y_test))  # noqa: B023
            print(
                f"    {peer:26} {1 - score:.2%}  fit {fit:.1f} s, {predict / len(y_test) * 1e6:.0f} us a row",
                flush=True,
            )


def small(names):
    from sklearn.model_selection import StratifiedKFold

    grid = {"base__n_inner_nodes": [2, 8]}
    for name in names:
        X, y, *_ = load(name)
        errors = {"discrete": [], "real .1": []}
        others = {}
        for train, test in StratifiedKFold(10, shuffle=True, random_state=0).split(X, y):
            held, models = {}, {}
            for votes, rate, rounds in (("discrete", 1.0, 200), ("real", 0.1, 200)):
                model = AdaBoostMH(HammingTree(), rounds, votes=votes, learning_rate=rate, random_state=0)
                n_folds = max(2, min(3, np.bincount(y[train]).min()))
                found = select(model, X[train], y[train], grid, n_folds=n_folds)
                key = "discrete" if votes == "discrete" else "real .1"
                held[key], models[key] = found.error.min(), found.estimator
                errors[key].append(1 - found.estimator.score(X[test], y[test]))
            errors.setdefault("better of the two by inner folds", []).append(errors[min(held, key=held.get)][-1])
            for peer, estimator in peers(X.shape[1]).items():
                others.setdefault(peer, []).append(1 - estimator.fit(X[train], y[train]).score(X[test], y[test]))
        shown = ", ".join(f"{k} {np.mean(v):.1%} ± {np.std(v):.1%}" for k, v in {**errors, **others}.items())
        print(f"{name} (paper {PAPER[name]} %): {shown}", flush=True)


def scale(_):
    rng = np.random.default_rng(0)

    def data(n, d, k):
        y = rng.integers(0, k, n)
        X = rng.normal(size=(n, d)).astype(np.float32)
        X[:, : min(d, 5)] += y[:, None] / k * 3
        return X, y

    warm(*data(600, 5, 3))
    for what, sizes in (
        ("rows", [(n, 20, 8) for n in (10_000, 20_000, 40_000, 80_000)]),
        ("features", [(10_000, d, 8) for d in (20, 40, 80, 160)]),
        ("classes", [(10_000, 20, k) for k in (8, 16, 32, 64)]),
    ):
        for n, d, k in sizes:
            X, y = data(n, d, k)
            few, _ = cpu(lambda: AdaBoostMH(n_rounds=2, max_bins=64).fit(X, y))  # noqa: B023
            more, _ = cpu(lambda: AdaBoostMH(n_rounds=32, max_bins=64).fit(X, y))  # noqa: B023
            print(f"{what:9} n={n} d={d} K={k}: {(more - few) / 30 * 1e3:.1f} ms a tree", flush=True)
    X, y = data(1_000_000, 50, 10)
    extra, (taken, _) = memory(lambda: cpu(lambda: AdaBoostMH(n_rounds=10).fit(X, y)))
    print(f"1,000,000 x 50 x 10: binning and ten rounds {taken:.1f} s CPU, {extra / 1024:.2f} GiB beside the data")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("speed", "error", "small", "scale"))
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    if not DATA.exists():
        sys.exit(f"no data: {DATA}")
    names = args.names or {"speed": MIDDLE[:4], "error": MIDDLE, "small": SMALL, "scale": ()}[args.what]
    {"speed": speed, "error": error, "small": small, "scale": scale}[args.what](names)


if __name__ == "__main__":
    main()
