"""Boosting seen: trees as text, graph and picture, regions round by round, learning curves."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structens.boosting import AdaBoost
from structens.boosting.trees import AT_LEAST, AT_LEAST_OR_NAN_BELOW, EQUAL, HammingTreeArrays
from structens.core import DataError, NotFittedError, ParameterError
from structens.report import learning_curves, plot_curves, plot_regions, plot_tree, tree_graph, tree_text


def random_tree(n_cuts, n_classes, seed, real=False):
    """Leaves numbered from left to right, cuts in an order in which they can have been made."""
    rng = np.random.default_rng(seed)
    children, open_ends = {}, [None]
    for cut in range(n_cuts):
        parent = open_ends.pop(int(rng.integers(len(open_ends))))
        if parent is not None:
            children[parent[0]][parent[1]] = cut
        children[cut] = [None, None]
        open_ends += [(cut, 0), (cut, 1)]
    count = 0

    def number(cut):
        nonlocal count
        for side in (0, 1):
            if children[cut][side] is None:
                children[cut][side], count = -1 - count, count + 1
            else:
                number(children[cut][side])

    if n_cuts:
        number(0)
    vote = rng.normal(size=(n_cuts + 1, n_classes)) if real else rng.choice([-1, 1], size=(n_cuts + 1, n_classes))
    return HammingTreeArrays(
        feature=rng.integers(0, 3, n_cuts).astype(np.int32),
        threshold=rng.integers(-5, 5, n_cuts) / 2,
        test=rng.choice([AT_LEAST, AT_LEAST_OR_NAN_BELOW, EQUAL], n_cuts).astype(np.int8),
        left=np.array([children[k][0] for k in range(n_cuts)], dtype=np.int32),
        right=np.array([children[k][1] for k in range(n_cuts)], dtype=np.int32),
        gain=rng.random(n_cuts),
        vote=vote.astype(np.float32),
        coefficient=0.5,
        edge=0.25,
        normalizer=0.75,
    )


STUMP = random_tree(1, 3, 0)


def leaf_of(tree, row):
    """By the definition of the arrays."""
    node = 0 if len(tree.feature) else -1
    while node >= 0:
        x, b = row[tree.feature[node]], tree.threshold[node]
        yes = x == b if tree.test[node] == EQUAL else x >= b
        node = int((tree.right if yes else tree.left)[node])
    return -1 - node


def follow_text(lines, row):
    """The last line of the way of a row through the text of a tree."""
    depth, at = 0, 0
    while "?" in lines[at]:
        name, sign, threshold = re.search(r"(x\[\d\]) (>=|==) (\S+?)( and known)?\?", lines[at]).group(1, 2, 3)
        x = row[int(name[2])]
        yes = x == float(threshold) if sign == "==" else x >= float(threshold)
        wanted = " " * 0 + ("└─ yes: " if yes else "├─ no:  ")
        at = next(k for k in range(at + 1, len(lines)) if lines[k][8 * depth : 8 * depth + 8] == wanted)
        depth += 1
    return lines[at][8 * depth :]


# ---- trees


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 8), st.integers(1, 4), st.integers(0, 10_000), st.booleans())
def test_text_and_graph_send_rows_where_the_arrays_do(n_cuts, n_classes, seed, real):
    tree = random_tree(n_cuts, n_classes, seed, real)
    classes = [f"c{k}" for k in range(n_classes)]
    lines = tree_text(tree, classes=classes, digits=17).splitlines()[1:]
    assert len(lines) == 2 * n_cuts + 1
    graph = tree_graph(tree, classes=classes)
    for row in np.random.default_rng(seed).integers(-6, 6, size=(10, 3)) / 2:
        leaf = leaf_of(tree, row)
        data = graph.nodes[f"leaf {leaf}"]
        assert follow_text(lines, row) == data["label"]
        np.testing.assert_allclose(data["vote"], tree.vote[leaf])
    assert graph.number_of_nodes() == 2 * n_cuts + 1
    assert graph.number_of_edges() == 2 * n_cuts
    for parent, child, answer in graph.edges(data="answer"):
        (x0, y0), (x1, y1) = graph.nodes[parent]["pos"], graph.nodes[child]["pos"]
        assert y1 == y0 - 1
        assert (x1 < x0) == (answer == "no")
    places = [graph.nodes[f"leaf {k}"]["pos"][0] for k in range(n_cuts + 1)]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("vote", "text"),
    [
        ([1, -1, -1], "+ a"),
        ([-1, 1, 1], "- a"),
        ([1, 1, 1], "+ all classes"),
        ([-1, -1, -1], "- all classes"),
        ([0.5, -0.25, 0], "a +0.5, b -0.25, c +0"),
    ],
)
def test_votes_in_words(vote, text):
    from structens.report.hamming_tree_text import vote_text

    assert vote_text(np.array(vote), ["a", "b", "c"]) == text


def test_many_classes_are_counted_and_names_made_printable():
    tree = random_tree(1, 40, 3)
    text = tree_text(tree, classes=[f"class {k}" for k in range(40)], features=["a\nb"] * 3, max_classes=2)
    assert re.search(r"[+-] class \d+, class \d+ and \d+ more", text)
    assert len(text.splitlines()) == 4
    assert tree_text(STUMP).splitlines()[0] == "coefficient 0.5000, edge 0.2500, Z 0.7500"


def test_a_long_chain_needs_no_recursion():
    n = 1200
    k = np.arange(n)
    chain = HammingTreeArrays(
        np.zeros(n, np.int32), k + 0.5, np.zeros(n, np.int8), -1 - k, np.append(k[1:], -1 - n), k * 0.0,
        np.ones((n + 1, 1), np.float32), 1.0, 1.0, 0.5,
    )  # fmt: skip
    assert len(tree_text(chain).splitlines()) == 2 * n + 2
    assert tree_graph(chain).nodes[f"leaf {n}"]["pos"][1] == -n


@pytest.mark.parametrize("function", [tree_text, tree_graph, plot_tree])
def test_names_must_suffice(function):
    with pytest.raises(ParameterError, match="votes on 3 classes; got 2"):
        function(STUMP, classes=["a", "b"])
    with pytest.raises(ParameterError, match="names of features"):
        function(STUMP, features=[])


# ---- learning curves


def ring(n=60, seed=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, np.where((X**2).sum(axis=1) + 0.3 * rng.normal(size=n) > 1.3, "out", "in")


def test_curves_are_those_of_the_model():
    X, y = ring()
    model = AdaBoost(n_rounds=30).fit(X, y)
    curves = learning_curves(model, {"train": (X, y), "again": (X, y)})
    np.testing.assert_allclose(curves.error["train"], model.trace_.training_error, atol=1e-12)
    np.testing.assert_allclose(curves.bound, model.trace_.bound)
    assert (curves.error["again"] <= curves.bound).all()
    lines = curves.table(4).splitlines()
    assert [line.split()[0] for line in lines] == ["round", "1", "3", "10", "30"]
    assert str(curves).count("\n") <= 20
    assert learning_curves(AdaBoost().fit([[1.0]], ["a"]), {"train": ([[1.0]], ["a"])}).table().count("\n") == 0


def test_curves_need_a_fitted_booster():
    with pytest.raises(NotFittedError):
        learning_curves(AdaBoost(), {})
    with pytest.raises(ParameterError, match="staged_score"):
        learning_curves(object(), {})


def test_adaboost_mh_has_curves_trees_and_regions():
    from structens.boosting import AdaBoostMH, HammingTree

    X, y = ring()
    y = np.where(X[:, 0] > 1, "right", y)
    model = AdaBoostMH(HammingTree(3), n_rounds=5, engine="exact").fit(X, y)
    curves = learning_curves(model, {"train": (X, y)})
    assert curves.error["train"].tolist() == [1 - score for score in model.staged_score(X, y)]
    np.testing.assert_allclose(curves.bound[-1], np.prod(model.normalizers_))
    tree = model.forest_.trees[0]
    lines = tree_text(tree, classes=model.classes_, digits=17).splitlines()[1:]
    for row, leaf in zip(X, model.apply(X)[:, 0], strict=True):
        label = tree_graph(tree, classes=model.classes_).nodes[f"leaf {leaf}"]["label"]
        assert follow_text(lines, row) == label
    assert len(plot_regions(model, X, y, (1, 5), resolution=20).axes) == 4


# ---- pictures


def texts(figure):
    return [t.get_text() for axes in figure.axes for t in [*axes.texts, axes.title]] + [
        t.get_text() for t in figure.texts
    ]


def test_regions_show_the_winner_the_cut_and_the_weights():
    X, y = ring()
    model = AdaBoost(n_rounds=12).fit(X, y)
    figure = plot_regions(model, X, y, [1, 3, 12, 99], features=["u", "v"], resolution=40)
    assert len(figure.axes) == 6  # round 99 was not learnt
    above, below = figure.axes[:3], figure.axes[3:]
    assert above[0].get_title() == f"round 1: error {model.trace_.error[0]:.3f}, α {model.trace_.alpha[0]:.3f}"
    wrong = 100 * np.mean(model.predict(X, n_rounds=3) != y)
    assert below[1].get_title() == f"after 3 rounds: error {wrong:.1f} %"
    # areas of the points are the weights that the round saw
    areas = np.concatenate([points.get_sizes() for points in above[2].collections])
    weights = np.concatenate([model.trace_.weights[11][y == label] for label in model.classes_])
    np.testing.assert_allclose(areas, np.clip(18 * 60 * weights, 2, 400))
    cuts = [line for line in above[0].lines if line.get_linestyle() == "--"]
    assert len(cuts) == (model.feature_[0] >= 0)
    # the background's colour nearest to a class's is that of the class predicted there
    from structens.report.plot_style import COLORS, rgb_of

    image = below[2].images[0].get_array()[20, 20]
    x, v = (np.linspace(*limits, 40)[20] for limits in (below[2].get_xlim(), below[2].get_ylim()))
    nearest = np.argmin(
        [np.abs((1 - image) / (1 - image).max() - (1 - c) / (1 - c).max()).sum() for c in rgb_of(COLORS[:2])]
    )
    assert model.classes_[nearest] == model.predict([[x, v]])[0]


def test_regions_without_kept_weights_have_equal_points():
    X, y = ring()
    model = AdaBoost(n_rounds=5, keep_weights=False).fit(X, y)
    figure = plot_regions(model, X, y, [5], resolution=10)
    assert {float(size) for points in figure.axes[0].collections for size in points.get_sizes()} == {18.0}
    with pytest.raises(ParameterError, match="one from 1 to 5"):
        plot_regions(model, X, y, [6])
    with pytest.raises(DataError, match="two features"):
        plot_regions(model, np.zeros((3, 3)), y[:3])


def test_a_tree_shows_every_question_and_every_vote():
    from matplotlib.patches import Rectangle

    tree = random_tree(4, 3, 1)
    figure = plot_tree(tree, classes=["a", "b", "c"], features=["u", "v", "w"])
    shown = "\n".join(texts(figure))
    graph = tree_graph(tree, classes=["a", "b", "c"], features=["u", "v", "w"], digits=4)
    for node, data in graph.nodes(data=True):
        assert (data["label"] in shown) == node.startswith("cut")
    bars = [p for p in figure.axes[0].patches if isinstance(p, Rectangle)]
    assert len(bars) == 5 + 5 * 3  # a frame and three bars a leaf
    for p, vote in zip(bars[1:4], tree.vote[0], strict=True):
        np.testing.assert_allclose(p.get_height(), 0.3 * vote, rtol=1e-6)
    many = plot_tree(random_tree(2, 12, 1))
    assert sum(text.startswith(("+ ", "- ")) for text in texts(many)) == 3


def test_curves_are_drawn():
    X, y = ring()
    curves = learning_curves(AdaBoost(n_rounds=9).fit(X, y), {"train": (X, y)})
    figure = plot_curves(curves, title="ring")
    np.testing.assert_allclose(figure.axes[0].lines[0].get_ydata(), 100 * curves.error["train"])
    assert [t.get_text() for t in figure.axes[0].get_legend().get_texts()] == ["train", "product of Z (bound)"]
    with pytest.raises(ParameterError, match="no rounds"):
        plot_curves(learning_curves(AdaBoost().fit([[1.0]], ["a"]), {}))


def test_without_matplotlib_there_is_a_way_out(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    with pytest.raises(ParameterError, match=r"pip install structens\[plots\]"):
        plot_tree(STUMP)


def test_rounds_of_adaboost_mh_show_their_cells_and_the_weights_they_saw():
    from structens.boosting import AdaBoostMH, AnyCut, HammingTree, OneAgainstAll

    X, y = ring()
    y = np.where(X[:, 0] > 1, "right", y)
    model = AdaBoostMH(HammingTree(3), n_rounds=6).fit(X, y)
    assert model.row_weights_.shape == (7, len(X))
    above = plot_regions(model, X, y, [1, 2], resolution=30).axes[1]
    assert above.get_title() == f"round 2: edge {model.edges_[1]:.3f}, α {model.coefficients_[1]:.3f}"

    def areas(panel):
        return [c.get_sizes() for c in panel.collections if hasattr(c, "get_sizes")]

    weights = np.concatenate([model.row_weights_[1][y == label] for label in model.classes_])
    np.testing.assert_allclose(np.concatenate(areas(above)), np.clip(18 * len(X) * weights, 2, 400), rtol=1e-5)
    # one colour a cell, and the borders of all cells but one
    n_leaves = len(model.forest_.trees[1].vote)
    assert 2 <= len(np.unique(above.images[0].get_array().reshape(-1, 3), axis=0)) <= n_leaves
    assert len(above.collections) - len(areas(above)) == n_leaves - 1 >= 1
    real = AdaBoostMH(OneAgainstAll(), n_rounds=2, votes="real", keep_weights=False).fit(X, y)
    assert real.row_weights_ is None
    above = plot_regions(real, X, y, [2], resolution=20).axes[0]
    assert "α" not in above.get_title()
    assert {float(size) for group in areas(above) for size in group} == {18.0}
    oblique = AdaBoostMH(HammingTree(2, cut=AnyCut(Halves())), n_rounds=1).fit(X, y)
    tree = oblique.forest_.trees[0]
    assert "Halves says +?" in tree_text(tree)
    assert "Halves says +?" in "\n".join(texts(plot_tree(tree)))
    with pytest.raises(ParameterError, match="many"):
        plot_regions(AdaBoostMH(n_rounds=1).fit(X, np.stack([X[:, 0] > 0, X[:, 1] > 0], 1)), X, y)


def test_linear_cuts_are_read_and_drawn():
    from structens.boosting.classifier_cuts import LinearCut
    from structens.boosting.classifier_trees import ClassifierTree

    cut = LinearCut(np.array([0.5, -2.0, 0.0, 1.0, 0.25]), 1.5)
    plain = STUMP
    tree = ClassifierTree(
        plain.feature * 0 - 1, plain.threshold, plain.test, plain.left, plain.right, plain.gain, plain.vote,
        0.5, 0.25, 0.75, 0.0, (cut,),
    )  # fmt: skip
    names = ["a", "b", "c", "d", "e"]
    assert "-2 b + 1 d + 0.5 a + ... > -1.5?" in tree_text(tree, features=names)
    assert tree_graph(tree, features=names).nodes["cut 0"]["feature"] is None
    with pytest.raises(ParameterError, match="got 2 names"):
        tree_text(tree, features=names[:2])
    X = np.array([[0.0, 1.0, 9.0, 0.0, 0.0], [0.0, 0.0, 9.0, 0.0, 0.0]])
    assert cut.positive(X).tolist() == [False, True]
    assert tree.leaf(X).tolist() == [0, 1]


class Halves:
    """Calls +1 what lies above the mean of the heavier side: a classifier that is no linear one of scikit-learn."""

    def fit(self, X, y, sample_weight):
        means = [np.average(X[y == side], axis=0, weights=sample_weight[y == side]) for side in (-1, 1)]
        self.w, self.b = means[1] - means[0], (means[1] @ means[1] - means[0] @ means[0]) / 2
        return self

    def predict(self, X):
        return np.where(X @ self.w > self.b, 1, -1)
