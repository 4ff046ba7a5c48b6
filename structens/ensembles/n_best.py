"""The n most probable answers of each record, with their probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from structens.automata import LabelAcceptor
from structens.core import GAP, ExpertPredictions, ParameterError, Ragged
from structens.ensembles.decoding import Weighted
from structens.ensembles.slot_strings import admissible_mass, best_slot_strings, place, string_probability
from structens.ensembles.vote import Votes


@dataclass(frozen=True, eq=False)
class NBest:
    """Answers from the most probable on; those of record i are ``offsets[i]:offsets[i + 1]``.

    Parameters
    ----------
    texts : Ragged of int32, one row an answer
        Codes; all answers of a record differ.
    probability : ndarray of float64, shape (n_answers,)
        Of the answer, all its alignments together; never increasing within a record.
    offsets : ndarray of int64, shape (n_records + 1,)
    source : ndarray of int64, shape (n_units,)
        Place in ``ExpertPredictions.hypotheses.values`` of each unit as the first expert behind it gave it.
    """

    texts: Ragged
    probability: NDArray[np.float64]
    offsets: NDArray[np.int64]
    source: NDArray[np.int64]

    def rows(self, X: ExpertPredictions) -> list[list[tuple[object, float]]]:
        """For each record its (answer, probability), answers of the input's type."""
        pairs = list(zip(X.render(self.texts), self.probability.tolist(), strict=True))
        cuts = self.offsets.tolist()
        return [pairs[a:b] for a, b in pairwise(cuts)]


def n_best_answers(weighted: Weighted, n: int, votes: Votes, acceptor: LabelAcceptor | None) -> NBest:
    """The n most probable strings of each record.

    Parameters
    ----------
    weighted : Weighted
    n : int
    votes : Votes
        The answers given; that of a record stands alone where the search found nothing.
    acceptor : LabelAcceptor, optional
        Only admissible strings, with their probabilities given that the string is admissible.

    Returns
    -------
    NBest
        Fewer than n answers of a record that has no more, or whose search reached its cap.

    Raises
    ------
    ParameterError
        If n is less than 1.
    """
    if n < 1:
        raise ParameterError(f"n must be a number of answers >= 1; got {n}")
    slots = weighted.slots
    texts: list[NDArray[np.int32]] = []
    sources: list[NDArray[np.int64]] = []
    probability: list[float] = []
    counts = []
    for i in range(len(slots)):
        span = slice(int(slots.offsets[i]), int(slots.offsets[i + 1]))
        network, source = weighted.network(i), slots.source[span]
        found = best_slot_strings(network, n, acceptor)
        total = (admissible_mass(network, acceptor) if acceptor is not None else 1.0) or 1.0
        rows = [np.array(text, dtype=np.int32) for text in found.strings]
        chances = found.probability.tolist()
        first = [place(network, text) for text in rows]
        if not rows:
            said = votes.label[span]
            rows, first = [said[said != GAP]], [votes.first[span]]
            chances = [string_probability(network, rows[0])]
        for text, leader in zip(rows, first, strict=True):
            s = np.arange(len(leader))
            units = network.labels[s, leader] != GAP
            texts.append(text)
            sources.append(source[s, leader][units])
        probability += [min(chance / total, 1.0) for chance in chances]
        counts.append(len(rows))
    return NBest(
        texts=Ragged.of(texts),
        probability=np.array(probability, dtype=np.float64),
        offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        source=np.concatenate([np.zeros(0, np.int64), *sources]),
    )
