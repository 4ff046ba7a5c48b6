"""AdaBoost among scikit-learn's tools."""

import numpy as np
import pytest

from structens.boosting import AdaBoost

X = np.random.default_rng(0).normal(size=(60, 3))
y = np.where(X[:, 0] + X[:, 1] > 0, "up", "down")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("form", ["SS99", "FS97"])
def test_check_estimator_passes_with_no_exclusions(form):
    from sklearn.utils.estimator_checks import check_estimator

    results = check_estimator(AdaBoost(form=form), on_fail=None, on_skip=None)
    assert len(results) > 50
    assert [r["check_name"] for r in results if r["status"] not in ("passed", "skipped")] == []
    skipped = {r["check_name"] for r in results if r["status"] == "skipped"}
    assert skipped <= {"check_array_api_input"}  # scikit-learn wants an environment variable for that one


@pytest.mark.filterwarnings("ignore")
def test_checks_on_data_frames_pass():
    from sklearn.utils.estimator_checks import (
        check_dataframe_column_names_consistency,
        check_n_features_in,
        check_requires_y_none,
    )

    for check in (check_dataframe_column_names_consistency, check_n_features_in, check_requires_y_none):
        check("AdaBoost", AdaBoost())


def test_clone_grid_search_and_pipeline():
    from sklearn.base import clone, is_classifier
    from sklearn.model_selection import GridSearchCV, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    assert is_classifier(AdaBoost())
    assert clone(AdaBoost(n_rounds=7)).n_rounds == 7
    search = GridSearchCV(AdaBoost(), {"n_rounds": [1, 20]}, cv=3).fit(X, y)
    assert search.best_params_ == {"n_rounds": 20}
    assert cross_val_score(make_pipeline(StandardScaler(), AdaBoost(n_rounds=20)), X, y, cv=3).mean() > 0.8


def test_weights_are_routed_where_asked_for():
    from sklearn import config_context
    from sklearn.model_selection import cross_validate

    weight = np.where(y == "up", 1.0, 0.0)
    with config_context(enable_metadata_routing=True):
        asked = AdaBoost(n_rounds=5).set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        out = cross_validate(asked, X, y, cv=3, params={"sample_weight": weight}, return_estimator=True)
        assert all(est.classes_.tolist() == ["up"] for est in out["estimator"])
        with pytest.raises(Exception, match="not explicitly set as requested"):
            cross_validate(AdaBoost(), X, y, cv=3, params={"sample_weight": weight}, error_score="raise")


def test_not_fitted_is_scikit_learns_error_too():
    import pickle

    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError) as caught:
        AdaBoost().predict(X)
    assert isinstance(pickle.loads(pickle.dumps(caught.value)), NotFittedError)
