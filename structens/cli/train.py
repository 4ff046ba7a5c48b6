"""`structens train`: a tagger from sequences with labels, and what it says of them out of fold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from structens.cli import options as o
from structens.cli import tagger_options as t
from structens.cli.files import refuse_same_file

if TYPE_CHECKING:
    from structens.ensembles.tagged import Tagged
    from structens.io.tagged_sequences import TaggedSequences


def train(
    ctx: typer.Context,
    file: Annotated[
        str, typer.Argument(help="Sequences with labels: JSON Lines (tokens or features, gold), CoNLL-U or npz.")
    ],
    output: Annotated[str, typer.Option("--output", "-o", help="Model file to write (.structens).")],
    features: Annotated[
        str,
        typer.Option(
            callback=o.one_of("auto", "words", "vectors", "matrix"),
            help="words, vectors (with neighbours), matrix (numbers as they are), or auto: words for tokens, else "
            "vectors.",
        ),
    ] = "auto",
    radius: t.Radius = None,
    affixes: t.Affixes = None,
    min_count: t.MinCount = None,
    n_features: t.NFeatures = None,
    n_rounds: t.NRounds = None,
    n_inner_nodes: t.NInnerNodes = None,
    previous_labels: t.PreviousLabels = 0,
    decode: t.Decode = "viterbi",
    bigram_weight: t.BigramWeight = None,
    restrict: t.Restrict = None,
    calibrate: t.Calibrate = "sigmoid",
    format: t.Format = "auto",
    key: t.Key = None,
    column: t.Column = "UPOS",
    array: t.Array = "pixels",
    gold_array: t.GoldArray = "letters",
    unpack_bits: t.UnpackBits = False,
    id_format: t.IdFormat = "{:d}",
    folds: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=2, help="Folds for out-of-fold answers, which the model keeps; whole sequences, by hash."),
    ] = None,
    fold_field: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Key of the records that holds their fold, instead of --folds; `folds` in npz."),
    ] = None,
    out_of_fold: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="File to write: records with the out-of-fold answers as an expert, for `combine`."),
    ] = None,
    checkpoint: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Directory that keeps finished folds until the model is written (default: OUTPUT.folds)."),
    ] = None,
    time_limit: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(help="Seconds for everything, in equal parts for the folds and the model; fewer rounds then."),
    ] = None,
    n_jobs: Annotated[int, typer.Option(help="Threads; -1 for one a core.")] = 1,
    seed: o.Seed = 0,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Learn a tagger: boosted Hamming trees at each position, and label bigrams over the sequence.

    Records without gold are left out. With --folds the model also keeps what it says of each sequence when it has not
    learnt from it, which `structens combine --add` needs for these sequences. After an interruption the same command
    goes on with the folds that are not finished.
    """
    from structens.core import ParameterError
    from structens.io.tagged_files import OPTIONS, format_of

    if output == "-":
        raise ParameterError("a model is not written to standard output; name a file with -o")
    if folds is not None and fold_field is not None:
        raise ParameterError("--folds and --fold-field exclude each other")
    if out_of_fold is not None and folds is None and fold_field is None:
        raise ParameterError("--out-of-fold needs folds: give --folds 5 or --fold-field KEY")
    if time_limit is not None and not 0 < time_limit < float("inf"):
        raise ParameterError(f"time_limit must be a finite number > 0; got {time_limit!r}")
    refuse_same_file({"--output": output, "--out-of-fold": out_of_fold}, {"input": file})
    t.refuse_foreign(ctx, format_of(file, format))
    reading = {name: ctx.params[name] for name in OPTIONS[format_of(file, format)]}
    Training(ctx.params, reading).run(quiet, json)


