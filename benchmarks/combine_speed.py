"""Speed and error of `structens combine` on generated lines, beside what people use today, in one run.

    python benchmarks/combine_speed.py [--peers ../shared/peers/combine_bench.py] [--quick]

Every program reads JSON Lines and writes JSON Lines in a process of its own. Figures are CPU-seconds of that process,
medians of three runs; the rate is without the start-up, which is a run on ten lines and stands in a column of its own.
`unisson` (pip) and NIST `rover` (Debian's sctk) take part where they are installed.
The generator of the sets is the peers' script's. Errors are character errors on the lines after the first 2,000.
"""

import argparse
import importlib.util
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
from rapidfuzz.distance import Levenshtein

from structens.core import ExpertPredictions
from structens.ensembles import MajorityVote

ROOT = Path(__file__).resolve().parents[1]
ROVER = Path("/usr/lib/sctk/bin/rover")
PEER = (
    "import json,sys,unisson\nrows=[json.loads(l) for l in open(sys.argv[1],encoding='utf-8')]\n"
    + """
enc=str.maketrans({' ': '\\u2423'})
g=[[list(t.translate(enc)) for t in r['experts'].values()] for r in rows]
o=unisson.consensus_batch(g)
o=[(x if isinstance(x,list) else x.split(' ')) for x in o]
with open(sys.argv[2],'w',encoding='utf-8') as f:
    for r,x in zip(rows,o): f.write(json.dumps({'id':r['id'],'prediction':''.join(x).replace('\\u2423',' ')})+'\\n')
"""
)


