"""Does it matter which loss an ensemble learns and decodes by? Token error and BLEU on pronunciation and speech.

    python benchmarks/losses_table.py [--data ../shared/data] [--only pron] [--splits 8] [--write docs/losses.md]

Learnt and tested as in real_data.py. Rows: what the weights are learnt by (Hamming loss on slots, edit distance of
whole answers, gain of uni- and bigrams); columns: how the answer is decoded from them. Rates are chosen on held-out
records of the learning part, for n-grams on its last fifth. A second table repeats Hamming against edit on random
splits, a third gives the sizes of exact edit-distance automata.
"""

import time
from itertools import pairwise

import numpy as np
from pages import files_of, parser_of, put
from real_data import split

from structens.automata import edit_loss, expert_automaton
from structens.core import Automaton, AutomatonError, Ragged
from structens.ensembles import PathExpertEnsemble
from structens.ensembles.base import Ensemble
from structens.evaluate import compare_counts, count_errors
from structens.io import read_records
from structens.losses import LinearBleu, NGramGain, bleu
from structens.online import SlotHistoryLearner, ngram_mbr

FILES = ("pron", "asr_commonvoice_2019", "asr_commonvoice_valid_dev", "asr_librispeech_clean")
TIES = ("expert", "label")
ETAS = (0.0, *(10.0 ** np.linspace(-4, 0, 13)))
DECODERS = {"marginal": "vote", "mbr": "MBR, edit distance", "ngram": "MBR, linear BLEU"}
GAIN = NGramGain((1, 1))
DECODING = LinearBleu(precision=0.5, ratio=0.5)


