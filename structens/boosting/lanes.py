"""Eight float32 lanes at a time: the inner loop of histogram boosting, which numba alone does not vectorise.

numba must assume that the rows it adds and the histogram it adds to may overlap, and so works number by number. `Lanes`
is a value of eight numbers that lives in a vector register; LLVM cuts it to what the machine has. Offsets count
numbers, and rows are padded to whole lanes, so that one compilation serves every number of classes. `meet` is a barrier
between threads that run the same kernel.

Without the compiler (``NUMBA_DISABLE_JIT=1``) each function is its plain numpy twin.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.extending import intrinsic, register_model

WIDTH = 8
_PLAIN = bool(getattr(numba.config, "DISABLE_JIT", False))
_declared: Any = cgutils.get_or_insert_function
_FLOATS = ir.VectorType(ir.FloatType(), WIDTH)
_DOUBLES = ir.VectorType(ir.DoubleType(), WIDTH)
_WORD = ir.IntType(64)


class Lanes(types.Type):
    """numba's type of eight float32 numbers in one register."""

    def __init__(self) -> None:
        super().__init__(name="Lanes")


_lanes = Lanes()


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, _FLOATS)  # type: ignore[no-untyped-call]


def _at(context: Any, builder: Any, array_type: Any, array: Any, offset: Any, vector: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [offset]), vector.as_pointer())


def _vector_intrinsic(builder: Any, name: str, *values: Any) -> Any:
    kind = ir.FunctionType(_FLOATS, [_FLOATS] * len(values))
    return builder.call(_declared(builder.module, kind, f"llvm.{name}.v{WIDTH}f32"), values)


def _splat(builder: Any, number: Any, vector: Any = _FLOATS) -> Any:
    zero, none = ir.Constant(ir.IntType(32), 0), ir.Constant(vector, ir.Undefined)
    mask = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
    return builder.shuffle_vector(builder.insert_element(none, number, zero), none, mask)


