#!/bin/sh
# All tests: compiled, the documentation's examples, and without the compiler where that is affordable.
cd "$(dirname "$0")/.."
EXTRAS='[test]' && . ./.ci/venv.sh
status=0
# one run for both, so that what the tests compile (tests/conftest.py says where it is kept) serves the examples too
python -m pytest -n 2 --dist loadfile -m 'not slow' --doctest-modules tests structens "$@" || status=$?
# kernels as plain Python: what the compiler hides (indices out of range, types that change) shows here
NUMBA_DISABLE_JIT=1 python -m pytest -n 2 --dist loadfile -m 'not slow and not compiled and not cli' \
    tests/test_align_*.py tests/test_automata_*.py tests/test_boosting_adaboost.py tests/test_boosting_binning.py tests/test_boosting_coboost.py \
    tests/test_boosting_esp_*.py tests/test_boosting_trees.py tests/test_evaluate_counts.py tests/test_losses_*.py \
    tests/test_online_*.py tests/test_vote.py || status=$?
exit $status
