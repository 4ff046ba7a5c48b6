"""A small C++ program that times OpenFst's own templates on machines read from files; compiled where it can be.

Each verb is run once before it is timed. "new" composition: all free memory has been given back to the system before.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

SOURCE = r"""
#include <fst/fstlib.h>
#include <malloc.h>
#include <ctime>
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>
using namespace fst;
static double now() { timespec t; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); return t.tv_sec + 1e-9 * t.tv_nsec; }
template <class F> double ms(F run) {
  double begin = now(); run(); double once = now() - begin;
  int inner = std::max(1, std::min(1000, int(0.01 / std::max(once, 1e-6))));
  begin = now(); for (int k = 0; k < inner; ++k) run();
  return 1e3 * (now() - begin) / inner;
}
int main(int, char** argv) {
  std::string folder = argv[1]; int n_samples = atoi(argv[2]); bool n_best = atoi(argv[3]);
  VectorFst<Log64Arc> log(*ConstFst<Log64Arc>::Read(folder + "/log"));
  VectorFst<StdArc> tropical(*ConstFst<StdArc>::Read(folder + "/tropical"));
  VectorFst<StdArc> edit(*ConstFst<StdArc>::Read(folder + "/edit"));
  ArcSort(&edit, ILabelCompare<StdArc>());
  auto push = [&](VectorFst<Log64Arc>* fst) { Push(fst, REWEIGHT_TO_INITIAL, 1e-12, true); };
  VectorFst<Log64Arc> pushed(log); push(&pushed);
  printf("{\"push\": %g", ms([&] { VectorFst<Log64Arc> copy(log); copy.SetStart(copy.Start()); push(&copy); }));
  printf(", \"shortest_distance\": %g", ms([&] {
    std::vector<Log64Weight> d; ShortestDistance(log, &d, true, 1e-12f);
  }));
  printf(", \"shortest_path\": %g", ms([&] { VectorFst<StdArc> out; ShortestPath(tropical, &out); }));
  if (n_samples) printf(", \"sample\": %g", ms([&] {
    LogProbArcSelector<Log64Arc> selector(1);
    VectorFst<Log64Arc> out;
    RandGen(pushed, &out, RandGenOptions<LogProbArcSelector<Log64Arc>>(selector, 2147483647, n_samples));
  }));
  if (n_best) printf(", \"n_best\": %g", ms([&] { VectorFst<StdArc> out; ShortestPath(tropical, &out, 100); }));
  auto compose = [&] { VectorFst<StdArc> out; Compose(tropical, edit, &out, ComposeOptions(false)); };
  printf(", \"compose_edit\": %g", ms(compose));
  malloc_trim(0);
  double begin = now(); compose();
  printf(", \"compose_edit_new\": %g", 1e3 * (now() - begin));
  printf("}\n");
}
"""


def compiled() -> Path | None:
    """The program, or None where it cannot be built."""
    if shutil.which("g++") is None:
        return None
    folder = Path(tempfile.gettempdir()) / "structens-openfst"
    folder.mkdir(exist_ok=True)
    source, program = folder / "program.cc", folder / "program"
    if program.exists() and source.exists() and source.read_text(encoding="utf-8") == SOURCE:
        return program
    source.write_text(SOURCE, encoding="utf-8")
    command = ["g++", "-O3", "-march=native", "-std=c++17", "-w", str(source), "-o", str(program), "-lfst", "-ldl"]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        source.unlink()
        return None
    return program


def timed(program: Path, folder: str, n_samples: int, n_best: bool) -> dict[str, float]:
    """CPU milliseconds of each verb on the machines of a folder; without samples if there are to be 0."""
    command = [str(program), folder, str(n_samples), str(int(n_best))]
    result: dict[str, float] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    names = {"compose_edit": "compose edit", "compose_edit_new": "compose edit, new memory"}
    return {names.get(name, name): taken for name, taken in result.items()}
