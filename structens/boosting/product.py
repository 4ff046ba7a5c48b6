"""Base learners beside trees: the Hamming product, and a stump for each class."""

from __future__ import annotations

import numpy as np

from structens.core import Estimator, ParameterError


class HammingProduct(Estimator):
    """A product of factorised stumps: each class is voted the product of what the factors vote for it.

    Parameters
    ----------
    n_factors : int
        From 1 to 12.
    loop : bool
        Learn the factors again in turn, as long as the edge rises; False: one pass.

    Examples
    --------
    >>> from structens.boosting import AdaBoostMH
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["even", "odd", "odd", "even"]
    >>> AdaBoostMH(HammingProduct(2), n_rounds=1).fit(X, y).predict(X).tolist()
    ['even', 'odd', 'odd', 'even']

    References
    ----------
    Kegl and Busa-Fekete, "Boosting products of base classifiers" (ICML 2009).
    """

    def __init__(self, n_factors: int = 3, *, loop: bool = True) -> None:
        self.n_factors = n_factors
        self.loop = loop

    def check(self) -> None:
        """Raise ParameterError if a parameter is out of its range."""
        if not isinstance(self.n_factors, (int, np.integer)) or not 1 <= self.n_factors <= 12:
            raise ParameterError(f"n_factors must be from 1 to 12; got {self.n_factors!r}")


class OneAgainstAll(Estimator):
    """For each class the stump, or the constant, that tells it best from all others; no single cut, so no tree node.

    Examples
    --------
    >>> from structens.boosting import AdaBoostMH
    >>> X, y = [[1], [2], [3], [4], [5], [6]], [0, 0, 1, 1, 2, 2]
    >>> AdaBoostMH(OneAgainstAll(), n_rounds=1).fit(X, y).edges_.round(4).tolist()
    [0.8333]

    References
    ----------
    Schapire and Singer, "Improved boosting algorithms using confidence-rated predictions" (Machine Learning 37, 1999).
    """

    def check(self) -> None:
        """Nothing can be out of range."""
