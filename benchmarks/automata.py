"""Verbs on automata against OpenFst, as C++ templates and through pynini's pywrapfst, on the same machines in one run.

    python benchmarks/automata.py [machine ...] [--repeat 7]

Every figure is the median CPU time of one thread; the sides take turns, in every round each verb once on each of them,
after a call that is not timed. The machines are those of `lattices.py`. Pushing, distance and sampling use costs in the
log semiring in float64 (`log64`); best paths and composition the tropical one, which OpenFst keeps in float32
(`standard`). OpenFst's `push` gets delta=1e-12, without which its weights are off by up to 2e-3; it changes its machine
in place, so its time includes the copy, as ours includes the new array. Both sample from weights pushed before: OpenFst
from a pushed machine, ours from a `PathSampler`; "sample, unpushed" is our `sample`, which pushes and makes tables
first. "compose edit" is the lattice with the edit transducer and a string: OpenFst gets that transducer composed with
the string. "labels" also writes out the labels, "new memory" gives all free memory back to the system before each call
(on both sides), "general" is our composition of any two. The answers are compared before they are timed. The C++
program is compiled if g++ and OpenFst's headers are there (Debian: libfst-dev).
"""

from __future__ import annotations

import argparse
import ctypes
import math
import os
import statistics
import struct
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

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
    memory,
    n_best,
    push,
    pushed_mean,
    sample,
    shortest_distance,
    shortest_path,
    total_weight,
)
from structens.online import play_automaton

try:
    from lattices import MACHINES, N_LABELS, Machine, differing, string_of
    from openfst_program import compiled, timed
except ImportError:  # as a module of a package
    from benchmarks.lattices import MACHINES, N_LABELS, Machine, differing, string_of
    from benchmarks.openfst_program import compiled, timed

N_BEST, N_SAMPLES = 100, 1000
EDITS = ("compose edit", "compose edit, labels")
GOALS: dict[str, dict[str, int]] = {
    "d1e5": {"push": 14, "shortest_path": 6, "n_best": 18, "sample": 27} | dict.fromkeys(EDITS, 40),
    "d1e6": {"push": 38, "shortest_path": 11, "n_best": 28, "sample": 14} | dict.fromkeys(EDITS, 70),
}
"""Least ratios asked for."""
USUAL = ["s10x5", "s1000x50", "d1e3", "d1e5", "d1e6"]
FEW = 3
"""Rounds in which a verb takes part that takes a second."""


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


class Verb(NamedTuple):
    """What is timed, what is done before without being timed, and whether it takes part in a few rounds only."""

    run: Callable[[], Any]
    before: Callable[[], Any] | None = None
    few: bool = False


def cpu_ms(verb: Verb, repeat: int = 1) -> float:
    """Median CPU milliseconds of one call, the first left out; short calls are timed many at a time."""
    begin = time.process_time()
    verb.run()
    inner = max(1, min(1000, int(0.01 / max(time.process_time() - begin, 1e-6)))) if verb.before is None else 1
    times = []
    for _ in range(repeat):
        if verb.before is not None:
            verb.before()
        begin = time.process_time()
        for _ in range(inner):
            verb.run()
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
    closest = float(wrap.shortestdistance(other, reverse=True)[other.start()])
    pairs = (
        ("best paths", best, theirs),
        ("totals", total, whole),
        ("sizes of compositions", ours.automaton.n_transitions, n_arcs),
        ("edit distances", total_weight(*ours.weighted, Semiring.TROPICAL), closest),
    )
    for name, a, b in pairs:
        if not math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-3):
            raise SystemExit(f"the {name} differ: {a} and {b}")


Times = dict[str, float]


def in_python(machine: Machine, wrap: Any, files: dict[str, bytes], y: NDArray[Any]) -> dict[str, Verb]:
    machines = (wrap.Fst.read_from_string(files[name]) for name in ("log", "tropical", "edit"))
    log, tropical, edit = (wrap.convert(one, "vector") for one in machines)
    edit.arcsort("ilabel")
    check_answers(machine, wrap, log, tropical, edit, y)
    pushed = pushed_copy(log)
    n_samples, large = samples_of(machine), is_large(machine)

    def sampled() -> Any:
        return wrap.randgen(pushed, npath=n_samples, select="log_prob", seed=1, max_length=2**31 - 1)

    def composed() -> Any:
        return wrap.compose(tropical, edit, connect=False)

    verbs = {
        "push": Verb(lambda: pushed_copy(log)),
        "shortest_distance": Verb(lambda: wrap.shortestdistance(log, delta=1e-12, reverse=True)),
        "shortest_path": Verb(lambda: wrap.shortestpath(tropical)),
        "sample": Verb(sampled, few=large),
        "compose edit": Verb(composed),
    }
    if n_samples == N_SAMPLES:  # OpenFst needs half a minute on the long one
        verbs["n_best"] = Verb(lambda: wrap.shortestpath(tropical, nshortest=N_BEST))
    if large and hasattr(ctypes.CDLL(None), "malloc_trim"):
        verbs["compose edit, new memory"] = Verb(composed, lambda: ctypes.CDLL(None).malloc_trim(0), few=True)
    return verbs


