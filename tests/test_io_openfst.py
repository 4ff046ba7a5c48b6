"""OpenFst's text, symbol tables and binaries: round trips, agreement with OpenFst itself, and what is refused."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies_automata import weighted

from structens.automata import Semiring
from structens.core import Alphabet, Automaton, DataError, ParameterError
from structens.io import (
    Symbols,
    const_fst_bytes,
    openfst_text,
    read_const_fst,
    read_openfst,
    read_symbols,
    symbols_text,
    write_const_fst,
    write_openfst,
    write_symbols,
)

ALPHABET = Alphabet(("K", "æ", "x y"))
PLAIN = Alphabet(("K", "æ", "T"))
SMALL = Automaton.from_transitions([(0, 1, 0), (0, 1, -1), (1, 2, 2)], final=[1, 2])


def stream(text):
    return io.BytesIO(text.encode() if isinstance(text, str) else text)


def as_read(automaton, final_weight):
    """What a format keeps: a final state of infinite cost is not final."""
    if final_weight is None:
        return automaton.is_final
    return automaton.is_final & (np.asarray(final_weight) < np.inf)


def agree(made, back):
    automaton, weight, final_weight = made
    for name in ("offsets", "target", "label"):
        assert np.array_equal(getattr(back.automaton, name), getattr(automaton, name)), name
    is_final = as_read(automaton, final_weight)
    assert np.array_equal(back.automaton.is_final, is_final)
    assert back.automaton.start == automaton.start
    if back.weight is None:
        assert not automaton.n_transitions
    else:
        assert np.array_equal(back.weight, weight)
        given_weight = np.zeros(automaton.n_states) if final_weight is None else final_weight
        assert np.array_equal(back.final_weight[is_final], np.asarray(given_weight)[is_final])
        assert (back.final_weight[~is_final] == np.inf).all()


@given(st.data(), st.booleans(), st.sampled_from(["numbers", "names", "escaped"]))
def test_text_round_trip_is_exact(data, transducer, how):
    made = data.draw(weighted(Semiring.LOG, least_label=-1, transducer=transducer))
    alphabet = {"numbers": None, "names": PLAIN, "escaped": ALPHABET}[how]
    escape = how == "escaped"
    text = openfst_text(*made, alphabet=alphabet, escape=escape)
    table = None if alphabet is None else stream(symbols_text(alphabet, escape=escape))
    back = read_openfst(stream(text), symbols=table, escape=escape, acceptor=not transducer)
    agree(made, back)
    if made.automaton.output is not None:
        assert np.array_equal(back.automaton.output, made.automaton.output)
    assert back.states == tuple(range(made.automaton.n_states))
    assert (back.alphabet is None) == (alphabet is None)
    assert alphabet is None or back.alphabet.labels == alphabet.labels


@given(st.data(), st.booleans(), st.booleans())
def test_binary_round_trip_is_exact(data, transducer, has_names):
    made = data.draw(weighted(Semiring.LOG, least_label=-1, transducer=transducer))
    back = read_const_fst(stream(const_fst_bytes(*made, alphabet=ALPHABET if has_names else None)))
    agree(made, back)
    if back.automaton.output is None:  # equal on both sides: an acceptor
        output = made.automaton.output
        assert output is None or np.array_equal(output, made.automaton.label)
    else:
        assert np.array_equal(back.automaton.output, made.automaton.output)
    assert not has_names or back.alphabet.labels == ALPHABET.labels


@given(st.lists(st.text(max_size=4), unique=True))
def test_any_labels_survive_in_an_escaped_table(labels):
    table = read_symbols(stream(symbols_text(Alphabet(tuple(labels)), escape=True)), escape=True)
    assert table.alphabet.labels == tuple(labels)
    assert table.epsilon == "<eps>"


def test_unweighted_text_has_no_weights():
    text = openfst_text(SMALL)
    assert text == "0\t1\t1\n0\t1\t0\n1\t2\t3\n1\n2\n"
    back = read_openfst(stream(text))
    assert (back.weight, back.final_weight) == (None, None)
    assert back.weighted.weight.tolist() == [0.0] * 3


def test_the_start_is_written_first_and_dead_states_are_kept():
    a = Automaton.from_transitions([(0, 3, 0), (2, 3, 1)], final=[3], start=2, n_states=5)
    text = openfst_text(a)
    assert text.split("\n")[:1] == ["2\t3\t2"]
    assert "\n1\tInfinity\n" in text
    assert "\n4\tInfinity\n" in text
    back = read_openfst(stream(text))
    assert (back.automaton.n_states, back.automaton.start) == (5, 2)
    assert back.weight is None


def test_states_of_any_number_in_any_order():
    back = read_openfst(stream("70 5 1\n5 900 2\n900\n"))
    assert back.states == (70, 5, 900)
    assert back.automaton.start == 0
    assert back.automaton.label.tolist() == [0, 1]


def test_blanks_windows_ends_missing_weights_and_other_white_space():
    text = "0 1\tK 0.5\r\n\r\n0 1 a\u00a0b\r\n1 2.5\r\n"
    back = read_openfst(stream(text), names=True, acceptor=True)
    assert back.alphabet.labels == ("K", "a\u00a0b")
    assert back.weight.tolist() == [0.5, 0.0]
    assert back.final_weight.tolist() == [np.inf, 2.5]


def test_two_tables_and_numbers_with_holes():
    ins = read_symbols(stream("nothing 0\na 10\nb 7\n"))
    assert (ins.alphabet.labels, ins.numbers, ins.epsilon) == (("b", "a"), (7, 10), "nothing")
    out = Symbols.of(Alphabet(("x",)))
    back = read_openfst(stream("0 1 a x\n0 1 nothing <eps>\n1\n"), symbols=ins, output_symbols=out)
    assert back.automaton.label.tolist() == [1, -1]
    assert back.automaton.output.tolist() == [0, -1]
    assert back.output_alphabet.labels == ("x",)


def test_transducer_or_acceptor_is_found_out():
    assert read_openfst(stream("0 1 1 2.5\n1\n")).automaton.output is None
    assert read_openfst(stream("0 1 1 2 3\n1\n")).automaton.output.tolist() == [1]
    assert read_openfst(stream("0 1 a b\n1\n"), names=True).automaton.output.tolist() == [0]
    with pytest.raises(DataError, match="could be outputs or costs; say acceptor=True or False"):
        read_openfst(stream("0 1 1 2\n1\n"))
    assert read_openfst(stream("0 1 1 2\n1\n"), acceptor=True).weight.tolist() == [2.0]


def test_nothing_is_an_automaton_without_states():
    back = read_openfst(stream(""))
    assert back.automaton.n_states == 0
    assert openfst_text(back.automaton) == ""
    assert read_const_fst(stream(const_fst_bytes(back.automaton))).automaton.n_states == 0


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("0 1 1\n1 2 3 4 5 6\n", 2, "at most 5 fields; this one has 6"),
        ("0 1 1\n1 2 3 4 5\n", 1, "a transducer has 4 or 5 fields"),
        ("0 -1 1\n", 1, "a state must be a whole number"),
        ("0 1 x\n1\n", 1, "labels are numbers unless"),
        ("0 1 1 nan\n1\n0 1 1\n", 1, "a cost must be a number; got 'nan'"),
        ("0 1 1\n1 -Infinity\n", 2, "a cost must be a number; got '-Infinity'"),
        ("0 1 1\n1 1e999\n", 2, "a cost must be a number; got '1e999'"),
        ("0 1 1\n1\n1 2.0\n", 3, "state 1 has a line of its own already"),
        ("0 1 1\n1 2 1\n2 1 1\n2\n", 3, "the cycle 1 -> 2 -> 1"),
        ("0 0 1\n0\n", 1, "the cycle 0 -> 0"),
        (b"0 1 1\n\xff\n", 2, "is not UTF-8"),
        ("0 1 1\n1 1_0\n", 2, "a cost must be a number"),
        ("0 1 9999999999\n1\n", 1, "a label must be a whole number from 0 to 2147483646"),
    ],
)
def test_bad_lines_are_named(text, line, said, tmp_path):
    path = tmp_path / "bad.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(DataError, match=said) as caught:
        read_openfst(path)
    assert str(caught.value).startswith(f"{path}:{line}: ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a\n", ":1: a line holds a name and its number; this one has one field"),
        ("a 1\nb x\n", ":2: the number must be a whole number"),
        ("a 1\na 2\n", ":2: name 'a' is in line 1 already"),
        ("a 1\n\nb 1\n", ":3: number 1 is that of 'a' already"),
        ("a -1\n", ":1: the number must be"),
    ],
)
def test_bad_tables_are_named(text, said):
    with pytest.raises(DataError, match=said):
        read_symbols(stream(text))


def test_labels_that_would_break_a_line_are_refused():
    for label in ("a b", "", "\t", "<eps>", "x\ny"):
        with pytest.raises(DataError, match="escape=True"):
            symbols_text(Alphabet((label,)))
    with pytest.raises(DataError, match="label 'T' is not in the symbol table"):
        read_openfst(stream("0 1 T\n1\n"), symbols=Symbols.of(ALPHABET))


def test_a_label_called_like_epsilon_is_none():
    alphabet = Alphabet(("<eps>",))
    a = Automaton.from_transitions([(0, 1, 0), (0, 1, -1)], final=[1])
    text = openfst_text(a, alphabet=alphabet, escape=True)
    for options in ({"names": True}, {"symbols": stream(symbols_text(alphabet, escape=True))}):
        back = read_openfst(stream(text), escape=True, **options)
        assert back.automaton.label.tolist() == [0, -1]
        assert back.alphabet.labels == ("<eps>",)
    with pytest.raises(DataError, match="rename it"):
        const_fst_bytes(a, alphabet=alphabet)


def test_files(tmp_path):
    write_openfst(tmp_path / "a.txt.gz", SMALL, [0.1, 0.2, 0.3], alphabet=PLAIN)
    write_symbols(tmp_path / "a.syms", PLAIN)
    write_const_fst(tmp_path / "a.fst", SMALL, [0.1, 0.2, 0.3])
    text = read_openfst(tmp_path / "a.txt.gz", symbols=tmp_path / "a.syms", acceptor=True, key="a")
    assert text.weight.tolist() == read_const_fst(tmp_path / "a.fst").weight.tolist() == [0.1, 0.2, 0.3]
    assert text.key == "a"


def test_damaged_binaries_are_refused():
    data = const_fst_bytes(SMALL, [0.1, 0.2, 0.3], alphabet=PLAIN)
    for size in range(0, len(data), 7):
        with pytest.raises(DataError):
            read_const_fst(stream(data[:size]))
    with pytest.raises(DataError, match="no binary file of OpenFst"):
        read_const_fst(stream(b"0 1 1 0.5\n1\n"))
    with pytest.raises(DataError, match="type vector"):
        read_const_fst(stream(data.replace(b"\x05\0\0\0const", b"\x06\0\0\0vector")))
    with pytest.raises(DataError, match="NaN"):
        read_const_fst(stream(data.replace(np.float64(0.1).tobytes(), np.float64(np.nan).tobytes())))
    with pytest.raises(ParameterError, match="arc_type must be one of log64, log, standard"):
        const_fst_bytes(SMALL, arc_type="real")
    bent = Automaton.from_transitions([(0, 1, 6)], final=[1])
    with pytest.raises(DataError, match="label number 7 is not in its symbol table"):
        read_const_fst(stream(const_fst_bytes(bent, alphabet=PLAIN)))


@pytest.fixture(scope="module")
def fst():
    return pytest.importorskip(
        "pywrapfst",
        reason="OpenFst's Python module comes with pynini, which is not installed",
        exc_type=ImportError,
    )


@pytest.fixture(scope="module")
def machines():
    rng = np.random.default_rng(4)
    out = []
    for k in range(25):
        n = int(rng.integers(1, 8))
        pairs = np.sort(rng.integers(0, n, (12, 2)), axis=1)
        pairs = pairs[pairs[:, 0] < pairs[:, 1]]
        labels = rng.integers(-1, 3, (len(pairs), 1 + k % 2))
        rows = np.concatenate([pairs, labels], axis=1).tolist()
        final = rng.integers(0, n, 2).tolist()
        made = Automaton.from_transitions(rows, final=final, n_states=n, start=int(rng.integers(0, n)))
        out.append((made, rng.exponential(1.0, made.n_transitions), rng.exponential(1.0, n)))
    return [made for made in out if made[0].n_transitions]


class TestOpenFst:
    """OpenFst's own module reads what is written here, and the other way round."""

    @staticmethod
    def rows(built):
        """Transitions and finals of a machine of OpenFst, by source, in order."""
        arcs = [
            [(a.ilabel - 1, a.olabel - 1, a.nextstate, float(a.weight)) for a in built.arcs(q)] for q in built.states()
        ]
        return built.start(), arcs, [float(built.final(q)) for q in built.states()]

    def check(self, built, made):
        automaton, weight, final_weight = made
        start, arcs, finals = self.rows(built)
        output = automaton.label if automaton.output is None else automaton.output
        assert start == automaton.start
        wanted = zip(automaton.label.tolist(), output.tolist(), automaton.target.tolist(), strict=True)
        assert [arc[:3] for state in arcs for arc in state] == list(wanted)
        assert np.allclose([arc[3] for state in arcs for arc in state], weight, rtol=1e-6)
        assert [len(state) for state in arcs] == np.diff(automaton.offsets).tolist()
        assert np.allclose(finals, np.where(automaton.is_final, final_weight, np.inf), rtol=1e-6)

    def test_it_reads_our_binaries(self, fst, machines):
        for made in machines:
            for arc_type in ("log64", "log", "standard"):
                built = fst.Fst.read_from_string(const_fst_bytes(*made, arc_type=arc_type, alphabet=PLAIN))
                assert built.verify()
                assert (built.arc_type(), built.fst_type()) == (arc_type, "const")
                self.check(built, made)
                assert built.input_symbols().find("æ") == 2
                for bit in (
                    fst.ACCEPTOR,
                    fst.EPSILONS,
                    fst.NO_EPSILONS,
                    fst.I_EPSILONS,
                    fst.NO_O_EPSILONS,
                    fst.WEIGHTED,
                ):
                    assert built.properties(bit, False) == recomputed(fst, built, bit)
                for bit in (fst.ACYCLIC, fst.TOP_SORTED, fst.INITIAL_ACYCLIC):
                    assert built.properties(bit, False) == bit == recomputed(fst, built, bit)

    def test_we_read_its_binaries(self, fst, machines):
        for made in machines:
            built = fst.Fst.read_from_string(const_fst_bytes(*made, alphabet=PLAIN))
            again = fst.convert(fst.convert(built, "vector"), "const").write_to_string()
            back = read_const_fst(stream(again))
            agree(made, back)
            assert back.alphabet.labels == PLAIN.labels

    def test_it_compiles_our_text(self, fst, machines):
        table = fst.SymbolTable()
        for line in symbols_text(PLAIN).splitlines():
            name, number = line.split("\t")
            table.add_symbol(name, int(number))
        for made in machines:
            transducer = made[0].output is not None
            for names in (False, True):
                symbols = {"isymbols": table, "osymbols": table} if names else {}
                compiler = fst.Compiler(arc_type="log64", acceptor=not transducer, keep_state_numbering=True, **symbols)
                compiler.write(openfst_text(*made, alphabet=PLAIN if names else None))
                self.check(compiler.compile(), made)

    def test_we_read_its_text(self, fst, machines):
        for made in machines:
            transducer = made[0].output is not None
            built = fst.Fst.read_from_string(const_fst_bytes(*made, alphabet=PLAIN))
            text = built.print(isymbols=built.input_symbols(), osymbols=built.output_symbols(), acceptor=not transducer)
            back = read_openfst(stream(text), symbols=Symbols.of(PLAIN), acceptor=not transducer)
            assert np.array_equal(back.automaton.label, made[0].label)
            assert np.allclose(back.weight, made[1], rtol=1e-5)  # it prints six digits
            assert back.automaton.start == made[0].start

    def test_it_reads_our_symbol_table(self, fst, tmp_path):
        write_symbols(tmp_path / "t.syms", PLAIN)
        table = fst.SymbolTable.read_text(str(tmp_path / "t.syms"))
        assert [table.find(k) for k in range(4)] == ["<eps>", *PLAIN.labels]
        table.write_text(str(tmp_path / "again.syms"))
        assert read_symbols(tmp_path / "again.syms").alphabet.labels == PLAIN.labels


def recomputed(fst, built, bit):
    """A property as OpenFst finds it from the transitions."""
    copy = fst.VectorFst(arc_type=built.arc_type())
    for _ in built.states():
        copy.add_state()
    copy.set_start(built.start())
    for q in built.states():
        copy.set_final(q, built.final(q))
        for arc in built.arcs(q):
            copy.add_arc(q, arc)
    return copy.properties(bit, True)
