"""Minimum Bayes risk: the candidate with the least expected loss under the distribution over strings, for any loss.

The expectation is exact where the strings are few, else over a sample; candidates are the strings of the sample (or all
of them), the answer of every expert, and the marginal answer. Kumar and Byrne, "Minimum Bayes-risk decoding for
statistical machine translation" (2004); Eikema and Aziz (2022) for samples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.automata import LabelAcceptor
from structens.core import GAP, Alphabet, ParameterError
from structens.ensembles.slot_strings import SlotNetwork, Text, all_slot_strings
from structens.online.draws import uniforms

StringLoss = Callable[[Sequence[str], Sequence[str]], float]


@dataclass(frozen=True)
class MBR:
    """How to decode by minimum Bayes risk; ``decode="mbr"`` is ``MBR()``.

    Parameters
    ----------
    loss : "edit", or callable
        Edit distance, or a function of (reference, hypothesis), both lists of labels, such as one minus BLEU.
    n_samples : int
        Strings drawn for a record that has too many.
    most_exact : int
        A record with at most so many sequences of labels is decided exactly.

    Raises
    ------
    ParameterError
        If an option is out of range.

    Examples
    --------
    >>> MBR(n_samples=20)
    MBR(loss='edit', n_samples=20, most_exact=128)
    """

    loss: str | StringLoss = "edit"
    n_samples: int = 100
    most_exact: int = 128

    def __post_init__(self) -> None:
        if not (callable(self.loss) or self.loss == "edit"):
            raise ParameterError(f"the loss of MBR must be 'edit' or a function; got {self.loss!r}")
        if self.n_samples < 1 or self.most_exact < 1:
            raise ParameterError(
                f"n_samples and most_exact must be at least 1; got {self.n_samples}, {self.most_exact}"
            )


def least_risk(
    network: SlotNetwork,
    candidates: Iterable[Text],
    how: MBR,
    key: np.uint64,
    alphabet: Alphabet,
    acceptor: LabelAcceptor | None = None,
) -> Text:
    """The candidate with the least expected loss.

    Parameters
    ----------
    network : SlotNetwork
    candidates : iterable of strings of codes
        In the order that decides ties; the strings of the distribution come after them, the most probable first.
    how : MBR
    key : uint64
        Of the record, from `structens.online.record_keys`, for the sample.
    alphabet : Alphabet
    acceptor : LabelAcceptor, optional
        Strings that it refuses are neither candidates nor evidence, unless there are no others.

    Examples
    --------
    >>> network = SlotNetwork(np.array([[0, -1], [0, -1]], np.int32), np.array([[0.6, 0.4], [0.4, 0.6]]))
    >>> least_risk(network, [(0, 0)], MBR(), np.uint64(1), Alphabet(("x",)))
    (0,)
    """
    exact = network.n_sequences <= how.most_exact
    evidence = all_slot_strings(network) if exact else sampled_strings(network, how.n_samples, key)
    listed = list(dict.fromkeys(candidates))
    if acceptor is not None:
        evidence = {text: mass for text, mass in evidence.items() if acceptor.accepts(text)} or evidence
        listed = [text for text in listed if acceptor.accepts(text)] or listed
    by_mass = sorted(evidence.items(), key=lambda item: -item[1])
    listed = list(dict.fromkeys([*listed, *(text for text, _ in by_mass)]))
    if acceptor is not None:
        listed = [text for text in listed if acceptor.accepts(text)] or listed
    mass = np.array([share for _, share in by_mass])
    risk = _losses([text for text, _ in by_mass], listed, how.loss, alphabet) @ (mass / mass.sum())
    return listed[int((risk <= risk.min() + 1e-12 * (1.0 + risk.min())).argmax())]


def sampled_strings(network: SlotNetwork, n: int, key: np.uint64) -> dict[Text, float]:
    """Strings drawn from the network with their frequencies; the draw depends on the key only.

    Examples
    --------
    >>> sampled_strings(SlotNetwork(np.array([[7, -1]], np.int32), np.array([[1.0, 0.0]])), 3, np.uint64(5))
    {(7,): 1.0}
    """
    n_slots, p = network.labels.shape
    up_to = np.maximum(network.share, 0.0).cumsum(axis=1)
    draw = uniforms(np.array(key, np.uint64), np.arange(n * n_slots).reshape(n, n_slots))
    below = np.minimum(draw * up_to[:, -1], np.nextafter(up_to[:, -1], 0.0))
    expert = np.zeros((n, n_slots), dtype=np.int64)
    for j in range(p - 1):
        expert += below >= up_to[:, j]
    drawn, times = np.unique(network.labels[np.arange(n_slots), expert], axis=0, return_counts=True)
    out: dict[Text, float] = {}
    for row, count in zip(drawn.tolist(), times.tolist(), strict=True):
        text = tuple(label for label in row if label != GAP)
        out[text] = out.get(text, 0.0) + count / n
    return out


def _losses(
    references: list[Text], hypotheses: list[Text], loss: str | StringLoss, alphabet: Alphabet
) -> NDArray[np.float64]:
    """Loss of every hypothesis (row) against every reference (column)."""
    if not callable(loss):
        from rapidfuzz.distance import Levenshtein
        from rapidfuzz.process import cdist

        rows, columns = _as_texts(hypotheses), _as_texts(references)
        return np.asarray(cdist(rows, columns, scorer=Levenshtein.distance, dtype=np.int32), dtype=np.float64)
    named: dict[Text, Any] = {text: alphabet.decode(text) for text in (*references, *hypotheses)}
    out = np.array([[loss(named[r], named[h]) for r in references] for h in hypotheses], dtype=np.float64)
    if not np.isfinite(out).all():
        raise ParameterError("the loss of MBR must give finite numbers")
    return out


def _as_texts(rows: list[Text]) -> list[str]:
    """One character a code, none of them half of a surrogate pair: rapidfuzz compares texts much faster than lists."""
    return ["".join(chr(code if code < 0xD800 else code + 0x800) for code in row) for row in rows]