def ours(machine: Machine, y: NDArray[Any]) -> dict[str, Verb]:
    automaton, weight = machine
    n_samples = samples_of(machine)
    sampler = PathSampler(automaton, weight)
    transducer = edit_transducer(N_LABELS, y)

    def composed() -> Any:
        return compose_edit(automaton, weight, y)

    def with_labels() -> Any:
        made = composed()
        return made, made.automaton.label, made.automaton.output

    verbs = {
        "push": Verb(lambda: push(automaton, weight)),
        "shortest_distance": Verb(lambda: shortest_distance(automaton, weight, reverse=True)),
        "shortest_path": Verb(lambda: shortest_path(automaton, weight)),
        "n_best": Verb(lambda: n_best(automaton, weight, N_BEST)),
        "n_best, distinct": Verb(lambda: n_best(automaton, weight, N_BEST, distinct=True)),
        "sample": Verb(lambda: sampler.draw(n_samples, 1)),
        "sample, unpushed": Verb(lambda: sample(automaton, weight, n_samples, 1)),
        "compose edit": Verb(composed),
        "compose edit, labels": Verb(with_labels),
    }
    if is_large(machine):
        verbs["compose edit, new memory"] = Verb(composed, memory.forget)
        verbs["compose edit, labels, new memory"] = Verb(with_labels, memory.forget)
    pair = WeightedAutomaton(automaton, weight), transducer
    verbs["compose edit, general"] = Verb(lambda: compose(*pair, Semiring.TROPICAL))
    return verbs


def peer_of(verb: str) -> str:
    return verb.partition(",")[0] + (", new memory" if verb.endswith("new memory") else "")


def is_large(machine: Machine) -> bool:
    return machine[0].n_transitions >= 50_000


def measured(machine: Machine, y: NDArray[Any], repeat: int, wrap: Any, program: Any) -> tuple[Times, Times, Times]:
    """Medians of the C++ program, of pywrapfst and of ours, which take turns."""
    files = {
        "log": const_fst(machine, "log64"),
        "tropical": const_fst(machine, "standard"),
        "edit": edit_fst(edit_transducer(N_LABELS, y)),
    }
    theirs, mine = in_python(machine, wrap, files, y) if wrap else {}, ours(machine, y)
    times: tuple[dict[str, list[float]], ...] = ({}, {}, {})
    n_samples, large = samples_of(machine), is_large(machine)
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            (Path(folder) / name).write_bytes(content)
        for k in range(repeat):
            if program:
                size = 0 if large and k >= FEW else n_samples
                for name, taken in timed(program, folder, size, n_samples == N_SAMPLES).items():
                    times[0].setdefault(name, []).append(taken)
            for name in mine:
                for side, verbs in ((1, theirs), (2, mine)):
                    if name in verbs and not (verbs[name].few and k >= FEW):
                        times[side].setdefault(name, []).append(cpu_ms(verbs[name]))
    cpp, python, own = ({name: statistics.median(taken) for name, taken in side.items()} for side in times)
    return cpp, python, own


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


def bandwidth(machine: Machine, repeat: int) -> str:
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
        taken = cpu_ms(Verb(run), repeat)
        lines.append(
            f"{name}: {size:.1f} bytes a transition, limit {limit:.2f} ms, taken {taken:.2f} ms, "
            f"{taken / limit:.1f} times the limit (asked: at most {most})\n"
        )
    return "".join(lines)


def rounds() -> str:
    """Weighted Majority on the 10 x 5 automaton, all rounds in one call."""
    automaton, _ = MACHINES["s10x5"]()
    losses = (np.random.default_rng(1).random((20_000, automaton.n_transitions)) < 0.3) * 1.0
    taken = cpu_ms(Verb(lambda: play_automaton(automaton, losses, 0.95)), 5)
    return f"an on-line round on 10 x 5: {1e3 * taken / len(losses):.2f} microseconds (asked: at most 3)\n"


def table(name: str, repeat: int, wrap: Any, program: Any) -> tuple[list[str], list[str], Times]:
    """Rows of one machine, the goals that are missed, and our times."""
    machine = MACHINES[name]()
    cpp, python, mine = measured(machine, string_of(name), repeat, wrap, program)
    rows, missed = [], []
    for verb, taken in mine.items():
        cells, ratios = [], []
        for times in (cpp, python):
            other = times.get(peer_of(verb))
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
    try:
        other = differing(names)
        write(f"machines that differ from wfa_lattices.py: {', '.join(other) or 'none'}\n")
    except FileNotFoundError:
        write("wfa_lattices.py is not there: its machines are made by our own copy of the definition\n")
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
        write(bandwidth(MACHINES["d1e6"](), options.repeat))
    write(rounds())
    write("".join(f"missed: {line}\n" for line in missed))
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
