"""The pictures of docs/how-to/boosting.md: run its code, save what it draws.

python docs/img/boosting.py
"""

import re
from pathlib import Path

import matplotlib as mpl

HERE = Path(__file__).resolve().parent
PAGE = (HERE.parent / "how-to" / "boosting.md").read_text(encoding="utf-8")
FILES = {
    "regions": "boosting-rounds.png",
    "cells": "boosting-cells.png",
    "curves": "boosting-curves.svg",
    "tree": "boosting-tree.svg",
}

mpl.rcParams["svg.hashsalt"] = "structens"  # the same file every time
for block in re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE):
    names: dict = {}
    exec(block, names)
    for name in FILES.keys() & names.keys():
        file = HERE / FILES[name]
        names[name].savefig(file, metadata={"Date": None} if file.suffix == ".svg" else {"Software": None})
