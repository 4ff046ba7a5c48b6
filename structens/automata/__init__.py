"""Verbs on acyclic weighted automata, one algorithm a file, under the names of the literature.

Weights live apart from the automaton: every verb takes ``(automaton, weight, final_weight=None, semiring=...)`` and
changes none of them.
"""

from structens.automata.best_strings import BestStrings, best_strings
from structens.automata.compose import Composed, compose
from structens.automata.determinize import determinize, is_deterministic
from structens.automata.edit import Closest, EditComposed, closest_path, compose_edit
from structens.automata.edit_loss import EditLoss, edit_loss, expected_edit_distance
from structens.automata.edit_transducer import EditCosts, edit_transducer
from structens.automata.epsilon import remove_epsilon
from structens.automata.expectation import Expectation, divergence, entropy, expectation, pushed_mean
from structens.automata.expert import ExpertAutomaton, expert_automaton
from structens.automata.graph import from_networkx, to_networkx
from structens.automata.history import HistoryAutomaton, history_automaton, ngram_gains
from structens.automata.label_acceptor import LabelAcceptor
from structens.automata.labelled import LabelledAutomaton
from structens.automata.marginals import Flows, expected_loss, flows
from structens.automata.minimize import minimize
from structens.automata.n_best import BestPaths, n_best
from structens.automata.ngram import compose_ngram, ngram_automaton
from structens.automata.parallel import Merged, merge_parallel
from structens.automata.paths import log10_paths, longest_path, n_paths, path_labels
from structens.automata.project import project
from structens.automata.prune import prune
from structens.automata.push import Pushed, push
from structens.automata.random import random_automaton
from structens.automata.restrict import restrict
from structens.automata.reverse import reverse
from structens.automata.sample import PathSampler, sample
from structens.automata.semiring import Semiring
from structens.automata.shortest_distance import shortest_distance, total_weight
from structens.automata.shortest_path import shortest_path
from structens.automata.strings import n_strings
from structens.automata.topological import Renumbered, connect, top_sort
from structens.automata.transducer import Transducer
from structens.automata.union import union
from structens.automata.weighted import WeightedAutomaton
from structens.automata.weights import as_weights

__all__ = [
    "BestPaths",
    "BestStrings",
    "Closest",
    "Composed",
    "EditComposed",
    "EditCosts",
    "EditLoss",
    "Expectation",
    "ExpertAutomaton",
    "Flows",
    "HistoryAutomaton",
    "LabelAcceptor",
    "LabelledAutomaton",
    "Merged",
    "PathSampler",
    "Pushed",
    "Renumbered",
    "Semiring",
    "Transducer",
    "WeightedAutomaton",
    "as_weights",
    "best_strings",
    "closest_path",
    "compose",
    "compose_edit",
    "compose_ngram",
    "connect",
    "determinize",
    "divergence",
    "edit_loss",
    "edit_transducer",
    "entropy",
    "expectation",
    "expected_edit_distance",
    "expected_loss",
    "expert_automaton",
    "flows",
    "from_networkx",
    "history_automaton",
    "is_deterministic",
    "log10_paths",
    "longest_path",
    "merge_parallel",
    "minimize",
    "n_best",
    "n_paths",
    "n_strings",
    "ngram_automaton",
    "ngram_gains",
    "path_labels",
    "project",
    "prune",
    "push",
    "pushed_mean",
    "random_automaton",
    "remove_epsilon",
    "restrict",
    "reverse",
    "sample",
    "shortest_distance",
    "shortest_path",
    "to_networkx",
    "top_sort",
    "total_weight",
    "union",
]
