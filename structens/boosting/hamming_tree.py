"""Base learners that cut the data: the Hamming tree of Kegl (2014), and its smallest, the stump."""

from __future__ import annotations

from structens.boosting.any_cut import AnyCut
from structens.boosting.ranges import check_whole
from structens.boosting.settings import RULES
from structens.core import Estimator, ParameterError


class HammingTree(Estimator):
    """A tree of cuts whose every leaf votes for or against every class; grown where the edge rises most.

    A cut has a vote vector v, best for the rows of its cell; its leaves vote -v and +v, until they are cut in turn.
    The next cut is that which raises the edge most over what its leaf has so far.

    Parameters
    ----------
    n_inner_nodes : int
        Cuts, those that turn out to be constant counted.
    constant : {"hybrid", "paper", "multiboost"}
        What a cell does where voting the same for all its rows beats every cut.

        - "paper": the constant is taken, and the cell is not cut again; Kegl (2014), Figures 2 and 3.
        - "hybrid": the same, but a cut that is as good as the constant is preferred. So exclusive or can be learnt.
        - "multiboost": cells are always cut; what counts is the gain over the best constant, not over the vote of the
          leaf. As the program of the paper's authors does.
    cut : AnyCut, optional
        What cuts a cell: any binary classifier. Default a threshold of one feature.

    Examples
    --------
    >>> HammingTree(n_inner_nodes=8)
    HammingTree(n_inner_nodes=8)

    References
    ----------
    Kegl, "The return of AdaBoost.MH: multi-class Hamming trees" (ICML 2014).
    """

    def __init__(self, n_inner_nodes: int = 20, *, constant: str = "hybrid", cut: AnyCut | None = None) -> None:
        self.n_inner_nodes = n_inner_nodes
        self.constant = constant
        self.cut = cut

    def check(self) -> None:
        """Raise ParameterError if a parameter is out of its range."""
        check_whole("n_inner_nodes", self.n_inner_nodes, 1)
        if self.constant not in RULES:
            raise ParameterError(f"constant must be one of {', '.join(RULES)}; got {self.constant!r}")
        if self.cut is not None:
            if not isinstance(self.cut, AnyCut):
                raise ParameterError(f"cut must be an AnyCut, or None for thresholds; got {self.cut!r}")
            self.cut.check()


class Stump(HammingTree):
    """One cut, and one vote vector: the factorised decision stump. A `HammingTree` with one inner node.

    Parameters
    ----------
    constant : {"hybrid", "paper", "multiboost"}
        As in `HammingTree`.

    Examples
    --------
    >>> Stump().n_inner_nodes
    1
    """

    n_inner_nodes = 1
    cut = None

    def __init__(self, *, constant: str = "hybrid") -> None:
        self.constant = constant
