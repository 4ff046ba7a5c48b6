"""Options that would change nothing with the rule, learner or loss in use: refused, not ignored."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from structens.core import Estimator, ParameterError
from structens.online.history_conversion import LEARNERS, RATELESS
from structens.online.slot_leaders import LEADER_RULES

TAKERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "epsilon": ("rule", LEADER_RULES),
    "noise": ("rule", LEADER_RULES),
    "union_bound": ("rule", ("mvote", "rand", "fpl", "fplrand")),
    "beta": ("learner", tuple(name for name in LEARNERS if name not in RATELESS)),
    "share": ("learner", ("fixed-share", "prequential")),
    "ngram_order": ("loss", ("ngram",)),
    "alpha": ("use_confidence", ("average", "maximum")),
    "null_confidence": ("use_confidence", ("average", "maximum")),
}
"""Option -> the parameter that decides whether it matters, and the values with which it does."""


def idle(name: str, options: Mapping[str, Any]) -> str | None:
    """Why an option changes nothing beside these others: who would take it; None where it matters.

    Parameters
    ----------
    name : str
    options : mapping
        All parameters of an ensemble.

    Examples
    --------
    >>> idle("share", {"rule": "mvote", "learner": "hedge", "share": 0.5})
    "it is for learner fixed-share or prequential, and learner is 'hedge'"
    >>> idle("share", {"rule": "mvote", "learner": "fixed-share", "share": 0.5}) is None
    True
    """
    follows_leaders, loss = options.get("rule") in LEADER_RULES, options.get("loss")
    by_ngrams = not isinstance(loss, str) and loss is not None and hasattr(loss, "patterns")
    by_ngrams = by_ngrams or (isinstance(loss, str) and loss == "ngram")
    if name == "beta" and follows_leaders:
        return f"it is for rules that follow no perturbed leader, and rule is {options['rule']!r}; they take epsilon"
    if name == "absent" and (follows_leaders or by_ngrams or options.get("tie") == "label"):
        return f"it is not for rules {listed(LEADER_RULES)}, tie label or n-gram gains"
    if name not in TAKERS:
        return None
    if name == "null_confidence" and options.get("base") == "votes":
        return "it is for base confidences, and base is 'votes'"
    by, values = TAKERS[name]
    if by not in options or (isinstance(options[by], str) and options[by] in values):
        return None
    return f"it is for {by} {listed(values)}, and {by} is {options[by]!r}"


def refuse_idle(ensemble: Estimator) -> None:
    """Refuse parameters that differ from their defaults and change nothing.

    Raises
    ------
    ParameterError
        It names what takes the option.

    Examples
    --------
    >>> from structens.ensembles import PathExpertEnsemble
    >>> refuse_idle(PathExpertEnsemble("mvote", noise="laplace"))
    Traceback (most recent call last):
    structens.core.errors.ParameterError: noise='laplace' changes nothing: it is for rule fpl, fplcv or fplrand, ...
    """
    options, defaults = ensemble.get_params(deep=False), inspect.signature(type(ensemble)).parameters
    for name, value in options.items():
        if repr(value) != repr(defaults[name].default):
            why = idle(name, options)
            if why is not None:
                raise ParameterError(f"{name}={value!r} changes nothing: {why}")


def listed(names: Sequence[str]) -> str:
    """Names in a sentence.

    Examples
    --------
    >>> listed(("a",)), listed(("a", "b", "c"))
    ('a', 'a, b or c')
    """
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))
