"""Lines per CPU-second that are aligned, for several numbers of experts and lengths; gold placed on top.

python benchmarks/alignment.py
"""

import random
import time

from structens.align import align
from structens.core import ExpertPredictions

CELLS = [(2, 40), (5, 40), (10, 40), (20, 40), (5, 10), (5, 100), (5, 1000), (5, 10_000)]
LETTERS = "abcdefghijklmnopqrstuvwxyz '-.,"


def noisy(text: str, rate: float, draw: random.Random) -> str:
    """Substitutions, insertions and deletions 60:20:20."""
    out = []
    for letter in text:
        u = draw.random() / rate
        if u < 0.2:
            continue
        if u < 0.4:
            out.append(draw.choice(LETTERS))
        out.append(draw.choice(LETTERS) if 0.4 <= u < 1 else letter)
    return "".join(out)


def lines(n: int, n_experts: int, length: int) -> ExpertPredictions:
    draw = random.Random(0)
    gold = ["".join(draw.choices(LETTERS, k=length)) for _ in range(n)]
    rates = [0.05 + 0.1 * j / max(1, n_experts - 1) for j in range(n_experts)]
    experts = {f"e{j}": [noisy(text, rate, draw) for text in gold] for j, rate in enumerate(rates)}
    return ExpertPredictions.of(experts, gold=gold)


def cpu_seconds(X: ExpertPredictions) -> float:
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        align(X, mode="always")
        best = min(best, time.process_time() - start)
    return best


def main() -> None:
    start = time.process_time()
    align(lines(2, 3, 20), mode="always")
    print(f"first call, with compiling unless cached: {time.process_time() - start:.1f} CPU-s")
    print("experts  units  lines/CPU-s  with gold")
    for n_experts, length in CELLS:
        n = max(2, 200_000 // (length * n_experts))
        X = lines(n, n_experts, length)
        plain = X.with_gold([None] * n)
        print(f"{n_experts:7} {length:6} {n / cpu_seconds(plain):12,.0f} {n / cpu_seconds(X):10,.0f}", flush=True)


if __name__ == "__main__":
    main()
