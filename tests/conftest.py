"""Compiled kernels are cached under a name that changes with their sources: numba does not see edits in other files.

Kernels are compiled from files that have some, and from the constants of `core`: other edits compile nothing anew.
"""

import hashlib
import os
import sys
import tempfile
from pathlib import Path

# one process a core: threads of BLAS would only wait for each other, and that took half the time of learning
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# without bytecode every process that a test starts compiles all sources: half of what such tests cost
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
_files = sorted((Path(__file__).resolve().parents[1] / "structens").rglob("*.py"))
_kernels = (b"njit", b"compiled import")  # how a file says that it has some
_texts = {path: path.read_bytes() for path in _files}
_sources = [
    text for path, text in _texts.items() if path.parent.name == "core" or any(word in text for word in _kernels)
]
_digest = hashlib.sha256(b"".join(_sources)).hexdigest()[:16]
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(tempfile.gettempdir()) / f"structens-numba-{_digest}"))

from hypothesis import HealthCheck, settings  # noqa: E402

# without the compiler kernels are a hundred times slower: fewer examples then
_examples = 12 if os.environ.get("NUMBA_DISABLE_JIT") == "1" else 60
settings.register_profile(
    "structens",
    deadline=None,
    max_examples=_examples,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    derandomize=True,
)
settings.load_profile("structens")

_LONG = (
    "cli",
    "path_experts_online",
    "cases",
    "cli_settled",
    "cli_taggers",
    "auto",
    "docs",
    "automata_edit",
    "automata_openfst",
    "restrict_learning",
    "boosting_adaboost_mh_sklearn",
    "experiments",
    "cli_fuzz",
    "boosting_coboost",
    "nonadditive_edit",
)


def pytest_configure(config):
    """Workers take files in the order below, not those with most tests first."""
    config.option.loadscopereorder = False


def pytest_collection_modifyitems(items):
    """Files that take long come first, so that no worker is left alone with one.

    The two that compile most of the same kernels, `cli` and `cases`, do not begin at once.
    """
    place = {f"test_{name}.py": k for k, name in enumerate(_LONG)}
    items.sort(key=lambda item: place.get(item.path.name, len(_LONG)))
