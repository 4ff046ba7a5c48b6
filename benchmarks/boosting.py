"""AdaBoostMH beside LightGBM, XGBoost, random forest and SVM: error, time to an equal error, memory, prediction.

    python benchmarks/boosting.py speed [letter pendigits ...]  # to LightGBM's error; a tree, a prediction
    python benchmarks/boosting.py threads [letter 100000x50x10] # two threads by the clock, on a machine that is free
    python benchmarks/boosting.py error [letter pendigits ...]  # trees and rounds chosen on the train part
    python benchmarks/boosting.py small [iris wine ...]         # the nine small sets of Kegl (2014), ten folds
    python benchmarks/boosting.py scale                         # time against rows, features, classes; 1,000,000 rows

Data: ``../shared/data/classification/*.npz``. Times are CPU-seconds of one thread, kernels compiled before; sides take
turns in one run. Peers have sensible fixed settings, which are printed. In `speed` the number of rounds that reaches
LightGBM's error is read from the curve on test rows: it is a measure of speed only. In `error` nothing sees a test row
before the end: folds of the train part choose the setting, then the rounds, by the smoothed curve of Kegl (2014),
equation 15.
"""

import argparse
import os
import statistics
import sys
import threading
import time
from pathlib import Path

import numpy as np

from structens.boosting import AdaBoostMH, HammingTree, select
from structens.boosting.binning import bin_features

os.environ.setdefault("OMP_NUM_THREADS", "1")
DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "classification"
MIDDLE = ("letter", "pendigits", "optdigits", "usps", "isolet_lite", "mnist5k")
LARGE = ("letter", "usps", "100000x50x10")
PICTURE = Path(__file__).resolve().parents[1] / "docs" / "img" / "boosting-scale.svg"
SMALL = ("balance", "blood", "wdbc", "breast", "ecoli", "iris", "pima", "sonar", "wine")
PAPER = {"letter": "2.1", "pendigits": "2.1", "optdigits": "2.0", "usps": "4.5", "isolet_lite": "(3.5 on all)"}
PAPER |= dict(zip(SMALL, ("6±4", "22±4", "3±2", "34±13", "15±6", "7±6", "24±5", "13±10", "2±3"), strict=True))
# the recipe of `error`, the same for all sets: kinds of votes and, in each, numbers of inner nodes
FAMILIES = ({}, {"votes": "real", "learning_rate": 0.3}, {"votes": "real", "learning_rate": 0.1})
NODES = [20, 50]
SHORT, LONG = 1500, 4000  # rounds to choose a setting, then to choose the rounds; three folds both times
BINS = {"usps": 32}


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


def threads(names):
    """Seconds by the clock of one and of two threads, taking turns, while nothing else runs."""
    print("others: processor time of other processes, in cores; runs with more than .12 do not count; machine: twice")
    print("the speed of one fit over that of two independent ones side by side, the most that two threads could gain")
    for name in names:
        if name in MIDDLE:
            X, y, *_ = split(name)
        else:
            X, y = made(*map(int, name.split("x")))
        rounds = max(30, int(3e7 / X.size)) if name in MIDDLE else 30
        threads_on(name, X, y, {"usps": 64, "100000x50x10": 64}.get(name, 255), rounds)


def threads_on(name, X, y, bins, rounds):
    warm(X, y)
    models, wall = {}, {"one": [], "two": [], "side by side": [], "one a round": [], "two a round": []}

    def fit(k):
        models[k] = model = AdaBoostMH(HammingTree(20), rounds, max_bins=bins, n_jobs=k, engine="histogram")
        stamps = []
        model.set_params(callback=lambda *_: stamps.append(time.perf_counter())).fit(X, y)
        return statistics.median(np.diff(stamps))

    def side_by_side():
        both = [threading.Thread(target=fit, args=(k,)) for k in (1, 1)]
        for one in both:
            one.start()
        for one in both:
            one.join()

    for _ in range(7):
        for what, run in (("one", lambda: fit(1)), ("two", lambda: fit(2)), ("side by side", side_by_side)):
            seconds, others, out = undisturbed(run)
            if others < 0.12:
                wall[what].append(seconds)
                if out:
                    wall[f"{what} a round"].append(out)
    same = all(
        (a.vote == b.vote).all() and (a.threshold == b.threshold).all() and a.coefficient == b.coefficient
        for a, b in zip(models[1].forest_.trees, models[2].forest_.trees, strict=True)
    )
    mid = {what: statistics.median(v) if v else float("nan") for what, v in wall.items()}
    print(
        f"{name}: {rounds} rounds, binning too: one {mid['one']:.3f} s, two {mid['two']:.3f} s, "
        f"{mid['one'] / mid['two']:.2f} times as fast (machine {2 * mid['one'] / mid['side by side']:.2f}); a round "
        f"{mid['one a round'] * 1e3:.2f} and {mid['two a round'] * 1e3:.2f} ms, "
        f"{mid['one a round'] / mid['two a round']:.2f} times; undisturbed runs "
        f"{len(wall['one'])}, {len(wall['two'])}, {len(wall['side by side'])} of 7; same model: {same}",
        flush=True,
    )


