"""A picture of an automaton as DOT, for Graphviz and what else reads it."""

from __future__ import annotations

from structens.report.picture import Picture
from structens.report.text import visible


def to_dot(picture: Picture) -> str:
    r"""Text in the DOT language: left to right, final states as double circles, the best path in bold.

    Labels are escaped: whatever is in them, they are shown as they are.

    Parameters
    ----------
    picture : Picture
        From `structens.report.picture` or `structens.report.expert_picture`.

    References
    ----------
    Graphviz, "The DOT language" and the escapes of type escString.

    Examples
    --------
    >>> from structens.core import Alphabet, Automaton
    >>> from structens.report import picture
    >>> a = Automaton.from_transitions([(0, 1, 0)], final=[1])
    >>> print(to_dot(picture(a, [0.5], alphabet=Alphabet(('"',)), best=True)))
    digraph automaton {
      rankdir=LR; edge [fontname="sans-serif"]; node [fontname="sans-serif", shape=circle];
      begin [shape=none, label="", width=0]; begin -> 0;
      0 [label="0"];
      1 [label="1", shape=doublecircle];
      0 -> 1 [label="\"\n0.5", penwidth=5.00, style=bold, color="#1a5fb4", tooltip="\": 100.0% of the paths"];
    }
    <BLANKLINE>
    """
    automaton = picture.automaton
    lines = ["digraph automaton {"]
    lines.append('  rankdir=LR; edge [fontname="sans-serif"]; node [fontname="sans-serif", shape=circle];')
    if picture.title:
        lines.append(f'  label={quoted(visible(picture.title))}; labelloc=t; fontname="sans-serif";')
    if automaton.n_states:
        lines.append(f'  begin [shape=none, label="", width=0]; begin -> {automaton.start};')
    for q in range(automaton.n_states):
        name = visible(picture.states[q]) + (f"\n{picture.stops[q]}" if picture.stops[q] else "")
        shape = ", shape=doublecircle" if automaton.is_final[q] else ""
        lines.append(f"  {q} [label={quoted(name)}{shape}];")
    ends = zip(automaton.source.tolist(), automaton.target.tolist(), strict=True)
    for e, (q, r) in enumerate(ends):
        note = picture.notes[e]
        text = quoted(picture.labels[e] + (f"\n{note}" if note else ""))
        bold = ', style=bold, color="#1a5fb4"' if e in picture.best else ""
        width = f"{1 + 4 * picture.thickness[e]:.2f}"
        lines.append(f"  {q} -> {r} [label={text}, penwidth={width}{bold}, tooltip={quoted(picture.hints[e])}];")
    return "\n".join([*lines, "}"]) + "\n"


def quoted(text: str) -> str:
    r"""A text as a quoted identifier that is shown as it is.

    Examples
    --------
    >>> print(quoted('say "\\N"'))
    "say \"\\N\""
    """
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
