"""What a round of boosting needs to know, whichever way it looks for cuts."""

from __future__ import annotations

from dataclasses import dataclass

from structens.boosting.histogram_layout import HYBRID, MULTIBOOST, PAPER

RULES = {"hybrid": HYBRID, "paper": PAPER, "multiboost": MULTIBOOST}


@dataclass(frozen=True)
class RoundSettings:
    """Size of the trees, and how they vote.

    Attributes
    ----------
    n_inner_nodes : int
    rule : {"hybrid", "paper", "multiboost"}
        What becomes of constants; see `structens.boosting.HammingTree`.
    votes : {"discrete", "abstain", "real"}
        +1 and -1 times one coefficient; the same with 0 where a vote does not pay; half the log-odds of each leaf.
    shrinkage : float
        Multiplies every vote.
    trim : float
        Share of the weight whose lightest rows sit out the growing of a tree; histograms only.
    smoothing : float
        s of real votes: (W+ + s / (K n)) / (W- + s / (K n)).
    n_rows : float
        That n.
    clamp : float
        A coefficient is never larger than for an edge of 1 less this.
    least_share : float
        Share of the weight that both sides of a cut must have; exact engine only.
    edge_offset : float
        theta: coefficients are those of the edge less theta, and edges up to theta are none.
    least_edge : float
        Weights change only where the edge is larger.
    """

    n_inner_nodes: int = 20
    rule: str = "hybrid"
    votes: str = "discrete"
    shrinkage: float = 1.0
    trim: float = 0.01
    smoothing: float = 0.5
    n_rows: float = 1.0
    clamp: float = 2e-6
    least_share: float = 0.0
    edge_offset: float = 0.0
    least_edge: float = 1e-12

    @property
    def real(self) -> bool:
        """Whether votes are real."""
        return self.votes == "real"

    def over(self, tolerance: float = 0.0) -> float:
        """What an edge must be over to count, where edges are known but for `tolerance`."""
        return max(self.least_edge, self.edge_offset, tolerance)
