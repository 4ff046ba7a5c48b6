#!/bin/sh
# All tests: compiled, the documentation's examples, and without the compiler where that is affordable.
cd "$(dirname "$0")/.."
EXTRAS='[test]' && . ./.ci/venv.sh
status=0
python -m pytest -n 2 --dist loadfile tests "$@" || status=$?
python -m pytest -n 2 --dist loadfile --doctest-modules structens || status=$?
NUMBA_DISABLE_JIT=1 python -m pytest -n 2 --dist loadfile tests -m 'not compiled and not cli' || status=$?
exit $status
