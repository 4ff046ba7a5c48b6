"""The tables of docs/experiments.md, a module each; `examples/experiments.py` runs them."""