def _or_plain(plain: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """The intrinsic; without the compiler its plain twin."""
    return lambda compiled: plain if _PLAIN else intrinsic(compiled)


def _plain_load(array: Any, offset: int) -> Any:
    return array[offset : offset + WIDTH].copy()


@_or_plain(_plain_load)
def load(typingctx: Any, array: Any, offset: Any) -> Any:
    """Eight numbers of a float32 array, from `offset` on."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        out = builder.load(_at(context, builder, signature.args[0], args[0], args[1], _FLOATS))
        out.align = 4
        return out

    return _lanes(array, types.intp), generate


def _plain_store(array: Any, offset: int, value: Any) -> None:
    array[offset : offset + WIDTH] = value


@_or_plain(_plain_store)
def store(typingctx: Any, array: Any, offset: Any, value: Any) -> Any:
    """Write eight numbers into a float32 array, from `offset` on."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[2], _at(context, builder, signature.args[0], args[0], args[1], _FLOATS)).align = 4
        return context.get_dummy_value()

    return types.void(array, types.intp, _lanes), generate


def _plain_accumulate(array: Any, offset: int, value: Any) -> None:
    array[offset : offset + WIDTH] += value


@_or_plain(_plain_accumulate)
def accumulate(typingctx: Any, array: Any, offset: Any, value: Any) -> Any:
    """Add eight float32 numbers to those of a float64 array."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _at(context, builder, signature.args[0], args[0], args[1], _DOUBLES)
        old = builder.load(place)
        old.align = 8
        builder.store(builder.fadd(old, builder.fpext(args[2], _DOUBLES)), place).align = 8
        return context.get_dummy_value()

    return types.void(array, types.intp, _lanes), generate


def _plain_accumulate_scaled(array: Any, offset: int, value: Any, factor: Any) -> None:
    array[offset : offset + WIDTH] += value.astype(np.float64) * factor


@_or_plain(_plain_accumulate_scaled)
def accumulate_scaled(typingctx: Any, array: Any, offset: Any, value: Any, factor: Any) -> Any:
    """Add eight float32 numbers times a float64 factor to those of a float64 array."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _at(context, builder, signature.args[0], args[0], args[1], _DOUBLES)
        old = builder.load(place)
        old.align = 8
        scaled = builder.fmul(builder.fpext(args[2], _DOUBLES), _splat(builder, args[3], _DOUBLES))
        builder.store(builder.fadd(old, scaled), place).align = 8
        return context.get_dummy_value()

    return types.void(array, types.intp, _lanes, types.float64), generate


@_or_plain(lambda u, v: u + v)
def plus(typingctx: Any, u: Any, v: Any) -> Any:
    """u + v."""
    return _lanes(_lanes, _lanes), lambda context, builder, signature, args: builder.fadd(*args)


@_or_plain(lambda u, v: u - v)
def minus(typingctx: Any, u: Any, v: Any) -> Any:
    """u - v."""
    return _lanes(_lanes, _lanes), lambda context, builder, signature, args: builder.fsub(*args)


@_or_plain(np.abs)
def size(typingctx: Any, u: Any) -> Any:
    """The absolute value of each number."""
    return _lanes(_lanes), lambda context, builder, signature, args: _vector_intrinsic(builder, "fabs", args[0])


@_or_plain(lambda: np.zeros(WIDTH, np.float32))
def nothing(typingctx: Any) -> Any:
    """Eight zeros."""
    return _lanes(), lambda context, builder, signature, args: ir.Constant(_FLOATS, [0.0] * WIDTH)


def _plain_total(u: Any) -> Any:
    while len(u) > 1:
        u = u[: len(u) // 2] + u[len(u) // 2 :]
    return u[0]


@_or_plain(_plain_total)
def total(typingctx: Any, u: Any) -> Any:
    """The sum of the eight numbers, always added in the same order."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        value, width = args[0], WIDTH
        while width > 1:
            width //= 2
            none = ir.Constant(value.type, ir.Undefined)
            low, high = (
                ir.Constant(ir.VectorType(ir.IntType(32), width), list(range(first, first + width)))
                for first in (0, width)
            )
            value = builder.fadd(builder.shuffle_vector(value, none, low), builder.shuffle_vector(value, none, high))
        return builder.extract_element(value, ir.Constant(ir.IntType(32), 0))

    return types.float32(_lanes), generate


def _plain_reweight(weight: Any, for_positive: Any, for_negative: Any, floor: Any) -> Any:
    out = np.where(weight > 0, np.maximum(weight * for_positive, floor), np.minimum(weight * for_negative, -floor))
    return np.where(weight == 0, np.float32(0), out).astype(np.float32)


@_or_plain(_plain_reweight)
def reweight(typingctx: Any, weight: Any, for_positive: Any, for_negative: Any, floor: Any) -> Any:
    """Signed weights times a factor that depends on the sign; none but a zero falls below `floor` in size."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        value, up, down, floor = args
        least = _splat(builder, floor)
        zero = ir.Constant(_FLOATS, [0.0] * WIDTH)
        positive = _vector_intrinsic(builder, "maxnum", builder.fmul(value, up), least)
        negative = _vector_intrinsic(builder, "minnum", builder.fmul(value, down), builder.fsub(zero, least))
        out = builder.select(builder.fcmp_ordered(">", value, zero), positive, negative)
        return builder.select(builder.fcmp_ordered("==", value, zero), zero, out)

    return _lanes(_lanes, _lanes, _lanes, types.float32), generate


def _plain_lowest_bit(word: Any) -> int:
    return (int(word) & -int(word)).bit_length() - 1


@_or_plain(_plain_lowest_bit)
def lowest_bit(typingctx: Any, word: Any) -> Any:
    """The number of the lowest bit of a uint64 that is set."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


def _plain_meet(gate: Any, n_threads: int, pause: int) -> None:
    return None


@_or_plain(_plain_meet)
def meet(typingctx: Any, gate: Any, n_threads: Any, pause: Any) -> Any:
    """Wait until all threads are here. `gate` is an int64 array of zeros: who has come, how often all have met.

    `pause` is the address of a C function without arguments that lets another thread run (0: none).
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        come, met = data, builder.gep(data, [ir.Constant(_WORD, 8)])  # words on cache lines of their own
        one, zero = ir.Constant(_WORD, 1), ir.Constant(_WORD, 0)
        before = builder.load_atomic(met, "acquire", 8)
        arrived = builder.add(builder.atomic_rmw("add", come, one, "acq_rel"), one)
        with builder.if_else(builder.icmp_signed("==", arrived, args[1])) as (last, other):
            with last:
                builder.store_atomic(zero, come, "release", 8)
                builder.atomic_rmw("add", met, one, "acq_rel")
            with other:
                _spin(builder, met, before, args[2])
        return context.get_dummy_value()

    return types.void(gate, types.int64, types.int64), generate


def _spin(builder: Any, met: Any, before: Any, pause: Any) -> None:
    """Look at the word `met` until it changes; after 4,000 looks let other threads run between them."""
    one, zero = ir.Constant(_WORD, 1), ir.Constant(_WORD, 0)
    start = builder.block
    look, wait = builder.append_basic_block("look"), builder.append_basic_block("wait")
    rest, again, done = (builder.append_basic_block(name) for name in ("rest", "again", "done"))
    builder.branch(look)
    builder.position_at_end(look)
    looks = builder.phi(_WORD)
    looks.add_incoming(zero, start)
    builder.cbranch(builder.icmp_signed("!=", builder.load_atomic(met, "acquire", 8), before), done, wait)
    builder.position_at_end(wait)
    patient = builder.and_(
        builder.icmp_signed(">", looks, ir.Constant(_WORD, 4000)), builder.icmp_signed("!=", pause, zero)
    )
    builder.cbranch(patient, rest, again)
    builder.position_at_end(rest)
    builder.call(builder.inttoptr(pause, ir.FunctionType(ir.IntType(32), []).as_pointer()), [])
    builder.branch(again)
    builder.position_at_end(again)
    looks.add_incoming(builder.add(looks, one), again)
    builder.branch(look)
    builder.position_at_end(done)
