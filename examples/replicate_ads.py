"""Replicate the rows of tables 1 and 2 (ADS1 to ADS3) that Weighted Majority makes: m = 200, beta = .95.

Cortes, Kuznetsov and Mohri, "Ensemble methods for structured prediction" (ICML 2014), and the ACL 2014 version for
ADS3. Ten folds with disjoint training sets: learn on 200 sequences, test on the other 39,800; normalised Hamming loss,
mean and standard deviation over folds. The best expert is the best in hindsight, on the test sequences.

    python examples/replicate_ads.py            # some ten seconds; prints a Markdown table
    python examples/replicate_ads.py --n 8000   # faster, noisier
"""

import argparse

import numpy as np

from structens.align import align
from structens.datasets import ads
from structens.ensembles.vote import vote
from structens.losses import slot_losses
from structens.online import (
    Tying,
    average_weights,
    cumulative_at,
    eta_of,
    play,
    rounds_of,
    slot_cv_round,
    softmin,
    suffix_start,
)

M, BETA, N_FOLDS = 200, 0.95, 10
COLUMNS = ("best h_j", "H_Rand, suffix", "H_Rand, all rounds", "H_MVote", "H_CV")
PUBLISHED = {  # which rounds H_Rand draws from is not said
    1: (".5635±.00004", ".1112±.00540", "", ".0197±.00002", ".0197±.00002"),
    2: (".4000", ".4000±.00018", "", ".2172±.00983", ".2385±.00002"),
    3: (".2957±.00005", ".3196±.00018", "", ".1788±.00004", ".1788±.00004"),
}


def fold_errors(slots, loss, fold):
    """The five columns on one fold, and the round that H_CV chose, from 1."""
    train = slice(fold * M, (fold + 1) * M)
    tying = Tying.learn(slots[train], "position")
    rounds, eta = rounds_of(slots[train], tying), eta_of(BETA)
    chosen = slot_cv_round(rounds, eta)
    of_suffix = average_weights(rounds, eta, suffix_start(play(rounds, eta)))
    of_all = average_weights(rounds, eta, 0)
    of_cv = softmin(cumulative_at(rounds, np.array([chosen]))[0].reshape(-1, slots.n_experts), eta)
    tested = np.ones(len(slots), dtype=bool)
    tested[train] = False
    rest, loss = slots[tested], loss[tested[slots.record]]
    position = rest.position

    def drawn(weights):
        return (weights[position] * loss).sum(axis=1).mean()

    def voted(weights):
        return loss[np.arange(len(loss)), vote(rest.labels, weights[position]).first].mean()

    best = loss.mean(axis=0).min()
    return [best, drawn(of_suffix), drawn(of_all), voted(of_suffix), voted(of_cv)], chosen + 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=40_000, help="number of sequences")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    print("| set | rates | " + " | ".join(COLUMNS) + " | round of H_CV |")
    print("|---|---|" + "---|" * (len(COLUMNS) + 1))
    for which in (1, 2, 3):
        print(f"| ADS{which} | published | " + " | ".join(PUBLISHED[which]) + " | |")
        for preset in ("matched", "printed"):
            slots = align(ads(which, preset, n=args.n, seed=args.seed))
            loss = slot_losses(slots)
            folds = [fold_errors(slots, loss, fold) for fold in range(N_FOLDS)]
            errors = np.array([errors for errors, _ in folds])
            cells = [f"{m:.4f}±{s:.5f}" for m, s in zip(errors.mean(axis=0), errors.std(axis=0), strict=True)]
            chosen = sorted(chosen for _, chosen in folds)
            cells.append(f"{chosen[0]} to {chosen[-1]}")
            print(f"| ADS{which} | {preset} | " + " | ".join(cells).replace("0.", ".") + " |")


if __name__ == "__main__":
    main()
