"""One run of `structens train`: read, learn taggers in and out of fold, write them, say so."""

from __future__ import annotations

import json as json_format
import math
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

from structens.cli.console import say, tell
from structens.cli.files import path_and_name
from structens.cli.tagger_options import tagger_of_options
from structens.cli.tagging import Meter, expert_lines, meter
from structens.core import DataError, ModelError, ParameterError
from structens.ensembles import cross_predict
from structens.ensembles.cross_tagging import learning_key
from structens.ensembles.in_sample import OutOfFold
from structens.ensembles.tagged import Tagged
from structens.io import atomic_output
from structens.io.ensemble_file import load, save
from structens.io.fold_store import FoldStore
from structens.io.tagged_files import read_tagged
from structens.io.tagged_sequences import TaggedSequences


class Training:
    """One run.

    Parameters
    ----------
    given : dict
        The options.
    reading : dict
        How sequences are read.
    plans : dict of str to dict, or None
        Options of each of several taggers, by name; None: one, as `given` says.
    """

    def __init__(
        self, given: dict[str, Any], reading: dict[str, Any], plans: dict[str, dict[str, Any]] | None = None
    ) -> None:
        self.given, self.reading = given, reading
        self.is_one = plans is None
        self.plans = plans or {path_and_name(given["output"])[1]: given}
        self.directory = given["checkpoint"] or given["output"] + ".folds"
        self.n_folds_kept = self.n_models_kept = 0
        self.models: list[Path] = []

    def run(self, quiet: bool, json: bool) -> None:
        """Read, learn, write, and say so."""
        given = self.given
        read = read_tagged(given["file"], format=given["format"], fold_field=given["fold_field"], **self.reading)
        known = self._with_gold(read)
        folds = known.folds if given["fold_field"] is not None else given["folds"]
        n_folds = 0 if folds is None else folds if isinstance(folds, int) else len(set(folds.tolist()))
        n_fits = len(self.plans) * (1 + n_folds)
        said: dict[str, Tagged] = {}
        try:
            with meter("learning", n_fits, quiet=quiet) as far:
                taggers = {name: self._tagger(name, known.is_tokens, n_fits, far) for name in self.plans}
                if folds is not None:
                    said = self._out_of_fold(taggers, known, folds, far)
                for k, (name, tagger) in enumerate(taggers.items(), 1):
                    taggers[name] = self._learnt(tagger, known)
                    far.finished(len(self.plans) * n_folds + k, n_fits)
        except KeyboardInterrupt:
            if folds is not None or not self.is_one:
                what = "finished folds" if self.is_one else "finished folds and taggers"
                say(f"{what} are kept in {self.directory}; the same command goes on from there")
            raise
        self._write(taggers, known, said)
        if json or not quiet:
            self._summarise(taggers, read, known, said, json)

    def _with_gold(self, read: TaggedSequences) -> TaggedSequences:
        if not read.has_gold.any():
            hint = {"column": "is --column right?", "gold_array": "is --gold-array right?"}
            way = next((text for name, text in hint.items() if name in self.reading), "give each a key gold")
            raise DataError("no record has labels to learn from", path=read.path, hint=way)
        return read.select(read.has_gold)

    def _tagger(self, name: str, is_tokens: bool, n_fits: int, far: Meter) -> Any:
        try:
            tagger = tagger_of_options(self.plans[name], is_tokens, n_fits, far)
            tagger._check()
        except ParameterError as error:
            raise error if self.is_one else ParameterError(f"tagger {name!r}: {error}") from None
        return tagger

    # ---- learning

    def _out_of_fold(
        self, taggers: dict[str, Any], known: TaggedSequences, folds: Any, far: Meter
    ) -> dict[str, Tagged]:
        store = FoldStore(self.directory)
        self.n_folds_kept = len(store)
        try:
            return cross_predict(
                taggers,
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
                self._remove()

    def _learnt(self, tagger: Any, known: TaggedSequences) -> Any:
        """The tagger, learnt from all; of several, each is kept as soon as it is finished."""
        gold: Any = known.gold
        if self.is_one:
            return tagger.fit(known.sequences, gold)
        file = Path(self.directory) / f"{learning_key(tagger, known.sequences, gold)}.structens"
        self.models.append(file)
        if file.exists():
            with suppress(ModelError):
                kept = load(file)
                self.n_models_kept += 1
                return kept
        tagger.fit(known.sequences, gold)
        FoldStore(self.directory)  # makes the directory
        save(tagger, file)
        return tagger

    # ---- writing

    def _write(self, taggers: dict[str, Any], known: TaggedSequences, said: dict[str, Tagged]) -> None:
        given = self.given
        for name, tagger in taggers.items():
            if said:
                tagger.out_of_fold_ = OutOfFold.of(known.sequences, said[name], tagger.classes_.tolist())
            tagger.progress, tagger.time_limit = None, given["time_limit"]
        first = next(iter(taggers.values()))
        data = blake2b(b"".join(t.fingerprints_.tobytes() for t in taggers.values()), digest_size=16).hexdigest()
        if given["out_of_fold"] is not None and said:
            with atomic_output(given["out_of_fold"]) as out:
                for line in expert_lines(known, said):
                    out.write(line)
        save(first if self.is_one else taggers, given["output"], reading=self.reading, data=data)
        self._remove()

    def _remove(self) -> None:
        """Take away what is no longer needed, and the directory if nothing else is in it."""
        if not Path(self.directory).is_dir():
            return
        store = FoldStore(self.directory)
        for key in list(store):
            del store[key]
        for file in self.models:
            file.unlink(missing_ok=True)
        with suppress(OSError):
            store.directory.rmdir()

    # ---- what is said

    def _summarise(
        self,
        taggers: dict[str, Any],
        read: TaggedSequences,
        known: TaggedSequences,
        said: dict[str, Tagged],
        json: bool,
    ) -> None:
        n = sum(map(len, known.sequences))
        errors = {name: self._errors(tagger, known, said.get(name)) for name, tagger in taggers.items()}
        n_labels = len(set().union(*(tagger.classes_.tolist() for tagger in taggers.values())))
        if json:
            counts = {"records": len(read), "learnt_from": len(known), "positions": n, "labels": n_labels}
            of = next(iter(errors.values())) if self.is_one else {"taggers": errors}
            tell(json_format.dumps({**counts, **of, "output": self.given["output"]}, ensure_ascii=False) + "\n")
            return
        if self.n_folds_kept:
            say(f"note: went on from {self.n_folds_kept} finished folds in {self.directory}")
        if self.n_models_kept:
            say(f"note: took finished taggers from {self.directory}: {self.n_models_kept}")
        if len(known) < len(read):
            say(f"note: {len(read) - len(known):,} of {len(read):,} records have no gold and are left out")
        for name, rates in errors.items() if not self.is_one else ():
            say(f"{name}: {_wrong(rates) or 'learnt'}")
        parts = [f"learnt {n_labels} labels from {len(known):,} sequences, {n:,} positions"]
        if self.is_one:
            parts += [text for rates in errors.values() if (text := _wrong(rates))]
        else:
            parts.append(f"{len(taggers)} taggers")
        say("; ".join([*parts, f"wrote {self.given['output']}"]))

    def _errors(self, tagger: Any, known: TaggedSequences, said: Tagged | None) -> dict[str, float | None]:
        held = None if math.isnan(tagger.held_out_error_) else round(tagger.held_out_error_, 6)
        wrong = None
        if said is not None:
            pairs = zip(said.labels, known.gold, strict=True)
            n = sum(map(len, known.sequences))
            wrong = round(sum(a != b for x, y in pairs for a, b in zip(x, y or (), strict=True)) / n, 6)
        return {"held_out_error": held, "out_of_fold_error": wrong}


def _wrong(rates: dict[str, float | None]) -> str:
    for name, where in (("out_of_fold_error", "out of fold"), ("held_out_error", "on what was held out")):
        rate = rates[name]
        if rate is not None:
            return f"{100 * rate:.2f} % wrong {where}"
    return ""
