"""Replicate the rows of tables 1 and 2 (ADS1 to ADS3) that on-line learners make: m = 200, beta = .95, epsilon = .01.

Cortes, Kuznetsov and Mohri, "Ensemble methods for structured prediction" (ICML 2014), and the ACL 2014 version for
ADS3. Ten folds with disjoint training sets: learn on 200 sequences, test on the other 39,800; normalised Hamming loss,
mean and standard deviation over folds. The best expert is the best in hindsight, on the test sequences.

    python examples/replicate_ads.py            # some twenty seconds; prints a Markdown table
    python examples/replicate_ads.py --quick    # 4,000 sequences and 3 folds: noisier
"""

import argparse

import numpy as np

from structens.align import align
from structens.datasets import ads
from structens.ensembles.vote import vote
from structens.losses import slot_losses
from structens.online import Perturbation, Tying, convert, convert_leaders, eta_of, printed_epsilon, rounds_of

M, BETA, EPSILON = 200, 0.95, printed_epsilon(n_experts=5, length=10)
NOISES = ("exp_add", "laplace")
COLUMNS = ("best h_j", "H_Rand", "H_Rand, all rounds", "H_MVote", "H_CV", "H_FPL", "H_FPL-CV", "round of H_CV")
PUBLISHED = {  # which rounds H_Rand draws from, and which noise FPL takes, is not said
    1: (".5635±.00004", ".1112±.00540", "", ".0197±.00002", ".0197±.00002", ".0228±.00947", ".0741±.04087", ""),
    2: (".4000", ".4000±.00018", "", ".2172±.00983", ".2385±.00002", ".2517±.05322", ".4001±.00028", ""),
    3: (".2957±.00005", ".3196±.00018", "", ".1788±.00004", ".1788±.00004", ".2189±.04097", ".3148±.00387", ""),
}


def fold_errors(slots, loss, fold, seed):
    """Errors on one fold: five columns of Weighted Majority, two of FPL for each noise; and H_CV's round, from 1."""
    train = slice(fold * M, (fold + 1) * M)
    rounds, eta = rounds_of(slots[train], Tying.learn(slots[train], "position")), eta_of(BETA)
    tested = np.ones(len(slots), dtype=bool)
    tested[train] = False
    rest, loss = slots[tested], loss[tested[slots.record]]

    def drawn(made):
        return (made.weights[rest.position] * loss).sum(axis=1).mean()

    def voted(made):
        return loss[np.arange(len(loss)), vote(rest.labels, made.weights[rest.position]).first].mean()

    suffix, cv = convert(rounds, eta), convert(rounds, eta, "cv")
    everything = convert(rounds, eta, delta=1e-300)  # so much confidence that the longest suffix is taken
    assert everything.start == 0
    row = [loss.mean(axis=0).min(), drawn(suffix), drawn(everything), voted(suffix), voted(cv)]
    for noise in NOISES:
        how = Perturbation(EPSILON, noise, seed=1000 * seed + fold)
        row += [voted(convert_leaders(rounds, how, rule)) for rule in ("fpl", "fplcv")]
    return row, cv.start + 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=40_000, help="number of sequences")
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="4,000 sequences, 3 folds")
    args = parser.parse_args()
    n, n_folds = (4000, 3) if args.quick else (args.n, args.folds)
    print("| set | rates | noise of FPL | " + " | ".join(COLUMNS) + " |")
    print("|---|---|---|" + "---|" * len(COLUMNS))
    for which in (1, 2, 3):
        print(f"| ADS{which} | published | not said | " + " | ".join(PUBLISHED[which]) + " |")
        for preset in ("matched", "printed"):
            slots = align(ads(which, preset, n=n, seed=args.seed))
            loss = slot_losses(slots)
            folds = [fold_errors(slots, loss, fold, args.seed) for fold in range(n_folds)]
            errors = np.array([errors for errors, _ in folds])
            cells = [f"{m:.4f}±{s:.5f}" for m, s in zip(errors.mean(axis=0), errors.std(axis=0), strict=True)]
            cells = [cell.replace("0.", ".") for cell in cells]
            rounds = f"{min(r for _, r in folds)} to {max(r for _, r in folds)}"
            for k, noise in enumerate(NOISES):
                own = cells[:5] if k == 0 else [""] * 5
                shown = [*own, *cells[5 + 2 * k : 7 + 2 * k], rounds if k == 0 else ""]
                print(f"| ADS{which} | {preset} | {noise} | " + " | ".join(shown) + " |")


if __name__ == "__main__":
    main()
