"""How kernels are compiled: `entry` for those that Python calls, `inner` for those that only kernels call.

`lean_entry` and `lean_inner` make no arrays, and so need not count who holds one: a fifth less to compile.
Wrappers that nothing uses are left out: a third of the time of a compilation. Division by zero gives infinity or NaN,
as in numpy, without a branch that raises.
"""

from __future__ import annotations

from typing import Any

from numba import njit

_compile: Any = njit
_options = {"cache": True, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}

entry: Any = _compile(**_options)
inner: Any = _compile(**_options, no_cpython_wrapper=True)
lean_entry: Any = _compile(**_options, _nrt=False)
lean_inner: Any = _compile(**_options, _nrt=False, no_cpython_wrapper=True)
