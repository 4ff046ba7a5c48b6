# Sourced by the two README commands: a virtual environment in .venv with structens and the extras named in EXTRAS, such as [test].
# It is made anew only when pyproject.toml changed, so the second run starts at once.
set -eu
extras=${EXTRAS:-}
python=${PYTHON:-python3}
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "structens needs Python 3.11 or newer; set PYTHON to one" >&2
    exit 1
fi
venv=${STRUCTENS_VENV:-.venv}
stamp="$venv/structens-$(printf '%s' "$extras" | tr -c 'a-z' '-')$(cksum < pyproject.toml | tr ' ' '-')"
if [ ! -e "$stamp" ]; then
    "$python" -m venv "$venv" || { echo "python's venv module is missing: install python3-venv" >&2; exit 1; }
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -e ".$extras"
    touch "$stamp"
fi
PATH="$PWD/$venv/bin:$PATH"
export PATH
