"""Verbs on automata against OpenFst, as C++ templates and through pynini's pywrapfst, on the same machines in one run.

    python benchmarks/automata.py [machine ...] [--repeat 7]

Every figure is the median CPU time of one thread. Pushing, distance and sampling use costs in the log semiring in
float64 (`log64`); best paths and composition the tropical one, which OpenFst keeps in float32 (`standard`). OpenFst's
`push` gets delta=1e-12, without which its weights are off by up to 2e-3; it changes its machine in place, so its time
includes the copy, as ours includes the new array. Both sample from weights pushed before: OpenFst from a pushed
machine, ours from a `PathSampler`; "sample, unpushed" is our `sample`, which pushes and makes tables first. "compose
edit" is the lattice with the edit transducer and a string: OpenFst gets that transducer composed with the string.
"again" writes over the arrays of an earlier result, "general" is our composition of any two. The answers are compared
before they are timed. The C++ program is compiled if g++ and OpenFst's headers are there (Debian: libfst-dev).
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import struct
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structens.automata import (
    PathSampler,
    Semiring,
    Transducer,
    WeightedAutomaton,
    compose,
    compose_edit,
    edit_transducer,
    longest_path,
    n_best,
    push,
    pushed_mean,
    sample,
    shortest_distance,
    shortest_path,
    top_sort,
)
from structens.core import Automaton
from structens.online import play_automaton

try:
    from openfst_program import compiled, timed
except ImportError:  # as a module of a package
    from benchmarks.openfst_program import compiled, timed

N_BEST, N_SAMPLES, N_LABELS = 100, 1000, 50
EDITS = ("compose edit", "compose edit, again")
GOALS: dict[str, dict[str, int]] = {
    "d1e5": {"push": 14, "shortest_path": 6, "n_best": 18, "sample": 27} | dict.fromkeys(EDITS, 40),
    "d1e6": {"push": 38, "shortest_path": 11, "n_best": 28, "sample": 14} | dict.fromkeys(EDITS, 70),
}
"""Least ratios asked for."""
LENGTH = {"s10x5": 10, "s1000x50": 50, "s100000x10": 10, "d1e3": 20, "d1e5": 10, "d1e6": 5}
"""Labels of the string of the edit composition."""

Machine = tuple[Automaton, NDArray[np.float64]]


def figure_1(n_slots: int, p: int) -> Machine:
    """p parallel transitions in each of n_slots slots."""
    rng = np.random.default_rng(20140622)
    source = np.repeat(np.arange(n_slots), p)
    made = top_sort(source, source + 1, rng.integers(0, N_LABELS, len(source)), final=[n_slots])
    return made.automaton, rng.exponential(1.0, len(source))


def layers(width: int, depth: int, degree: int) -> Machine:
    """A start, then layers of states; each state has `degree` ways on, one in ten of them over one layer."""
    rng = np.random.default_rng(20140623)
    n_states = 1 + width * depth
    source = np.repeat(np.arange(1, 1 + width * (depth - 1)), degree)
    layer = (source - 1) // width
    step = 1 + ((rng.random(len(source)) < 0.1) & (layer + 2 < depth))
    target = 1 + (layer + step) * width + rng.integers(0, width, len(source))
    target[::degree] = source[::degree] + width  # so that every state is reached
    source = np.concatenate([np.zeros(width, dtype=np.int64), source])
    target = np.concatenate([np.arange(1, 1 + width), target])
    made = top_sort(source, target, rng.integers(0, N_LABELS, len(source)), final=range(n_states - width, n_states))
    return made.automaton, rng.exponential(1.0, len(source))


MACHINES: dict[str, Callable[[], Machine]] = {
    "s10x5": lambda: figure_1(10, 5),
    "s1000x50": lambda: figure_1(1000, 50),
    "s100000x10": lambda: figure_1(100_000, 10),
    "d1e3": lambda: layers(5, 40, 5),
    "d1e5": lambda: layers(100, 101, 10),
    "d1e6": lambda: layers(500, 201, 10),
}
USUAL = ["s10x5", "s1000x50", "d1e3", "d1e5", "d1e6"]


def const_fst(machine: Machine, arc_type: str) -> bytes:
    """The machine as an OpenFst ConstFst file, two dumps of structured arrays; label 0 is epsilon there."""
    automaton, weight = machine
    final = np.where(automaton.is_final, 0.0, np.inf)
    properties = 0x1 | 0x10000 | 0x800000000 | 0x2000000000 | 0x4000000000  # expanded, acceptor, acyclic, sorted
    labels = automaton.label + 1
    columns = (automaton.offsets, labels, labels, weight, automaton.target, final)
    return const_fst_of(columns, automaton.start, arc_type, properties)


def const_fst_of(columns: tuple[Any, ...], start: int, arc_type: str, properties: int) -> bytes:
    offsets, read, written, weight, target, final = columns
    real = {"standard": "f4", "log64": "f8"}[arc_type]
    states = np.zeros(len(final), np.dtype([("w", real), *((k, "u4") for k in ("pos", "n", "ni", "no"))], align=True))
    states["w"], states["pos"], states["n"] = final, offsets[:-1], np.diff(offsets)
    for name, labels in (("ni", read), ("no", written)):
        silent = np.concatenate([[0], np.cumsum(labels == 0)])
        states[name] = silent[offsets[1:]] - silent[offsets[:-1]]
    arcs = np.zeros(len(target), np.dtype([("i", "i4"), ("o", "i4"), ("w", real), ("d", "i4")], align=True))
    arcs["i"], arcs["o"], arcs["w"], arcs["d"] = read, written, weight, target

    def text(value: str) -> bytes:
        return struct.pack("<i", len(value)) + value.encode()

    header = struct.pack("<i", 2125659606) + text("const") + text(arc_type)
    counts = struct.pack("<iiQqqq", 2, 0, properties, start, len(states), len(arcs))
    return header + counts + states.tobytes() + arcs.tobytes()


def edit_fst(transducer: Transducer) -> bytes:
    """The edit transducer composed with a string, as an OpenFst file; transitions by label read."""
    t = transducer
    order = np.lexsort((t.label, t.source))
    written = np.zeros(len(order), np.int32) if t.output is None else t.output[order] + 1
    columns = (t.offsets, t.label[order] + 1, written, t.weight[order], t.target[order], t.final_weight)
    return const_fst_of(columns, t.start, "standard", 0x1)


def cpu_ms(run: Callable[[], Any], repeat: int) -> float:
    """Median CPU milliseconds of one call; short calls are timed many at a time."""
    begin = time.process_time()
    run()
    inner = max(1, min(1000, int(0.01 / max(time.process_time() - begin, 1e-6))))
    times = []
    for _ in range(repeat):
        begin = time.process_time()
        for _ in range(inner):
            run()
        times.append((time.process_time() - begin) / inner)
    return 1e3 * statistics.median(times)


def pushed_copy(fst: Any) -> Any:
    copy = fst.copy()
    copy.push(delta=1e-12, remove_total_weight=True)
    return copy


def pushed_distance(machine: Machine, fst: Any) -> float:
    """Largest difference of pushed weights, over all transitions (OpenFst prints nine digits)."""
    ours = push(*machine).weight
    theirs = pushed_copy(fst)
    weights = [float(arc.weight) for q in theirs.states() for arc in theirs.arcs(q)]
    return float(np.abs(ours - weights).max())


def check_answers(machine: Machine, wrap: Any, log: Any, tropical: Any, edit: Any, y: NDArray[Any]) -> None:
    """Stop if the two sides do not say the same."""
    automaton, weight = machine
    best = sum(weight[shortest_path(automaton, weight)])
    theirs = float(wrap.shortestdistance(tropical, reverse=True)[tropical.start()])
    total = float(shortest_distance(automaton, weight, reverse=True)[automaton.start])
    whole = float(wrap.shortestdistance(log, delta=1e-12, reverse=True)[log.start()])
    ours, other = compose_edit(automaton, weight, y), wrap.compose(tropical, edit, connect=False)
    n_arcs = sum(other.num_arcs(q) for q in other.states())
    n_reached = ours.automaton.n_transitions
    for name, a, b in (("best paths", best, theirs), ("totals", total, whole), ("compositions", n_reached, n_arcs)):
        if not math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-3):
            raise SystemExit(f"the {name} differ: {a} and {b}")


Times = dict[str, float]


def theirs_in_python(machine: Machine, wrap: Any, repeat: int, files: dict[str, bytes], y: NDArray[Any]) -> Times:
    machines = (wrap.Fst.read_from_string(files[name]) for name in ("log", "tropical", "edit"))
    log, tropical, edit = (wrap.convert(one, "vector") for one in machines)
    edit.arcsort("ilabel")
    check_answers(machine, wrap, log, tropical, edit, y)
    pushed = pushed_copy(log)
    n_samples, few = samples_of(machine), min(repeat, 3)
    verbs: dict[str, tuple[Callable[[], Any], int]] = {
        "push": (lambda: pushed_copy(log), repeat),
        "shortest_distance": (lambda: wrap.shortestdistance(log, delta=1e-12, reverse=True), repeat),
        "shortest_path": (lambda: wrap.shortestpath(tropical), repeat),
        "sample": (
            lambda: wrap.randgen(pushed, npath=n_samples, select="log_prob", seed=1, max_length=2**31 - 1),
            few,
        ),
        "compose edit": (lambda: wrap.compose(tropical, edit, connect=False), few),
    }
    if n_samples == N_SAMPLES:  # OpenFst needs half a minute on the long one
        verbs["n_best"] = (lambda: wrap.shortestpath(tropical, nshortest=N_BEST), repeat)
    return {verb: cpu_ms(run, times) for verb, (run, times) in verbs.items()}


def ours(machine: Machine, repeat: int, y: NDArray[Any]) -> Times:
    automaton, weight = machine
    n_samples = samples_of(machine)
    sampler = PathSampler(automaton, weight)
    earlier = compose_edit(automaton, weight, y)
    transducer = edit_transducer(N_LABELS, y)
    verbs: dict[str, Callable[[], Any]] = {
        "push": lambda: push(automaton, weight),
        "shortest_distance": lambda: shortest_distance(automaton, weight, reverse=True),
        "shortest_path": lambda: shortest_path(automaton, weight),
        "n_best": lambda: n_best(automaton, weight, N_BEST),
        "n_best, distinct": lambda: n_best(automaton, weight, N_BEST, distinct=True),
        "sample": lambda: sampler.draw(n_samples, 1),
        "sample, unpushed": lambda: sample(automaton, weight, n_samples, 1),
        "compose edit": lambda: compose_edit(automaton, weight, y),
        "compose edit, again": lambda: compose_edit(automaton, weight, y, reuse=earlier),
        "compose edit, general": lambda: compose(WeightedAutomaton(automaton, weight), transducer, Semiring.TROPICAL),
    }
    return {verb: cpu_ms(run, repeat) for verb, run in verbs.items()}


def samples_of(machine: Machine) -> int:
    """Few where one path has 100,000 transitions."""
    return 10 if longest_path(machine[0]) > 10_000 else N_SAMPLES


def triad() -> float:
    """Bytes a second of a = b + c on arrays of 64 MiB, the best of several."""
    a, b, c = (np.ones(8_388_608) for _ in range(3))
    times = []
    for _ in range(7):
        begin = time.process_time()
        np.add(b, c, out=a)
        times.append(time.process_time() - begin)
    return 24.0 * len(a) / min(times)


def memory(machine: Machine, repeat: int) -> str:
    """Pushing and the expected loss against the speed of memory."""
    automaton, weight = machine
    probability, loss = np.exp(-push(automaton, weight).weight), np.ones(automaton.n_transitions)
    states = automaton.n_states / automaton.n_transitions
    speed = triad()
    lines = [f"memory: triad {speed / 1e9:.1f} GB/s\n"]
    for name, size, run, most in (
        ("expected loss (pushed weights)", 20 + 16 * states, lambda: pushed_mean(automaton, probability, loss), 3),
        ("push", 20 + 48 * states, lambda: push(automaton, weight), 6),
    ):
        limit = 1e3 * size * automaton.n_transitions / speed
        taken = cpu_ms(run, repeat)
        lines.append(
            f"{name}: {size:.1f} bytes a transition, limit {limit:.2f} ms, taken {taken:.2f} ms, "
            f"{taken / limit:.1f} times the limit (asked: at most {most})\n"
        )
    return "".join(lines)


def rounds() -> str:
    """Weighted Majority on the 10 x 5 automaton, all rounds in one call."""
    automaton, _ = MACHINES["s10x5"]()
    losses = (np.random.default_rng(1).random((20_000, automaton.n_transitions)) < 0.3) * 1.0
    taken = cpu_ms(lambda: play_automaton(automaton, losses, 0.95), 5)
    return f"an on-line round on 10 x 5: {1e3 * taken / len(losses):.2f} microseconds (asked: at most 3)\n"


def table(name: str, repeat: int, wrap: Any, program: Any) -> tuple[list[str], list[str], Times]:
    """Rows of one machine, the goals that are missed, and our times."""
    machine = MACHINES[name]()
    y = np.random.default_rng(7).integers(0, N_LABELS, LENGTH[name])
    files = {
        "log": const_fst(machine, "log64"),
        "tropical": const_fst(machine, "standard"),
        "edit": edit_fst(edit_transducer(N_LABELS, y)),
    }
    n_samples = samples_of(machine)
    python = theirs_in_python(machine, wrap, repeat, files, y) if wrap else {}
    cpp = timed(program, files, repeat, n_samples, n_samples == N_SAMPLES) if program else {}
    mine = ours(machine, repeat, y)
    rows, missed = [], []
    for verb, taken in mine.items():
        peer = verb.split(",")[0]
        cells, ratios = [], []
        for times in (cpp, python):
            other = times.get(peer.replace(" ", "_") if times is cpp else peer)
            cells += [f"{other:.4g}", f"{other / taken:.1f}"] if other else ["-", "-"]
            ratios += [other / taken] if other else []
        goal = GOALS.get(name, {}).get(verb)
        rows.append(
            f"| {name} | {machine[0].n_transitions:,} | {verb} | {taken:.4g} | {' | '.join(cells)} | {goal or ''} |"
        )
        if goal and ratios and min(ratios) < goal:
            missed.append(f"{verb} on {name}: {min(ratios):.1f} times as fast as the faster of the two, asked {goal}")
    return rows, missed, mine


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("machine", nargs="*", help=f"of {', '.join(MACHINES)}; default {' '.join(USUAL)}")
    parser.add_argument("--repeat", type=int, default=7)
    options = parser.parse_args()
    names = options.machine or USUAL
    if not set(names) <= set(MACHINES):
        parser.error(f"machines are {', '.join(MACHINES)}")
    program = compiled()
    try:
        import pywrapfst
    except ImportError:
        pywrapfst = None
    write = sys.stdout.write
    if pywrapfst is None:
        write("pynini is not installed: nothing to compare with through Python (pip install 'structens[test]')\n")
    if program is None:
        write(
            "no g++ or no headers of OpenFst: nothing to compare with in C++ (Debian: apt-get install g++ libfst-dev)\n"
        )
    write(f"load {os.getloadavg()[0]:.1f}, medians of {options.repeat}, CPU milliseconds of one thread\n\n")
    write("| machine | transitions | verb | structens | OpenFst C++ | ratio | pywrapfst | ratio | asked |\n")
    write("|---|---|---|---|---|---|---|---|---|\n")
    missed: list[str] = []
    mine: dict[str, Times] = {}
    for name in names:
        rows, short, mine[name] = table(name, options.repeat, pywrapfst, program)
        missed += short
        write("".join(row + "\n" for row in rows))
        sys.stdout.flush()
    if pywrapfst is not None and "d1e5" in names:
        machine = MACHINES["d1e5"]()
        fst = pywrapfst.convert(pywrapfst.Fst.read_from_string(const_fst(machine, "log64")), "vector")
        write(f"\nlargest difference of pushed weights on d1e5: {pushed_distance(machine, fst):.1e}\n")
    if {"d1e5", "d1e6"} <= set(names):
        verbs = ("push", "shortest_distance", "shortest_path", "n_best", "compose edit")
        grown = {verb: mine["d1e6"][verb] / mine["d1e5"][verb] for verb in verbs}
        write("ten times the transitions take: " + ", ".join(f"{v} {x:.1f} times" for v, x in grown.items()) + "\n")
    if "d1e6" in names:
        write(memory(MACHINES["d1e6"](), options.repeat))
    write(rounds())
    write("".join(f"missed: {line}\n" for line in missed))
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
