"""Options given on the command line that the method in use makes nothing of: refused, not ignored."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import typer

from structens.cli.options import LEARNING, is_given


def given_options(ctx: typer.Context) -> list[str]:
    """Options of the methods that stand on the command line; a seed always may."""
    return [name for name in LEARNING if name != "seed" and is_given(ctx, name)]


def refuse_unused(given: Collection[str], methods: Sequence[str], chosen: dict[str, Any], why: str = "") -> None:
    """Refuse options given of which none of these methods makes use.

    Parameters
    ----------
    given : collection of str
    methods : sequence of str
        The one in use first.
    chosen : dict
        The parameters of the methods.
    why : str
        Why it is in use, if it was not asked for.

    Raises
    ------
    ParameterError

    Examples
    --------
    >>> refuse_unused(["share"], ["mvote"], {"share": 0.5})
    Traceback (most recent call last):
    structens.core.errors.ParameterError: --share changes nothing with method mvote: it is for learner fixed-share ...
    """
    from structens.core import ParameterError
    from structens.ensembles.methods import unused

    for name in given:
        reasons = [unused(method, name, chosen) for method in methods]
        if None not in reasons:
            option = name.replace("_", "-")
            raise ParameterError(f"--{option} changes nothing with method {methods[0]}{why}: {reasons[0]}")
