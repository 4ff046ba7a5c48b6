"""The methods by the names that the command line uses."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from structens.core import ParameterError
from structens.ensembles.auto import AutoEnsemble
from structens.ensembles.base import Ensemble
from structens.ensembles.boosted_paths import BoostedPaths
from structens.ensembles.confusion_paths import ConfusionPaths
from structens.ensembles.dawid_skene import DawidSkene
from structens.ensembles.deep_esp_boost import DeepESPBoost
from structens.ensembles.esp_boost import ESPBoost
from structens.ensembles.forward_selection import ForwardSelection
from structens.ensembles.idle_options import TAKERS, idle, listed
from structens.ensembles.length_gated import LengthGated
from structens.ensembles.path_experts import PathExpertEnsemble
from structens.ensembles.reliability_selection import ReliabilitySelection
from structens.ensembles.voting import BestExpert, MajorityVote


def _rover(**options: Any) -> Ensemble:
    return MajorityVote(**{"use_confidence": "maximum", **options})


METHODS: dict[str, tuple[str, Callable[..., Ensemble]]] = {
    "auto": ("auto", AutoEnsemble),
    "best": ("best expert", BestExpert),
    "vote": ("majority", MajorityVote),
    "rover": ("ROVER", _rover),
    "rand": ("H_Rand", lambda **options: PathExpertEnsemble(rule="rand", **options)),
    "mvote": ("H_MVote", lambda **options: PathExpertEnsemble(rule="mvote", **options)),
    "cv": ("H_CV", lambda **options: PathExpertEnsemble(rule="cv", **options)),
    "last": ("last weights", lambda **options: PathExpertEnsemble(rule="last", **options)),
    "fpl": ("H_FPL", lambda **options: PathExpertEnsemble(rule="fpl", **options)),
    "fpl-cv": ("H_FPL-CV", lambda **options: PathExpertEnsemble(rule="fplcv", **options)),
    "fpl-rand": ("H_FPLRand", lambda **options: PathExpertEnsemble(rule="fplrand", **options)),
    "sle": ("H_SLE", ForwardSelection),
    "esp-boost": ("ESPBoost", ESPBoost),
    "deep-esp-boost": ("Deep ESPBoost", DeepESPBoost),
    "boosted-paths": ("BoostedPaths", BoostedPaths),
    "confusion": ("confusions", ConfusionPaths),
    "dawid-skene": ("Dawid-Skene", DawidSkene),
    "hrrasa": ("HRRASA", ReliabilitySelection),
}
"""Name on the command line -> (name in tables, maker)."""

LEARNING = (
    *("auto", "best", "rand", "mvote", "cv", "last", "fpl", "fpl-cv", "fpl-rand", "sle"),
    *("esp-boost", "deep-esp-boost", "confusion", "boosted-paths", "dawid-skene"),
)
"""Methods that learn from gold, where there is some."""


def make_ensemble(method: str, *, min_len: int | str | None = None, **options: Any) -> Ensemble:
    """The combiner of that name.

    Parameters
    ----------
    method : {"auto", "best", "vote", "rover", "rand", "mvote", "cv", "last", "fpl", "fpl-cv", "fpl-rand", "sle",
            "esp-boost", "deep-esp-boost", "confusion", "boosted-paths", "dawid-skene", "hrrasa"}
    min_len : int or "auto", optional
        Let the best expert answer records shorter than that, in a `LengthGated`; "auto" learns the length.
    **options
        Parameters of `AutoEnsemble`, `BestExpert`, `MajorityVote`, `PathExpertEnsemble`, `ESPBoost`, `DeepESPBoost`
        (but its `beta`), `BoostedPaths`, or `ForwardSelection` (but its `tie`): these two mean something else
        elsewhere. Those that the method does not have, or that would change nothing, are left out, so that one set of
        options serves several methods.

    Raises
    ------
    ParameterError
        If there is no such method.

    Examples
    --------
    >>> make_ensemble("vote", tie="expert"), make_ensemble("rover")
    (MajorityVote(), MajorityVote(use_confidence='maximum'))
    """
    if method not in METHODS:
        raise ParameterError(f"method must be one of {', '.join(METHODS)}; got {method!r}")
    made = _made(method, options)
    params = made.get_params(deep=False)
    unused = {name for name in options if idle(name, params) is not None}
    if unused:
        made = _made(method, {name: value for name, value in options.items() if name not in unused})
    if min_len is None:
        return made
    if isinstance(min_len, str) and min_len != "auto":
        raise ParameterError(f"min_len must be 'auto' or a length >= 0; got {min_len!r}")
    border = None if isinstance(min_len, str) else min_len
    both = {name: options[name] for name in ("seed", "align") if options.get(name) is not None}
    return LengthGated(made, border, **both)


def unused(method: str, option: str, options: Mapping[str, Any]) -> str | None:
    """Why a method makes no use of an option beside these others; None where it does.

    Parameters
    ----------
    method, option : str
    options : mapping
        As for `make_ensemble`.

    Examples
    --------
    >>> unused("fpl", "noise", {}) is None, unused("vote", "noise", {})
    (True, 'it is for method fpl, fpl-cv or fpl-rand')
    >>> unused("mvote", "share", {})
    "it is for learner fixed-share or prequential, and learner is 'hedge'"
    """
    if option == "min_len":
        return None
    if option in _known(method):
        why = idle(option, _made(method, options).get_params(deep=False))
        if why is None or option not in TAKERS or (TAKERS[option][0] != "rule" and not why.startswith(_NO_OPTION)):
            return why
    having = [m for m in METHODS if option in _known(m)]
    takers = [m for m in having if not idle(option, _made(m, {}).get_params(deep=False))] or having
    return f"it is for method {listed(takers)}"


def _known(method: str) -> set[str]:
    return set(METHODS[method][1]().get_params(deep=False)) - {"rule"} - _NOT_FOR.get(method, set())


def _made(method: str, options: Mapping[str, Any]) -> Ensemble:
    known = _known(method)
    return METHODS[method][1](**{k: value for k, value in options.items() if k in known and value is not None})


_NOT_FOR = {"sle": {"tie"}, "deep-esp-boost": {"beta"}}
"""Parameters that mean something else than the commands' option of that name, how weights are shared, and a learning
rate: there `tie` decides between candidates, and `beta` is the price of a path expert."""
_NO_OPTION = "it is for base "
"""What the commands have no option for, so that only another method would help."""


def default_method(has_gold: bool, given: Collection[str] = (), *, workers: bool = False) -> str:
    """The method taken when none is asked for: auto where there is gold or workers are named, else ROVER.

    Where options are given that auto has not, it is H_MVote in place of auto: most of them are its own.

    Parameters
    ----------
    has_gold : bool
    given : collection of str
        Options given.
    workers : bool
        Whether records say who gave each answer.

    Examples
    --------
    >>> default_method(True), default_method(True, ["tie"]), default_method(False), default_method(False, workers=True)
    ('auto', 'mvote', 'rover', 'auto')
    """
    if (has_gold or workers) and _known("auto").issuperset(given):
        return "auto"
    return "mvote" if has_gold else "rover"
