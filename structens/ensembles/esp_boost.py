"""ESPBoost: an ensemble of boosted path experts.

Cortes, Kuznetsov and Mohri, "Learning ensembles of structured prediction rules" (ACL 2014), section 4.
"""

from __future__ import annotations

from structens.boosting.esp_boost import Boosted, boost_paths
from structens.boosting.esp_slots import PathExperts
from structens.core import ExpertPredictions, Slots
from structens.ensembles.decoding import Decode
from structens.ensembles.esp_ensemble import EspEnsemble
from structens.ensembles.restriction import Restriction
from structens.online.tying import Tie, Tying


class ESPBoost(EspEnsemble):
    """A vote of path experts, each the best under the weights that those before it left to the slots.

    Parameters
    ----------
    n_rounds : int
        Most path experts, T.
    tie : {"expert", "position", "position-from-end", "label"} or callable
        Which slots share their votes, see `structens.online.tying`; a path expert is a choice of one expert for each
        context. "position" is the paper's, for sequences that have one length.
    base : {"votes", "confidences"}
        Scores of a path expert: 1 for its label, or the confidence that came with it.
    step : {"newton", "closed"}
        Coefficients for "confidences", see `structens.boosting.esp_boost.boost_paths`.
    null_confidence : float
        Confidence of "nothing stands here", and of units without one, in [0, 1].
    scores : {"sum", "product"}
        What a restricted answer maximises: the summed votes of its slots, or their product.
    unequal : {"epsilon", "abstain"}
        An expert that says nothing in a slot where others say something: "epsilon" takes it for an answer, right where
        gold says nothing either; "abstain" for none, so that it neither gains, nor loses, nor votes.
    weighting : {"token", "record"}
        D_1: all slots alike, or all records.
    hopeless : {"charge", "skip"}
        Slots in which no expert is right, and so no path expert: "charge" counts them, as the paper does; they take
        over D round by round, until no path expert is better than chance. "skip" leaves them out of learning: they are
        errors of every ensemble, and F bounds the loss on the others.
    ties : {"order", "random"}
        As in `structens.ensembles.MajorityVote`.
    rho, delta : float
        Margin and confidence parameter of `bounds_`, in (0, 1].
    seed : int
        For lots, and the samples of "mbr".
    align, decode, restriction
        As in `structens.ensembles.PathExpertEnsemble`.

    Attributes
    ----------
    weights_ : ndarray of float64, shape (n_contexts + 1, p)
        Votes V of the experts in each context; the last row, their mean over slots, serves contexts that are new.
    paths_ : ndarray of int32, shape (n_paths + 1, n_contexts)
        The different path experts chosen: their expert in each context, -1 for none. The last is the best under D_1
        (with tie "label" the best expert), which answers alone where nothing could be boosted.
    alphas_ : ndarray of float64, shape (n_paths,)
        Coefficients of the path experts.
    round_paths_, steps_, edges_, epsilons_, z_ : ndarray, shape (T,)
        Of each round: its path, coefficient, edge, weighted error, and normaliser Z.
    stopped_ : {"rounds", "weak", "perfect"}
        Why it ended, see `structens.boosting.esp_boost.Boosted`.
    bounds_ : dict of str to float
        Training loss, F(alpha) above it, margin loss at rho, the bound of theorem 5 above it, and that of theorem 4 on
        the expected loss where all records have one number of slots; losses are of slots, weighted by D_1.
    contexts_ : ndarray, or list of str
        Ids of the contexts.
    counts_ : ndarray of float64, shape (n_contexts, p)
        Slots of learning in each context.

    Raises
    ------
    ParameterError
        In `fit`, if an option is out of range.

    Examples
    --------
    >>> X = ExpertPredictions.of({"a": ["cat", "dog"], "b": ["tap", "rip"]}, gold=["cap", "dip"])
    >>> model = ESPBoost(tie="position").fit(X)
    >>> model.predict({"a": ["tin"], "b": ["ton"]}), model.stopped_, model.votes_by_path_
    (['ton'], 'perfect', {(0, 1, 1): 1.1989476363991853})
    """

    def __init__(
        self,
        n_rounds: int = 100,
        tie: Tie = "expert",
        base: str = "votes",
        step: str = "newton",
        null_confidence: float = 0.5,
        scores: str = "sum",
        unequal: str = "epsilon",
        weighting: str = "token",
        hopeless: str = "charge",
        ties: str = "order",
        rho: float = 0.1,
        delta: float = 0.05,
        seed: int = 0,
        align: str = "auto",
        decode: Decode = "marginal",
        restriction: Restriction | None = None,
    ) -> None:
        self.n_rounds = n_rounds
        self.tie = tie
        self.base = base
        self.step = step
        self.null_confidence = null_confidence
        self.scores = scores
        self.unequal = unequal
        self.weighting = weighting
        self.hopeless = hopeless
        self.ties = ties
        self.rho = rho
        self.delta = delta
        self.seed = seed
        self.align = align
        self.decode = decode
        self.restriction = restriction

    def _boosted(self, paths: PathExperts, slots: Slots, X: ExpertPredictions, tying: Tying) -> Boosted:
        return boost_paths(paths, self.n_rounds, step=self.step)
