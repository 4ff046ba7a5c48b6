"""Options that several commands share; each is a parameter of the same name in Python."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Annotated, Any, Optional

import typer


def one_of(*allowed: str) -> Callable[[typer.CallbackParam, str | None], str | None]:
    """A check of an option, so that a wrong value is refused also where the method makes no use of the option.

    Examples
    --------
    >>> one_of("order", "random")(SimpleNamespace(name="ties"), "first")
    Traceback (most recent call last):
    structens.core.errors.ParameterError: ties must be one of order, random; got 'first'
    """

    def check(param: typer.CallbackParam, value: str | None) -> str | None:
        if value is not None and value not in allowed:
            from structens.core.errors import ParameterError  # numpy comes with it, which --help can spare

            raise ParameterError(f"{param.name} must be one of {', '.join(allowed)}; got {value!r}")
        return value

    return check


def between(low: float, high: float, *, open_low: bool = False) -> Callable[[typer.CallbackParam, Any], Any]:
    """A check of a number's range; text that is no number, such as the name of a rule, is left to the method.

    Examples
    --------
    >>> between(0, 1)(SimpleNamespace(name="alpha"), 3.0)
    Traceback (most recent call last):
    structens.core.errors.ParameterError: alpha must be between 0 and 1; got 3.0
    """

    def check(param: typer.CallbackParam, value: Any) -> Any:
        number = beta_of(value) if isinstance(value, str) else value
        if isinstance(number, float) and not (low < number <= high if open_low else low <= number <= high):
            from structens.core.errors import ParameterError  # numpy comes with it, which --help can spare

            raise ParameterError(
                f"{param.name} must be {'above' if open_low else 'between'} {low:g} and "
                f"{'at most ' if open_low else ''}{high:g}; got {number!r}"
            )
        return value

    return check


def positive(param: typer.CallbackParam, value: str) -> str:
    """A check of a number that must be finite and above 0; the name of a rule is left to the method.

    Examples
    --------
    >>> positive(SimpleNamespace(name="epsilon"), "0.5"), positive(SimpleNamespace(name="epsilon"), "papers")
    ('0.5', 'papers')
    >>> positive(SimpleNamespace(name="epsilon"), "inf")
    Traceback (most recent call last):
    structens.core.errors.ParameterError: epsilon must be a finite number > 0; got inf
    """
    number = beta_of(value)
    if isinstance(number, float) and not 0 < number < float("inf"):
        from structens.core.errors import ParameterError  # numpy comes with it, which --help can spare

        raise ParameterError(f"{param.name} must be a finite number > 0; got {number!r}")
    return value


def known_method(value: str | None) -> str | None:
    """A check that refuses an unknown method before any work.

    Raises
    ------
    ParameterError
    """
    if value is not None:
        from structens.ensembles import METHODS

        one_of(*METHODS)(_METHOD, value)
    return value


def length_or_auto(value: str | None) -> str | None:
    """A check of the length from which on a method answers.

    Raises
    ------
    ParameterError

    Examples
    --------
    >>> length_or_auto("4"), length_or_auto("auto")
    ('4', 'auto')
    """
    if value is None or value == "auto" or value.isdecimal():
        return value
    from structens.core.errors import ParameterError  # numpy comes with it, which --help can spare

    raise ParameterError(f"min_len must be 'auto' or a length >= 0; got {value!r}")


_METHOD: Any = SimpleNamespace(name="method")

File = Annotated[str, typer.Argument(help="Records, one JSON object a line; - is standard input.")]
Method = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        callback=known_method,
        help="auto, best, vote, rover, rand, mvote, cv, last, fpl, fpl-cv, fpl-rand, sle, esp-boost, deep-esp-boost, "
        "confusion, boosted-paths, dawid-skene or hrrasa (default: auto where there is gold, else rover).",
    ),
]
Unit = Annotated[
    str, typer.Option(help="How texts are cut: char (grapheme clusters), codepoint, word (at blanks) or line.")
]
Experts = Annotated[
    Optional[str],  # noqa: UP045  typer reads it
    typer.Option(help="Experts to use, by comma, in the order that decides ties (default: all, sorted by name)."),
]
Align = Annotated[
    str,
    typer.Option(
        callback=one_of("auto", "always", "never"),
        help="auto: align unless all answers of every record have equal length; always; never: refuse unequal lengths.",
    ),
]
Normalize = Annotated[
    str, typer.Option(help="Unicode normal form in which units are compared: none, NFC, NFD, NFKC, NFKD.")
]
Casefold = Annotated[bool, typer.Option("--casefold", help="Compare units without upper and lower case.")]
StripPunct = Annotated[bool, typer.Option("--strip-punct", help="Compare tokens without punctuation at their ends.")]
Tie = Annotated[
    str,
    typer.Option(
        callback=one_of("expert", "position", "position-from-end", "label"),
        help="Records share weights by: expert, position, position-from-end, or label (expert and its label).",
    ),
]
Beta = Annotated[
    str,
    typer.Option(
        callback=between(0, 1, open_low=True),
        help="Learning rate in (0, 1], by held-out data (held-out), or by theory (position, path).",
    ),
]
Loss = Annotated[
    str,
    typer.Option(
        callback=one_of("hamming", "edit", "ngram"),
        help="What weights are learnt by: hamming (units in their slots), edit (edit distance of whole answers) or "
        "ngram (n-grams shared with the gold).",
    ),
]
NgramOrder = Annotated[int, typer.Option(min=1, help="ngram: n-grams of orders 1 to this count.")]
Learner = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        callback=one_of("hedge", "adahedge", "squint", "fixed-share", "component-hedge", "prequential"),
        help="How weights are learnt: hedge (at rate --beta, the default), adahedge or squint (which need no rate), "
        "fixed-share (for experts that change), component-hedge (usages; the same as hedge on slots), or prequential "
        "(many rates at once, for method last; the default of --online).",
    ),
]
Absent = Annotated[
    str,
    typer.Option(
        callback=one_of("sleep", "neutral"),
        help="Experts without an answer keep their weight (sleep) or are charged the others' mean loss (neutral).",
    ),
]
Share = Annotated[
    float,
    typer.Option(
        callback=between(0, 1), help="fixed-share, prequential: part of the weight dealt out equally after each record."
    ),
]
Epsilon = Annotated[
    str,
    typer.Option(
        callback=positive, help="fpl: inverse scale of the noise, by held-out data (held-out), or 0.5/(p l) (papers)."
    ),
]
Noise = Annotated[
    str,
    typer.Option(callback=one_of("exp_add", "laplace", "exp_sub", "uniform"), help="fpl: shape of the noise."),
]
Delta = Annotated[
    float,
    typer.Option(callback=between(0, 1), help="Confidence parameter of the on-line-to-batch conversions, in (0, 1)."),
]
UnionBound = Annotated[
    bool,
    typer.Option("--union-bound", help="Choose the suffix of rounds by a bound that holds for all of them at once."),
]
UseConfidence = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        callback=one_of("none", "average", "maximum"),
        help="Experts' confidences in a vote: none, average or maximum (default: maximum for rover, else none).",
    ),
]
Alpha = Annotated[
    float,
    typer.Option(callback=between(0, 1), help="ROVER: weight of the frequency against the confidence, in [0, 1]."),
]
NullConfidence = Annotated[
    float,
    typer.Option(callback=between(0, 1), help="ROVER: confidence of nothing, and of units without one, in [0, 1]."),
]
Ties = Annotated[
    str,
    typer.Option(
        callback=one_of("order", "random"),
        help="Ties go to the first expert in order (order) or are drawn by lot (random).",
    ),
]
MinLen = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        callback=length_or_auto,
        help="Least length of a record that the method answers, a number or auto (learnt); the best expert answers "
        "shorter ones.",
    ),
]
Decode = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        callback=one_of("marginal", "viterbi", "string", "mbr"),
        help="Answer by most votes in each slot (marginal, the default), heaviest experts (viterbi), most probable "
        "string (string), or least expected edit distance (mbr).",
    ),
]
Constraint = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(help="Admissible answers: bio or bioes (valid chunk tags), or a JSON file of n-grams or a grammar."),
]
Restrict = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        callback=one_of("per_round", "permanent"),
        help="Learn under the --constraint too: experts whose own answer is not admissible are left out of that record "
        "and charged most (per_round), or leave for good (permanent). Default: only answers are constrained.",
    ),
]
Text = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        help="auto, confusion, boosted-paths: file of further right sequences for label n-grams, one a line (tokens "
        "between blanks), or JSON Lines with gold or text."
    ),
]
TimeLimit = Annotated[
    Optional[float],  # noqa: UP045
    typer.Option(help="auto: seconds after which no further method is tried; what is left out is said."),
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of everything random.")]
Json = Annotated[bool, typer.Option("--json", help="Print the run's summary as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no summary.")]


def beta_of(text: str) -> str | float:
    """A rate as a number, or the name of a rule.

    Examples
    --------
    >>> beta_of("0.95"), beta_of("held-out")
    (0.95, 'held-out')
    """
    try:
        return float(text)
    except ValueError:
        return text


READING = ("unit", "normalize", "casefold", "strip_punct")
"""Options of how records are read, which a model remembers."""
LEARNING = (
    *("align", "tie", "loss", "ngram_order", "beta", "learner", "absent", "share", "epsilon", "noise", "delta"),
    *("union_bound", "use_confidence", "alpha", "null_confidence", "ties", "decode", "restrict", "min_len", "seed"),
    *("time_limit", "text"),
)
"""Options of the methods."""


def chosen_options(ctx: typer.Context) -> tuple[dict[str, Any], dict[str, Any]]:
    """How records are read, and the parameters of the method, as given on the command line."""
    given = ctx.params
    chosen = {name: given[name] for name in LEARNING}
    chosen["restriction"] = restriction_of(given["constraint"])
    if chosen["min_len"] not in (None, "auto"):
        chosen["min_len"] = int(chosen["min_len"])
    if chosen["restrict"] is not None and chosen["restriction"] is None:
        from structens.core.errors import ParameterError

        raise ParameterError("--restrict says how a constraint is learnt under; give one with --constraint")
    return {name: given[name] for name in READING}, {
        **chosen,
        "beta": beta_of(chosen["beta"]),
        "epsilon": beta_of(chosen["epsilon"]),
    }


def refuse_settled(ctx: typer.Context) -> None:
    """Refuse options given beside a model that the model has settled; another decoder or constraint may be given.

    Raises
    ------
    ParameterError
    """
    from structens.core.errors import ParameterError

    for name in ("method", "table", "experts", *READING, *LEARNING):
        if name != "decode" and is_given(ctx, name):
            option = name.replace("_", "-")
            why = (
                f"the model was fitted with its own {option}" if name != "table" else "it shows methods that learn anew"
            )
            raise ParameterError(f"--{option} does not go with --model: {why}")


def is_given(ctx: typer.Context, name: str) -> bool:
    """Whether an option stands on the command line."""
    source = ctx.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def constraint_file(text: str | None) -> str | None:
    """The file of a --constraint, if it is one.

    Examples
    --------
    >>> constraint_file("bio"), constraint_file("rules.json")
    (None, 'rules.json')
    """
    return None if text in ("bio", "bioes") else text


def restriction_of(text: str | None) -> Any:
    """The restriction of a name, or of a file.

    Examples
    --------
    >>> restriction_of("bio"), restriction_of(None)
    ('bio', None)
    """
    if text is None or text in ("bio", "bioes"):
        return text
    from pathlib import Path

    from structens.core import DataError
    from structens.ensembles.restriction import read_restriction

    try:
        return read_restriction(Path(text).read_text(encoding="utf-8"), text)
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise DataError(f"cannot be read: {why}", path=text, hint="a constraint is bio, bioes or a file") from None


def names_of(text: str | None) -> list[str] | None:
    """Names by comma, as a list.

    Examples
    --------
    >>> names_of("a, b"), names_of(None)
    (['a', 'b'], None)
    """
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def chosen_experts(text: str | None) -> dict[str, Any]:
    """The reader's options for experts given by comma: others in the file are left out.

    Examples
    --------
    >>> chosen_experts("a,b"), chosen_experts(None)
    ({'experts': ['a', 'b'], 'other_experts': 'ignore'}, {})
    """
    return {} if text is None else {"experts": names_of(text), "other_experts": "ignore"}
