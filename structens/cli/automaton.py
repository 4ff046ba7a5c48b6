"""`structens automaton`: the path-expert automaton of a record, or a lattice, drawn or for other programs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from structens.cli import options as o
from structens.cli.files import refuse_same_file

if TYPE_CHECKING:
    from structens.automata import LabelledAutomaton
    from structens.report import Picture

FORMATS = ("dot", "svg", "openfst", "const")
SOURCES = ("records", "htk", "kaldi", "openfst", "const")
MOST_NUMBERS = 1_000_000  # labels beyond are shown as codes
SUFFIXES = {".svg": "svg", ".dot": "dot", ".gv": "dot", ".fst": "const", ".txt": "openfst"}


def automaton(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(help="Records, one JSON object a line, or a lattice; - is standard input.")],
    id: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Id of the record, or key of the lattice (kaldi); not needed where there is one only."),
    ] = None,
    format: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            callback=o.one_of(*FORMATS),
            help="dot, svg, openfst (text) or const (OpenFst's binary); default: by the output's suffix, else dot.",
        ),
    ] = None,
    output: Annotated[str, typer.Option("--output", "-o", help="File to write; - is standard output.")] = "-",
    model: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--model", "-m", help="Model of `structens fit`, for the weights of the experts."),
    ] = None,
    source: Annotated[
        str, typer.Option("--from", callback=o.one_of(*SOURCES), help="records, htk, kaldi, openfst or const.")
    ] = "records",
    symbols: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Symbol table to write, for openfst: OpenFst reads the text with it."),
    ] = None,
    read_symbols: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="Symbol table to read, for labels that are numbers: of openfst, or words of kaldi (words.txt). "
            "`names`: labels are names (of kaldi they are without a table)."
        ),
    ] = None,
    acceptor: Annotated[
        Optional[bool],  # noqa: UP045
        typer.Option("--acceptor/--transducer", help="What a file of openfst is, where its lines could be either."),
    ] = None,
    acoustic_scale: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(help="Factor of acoustic scores (default: the file's, else 1)."),
    ] = None,
    lm_scale: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(help="Factor of language model scores (default: the file's, else 1)."),
    ] = None,
    best: Annotated[bool, typer.Option("--best/--no-best", help="Bring out the best path in a drawing.")] = True,
    unit: o.Unit = "char",
    experts: o.Experts = None,
    align: o.Align = "auto",
    normalize: o.Normalize = "none",
    casefold: o.Casefold = False,
    strip_punct: o.StripPunct = False,
    quiet: o.Quiet = False,
) -> None:
    """Write the automaton of a record's path experts, or of a lattice.

    Drawings show one transition for each label of a slot, with the experts that say it, thick where there is much
    weight. Text and binary for OpenFst hold one transition for each expert, with minus the logarithm of its weight
    under a model as cost, and without costs where there is no model. An expert that says nothing in a slot has the
    empty label.
    """
    from structens.cli.job import Tally, warned

    table = None if read_symbols == "names" else read_symbols
    refuse_same_file(
        {"--output": output, "--symbols": symbols}, {"input": file, "--model": model, "--read-symbols": table}
    )
    if model is not None and source == "records":
        o.refuse_settled(ctx)
    reading: dict[str, Any] = {"unit": unit, "normalize": normalize, "casefold": casefold, "strip_punct": strip_punct}
    form = format or SUFFIXES.get(os.path.splitext(output)[1].lower(), "dot")
    tally = Tally(output=output)
    with warned(tally):
        if source == "records":
            scales = {"acoustic_scale": acoustic_scale, "lm_scale": lm_scale}
            refuse_for(source, read_symbols=read_symbols, acceptor=acceptor, **scales)
            labelled, drawing = of_record(file, id, model, experts, align, reading, best)
        else:
            of_records = {name: ctx.params[name] for name in ("align", *o.READING) if o.is_given(ctx, name)}
            refuse_for(source, model=model, experts=experts, id=id if source != "kaldi" else None, **of_records)
            labelled = lattice(file, source, id, read_symbols, acceptor, (acoustic_scale, lm_scale))
            drawing = None
        alphabets = {"alphabet": labelled.alphabet, "output_alphabet": labelled.output_alphabet}
        note = written(output, form, labelled, drawing or picture_of(labelled, best), alphabets, symbols)
    if not quiet:
        say_done(labelled, tally, note, symbols)


def refuse_for(source: str, **given: Any) -> None:
    """Options that make no sense with this kind of file."""
    from structens.core import ParameterError

    for name, value in given.items():
        if value is not None:
            option = "transducer" if name == "acceptor" and not value else name.replace("_", "-")
            raise ParameterError(f"--{option} does not go with --from {source}")


def of_record(
    file: str,
    record_id: str | None,
    model: str | None,
    experts: str | None,
    align: str,
    reading: dict[str, Any],
    best: bool,
) -> tuple[LabelledAutomaton, Picture]:
    """The automaton of a record, with a cost for each expert under a model, and its picture."""
    import numpy as np

    from structens.align import align as align_records
    from structens.align import needs_alignment
    from structens.automata import LabelledAutomaton, expert_automaton
    from structens.cli.job import reading_of, records_of
    from structens.core import DataError
    from structens.io import read_records
    from structens.report import expert_picture
    from structens.report.picture import expert_shares

    weights = None
    if model is None:
        X = records_of(file, experts, [], reading)
        one = chosen(X.ids, record_id, file)
        mode = ("always" if needs_alignment(X) else "never") if align == "auto" else align
        slots = align_records(X[[one]], mode=mode)
    else:
        ensemble, header = reading_of(model)
        X = read_records(file, experts=list(ensemble.names_), **{**reading, **header["reading"]})
        one = chosen(X.ids, record_id, file)
        slots, weights = ensemble.weighted_slots(X[[one]])
    if not X.present[one].any():
        raise DataError("no expert answers it, so it has no automaton", path=file, record=X.ids[one])
    costs = None
    if weights is not None:
        shares = expert_shares(slots, 0, weights)
        costs = np.where(shares > 0, -np.log(np.where(shares > 0, shares, 1.0)) + 0.0, np.inf)
    key = str(X.ids[one])
    made = expert_automaton(slots, 0).automaton
    return LabelledAutomaton(made, costs, None, X.alphabet, None, key), expert_picture(
        slots, 0, weights, best=best, title=key
    )


def chosen(ids: tuple[str | int, ...], wanted: str | None, file: str) -> int:
    """Number of the record with that id.

    Raises
    ------
    DataError
        If there is none; the message lists the ids most like it.
    ParameterError
        If no id is given and there are several records.

    Examples
    --------
    >>> chosen(("w1", 7), "7", "a.jsonl"), chosen(("w1",), None, "a.jsonl")
    (1, 0)
    """
    from rapidfuzz import process

    from structens.core import DataError, ParameterError

    texts = [str(one) for one in ids]
    if wanted is None and len(texts) == 1:
        return 0
    if wanted is None:
        listed = ", ".join(repr(text) for text in texts[:3])
        raise ParameterError(
            f"{file} holds {len(texts):,} records; say which by --id" + (f", as {listed}" if ids else "")
        )
    if wanted in texts:
        return texts.index(wanted)
    near = ", ".join(repr(found[0]) for found in process.extract(wanted, texts, limit=3))
    raise DataError(
        f"there is no record with id {wanted!r} among {len(texts):,}", path=file, hint=f"near to it: {near}"
    )


def lattice(
    file: str,
    source: str,
    key: str | None,
    table: str | None,
    acceptor: bool | None,
    scales: tuple[float | None, float | None],
) -> LabelledAutomaton:
    """The automaton of a file that is no file of records."""
    from structens.io import read_const_fst, read_htk_lattice, read_kaldi_lattice, read_openfst

    given: dict[str, Any] = {
        name: scale for name, scale in zip(("acoustic_scale", "lm_scale"), scales, strict=True) if scale is not None
    }
    if source != "openfst":
        refuse_for(source, acceptor=acceptor)
    if source == "htk":
        refuse_for(source, read_symbols=table)
        return read_htk_lattice(file, **given)
    by_name = table == "names"
    if source == "kaldi":
        return read_kaldi_lattice(file, key=key, words=None if by_name else table, **given)
    refuse_for(source, **given)
    if source == "const":
        refuse_for(source, read_symbols=table)
        return read_const_fst(file)
    return read_openfst(file, symbols=None if by_name else table, names=by_name, acceptor=acceptor)


def picture_of(labelled: LabelledAutomaton, best: bool) -> Picture:
    """The picture of an automaton as it is; labels without names are shown as the numbers of the file."""
    from dataclasses import replace

    from structens.core import Alphabet
    from structens.report import picture

    if labelled.alphabet is None and labelled.automaton.label.max(initial=0) < MOST_NUMBERS:
        automaton = labelled.automaton
        most = max(int(table.max(initial=0)) for table in (automaton.label, automaton.output) if table is not None)
        numbers = Alphabet(tuple(str(code + 1) for code in range(most + 1)))  # OpenFst's number of a code is one more
        labelled = replace(labelled, alphabet=numbers, output_alphabet=None if automaton.output is None else numbers)

    return picture(
        labelled.automaton,
        labelled.weight,
        labelled.final_weight,
        alphabet=labelled.alphabet,
        output_alphabet=labelled.output_alphabet,
        best=best and labelled.weight is not None,
        states=labelled.states,
        title=labelled.key,
    )


def written(
    output: str,
    form: str,
    labelled: LabelledAutomaton,
    drawing: Picture,
    alphabets: dict[str, Any],
    symbols: str | None,
) -> str:
    """Write it, and the symbol table beside it; returns what is to be noted."""
    from structens.core import ParameterError
    from structens.io import atomic_output, const_fst_bytes, openfst_text, write_symbols
    from structens.io.symbols import needs_escape
    from structens.report import to_dot, to_svg

    names = [label for table in alphabets.values() if table is not None for label in table.labels]
    escape = form == "openfst" and any(map(needs_escape, names))
    tabled = form == "openfst" and labelled.alphabet is not None and labelled.output_alphabet is None
    if symbols is not None and not tabled:
        raise ParameterError("--symbols writes the table of names of an acceptor, with --format openfst")
    arrays = labelled.automaton, labelled.weight, labelled.final_weight
    if form == "const":
        data = const_fst_bytes(*arrays, **alphabets)
    elif form == "openfst":
        data = openfst_text(*arrays, **alphabets, escape=escape).encode()
    else:
        data = (to_svg(drawing) if form == "svg" else to_dot(drawing)).encode()
    with atomic_output(output) as out:
        out.write(data)
    if symbols is not None and labelled.alphabet is not None:
        write_symbols(symbols, labelled.alphabet, escape=escape)
    return "some labels would break a line, so labels are percent-encoded" if escape else ""


def say_done(labelled: LabelledAutomaton, tally: Any, note: str, symbols: str | None) -> None:
    """One line on standard error, after what is to be noted."""
    from structens.automata import log10_paths, n_paths
    from structens.cli.console import say

    for text in [*tally.notes, *([note] if note else [])]:
        say(f"note: {text}")
    made = labelled.automaton
    digits = log10_paths(made) if made.n_states else 0.0
    count = f"{n_paths(made):,}" if digits < 12 else f"10^{digits:.1f}"
    files = [name for name in (tally.output, symbols) if name not in ("-", None)]
    where = f"; wrote {' and '.join(map(str, files))}" if files else ""
    what = f"{labelled.key}: " if labelled.key else ""
    say(f"{what}{made.n_states:,} states, {made.n_transitions:,} transitions, {count} paths{where}")
