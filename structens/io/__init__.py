"""Readers and writers: strict JSON Lines in, whole files out, models without pickle."""

from structens.core.fingerprint import fingerprint
from structens.io.batch import RecordBatch
from structens.io.model_file import FORMAT_VERSION, read_model, write_model
from structens.io.normalize import Folder, Folding, Surface, printed_units
from structens.io.output import atomic_output
from structens.io.reader import iter_records, read_records
from structens.io.sequences import Join, Sequences, join_by_id, read_sequences
from structens.io.source import read_lines
from structens.io.warning import DataWarning
from structens.io.writer import check_kept, render_batch, write_predictions

__all__ = [
    "FORMAT_VERSION",
    "DataWarning",
    "Folder",
    "Folding",
    "Join",
    "RecordBatch",
    "Sequences",
    "Surface",
    "atomic_output",
    "check_kept",
    "fingerprint",
    "iter_records",
    "join_by_id",
    "printed_units",
    "read_lines",
    "read_model",
    "read_records",
    "read_sequences",
    "render_batch",
    "write_model",
    "write_predictions",
]
