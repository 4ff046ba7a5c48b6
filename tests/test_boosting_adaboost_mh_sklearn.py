"""AdaBoostMH is a classifier as scikit-learn has them, with no exclusions."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from structens.boosting import AdaBoostMH, HammingTree, Stump

pytestmark = [pytest.mark.compiled, pytest.mark.filterwarnings("ignore")]


@parametrize_with_checks([AdaBoostMH(n_rounds=10), AdaBoostMH(Stump(), n_rounds=5, learning_rate=0.5)])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def test_search_and_pipelines():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 4)), rng.choice(["a", "b", "c"], 120)
    y[X[:, 0] > 0.3] = "a"
    grid = {"base__n_inner_nodes": [1, 4], "learning_rate": [0.5, 1.0]}
    search = GridSearchCV(AdaBoostMH(HammingTree(), n_rounds=5), grid, cv=3).fit(X, y)
    assert set(search.best_params_) == set(grid)
    assert cross_val_score(make_pipeline(StandardScaler(), AdaBoostMH(n_rounds=5)), X, y, cv=3).mean() > 0.4