class Training:
    """One run.

    Parameters
    ----------
    given : dict
        The options.
    reading : dict
        How sequences are read.
    """

    def __init__(self, given: dict[str, Any], reading: dict[str, Any]) -> None:
        self.given, self.reading = given, reading
        self.directory = given["checkpoint"] or given["output"] + ".folds"
        self.n_kept = 0

    def run(self, quiet: bool, json: bool) -> None:
        """Read, learn, write, and say so."""
        from structens.cli.console import say
        from structens.cli.tagging import meter
        from structens.io.tagged_files import read_tagged

        given = self.given
        read = read_tagged(given["file"], format=given["format"], fold_field=given["fold_field"], **self.reading)
        known = self._with_gold(read)
        folds = known.folds if given["fold_field"] is not None else given["folds"]
        n_fits = 1 + (0 if folds is None else folds if isinstance(folds, int) else len(set(folds.tolist())))
        said: Tagged | None = None
        try:
            with meter("learning", n_fits, quiet=quiet) as far:
                tagger = t.tagger_of_options(given, known.is_tokens, n_fits, far)
                if folds is not None:
                    said = self._out_of_fold(tagger, known, folds, far)
                tagger.fit(known.sequences, known.gold)
        except KeyboardInterrupt:
            if folds is not None:
                say(f"finished folds are kept in {self.directory}; the same command goes on from there")
            raise
        self._write(tagger, known, said)
        if json or not quiet:
            self._summarise(tagger, read, known, said, json)

    def _with_gold(self, read: TaggedSequences) -> TaggedSequences:
        from structens.core import DataError

        if not read.has_gold.any():
            hint = {"column": "is --column right?", "gold_array": "is --gold-array right?"}
            way = next((text for name, text in hint.items() if name in self.reading), "give each a key gold")
            raise DataError("no record has labels to learn from", path=read.path, hint=way)
        return read.select(read.has_gold)

    def _out_of_fold(self, tagger: Any, known: TaggedSequences, folds: Any, far: Any) -> Tagged:
        from structens.core import DataError
        from structens.ensembles import cross_predict
        from structens.io.fold_store import FoldStore

        store = FoldStore(self.directory)
        self.n_kept = len(store)
        try:
            return cross_predict(
                tagger,
                known.sequences,
                known.gold,  # type: ignore[arg-type]
                folds=folds,
                random_state=self.given["seed"],
                progress=far.finished,
                checkpoint=store,
            )
        except DataError as error:
            if error.path is not None:
                raise
            raise DataError(error.rule, path=known.path, record=error.record, hint=error.hint) from None
        finally:
            if not len(store):
                self._remove(store)

    def _write(self, tagger: Any, known: TaggedSequences, said: Tagged | None) -> None:
        from hashlib import blake2b

        from structens.cli.files import path_and_name
        from structens.cli.tagging import expert_lines
        from structens.ensembles.in_sample import OutOfFold
        from structens.io import atomic_output
        from structens.io.ensemble_file import save
        from structens.io.fold_store import FoldStore

        given = self.given
        if said is not None:
            tagger.out_of_fold_ = OutOfFold.of(known.sequences, said, tagger.classes_.tolist())
        tagger.progress, tagger.time_limit = None, given["time_limit"]
        data = blake2b(tagger.fingerprints_.tobytes(), digest_size=16).hexdigest()
        if given["out_of_fold"] is not None and said is not None:
            with atomic_output(given["out_of_fold"]) as out:
                for line in expert_lines(known, {path_and_name(given["output"])[1]: said}):
                    out.write(line)
        save(tagger, given["output"], reading=self.reading, data=data)
        if said is not None:
            self._remove(FoldStore(self.directory))

    def _remove(self, store: Any) -> None:
        """Take away what is no longer needed, and the directory if nothing else is in it."""
        from contextlib import suppress

        for key in list(store):
            del store[key]
        with suppress(OSError):
            store.directory.rmdir()

    def _summarise(
        self, tagger: Any, read: TaggedSequences, known: TaggedSequences, said: Tagged | None, json: bool
    ) -> None:
        import json as json_format
        import math

        from structens.cli.console import say, tell

        n = sum(map(len, known.sequences))
        held = None if math.isnan(tagger.held_out_error_) else round(tagger.held_out_error_, 6)
        wrong = None
        if said is not None:
            pairs = zip(said.labels, known.gold, strict=True)
            wrong = sum(a != b for x, y in pairs for a, b in zip(x, y or (), strict=True)) / n
        if json:
            summary = {
                "records": len(read),
                "learnt_from": len(known),
                "positions": n,
                "labels": len(tagger.classes_),
                "held_out_error": held,
                "out_of_fold_error": None if wrong is None else round(wrong, 6),
                "output": self.given["output"],
            }
            tell(json_format.dumps(summary) + "\n")
            return
        if self.n_kept:
            say(f"note: went on from {self.n_kept} finished folds in {self.directory}")
        if len(known) < len(read):
            say(f"note: {len(read) - len(known):,} of {len(read):,} records have no gold and are left out")
        parts = [f"learnt {len(tagger.classes_)} labels from {len(known):,} sequences, {n:,} positions"]
        if wrong is not None:
            parts.append(f"{100 * wrong:.2f} % wrong out of fold")
        elif held is not None:
            parts.append(f"{100 * held:.2f} % wrong on what was held out")
        say("; ".join([*parts, f"wrote {self.given['output']}"]))
