"""Readers and writers: strict JSON Lines in, whole files out, models without pickle."""

from typing import TYPE_CHECKING, Any

from structens.core.fingerprint import fingerprint
from structens.io.batch import RecordBatch
from structens.io.collect import Collected, collect
from structens.io.model_file import FORMAT_VERSION, read_model, write_model
from structens.io.normalize import Folder, Folding, Surface, printed_units
from structens.io.output import atomic_output
from structens.io.plain_text import read_text
from structens.io.reader import iter_records, read_records
from structens.io.sequences import Join, Sequences, join_by_id, read_sequences
from structens.io.source import read_lines
from structens.io.warning import DataWarning
from structens.io.writer import check_kept, render_batch, write_predictions

if TYPE_CHECKING:
    from structens.io.conllu import read_conllu
    from structens.io.const_fst import const_fst_bytes, read_const_fst, write_const_fst
    from structens.io.feature_arrays import read_feature_arrays
    from structens.io.features import read_features
    from structens.io.fold_store import FoldStore
    from structens.io.htk import read_htk_lattice
    from structens.io.kaldi import iter_kaldi_lattices, read_kaldi_lattice
    from structens.io.openfst import openfst_text, read_openfst, write_openfst
    from structens.io.symbols import Symbols, read_symbols, symbols_text, write_symbols
    from structens.io.tagged_files import read_tagged
    from structens.io.tagged_sequences import TaggedSequences

__all__ = [
    "FORMAT_VERSION",
    "Collected",
    "DataWarning",
    "FoldStore",
    "Folder",
    "Folding",
    "Join",
    "RecordBatch",
    "Sequences",
    "Surface",
    "Symbols",
    "TaggedSequences",
    "atomic_output",
    "check_kept",
    "collect",
    "const_fst_bytes",
    "fingerprint",
    "iter_kaldi_lattices",
    "iter_records",
    "join_by_id",
    "openfst_text",
    "printed_units",
    "read_conllu",
    "read_const_fst",
    "read_feature_arrays",
    "read_features",
    "read_htk_lattice",
    "read_kaldi_lattice",
    "read_lines",
    "read_model",
    "read_openfst",
    "read_records",
    "read_sequences",
    "read_symbols",
    "read_tagged",
    "read_text",
    "render_batch",
    "symbols_text",
    "write_const_fst",
    "write_model",
    "write_openfst",
    "write_predictions",
    "write_symbols",
]

_LAZY = {
    "conllu": ("read_conllu",),
    "feature_arrays": ("read_feature_arrays",),
    "features": ("read_features",),
    "fold_store": ("FoldStore",),
    "tagged_files": ("read_tagged",),
    "tagged_sequences": ("TaggedSequences",),
    "const_fst": ("const_fst_bytes", "read_const_fst", "write_const_fst"),
    "htk": ("read_htk_lattice",),
    "kaldi": ("iter_kaldi_lattices", "read_kaldi_lattice"),
    "openfst": ("openfst_text", "read_openfst", "write_openfst"),
    "symbols": ("Symbols", "read_symbols", "symbols_text", "write_symbols"),
}


def __getattr__(name: str) -> Any:
    """Import what knows automata or taggers, and with them the compiler, when it is used: records need neither."""
    from importlib import import_module

    for module, names in _LAZY.items():
        if name in names:
            return getattr(import_module(f"structens.io.{module}"), name)
    raise AttributeError(f"module 'structens.io' has no attribute {name!r}")