class NGramTrained(Ensemble):
    """Weights of experts given the expert of the last unit, learnt by uni- and bigram gains; votes by their flows."""

    needs_gold = True

    def __init__(self, align="auto"):
        self.align = align

    def _learn(self, slots, X):
        first = np.arange(len(slots)) < max(1, len(slots) * 4 // 5)
        learn, held = np.flatnonzero(first), np.flatnonzero(~first)
        self.learner_ = self._learnt(slots[learn], X[learn])
        errors = []
        for eta in ETAS:
            self.learner_.eta = float(eta)
            labels = self._vote(slots[held], X[held], None).label
            rows = Ragged(labels, slots[held].offsets).to_list()
            answers = [[a for a in row if a >= 0] for row in rows]
            errors.append(edits(answers, references(X[held])))
        eta = float(ETAS[int(np.argmin(errors))])
        self.learner_ = self._learnt(slots, X)
        self.learner_.eta = eta

    def _learnt(self, slots, X):
        learner = SlotHistoryLearner(GAIN, slots.n_experts, 0.0)
        for i in range(len(slots)):
            if slots.lengths[i]:
                learner.update(slots, i, X.references[int(X.reference_offsets[i])])
        return learner

    def _weights(self, slots, X):
        parts = [self.learner_.flows(slots, i) for i in range(len(slots)) if slots.lengths[i]]
        return np.concatenate(parts) if parts else np.zeros(slots.labels.shape)


def references(X):
    rows, cuts = X.references.to_list(), X.reference_offsets.tolist()
    return [rows[a:b] for a, b in pairwise(cuts)]


def edits(answers, golds):
    from structens.losses import edit_distance

    return sum(min(edit_distance(g, a) for g in gold) for a, gold in zip(answers, golds, strict=True))


def decode_by_ngrams(ensemble, X):
    """The answer of greatest expected linear BLEU against a path drawn from the weights."""
    X = X.reindex(ensemble.names_)
    slots = ensemble._slots(X)
    weights = ensemble._weights(slots, X)
    rows = []
    for i in range(len(slots)):
        if not slots.lengths[i]:
            rows.append([])
            continue
        made = expert_automaton(slots, i)
        weight = weights[slots.offsets[i] + made.slot, made.expert]
        cost = np.where(weight > 0, -np.log(np.where(weight > 0, weight, 1.0)), np.inf)
        rows.append(ngram_mbr(made.automaton, cost, DECODING).labels)
    return X.render(Ragged.of(rows))


def answers_of(ensemble, test):
    """Decoder -> answers. Decoders other than the vote take slots as independent, as H_MVote's weights are."""
    out = {"marginal": ensemble.predict(test)}
    if isinstance(ensemble, PathExpertEnsemble):
        out["mbr"] = ensemble.set_params(decode="mbr").predict(test)
        ensemble.set_params(decode="marginal")
        out["ngram"] = decode_by_ngrams(ensemble, test)
    return out


def measure(path, data, tie):
    """Rows (trained by, decoder -> token error, BLEU, paired comparison with Hamming and vote)."""
    learn, test = split(data, path)
    length = None
    base, rows = None, []
    makers = {
        "Hamming": lambda: PathExpertEnsemble(tie=tie),
        "edit": lambda: PathExpertEnsemble(tie=tie, loss="edit"),
    }
    if tie == "expert":
        makers["1-, 2-grams"] = NGramTrained
    golds = [[test.alphabet.decode(row) for row in rows_] for rows_ in references(test)]
    for trained, make in makers.items():
        start = time.process_time()
        ensemble = make().fit(learn)
        spent = time.process_time() - start
        cells = {}
        for decoder, answers in answers_of(ensemble, test).items():
            counts = count_errors(answers, test, loss="edit")
            length = sum(counts.reference_length)
            base = base or counts
            against = compare_counts(counts, base, ("this", "Hamming")) if counts is not base else None
            tokens = [list(a) for a in answers]
            cells[decoder] = (float(counts.errors.sum() / length), bleu(golds, tokens), against)
        rows.append((path, tie, trained, cells, spent))
        shown = " ".join(f"{d} {e:.4f} BLEU {100 * b:.2f}" for d, (e, b, _) in cells.items())
        print(f"{path} {tie} {trained}: {shown} ({spent:.1f} s to learn)", flush=True)
    return rows


def random_splits(name, data, tie, n):
    """Row of the second table: errors by Hamming and edit on n random splits of the sizes of real_data.py."""
    known = np.flatnonzero(data.has_gold)
    size = len(split(data, name)[0])
    errors = np.zeros((n, 2))
    for k in range(n):
        order = np.random.default_rng(k).permutation(known)
        learn, test = data[np.sort(order[:size])], data[np.sort(order[size:])]
        for j, loss in enumerate(("hamming", "edit")):
            counts = count_errors(PathExpertEnsemble(tie=tie, loss=loss).fit(learn).predict(test), test, loss="edit")
            errors[k, j] = 100 * counts.errors.sum() / sum(counts.reference_length)
    gain = errors[:, 0] - errors[:, 1]
    mean, deviation = errors.mean(axis=0), gain.std(ddof=1)
    better = f"{(gain > 0).sum()} / {(gain == 0).sum()} / {(gain < 0).sum()}"
    row = f"| {name} | {tie} | {mean[0]:.2f} | {mean[1]:.2f} | {-gain.mean():+.2f} ± {deviation:.2f} | {better} |"
    print(row, flush=True)
    return row


SPLITS_HEAD = """| data | tie | Hamming | edit | edit - Hamming, points | edit better / equal / worse |
|---|---|---|---|---|---|"""


def cell(error, score, against):
    if against is None:
        return f"{error:.4f} ({100 * score:.1f})"
    low, high = 100 * against.interval.low, 100 * against.interval.high
    mark = "**" if high < 0 or low > 0 else ""
    return f"{error:.4f} ({100 * score:.1f}) {mark}{100 * against.difference:+.2f} [{low:+.2f}, {high:+.2f}]{mark}"


def markdown(rows):
    head = ["data", "tie", "learnt by", *DECODERS.values(), "learning, s"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for path, tie, trained, cells, spent in rows:
        found = [cell(*cells[d]) if d in cells else "" for d in DECODERS]
        lines.append("| " + " | ".join([path, tie, trained, *found, f"{spent:.1f}"]) + " |")
    return "\n".join(lines)


def hypotheses(rng, p, n_slots, n_labels=40):
    """Experts right three times in four, 8 % gaps, and gold that lacks 8 % of its units."""
    gold = rng.integers(0, n_labels, n_slots)
    labels = np.where(rng.random((n_slots, p)) < 0.75, gold[:, None], rng.integers(0, n_labels, (n_slots, p)))
    labels = np.where(rng.random((n_slots, p)) < 0.08, -1, labels)
    rows = [(k, k + 1, int(a)) for k, row in enumerate(labels) for a in row]
    return Automaton.from_transitions(rows, final=[n_slots]), gold[rng.random(n_slots) >= 0.08]


def automata():
    """Markdown table of the sizes of exact edit-distance automata, mean of five."""
    lines = [
        "| experts | slots | states, plain | states, clipped | transitions, clipped | ms |",
        "|---|---|---|---|---|---|",
    ]
    edit_loss(*hypotheses(np.random.default_rng(0), 2, 2))
    for p, n_slots in ((5, 10), (20, 10), (5, 20), (10, 20), (20, 20), (5, 50)):
        rng, sizes = np.random.default_rng(1), []
        for _ in range(5):
            automaton, gold = hypotheses(rng, p, n_slots)
            start = time.process_time()
            made = edit_loss(automaton, gold)
            sizes.append((made.automaton.n_states, made.automaton.n_transitions, 1e3 * (time.process_time() - start)))
        try:
            plain = f"{edit_loss(automaton, gold, clip=False, max_states=300_000).automaton.n_states:,} (the last one)"
        except AutomatonError:
            plain = "more than 300,000"
        states, steps, ms = np.mean(sizes, axis=0)
        lines.append(f"| {p} | {n_slots} | {plain} | {states:,.0f} | {steps:,.0f} | {ms:.1f} |")
    return "\n".join(lines)


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--splits", type=int, default=8)
    options = parser.parse_args()
    rows, repeated = [], [SPLITS_HEAD]
    paths = {path.name.removesuffix(".jsonl.gz"): path for path in files_of(options)}
    for name in FILES:
        if name in paths:
            data = read_records(paths[name])
            for tie in TIES:
                rows += measure(name, data, tie)
                if options.splits > 1:
                    repeated.append(random_splits(name, data, tie, options.splits))
    table = markdown(rows)
    print("\n" + table)
    sizes = automata()
    print(sizes)
    if options.write:
        put(options.write, {"results": table, "splits": "\n".join(repeated), "sizes": sizes})


if __name__ == "__main__":
    main()
