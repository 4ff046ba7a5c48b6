"""An automaton as a graph of networkx, and back."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structens.automata.labelled import Cycle, LabelledAutomaton, sorted_or_cycle
from structens.core import EPSILON, Alphabet, Automaton, AutomatonError, DataError

if TYPE_CHECKING:
    import networkx


def to_networkx(
    automaton: Automaton,
    weight: ArrayLike | None = None,
    final_weight: ArrayLike | None = None,
    *,
    alphabet: Alphabet | None = None,
    output_alphabet: Alphabet | None = None,
) -> networkx.MultiDiGraph:
    """States as nodes 0, 1, ..., transitions as edges whose key is the number of the transition.

    Nodes have `start` and `final` (bool) and, where given, `final_weight`. Edges have `label`, `output` if it is a
    transducer, and `weight` where given. Labels are codes, with EPSILON = -1; under an alphabet they are names, with
    None for EPSILON.

    Parameters
    ----------
    automaton : Automaton
    weight : array_like, shape (n_transitions,), or None
    final_weight : array_like, shape (n_states,), or None
    alphabet, output_alphabet : Alphabet or None
        Names; the output's are those of the input if only these are given.

    Raises
    ------
    DataError
        If weights do not fit, or a code is not in the alphabet.

    Examples
    --------
    >>> g = to_networkx(Automaton.from_transitions([(0, 1, 0), (0, 1, -1)], final=[1]), alphabet=Alphabet(("K",)))
    >>> list(g.edges(keys=True, data="label")), g.nodes[1]
    ([(0, 1, 0, 'K'), (0, 1, 1, None)], {'start': False, 'final': True})
    """
    import networkx

    graph = networkx.MultiDiGraph()
    weights = _sized(weight, automaton.n_transitions, "weight")
    finals = _sized(final_weight, automaton.n_states, "final weight")
    for q, is_final in enumerate(automaton.is_final.tolist()):
        graph.add_node(q, start=q == automaton.start, final=is_final)
        if finals is not None:
            graph.nodes[q]["final_weight"] = finals[q]
    columns: dict[str, list[Any]] = {"label": named(automaton.label, alphabet)}
    if automaton.output is not None:
        columns["output"] = named(automaton.output, output_alphabet or alphabet)
    if weights is not None:
        columns["weight"] = weights
    ends = zip(automaton.source.tolist(), automaton.target.tolist(), strict=True)
    for e, (q, r) in enumerate(ends):
        graph.add_edge(q, r, key=e, **{name: column[e] for name, column in columns.items()})
    return graph


def from_networkx(
    graph: networkx.MultiDiGraph,
    *,
    weight: str = "weight",
    start: Hashable | None = None,
    final: Collection[Hashable] | None = None,
    alphabet: Alphabet | None = None,
    output_alphabet: Alphabet | None = None,
) -> LabelledAutomaton:
    """The automaton of a directed graph with any nodes, the states in topological order.

    Nodes keep their order where it is topological. Transitions of a state are in the order of their keys if all keys
    of the graph are different whole numbers (so that `to_networkx` comes back exactly), else as inserted.

    Parameters
    ----------
    graph : networkx.MultiDiGraph or DiGraph
        Every edge has a `label`: a code, or a name, with None for EPSILON; all or no edges have `output` and weights.
    weight : str
        Name of the edges' attribute that holds the weight.
    start : node, optional
        Default: the node whose attribute `start` is true, else the only one that no edge leads to.
    final : collection of nodes, optional
        Default: those whose attribute `final` is true.
    alphabet, output_alphabet : Alphabet or None
        Codes of the names; None makes one in order of appearance.

    Raises
    ------
    AutomatonError
        If there is a cycle; the message names its nodes.
    DataError
        If the graph is not directed, start or finals are unclear, or an attribute is missing or of another kind.

    Examples
    --------
    >>> import networkx
    >>> g = networkx.DiGraph([("b", "c", {"label": "T"}), ("a", "b", {"label": "K"})])
    >>> made = from_networkx(g, final=["c"])
    >>> made.states, made.automaton.label.tolist(), made.alphabet.labels, made.weight
    (('a', 'b', 'c'), [1, 0], ('T', 'K'), None)
    """
    if not graph.is_directed():
        raise DataError("an automaton has directed transitions", hint="give a networkx.MultiDiGraph or DiGraph")
    nodes = list(graph.nodes)
    place = {node: q for q, node in enumerate(nodes)}
    edges = _edges(graph)
    label, alphabet = _codes(edges, "label", alphabet)
    output = None
    if any("output" in data for *_, data in edges):
        output, output_alphabet = _codes(edges, "output", output_alphabet)
    finals = [place[_known(node, place)] for node in (_finals(graph) if final is None else final)]
    made = sorted_or_cycle(
        [place[u] for u, _, _ in edges],
        [place[v] for _, v, _ in edges],
        label,
        final=finals,
        start=place[_start(graph) if start is None else _known(start, place)] if nodes else 0,
        states=nodes,
        output=output,
    )
    if isinstance(made, Cycle):
        raise AutomatonError(f"only acyclic automata are used; this graph has the cycle {made.text}")
    weights = _numbers([data.get(weight) for *_, data in edges], f"edge attribute {weight!r}")
    final_weight = _numbers(_final_weights(graph), "node attribute 'final_weight'")
    return LabelledAutomaton(
        made.automaton,
        None if weights is None else weights[made.transition],
        None if final_weight is None else final_weight[made.state],
        alphabet,
        output_alphabet,
        states=tuple(nodes[q] for q in made.state.tolist()),
    )


def named(codes: NDArray[np.int32], alphabet: Alphabet | None) -> list[Any]:
    """Names of the codes, None for EPSILON; without an alphabet the codes themselves.

    Raises
    ------
    DataError
        If a code is not in the alphabet.

    Examples
    --------
    >>> named(np.array([1, -1], np.int32), Alphabet(("K", "T"))), named(np.array([1, -1], np.int32), None)
    (['T', None], [1, -1])
    """
    if alphabet is None:
        return list(codes.tolist())
    if len(codes) and (codes.max() >= len(alphabet) or codes.min() < EPSILON):
        bad = codes[(codes >= len(alphabet)) | (codes < EPSILON)][0]
        raise DataError(f"label code {bad} is not in the alphabet of {len(alphabet)} labels")
    return [alphabet.labels[code] if code >= 0 else None for code in codes.tolist()]


def _sized(values: ArrayLike | None, size: int, name: str) -> list[float] | None:
    if values is None:
        return None
    array = np.asarray(values, dtype=np.float64)
    if array.shape != (size,):
        raise DataError(f"{name} has shape {array.shape}, the automaton needs ({size},)")
    numbers: list[float] = array.tolist()
    return numbers


def _edges(graph: Any) -> list[tuple[Any, Any, dict[str, Any]]]:
    if not graph.is_multigraph():
        return list(graph.edges(data=True))
    edges = list(graph.edges(keys=True, data=True))
    keys = [key for _, _, key, _ in edges]
    if all(type(key) is int for key in keys) and len(set(keys)) == len(keys):
        edges.sort(key=lambda edge: edge[2])
    return [(u, v, data) for u, v, _, data in edges]


def _codes(
    edges: list[tuple[Any, Any, dict[str, Any]]], name: str, alphabet: Alphabet | None
) -> tuple[NDArray[np.int32], Alphabet | None]:
    values: list[Any] = []
    for u, v, data in edges:
        value = data.get(name, ...)
        if value is ... or not (value is None or isinstance(value, (str, int, np.integer))):
            what = "is missing" if value is ... else f"is {value!r}"
            raise DataError(f"attribute {name!r} of edge {u!r} -> {v!r} {what}; a label is a name, a code, or None")
        values.append(value)
    names = [value for value in values if isinstance(value, str)]
    if names or alphabet is not None:
        alphabet = alphabet or Alphabet.of(names)
        for value, (u, v, _) in zip(values, edges, strict=True):
            if value is not None and not isinstance(value, str):
                raise DataError(f"attribute {name!r} of edge {u!r} -> {v!r} is {value!r}, those of others are names")
        return np.array([EPSILON if value is None else alphabet.index(value) for value in values], np.int32), alphabet
    codes = [EPSILON if value is None else int(value) for value in values]
    if codes and (min(codes) < EPSILON or max(codes) > np.iinfo(np.int32).max):
        raise DataError(f"{name} codes run from {min(codes)} to {max(codes)}; a code is -1 (nothing) or 0 and more")
    return np.array(codes, dtype=np.int32), None


def _known(node: Hashable, place: dict[Any, int]) -> Hashable:
    if node not in place:
        raise DataError(f"{node!r} is not a node of the graph")
    return node


def _start(graph: Any) -> Any:
    marked = [node for node, value in graph.nodes(data="start") if value]
    found = marked or [node for node in graph.nodes if graph.in_degree(node) == 0]
    if len(found) != 1:
        what = "are marked as start" if marked else "could be the start"
        listed = ", ".join(repr(node) for node in found[:5])
        raise DataError(f"{len(found)} nodes {what}: {listed}", hint="say which: start=node")
    return found[0]


def _finals(graph: Any) -> list[Any]:
    if graph.number_of_nodes() and not any("final" in data for _, data in graph.nodes(data=True)):
        raise DataError("no node has the attribute 'final'", hint="say which are: final=[node, ...]")
    return [node for node, value in graph.nodes(data="final") if value]


def _final_weights(graph: Any) -> list[Any]:
    values = [data.get("final_weight") for _, data in graph.nodes(data=True)]
    if all(value is None for value in values):
        return values
    # what is not final has no weight to give
    return [
        np.inf if value is None and not data.get("final") else value
        for value, (_, data) in zip(values, graph.nodes(data=True), strict=True)
    ]


def _numbers(values: list[Any], what: str) -> NDArray[np.float64] | None:
    if all(value is None for value in values):
        return None
    if any(value is None for value in values):
        raise DataError(f"{what} is given at some places only ({sum(v is None for v in values)} of {len(values)} lack)")
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{what} must hold numbers") from None
