"""From weighted slots to answers: the decoders by name, with or without a restriction.

* ``marginal``: in each slot the label with the most votes (H_MVote); under a restriction the admissible sequence with
  the most votes, summed over slots.
* ``viterbi``: the output of the most probable path expert: in each slot the expert with the largest weight.
* ``string``: the most probable string, all alignments of it together; `viterbi` where its search reaches the cap.
* ``mbr``: the string with the least expected loss, edit distance by default (`structens.ensembles.mbr`).

Slots are independent given their weights: path experts choose in each slot anew. Where no slot holds a GAP, ``string``
and ``marginal`` are the same. Cortes, Kuznetsov and Mohri (ICML 2014, section 3.3 and appendix E).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from structens.automata import LabelAcceptor
from structens.core import ABSENT, GAP, ParameterError, Slots
from structens.ensembles.mbr import MBR, least_risk
from structens.ensembles.restriction import best_admissible, compile_restriction, count_violations, scheme_of
from structens.ensembles.slot_strings import SlotNetwork, best_slot_strings, place
from structens.ensembles.vote import TIE_TOLERANCE, Votes
from structens.online.draws import record_keys

DECODERS = ("marginal", "viterbi", "string", "mbr")
Decode = str | MBR


class Weighted(NamedTuple):
    """Slots with all that decoders need.

    Attributes
    ----------
    slots : Slots
    weights : ndarray of float64, shape (n_slots, p)
        Of each expert.
    share : ndarray of float64, shape (n_slots, p)
        Of each label, at its first supporter; -1 elsewhere.
    marginal : Votes
        What the vote decides.
    ids : sequence of str or int
    seed : int
    score : ndarray of float64, shape (n_slots, p), or None
        What a restricted "marginal" sums, where that is not the share; at first supporters.
    """

    slots: Slots
    weights: NDArray[np.float64]
    share: NDArray[np.float64]
    marginal: Votes
    ids: Sequence[str | int]
    seed: int = 0
    score: NDArray[np.float64] | None = None

    def network(self, record: int) -> SlotNetwork:
        """The slots of one record."""
        begin, end = self.slots.offsets[record : record + 2]
        return SlotNetwork(self.slots.labels[begin:end], self.share[begin:end])


def check_decode(decode: Decode) -> None:
    """Refuse what is no decoder.

    Raises
    ------
    ParameterError

    Examples
    --------
    >>> check_decode("mbr"), check_decode(MBR(n_samples=10))
    (None, None)
    """
    if not isinstance(decode, MBR) and decode not in DECODERS:
        raise ParameterError(f"decode must be one of {', '.join(DECODERS)}, or an MBR; got {decode!r}")


def decode_slots(weighted: Weighted, decode: Decode, acceptor: LabelAcceptor | None) -> tuple[Votes, list[str]]:
    """Decide every slot, so that each record's labels without GAPs are its answer.

    Parameters
    ----------
    weighted : Weighted
    decode : str or MBR
    acceptor : LabelAcceptor, optional
        Admissible answers. A record without an admissible sequence among its experts' labels gets the one with the
        fewest violations, and of these the one with the most votes.

    Returns
    -------
    votes : Votes
        `share` is the vote behind the label taken, whatever the decoder; ties are those of the vote, where it stands.
    notes : list of str
        How many records have no admissible sequence, and how many searches reached their cap.
    """
    slots, votes, notes = weighted.slots, weighted.marginal, []
    if decode == "viterbi":
        votes = viterbi(weighted, acceptor)
    elif acceptor is not None:
        records = np.flatnonzero(count_violations(votes.label, slots.offsets, acceptor))
        score = np.where(weighted.share >= 0, weighted.share if weighted.score is None else weighted.score, -np.inf)
        votes = taken(weighted, best_admissible(slots, score, acceptor, records)[0], votes)
    if isinstance(decode, MBR) or decode == "mbr":
        votes = least_risk_votes(weighted, votes, decode if isinstance(decode, MBR) else MBR(), acceptor)
    elif decode == "string":
        votes, n_capped = most_probable(weighted, votes, acceptor)
        if n_capped:
            notes.append(f"{n_capped} records have too many strings to find the most probable; viterbi decided them")
    if acceptor is not None:
        n_bad = int((count_violations(votes.label, slots.offsets, acceptor) > 0).sum())
        if n_bad:
            what = "no admissible sequence among their experts' labels; they get the one with the fewest violations"
            notes.append(f"{n_bad} records have {what}")
    return votes, notes


def taken(weighted: Weighted, first: NDArray[np.int32], votes: Votes) -> Votes:
    """The votes with the label of the expert `first` of each slot put in their place; -1 changes nothing."""
    s = np.flatnonzero(first >= 0)
    label, share, leader = votes.label.copy(), votes.share.copy(), votes.first.copy()
    label[s] = weighted.slots.labels[s, first[s]]
    share[s] = weighted.share[s, first[s]]
    leader[s] = first[s]
    return Votes(label, share, votes.tie & (label == votes.label), leader)


def viterbi(weighted: Weighted, acceptor: LabelAcceptor | None) -> Votes:
    """In each slot the label of the expert with the largest weight; the most probable admissible such path.

    Equal weights are a tie, which goes to the first expert, GAP or not: a path expert's output is not mixed.
    """
    slots, share = weighted.slots, weighted.share
    weight = np.where(slots.labels == ABSENT, -1.0, weighted.weights)
    top = weight.max(axis=1, initial=-1.0, keepdims=True)
    largest = weight >= top * (1.0 - TIE_TOLERANCE)
    first = largest.argmax(axis=1)
    label = slots.labels[np.arange(len(first)), first] if len(first) else np.zeros(0, np.int32)
    same = (slots.labels == label[:, None]) & (slots.labels != ABSENT)
    leader = same.argmax(axis=1).astype(np.int32)
    votes = Votes(label, np.maximum(share[np.arange(len(leader)), leader], 0.0), (largest & ~same).any(axis=1), leader)
    if acceptor is None:
        return votes
    best = np.zeros(share.shape)  # weight of the heaviest expert behind each label
    for j in range(share.shape[1]):
        agree = (slots.labels == slots.labels[:, j : j + 1]) & (slots.labels != ABSENT)
        best[:, j] = np.where(agree, weighted.weights, 0.0).max(axis=1, initial=0.0)
    score = np.where(share >= 0, np.log(np.maximum(best / np.maximum(top, 1e-300), 1e-30)), -np.inf)
    records = np.flatnonzero(count_violations(votes.label, slots.offsets, acceptor))
    return taken(weighted, best_admissible(slots, score, acceptor, records)[0], votes)


def most_probable(weighted: Weighted, votes: Votes, acceptor: LabelAcceptor | None) -> tuple[Votes, int]:
    """The most probable admissible string of each record, and the number of searches that reached their cap."""
    slots, first = weighted.slots, np.full(len(votes.label), -1, dtype=np.int32)
    undecided = (slots.labels == GAP) & (weighted.share > 0) & (weighted.share < 1)
    needed = np.bincount(slots.record, weights=undecided.any(axis=1), minlength=len(slots)) > 0
    if acceptor is not None:
        needed |= count_violations(weighted.marginal.label, slots.offsets, acceptor) > 0
    capped = []
    for i in np.flatnonzero(needed).tolist():
        network = weighted.network(i)
        found = best_slot_strings(network, 1, acceptor)
        if found.strings:
            first[slots.offsets[i] : slots.offsets[i + 1]] = place(network, np.array(found.strings[0], np.int32))
        elif not found.complete:
            capped.append(i)
    if capped:
        by_path = viterbi(weighted, acceptor)
        inside = np.isin(slots.record, capped)
        first[inside] = by_path.first[inside]
    return taken(weighted, first, votes), len(capped)


def least_risk_votes(weighted: Weighted, votes: Votes, how: MBR, acceptor: LabelAcceptor | None) -> Votes:
    """The string of least risk of each record; `votes` is a candidate, and wins ties."""
    slots, first = weighted.slots, np.full(len(votes.label), -1, dtype=np.int32)
    open_slots = (weighted.share < 1) & (weighted.share >= 0)
    records = np.flatnonzero(np.bincount(slots.record, weights=open_slots.any(axis=1), minlength=len(slots)))
    keys = record_keys([weighted.ids[i] for i in records.tolist()], weighted.seed)
    for i, key in zip(records.tolist(), keys, strict=True):
        span = slice(int(slots.offsets[i]), int(slots.offsets[i + 1]))
        rows = np.column_stack([votes.label[span], slots.labels[span]]).T.tolist()
        candidates = [tuple(a for a in row if a != GAP) for row in rows if ABSENT not in row]
        network = weighted.network(i)
        best = least_risk(network, candidates, how, key, slots.alphabet, acceptor)
        if best != candidates[0]:
            first[span] = place(network, np.array(best, np.int32))
    return taken(weighted, first, votes)


def invalid_tags(slots: Slots, votes: Votes) -> list[str]:
    """A note on answers that break the chunk scheme that the labels look like."""
    scheme = scheme_of(slots.alphabet.labels)
    if scheme is None:
        return []
    acceptor = compile_restriction(scheme, slots.alphabet)
    violations = count_violations(votes.label, slots.offsets, acceptor)
    n_bad = int((violations > 0).sum())
    if n_bad == 0:
        return []
    name = scheme.upper()
    return [f"{n_bad} answers are not valid {name}; --constraint {scheme} (restriction={scheme!r}) makes them so"]
