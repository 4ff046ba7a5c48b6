"""Options of `structens train`: features, classifier and formats; each is a parameter of that name in Python."""

from __future__ import annotations

from typing import Annotated, Any, Optional

import typer

from structens.cli.options import between, is_given, one_of

Radius = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option(min=0, help="Neighbours on each side that are seen (default: words 2, vectors 1)."),
]
Affixes = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option(min=0, help="words: longest prefix and suffix (default 4)."),
]
MinCount = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option(min=1, help="words: rarer values get no column (default 2)."),
]
NFeatures = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option(min=1, help="words: hash into so many columns instead of keeping a vocabulary."),
]
NRounds = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option(min=1, help="Rounds of boosting (default: 600 for words, else 300)."),
]
NInnerNodes = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option(min=1, help="Cuts of each Hamming tree (default 60)."),
]
PreviousLabels = Annotated[int, typer.Option(min=0, max=1, help="1: the label before is a feature.")]
Decode = Annotated[
    str,
    typer.Option(callback=one_of("viterbi", "position"), help="viterbi (best sequence) or position (best labels)."),
]
BigramWeight = Annotated[
    Optional[float],  # noqa: UP045
    typer.Option(help="What label bigrams count for, >= 0 (default: chosen on held-out sequences)."),
]
Restrict = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(callback=one_of("bio", "bioes"), help="Only valid sequences of this scheme: bio or bioes."),
]
Calibrate = Annotated[
    str,
    typer.Option(
        callback=one_of("none", "temperature", "sigmoid", "isotonic"),
        help="Curve of confidences: none, temperature, sigmoid or isotonic.",
    ),
]
Subsample = Annotated[
    float,
    typer.Option(
        callback=between(0, 1, open_low=True),
        help="Share of the sequences that are learnt from, above 0 and at most 1; drawn by hash and seed.",
    ),
]
Format = Annotated[
    str,
    typer.Option(
        callback=one_of("auto", "jsonl", "conllu", "npz"), help="jsonl, conllu, npz, or auto: by the file's name."
    ),
]
Key = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        callback=one_of("tokens", "features"), help="jsonl: what to learn from, tokens or features (default: as found)."
    ),
]
Column = Annotated[str, typer.Option(help="conllu: column of the labels.")]
Array = Annotated[str, typer.Option(help="npz: array of the features.")]
GoldArray = Annotated[str, typer.Option(help="npz: array of the labels.")]
UnpackBits = Annotated[bool, typer.Option("--unpack-bits", help="npz: each byte holds eight binary features.")]
IdFormat = Annotated[str, typer.Option(help="npz: makes ids of numbers, such as w-{:05d}.")]

OF_A_TAGGER = (
    *("features", "radius", "affixes", "min_count", "n_features", "n_rounds", "n_inner_nodes", "previous_labels"),
    *("decode", "bigram_weight", "restrict", "calibrate", "subsample", "seed"),
)
"""Options that may differ between the taggers of one run."""
WORDS = ("radius", "affixes", "min_count", "n_features")
"""Options of word features; those of vectors are the first."""


def refuse_foreign(ctx: typer.Context, format: str) -> None:
    """Refuse options given for another format than the file's.

    Raises
    ------
    ParameterError
    """
    from structens.core.errors import ParameterError
    from structens.io.tagged_files import OPTIONS

    for other, names in OPTIONS.items():
        for name in names:
            if other != format and is_given(ctx, name):
                raise ParameterError(f"--{name.replace('_', '-')} is for {other}; the file is read as {format}")


def tagger_of_options(given: dict[str, Any], is_tokens: bool, n_fits: int, progress: Any) -> Any:
    """A tagger as the options say; each of `n_fits` learnings has the same part of the time.

    Raises
    ------
    ParameterError
        If options do not go with the features.
    """
    from structens.ensembles import PositionTagger

    limit = given["time_limit"]
    return PositionTagger(
        _maker(given, is_tokens),
        _classifier(given, is_tokens),
        previous_labels=given["previous_labels"],
        decode=given["decode"],
        bigram_weight=given["bigram_weight"],
        restrict=given["restrict"],
        calibrate=None if given["calibrate"] == "none" else given["calibrate"],
        subsample=given["subsample"],
        random_state=given["seed"],
        n_jobs=given["n_jobs"],
        time_limit=None if limit is None else limit / n_fits,
        progress=progress,
    )


def _maker(given: dict[str, Any], is_tokens: bool) -> Any:
    from structens.core.errors import ParameterError
    from structens.ensembles import MatrixFeatures, VectorWindows, WordFeatures

    kind = given["features"]
    if kind == "auto":
        kind = "words" if is_tokens else "vectors"
    if (kind == "words") != is_tokens:
        raise ParameterError(f"--features {kind} does not go with a file of {'tokens' if is_tokens else 'numbers'}")
    maker: Any = {"words": WordFeatures, "vectors": VectorWindows, "matrix": MatrixFeatures}[kind]
    allowed = {"words": WORDS, "vectors": WORDS[:1], "matrix": ()}[kind]
    for name in WORDS:
        if given[name] is not None and name not in allowed:
            raise ParameterError(f"--{name.replace('_', '-')} changes nothing with features {kind}")
    return maker(**{name: given[name] for name in allowed if given[name] is not None})


def _classifier(given: dict[str, Any], is_tokens: bool) -> Any:
    """None takes the default; else the default with other numbers, which depends on whether features are sparse."""
    if given["n_rounds"] is None and given["n_inner_nodes"] is None:
        return None
    import numpy as np
    from scipy.sparse import csr_matrix

    from structens.ensembles.position_classifier import default_classifier

    rows = csr_matrix((1, 1)) if is_tokens else np.zeros((1, 1))
    classifier = default_classifier(rows, given["seed"], given["n_jobs"])
    if given["n_rounds"] is not None:
        classifier.set_params(n_rounds=given["n_rounds"])
    if given["n_inner_nodes"] is not None:
        classifier.set_params(base__n_inner_nodes=given["n_inner_nodes"])
    return classifier