def load_peers(path):
    spec = importlib.util.spec_from_file_location("combine_bench", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write_lines(data, path, order=None):
    names = [f"e{k}" for k in range(len(data["preds"]))]
    with open(path, "w", encoding="utf-8") as f:
        for i in range(data["n"]):
            row = {name: data["preds"][k][i] for k, name in enumerate(names)}
            if order is not None:
                row = {f"e{rank}": data["preds"][k][i] for rank, k in enumerate(order)}
            f.write(json.dumps({"id": i, "experts": row}) + "\n")


def cpu_of(command):
    """CPU-seconds and peak MiB of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.NamedTemporaryFile("w+") as peak:
        wrapper = (
            "import resource,subprocess,sys\n"
            "r=subprocess.run(sys.argv[2:]).returncode\n"
            "open(sys.argv[1],'w').write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss//1024))\n"
            "sys.exit(r)"
        )
        subprocess.run([sys.executable, "-c", wrapper, peak.name, *command], check=True, stderr=subprocess.DEVNULL)
        memory = int(Path(peak.name).read_text())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, memory


def error(data, path, skip):
    wrong = length = 0
    with open(path, encoding="utf-8") as f:
        for i, line in enumerate(f):
            if i >= skip:
                wrong += Levenshtein.distance(data["ref"][i], json.loads(line)["prediction"])
                length += len(data["ref"][i])
    return wrong / length


def programs():
    own = [sys.executable, "-m", "structens", "combine", "{in}", "-o", "{out}", "--method", "vote", "--quiet"]
    found = {"structens": own}
    if importlib.util.find_spec("unisson"):
        found["unisson"] = [sys.executable, "-c", PEER, "{in}", "{out}"]
    return found


def run_set(bench, n, length, k, tmp, repeats, names):
    data = bench.gen_str(n, length, k)
    source = tmp / "in.jsonl"
    write_lines(data, source)
    for name, command in programs().items():
        if name not in names:
            continue
        target = tmp / f"{name}.jsonl"
        real = [part.replace("{in}", str(source)).replace("{out}", str(target)) for part in command]
        few = tmp / "few.jsonl"
        few.write_text("".join(source.read_text(encoding="utf-8").splitlines(keepends=True)[:10]), encoding="utf-8")
        start = statistics.median(cpu_of([part.replace(str(source), str(few)) for part in real])[0] for _ in range(3))
        runs = [cpu_of(real) for _ in range(repeats)]
        cpu = statistics.median(r[0] for r in runs)
        cer = 100 * error(data, target, min(2000, n // 2))
        rate = f"{n / (cpu - start):,.0f}"
        print(
            f"| {n:,} x {length} x {k} | {name} | {cpu:.2f} | {start:.2f} | {rate} | {runs[0][1]} | {cer:.2f} |",
            flush=True,
        )
    return data


def nist_rover(bench, n, tmp):
    """NIST rover on its own files (it reads CTM), by the peers' script: CPU-seconds of the program."""
    data = bench.gen_str(n, 40, 5)
    bench.DATA = str(tmp)
    answers, spent = bench.STR["sctk-rover-deb-vote"](data)
    wrong = sum(Levenshtein.distance(r, a) for r, a in zip(data["ref"], answers, strict=True))
    cer = 100 * wrong / sum(map(len, data["ref"]))
    print(f"| {n:,} x 40 x 5 | NIST rover | {spent.cpu:.2f} | | {n / spent.cpu:,.0f} | | {cer:.2f} |", flush=True)


def expert_order(bench, n, tmp):
    """A bad expert listed first: error of the vote over orders in which the worst expert comes first."""
    data = bench.gen_str(n, 40, 5)
    for order in ([0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [3, 4, 0, 1, 2]):
        write_lines(data, tmp / "order.jsonl", order)
        command = programs()["structens"]
        real = [p.replace("{in}", str(tmp / "order.jsonl")).replace("{out}", str(tmp / "o.jsonl")) for p in command]
        cpu_of(real)
        print(
            f"experts named in the order {order}: {100 * error(data, tmp / 'o.jsonl', min(2000, n // 2)):.2f} %",
            flush=True,
        )


def tags(bench, n):
    """Token error of the plain vote on generated tags, the best expert first in the order of ties and the worst."""
    data = bench.gen_tag(n, 20, 5)
    cuts = np.concatenate([[0], np.cumsum(data["lens"])])
    labels = np.array([f"t{t:02d}" for t in range(data["T"])])
    said = [[labels[expert[a:b]].tolist() for a, b in pairwise(cuts)] for expert in data["preds"]]
    gold = [labels[data["ref"][a:b]].tolist() for a, b in pairwise(cuts)]
    for order in (range(5), range(4, -1, -1)):
        X = ExpertPredictions.of({f"e{rank}": said[k] for rank, k in enumerate(order)}, gold=gold)[min(2000, n // 2) :]
        error = 1 - MajorityVote().fit(X).score(X)
        print(f"tags, {n:,} x 20 x 5, ties in the order {list(order)}: {100 * error:.2f} %", flush=True)


def growth(bench, tmp):
    """Time and memory of `combine -m` on 1 and 10 times the records."""
    data = bench.gen_str(20000, 40, 5)
    gold = tmp / "gold.jsonl"
    with open(gold, "w", encoding="utf-8") as f:
        for i in range(1000):
            row = {f"e{k}": data["preds"][k][i] for k in range(5)}
            f.write(json.dumps({"id": i, "experts": row, "gold": data["ref"][i]}) + "\n")
    model = tmp / "m.structens"
    cpu_of([sys.executable, "-m", "structens", "fit", str(gold), "-o", str(model), "--quiet"])
    write_lines(data, tmp / "one.jsonl")
    with open(tmp / "ten.jsonl", "w", encoding="utf-8") as f:
        for copy in range(10):
            for i in range(data["n"]):
                row = {f"e{k}": data["preds"][k][i] for k in range(5)}
                f.write(json.dumps({"id": f"{copy}-{i}", "experts": row}) + "\n")
    for name in ("one", "ten"):
        cpu, memory = cpu_of(
            [
                sys.executable,
                "-m",
                "structens",
                "combine",
                str(tmp / f"{name}.jsonl"),
                "-m",
                str(model),
                "-o",
                str(tmp / "g.jsonl"),
                "--quiet",
            ]
        )
        print(f"combine -m on {name} times 20,000 records: {cpu:.2f} CPU-s, {memory} MiB", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path, default=ROOT.parent / "shared" / "peers" / "combine_bench.py")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    if not options.peers.exists():
        raise SystemExit(f"{options.peers} is missing: the generator of the sets is there")
    bench = load_peers(options.peers)
    there = (("unisson", "unisson" in programs()), ("NIST rover", ROVER.exists()))
    missing = [name for name, is_there in there if not is_there]
    if missing:
        print(f"not installed, left out: {', '.join(missing)}")
    os.environ.setdefault("PYTHONPATH", str(ROOT))
    with tempfile.TemporaryDirectory() as folder:
        tmp = Path(folder)
        head = ("lines x characters x experts", "program", "CPU-s", "start-up", "lines / CPU-s", "peak MiB", "error %")
        print("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
        both = ("structens", "unisson")
        n = 4000 if options.quick else 20000
        run_set(bench, n, 40, 5, tmp, 1 if options.quick else 3, both)
        for length, k, lines in (
            (40, 2, n),
            (40, 10, n // 2),
            (40, 20, n // 4),
            (10, 5, n),
            (100, 5, n // 2),
            (1000, 5, n // 20),
        ):
            run_set(bench, lines, length, k, tmp, 1, both)
        if ROVER.exists():
            nist_rover(bench, 500, tmp)
        expert_order(bench, n // 2, tmp)
        tags(bench, n)
        growth(bench, tmp)


if __name__ == "__main__":
    main()
