"""CoBoost: cost of a round, the made-up task with and without the guard, WebKB and LingSpam from few labels.

python benchmarks/coboost.py            # about two CPU-minutes
Named entities: examples/named_entities.py
"""

import statistics
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from structens.boosting import CoBoost, CollapseWarning, DLCoTrain
from structens.boosting.two_views import View
from structens.datasets import two_views

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
SETS = {"WebKB": "webkb_course_2views.npz", "LingSpam": "lingspam_2views.npz"}
GUARD = {"prior": "labelled", "unlabelled_mass": 1}


def cpu_seconds(work) -> float:
    """Median of three."""
    taken = []
    for _ in range(3):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return statistics.median(taken)


def cost() -> None:
    print("| rows | features present | rounds | plain, CPU-s | ns a round and feature | guarded, CPU-s | ns |")
    print("|---|---|---|---|---|---|---|")
    for n, n_rounds in ((10_000, 100), (10_000, 200), (20_000, 100), (40_000, 100), (80_000, 100), (80_000, 400)):
        data = two_views(n=n)
        X = (View.of(data.view1), View.of(data.view2))
        present = sum(len(view.features) for view in X)
        cells = []
        for guard in ({}, GUARD):
            model = CoBoost(n_rounds, **guard)
            once = cpu_seconds(lambda model=model, X=X, seeds=data.seeds: model.fit(X, seeds=seeds))
            cells.append(f"{once:.2f} | {once / n_rounds / present * 1e9:.1f}")
        print(f"| {n:,} | {present:,} | {n_rounds} | {' | '.join(cells)} |", flush=True)


def made_up() -> None:
    print("\n| share of yes | seeds alone | plain | collapsed | guarded | collapsed | true prior | DL-CoTrain |")
    print("|---|---|---|---|---|---|---|---|")
    for prior in (0.5, 0.2):
        errors, collapsed = [], []
        for seed in range(10):
            data = two_views(prior=prior, seed=seed)
            X = (View.of(data.view1), View.of(data.view2))
            true = {"prior": [1 - prior, prior], "unlabelled_mass": 1}
            models = [CoBoost(100, **k).fit(X, seeds=data.seeds) for k in ({"unlabelled_mass": 0}, {}, GUARD, true)]
            lists = DLCoTrain().fit((data.view1, data.view2), seeds=data.seeds)
            errors.append([1 - m.score(X, data.labels) for m in models])
            errors[-1].append(1 - lists.score((data.view1, data.view2), data.labels))
            collapsed.append([m.collapsed_ for m in models])
        alone, plain, guarded, known, lists = (f"{100 * e:.1f} %" for e in np.mean(errors, axis=0))
        _, a, b, _ = np.sum(collapsed, axis=0)
        print(f"| {prior} | {alone} | {plain} | {a} of 10 | {guarded} | {b} of 10 | {known} | {lists} |", flush=True)


def few_labels(name: str, n_draws: int = 40) -> None:
    path = SHARED / "classification" / SETS[name]
    if not path.exists():
        print(f"\n{name}: no data at ../shared/data/classification")
        return
    with np.load(path) as f:
        views = [
            csr_array((f[f"v{j}_data"], f[f"v{j}_indices"].astype(np.int32), f[f"v{j}_indptr"]), f[f"v{j}_shape"])
            for j in (1, 2)
        ]
        y = f["y"]
    print(f"\n| {name}: labels | rounds | labelled rows only | plain | guarded | plain, guarded collapsed |")
    print("|---|---|---|---|---|---|")
    for counts in ((3, 9), (12, 36), (23, 82)):
        for n_rounds in (30, 100):
            drawn = np.array([few_label_errors(views, y, counts, n_rounds, seed) for seed in range(n_draws)])
            errors, collapsed = drawn[..., 0], drawn[..., 1].sum(0).astype(int)
            cells = [f"{100 * m:.1f} ± {100 * s:.1f}" for m, s in zip(errors.mean(0), errors.std(0), strict=True)]
            warned = f"{collapsed[1]}, {collapsed[2]} of {n_draws}"
            print(f"| {counts[0]} + {counts[1]} | {n_rounds} | {' | '.join(cells)} | {warned} |", flush=True)


def few_label_errors(views, y, counts, n_rounds, seed):
    order = np.random.default_rng(seed).permutation(len(y))
    test, train = order[: len(y) // 4], order[len(y) // 4 :]
    known = np.full(len(train), -1)
    for label, count in enumerate(counts):
        known[np.flatnonzero(y[train] == label)[:count]] = label
    X, Z = ([view[rows] for view in views] for rows in (train, test))
    settings = ({"unlabelled_mass": 0}, {}, GUARD)
    models = [CoBoost(n_rounds, **k).fit(X, known) for k in settings]
    return [(1 - model.score(Z, y[test]), model.collapsed_) for model in models]


if __name__ == "__main__":
    warnings.simplefilter("ignore", CollapseWarning)
    cost()
    made_up()
    for task in SETS:
        few_labels(task)