def undisturbed(function, patience=120):
    """Run once nothing else has run for a fifth of a second; the time by the clock, and what others used of it."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        before = busy()
        time.sleep(0.2)
        if busy() - before < 0.02:
            break
    before, own, begin = busy(), time.process_time(), time.perf_counter()
    out = function()
    seconds = time.perf_counter() - begin
    return seconds, (busy() - before - (time.process_time() - own)) / seconds, out


def busy():
    """Seconds that all processors together have worked, or that the host has taken; Linux only."""
    ticks = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")


def error(names, alone=False):
    for name in names:
        X, y, X_test, y_test = split(name)
        taken, chosen = cpu(lambda: recipe(name, X, y))  # noqa: B023
        model = AdaBoostMH(HammingTree(), max_bins=BINS.get(name), trim=0.1, random_state=0).set_params(**chosen)
        fit, _ = cpu(lambda: model.fit(X, y))  # noqa: B023
        ours = 1 - model.score(X_test, y_test)
        spread = np.sqrt(ours * (1 - ours) / len(y_test))
        print(
            f"{name}: AdaBoostMH {ours:.2%} ± {spread:.2%} ({round(ours * len(y_test))} of {len(y_test)} rows; paper "
            f"{PAPER.get(name, '-')} %), {chosen}; fit {fit:.1f} s, selection {taken:.0f} s",
            flush=True,
        )
        for peer, estimator in () if alone else peers(X.shape[1]).items():
            fit, _ = cpu(lambda: estimator.fit(X, y))  # noqa: B023
            predict, score = cpu(lambda: estimator.score(X_test, y_test))  # noqa: B023
            print(
                f"    {peer:26} {1 - score:.2%}  fit {fit:.1f} s, {predict / len(y_test) * 1e6:.0f} us a row",
                flush=True,
            )


def recipe(name, X, y):
    """Parameters chosen on these rows: setting, then rounds."""
    common = {"max_bins": BINS.get(name), "trim": 0.1, "random_state": 0}
    best, setting = 1.0, {}
    for family in FAMILIES:
        model = AdaBoostMH(HammingTree(), SHORT, **common, **family)
        found = select(model, X, y, {"base__n_inner_nodes": NODES}, n_folds=3, refit=False)
        print(f"{name} {family}\n{found.table()}", flush=True)
        if found.error.min() < best:
            best, setting = found.error.min(), {**family, **found.params}
    model = AdaBoostMH(HammingTree(), **common).set_params(**{**setting, "n_rounds": LONG})
    found = select(model, X, y, n_folds=3, refit=False)
    print(f"{name} {setting}\n{found.table()}", flush=True)
    return {**setting, "n_rounds": found.params["n_rounds"]}


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


def made(n, d, k):
    """n rows, d features, k classes; five features tell the classes apart a little."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, k, n)
    X = rng.normal(size=(n, d)).astype(np.float32)
    X[:, : min(d, 5)] += y[:, None] / k * 3
    return X, y


def milliseconds_a_tree(n, d, k):
    """Median CPU-milliseconds of rounds 3 to 32."""
    stamps = []
    model = AdaBoostMH(
        n_rounds=32, max_bins=64, engine="histogram", callback=lambda *_: stamps.append(time.process_time())
    )
    model.fit(*made(n, d, k))
    return statistics.median(np.diff(stamps)[1:]) * 1e3


SIZES = {
    "rows": [(n, 20, 8) for n in (5_000, 10_000, 20_000, 40_000, 80_000, 160_000)],
    "features": [(10_000, d, 8) for d in (10, 20, 40, 80, 160, 320)],
    "classes": [(10_000, 20, k) for k in (8, 16, 32, 64, 128, 256)],
}


def scale(_):
    warm(*made(600, 5, 3))
    taken = {what: [[] for _ in sizes] for what, sizes in SIZES.items()}
    for _ in range(3):
        for what, sizes in SIZES.items():
            for size, times in zip(sizes, taken[what], strict=True):
                times.append(milliseconds_a_tree(*size))
    times = {what: [statistics.median(t) for t in rows] for what, rows in taken.items()}
    for what, sizes in SIZES.items():
        for (n, d, k), t in zip(sizes, times[what], strict=True):
            print(
                f"{what:9} n={n} d={d} K={k}: {t:.2f} ms a tree, {t * 1e6 / (n * d * k):.2f} ns / (n d K)", flush=True
            )
    draw(times)
    X, y = made(1_000_000, 50, 10)
    extra, (taken, _) = memory(lambda: cpu(lambda: AdaBoostMH(n_rounds=10).fit(X, y)))
    binned, _ = cpu(lambda: bin_features(X))
    print(f"1,000,000 x 50 x 10: binning and ten rounds {taken:.1f} s CPU, {extra / 1024:.2f} GiB beside the data")
    print(f"binning alone {binned:.1f} s")


def draw(times):
    """Time against size, each axis by powers of ten; dashed, what is linear and as fast as the largest."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "structens"
    figure, panels = plt.subplots(1, 3, figsize=(9, 3), sharey=True, layout="constrained")
    for panel, (what, sizes), place in zip(panels, SIZES.items(), range(3), strict=True):
        x = np.array([size[place] for size in sizes])
        panel.loglog(x, times[what][-1] * x / x[-1], "--", color="gray", label="linear")
        panel.loglog(x, times[what], "o-", label="measured")
        fixed = [f"{v:,} {u}" for v, u in zip(sizes[0], SIZES, strict=True) if u != what]
        panel.set(xlabel=what, title=", ".join(fixed))
        panel.title.set_fontsize(9)
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("CPU-milliseconds a tree of 20 cuts")
    panels[0].legend()
    figure.savefig(PICTURE, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("speed", "threads", "error", "small", "scale"))
    parser.add_argument("names", nargs="*")
    parser.add_argument("--alone", action="store_true", help="error: without the peers")
    args = parser.parse_args()
    if not DATA.exists():
        sys.exit(f"no data: {DATA}")
    names = (
        args.names or {"threads": LARGE, "speed": MIDDLE[:4], "error": MIDDLE, "small": SMALL, "scale": ()}[args.what]
    )
    if args.what == "error":
        error(names, args.alone)
    else:
        {"speed": speed, "threads": threads, "small": small, "scale": scale}[args.what](names)


if __name__ == "__main__":
    main()
