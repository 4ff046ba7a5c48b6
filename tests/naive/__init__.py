"""Slow twins of the kernels: each written from the definition, in plain Python, one file an area."""
