"""What a good engineer would do by hand with the votes of slots: LightGBM and a CRF; and crowd-kit's aggregators.

    pip install lightgbm python-crfsuite crowd-kit

All see the same slots as structens. With a closed vocabulary (at most 200 labels) they predict labels; with an open one
the number of the first expert behind the right answer, from who agrees with whom.
"""

from itertools import pairwise

import numpy as np

from structens.core import GAP, Ragged
from structens.core.alphabet import ABSENT

CLOSED = 200
NOBODY = -9


def codes_of(learn, test):
    """Whether the vocabulary is closed, votes of both parts as small numbers, and what is to be predicted."""
    closed = len(np.unique(learn.gold)) <= CLOSED
    votes = [slots.labels if closed else supporters(slots.labels) for slots in (learn, test)]
    right = learn.gold if closed else first_right(learn)
    return closed, votes, right


def supporters(labels):
    """For each expert the number of the first that says the same; ABSENT stays."""
    out = np.full(labels.shape, ABSENT, np.int32)
    for j in range(labels.shape[1] - 1, -1, -1):
        same = (labels == labels[:, j : j + 1]) & (labels[:, j : j + 1] != ABSENT)
        out = np.where(same, j, out)
    return np.where(labels == GAP, out + 100, out).astype(np.int32)


def first_right(slots):
    hit = slots.labels == slots.gold[:, None]
    return np.where(hit.any(axis=1), hit.argmax(axis=1), NOBODY)


def windowed(votes, record, width=1):
    """Votes of a slot and of its neighbours in the record."""
    parts = [votes]
    for step in [s for k in range(1, width + 1) for s in (-k, k)]:
        moved = np.roll(votes, -step, axis=0)
        inside = np.roll(record, -step) == record
        if step > 0:
            inside[-step:] = False
        else:
            inside[:-step] = False
        parts.append(np.where(inside[:, None], moved, ABSENT - 1))
    return np.concatenate(parts, axis=1)


def answers(predicted, closed, slots):
    """Predicted codes to one row of labels a record."""
    label = predicted if closed else slots.labels[np.arange(len(predicted)), np.maximum(predicted, 0)]
    said = (label != GAP) & (label != ABSENT)
    return Ragged.from_lengths(label[said], np.bincount(slots.record[said], minlength=len(slots)))


def lightgbm_one_hot(learn, test, seed=0):
    """LightGBM, multi-class, on the votes of the slot and its neighbours as categories."""
    import lightgbm

    closed, votes, right = codes_of(learn, test)
    known = right != NOBODY
    x, new = (windowed(v, s.record) + 3 for v, s in zip(votes, (learn, test), strict=True))
    classes, y = np.unique(right[known], return_inverse=True)
    if len(classes) == 1:
        return answers(np.full(len(new), classes[0]), closed, test)
    top = int(max(x.max(), new.max()))
    model = lightgbm.LGBMClassifier(
        n_estimators=60, num_leaves=15, learning_rate=0.15, min_child_samples=5, random_state=seed, n_jobs=1, verbose=-1
    )
    # labels met in testing only are a category that no tree has met
    x, new = np.minimum(x, top).astype(np.int32), np.minimum(new, top).astype(np.int32)
    model.fit(x[known], y, categorical_feature=list(range(x.shape[1])))
    return answers(
        classes[model.booster_.predict(new).reshape(len(new), -1).argmax(axis=1)]
        if len(classes) > 2
        else classes[(model.booster_.predict(new) > 0.5).astype(int)],
        closed,
        test,
    )


def crf_on_votes(learn, test, seed=0):
    """A linear-chain CRF (python-crfsuite, L-BFGS) with the votes of the slot and its neighbours as features."""
    import os
    import tempfile

    import pycrfsuite

    closed, votes, right = codes_of(learn, test)

    def features(v, slots):
        p = v.shape[1]
        rows = windowed(v, slots.record).tolist()
        names = [f"{j % p}{'clr'[j // p]}" for j in range(3 * p)]
        flat = [[f"{name}={value}" for name, value in zip(names, row, strict=True)] for row in rows]
        cuts = slots.offsets.tolist()
        return [flat[a:b] for a, b in pairwise(cuts)]

    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params({"c2": 0.1, "c1": 0.1, "max_iterations": 60, "feature.possible_transitions": False})
    cuts, labels = learn.offsets.tolist(), [str(r) for r in right.tolist()]
    for x, (a, b) in zip(features(votes[0], learn), pairwise(cuts), strict=True):
        if b > a:
            trainer.append(x, labels[a:b])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "crf")
        trainer.train(path)
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        out = [int(tag) for x in features(votes[1], test) for tag in tagger.tag(x)]
    return answers(np.where(np.array(out) == NOBODY, 0, out), closed, test)


def crowdkit_dawid_skene(learn, test, seed=0):
    """crowd-kit's Dawid-Skene with the gold of the learning part; open vocabularies: one coin a worker."""
    import pandas
    from crowdkit.aggregation import DawidSkene, OneCoinDawidSkene

    closed, votes, _ = codes_of(learn, test)
    labels = np.concatenate(votes)
    task, worker = np.nonzero(labels != ABSENT)
    said = labels[task, worker]
    frame = pandas.DataFrame({"task": task, "worker": worker, "label": said if closed else said % 100})
    gold = pandas.Series(learn.gold, index=np.arange(len(learn.gold)), name="label")
    if closed:
        found = DawidSkene(n_iter=10).fit_predict(frame, true_labels=gold)
    else:
        found = OneCoinDawidSkene(n_iter=10).fit_predict(frame)
    label = np.full(len(labels), GAP if closed else 0, np.int64)
    label[found.index.to_numpy()] = found.to_numpy()
    return answers(label[len(learn.gold) :], closed, test)


PEERS = {
    "crowd-kit": crowdkit_dawid_skene,
    "LightGBM one-hot": lightgbm_one_hot,
    "CRF on votes": crf_on_votes,
}
