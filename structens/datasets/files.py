"""The sets of real outputs that stand in for those of the papers, read from files that a user has.

Cortes, Kuznetsov and Mohri (ICML and ACL 2014) used two pronunciation sets and one of speech that are not public, and
taggers of the Penn treebank, which must be bought. Files in this package's JSON Lines format with the same kinds of
experts take their place; `docs/experiments.md` says which, and what differs. Nothing is downloaded.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from structens.core import DataError, ExpertPredictions, ParameterError

STYLES = {
    "tr1": lambda name: name.startswith(("tr1_", "crf_all")),
    "tr2": lambda name: name.startswith("tr2_"),
    "all": lambda name: True,
}


def letters(folder: str | Path, by: str = "fold") -> ExpertPredictions:
    """Kassel's handwritten words: nine experts, every answer from models that were trained on other folds.

    Parameters
    ----------
    folder : path
        Holds ``ocr_letters.jsonl.gz`` and ``ocr_letters_by_word_type.jsonl.gz``.
    by : {"fold", "type_fold"}
        The data set's own ten folds, each with all its 55 words; or folds of whole word types.

    Returns
    -------
    ExpertPredictions
        ``X.fields[i][by]`` is the number of the fold of record i.
    """
    names = {"fold": "ocr_letters", "type_fold": "ocr_letters_by_word_type"}
    if by not in names:
        raise ParameterError(f"by must be one of {', '.join(names)}; got {by!r}")
    return read_experts(Path(folder) / f"{names[by]}.jsonl.gz", keep=[by])


def tagging(
    folder: str | Path, style: str = "tr1", treebank: str = "en_ewt_xpos", max_words: int = 19
) -> ExpertPredictions:
    """Part-of-speech taggers in the style of TR1 and TR2.

    Parameters
    ----------
    folder : path
        Holds ``pos_<treebank>.jsonl.gz``.
    style : {"tr1", "tr2", "all"}
        "tr1": four SVMs and four maximum entropy models from four disjoint parts of a treebank, and a CRF from their
        union. "tr2": five structured SVMs from five disjoint parts.
    treebank : str
    max_words : int
        Longer sentences are left out, as in the paper.
    """
    if style not in STYLES:
        raise ParameterError(f"style must be one of {', '.join(STYLES)}; got {style!r}")
    path = Path(folder) / f"pos_{treebank}.jsonl.gz"
    return _of_length(read_experts(path, chosen=STYLES[style]), 1, max_words)


def pronunciations(folder: str | Path) -> ExpertPredictions:
    """English words, ten systems that turn letters to phones; the first entry of the dictionary is the only gold.

    Parameters
    ----------
    folder : path
        Holds ``pron.jsonl.gz``.
    """
    return read_experts(Path(folder) / "pron.jsonl.gz")


def speech(folder: str | Path, corpus: str, min_words: int = 2, max_words: int = 15) -> ExpertPredictions:
    """Transcripts, with the length of the right one limited as in the paper.

    Parameters
    ----------
    folder : path
        Holds ``<corpus>.jsonl.gz``.
    corpus : str
    min_words, max_words : int
    """
    return _of_length(read_experts(Path(folder) / f"{corpus}.jsonl.gz"), min_words, max_words)


def read_experts(
    path: str | Path, *, chosen: Callable[[str], bool] = lambda name: True, keep: Sequence[str] = ()
) -> ExpertPredictions:
    """Records with gold of a file of JSON Lines, gzipped or not; `structens.read_records` reads more and checks more.

    Parameters
    ----------
    path : path
    chosen : callable
        Says of an expert's name whether to keep it. Experts come sorted by name.
    keep : sequence of str
        Keys of the records to keep as `fields`.

    Raises
    ------
    DataError
        If the file is not there, is not JSON, or no record has gold and an expert chosen.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "e.jsonl")
    ...     _ = path.write_text('{"id": 1, "gold": ["a"], "experts": {"y": ["a"], "x": ["b"]}, "part": 3}')
    ...     X = read_experts(path, keep=["part"])
    >>> X.names, X["x"], X.fields
    (('x', 'y'), [['b']], ({'part': 3},))
    """
    try:
        opened = gzip.open if str(path).endswith(".gz") else open
        with opened(path, "rt", encoding="utf-8") as lines:
            records: list[dict[str, Any]] = [json.loads(line) for line in lines if line.strip()]
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", path=str(path)) from None
    except ValueError as error:
        raise DataError(f"is no JSON Lines file: {error}", path=str(path)) from None
    records = [record for record in records if record.get("gold") is not None]
    names = sorted({name for record in records for name in record["experts"] if chosen(name)})
    if not names:
        raise DataError("no record has gold and an answer of an expert chosen", path=str(path))
    X = ExpertPredictions.of(
        {name: [record["experts"].get(name) for record in records] for name in names},
        gold=[record["gold"] for record in records],
        ids=[record["id"] for record in records],
    )
    return replace(X, fields=tuple({key: record.get(key) for key in keep} for record in records))


def _of_length(X: ExpertPredictions, least: int, most: int) -> ExpertPredictions:
    lengths = X.references.lengths[X.reference_offsets[:-1]]
    chosen: ExpertPredictions = X[np.flatnonzero((lengths >= least) & (lengths <= most))]
    return chosen
