"""Verbs on acyclic weighted automata, one algorithm a file, under the names of the literature.

Weights live apart from the automaton: every verb takes ``(automaton, weight, final_weight=None, semiring=...)`` and
changes none of them.
"""

from structens.automata.expert import ExpertAutomaton, expert_automaton
from structens.automata.marginals import Flows, expected_loss, flows
from structens.automata.n_best import BestPaths, n_best
from structens.automata.paths import log10_paths, longest_path, n_paths, path_labels
from structens.automata.push import Pushed, push
from structens.automata.sample import sample
from structens.automata.semiring import Semiring
from structens.automata.shortest_distance import shortest_distance, total_weight
from structens.automata.shortest_path import shortest_path
from structens.automata.topological import Renumbered, connect, top_sort
from structens.automata.weights import as_weights

__all__ = [
    "BestPaths",
    "ExpertAutomaton",
    "Flows",
    "Pushed",
    "Renumbered",
    "Semiring",
    "as_weights",
    "connect",
    "expected_loss",
    "expert_automaton",
    "flows",
    "log10_paths",
    "longest_path",
    "n_best",
    "n_paths",
    "path_labels",
    "push",
    "sample",
    "shortest_distance",
    "shortest_path",
    "top_sort",
    "total_weight",
]
