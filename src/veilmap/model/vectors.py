"""Sixteen floats at a time, for compiled loops: what a processor's widest registers hold.

Left to itself LLVM keeps no sums in registers from one turn of an outer loop to the next, and takes
twice as long over the products of local training. On narrower processors it makes two or four
registers of one vector.

Numba keeps what it has compiled until the file of the compiled function changes: after a change
here or in ``numba_activations``, touch ``compiled``.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, register_model

LANES = 16
_FLOATS = ir.VectorType(ir.FloatType(), LANES)


class _Vector(types.Type):
    def __init__(self) -> None:
        super().__init__(name="Vector")


@register_model(_Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, vector: _Vector) -> None:
        super().__init__(manager, vector, _FLOATS)  # type: ignore[no-untyped-call]


_VECTOR = _Vector()
# What it makes of a function is called with other arguments than that.
_native: Callable[[Callable[..., Any]], Callable[..., Any]] = intrinsic


@_native
def load(context: Any, array: Any, start: Any) -> Any:
    """array[start : start + LANES] of a flat array; its length is not checked."""

    def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, signature.args[0], *arguments)
        return builder.load(place, align=4)

    return _VECTOR(array, types.intp), make


@_native
def store(context: Any, array: Any, start: Any, vector: Any) -> Any:
    """array[start : start + LANES] = vector."""

    def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, signature.args[0], *arguments[:2])
        builder.store(arguments[2], place, align=4)
        return context.get_dummy_value()

    return types.void(array, types.intp, _VECTOR), make


@_native
def splat(context: Any, number: Any) -> Any:
    """The same number in every lane."""

    def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        nothing = ir.Constant(_FLOATS, ir.Undefined)
        first = builder.insert_element(nothing, arguments[0], ir.IntType(32)(0))
        return _chosen(builder, first, nothing, [0] * LANES)

    return _VECTOR(types.float32), make


@_native
def fma(context: Any, a: Any, b: Any, c: Any) -> Any:
    """The sum a · b + c."""

    def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        product = builder.fmul(arguments[0], arguments[1], flags=["contract"])
        return builder.fadd(product, arguments[2], flags=["contract"])

    return _VECTOR(_VECTOR, _VECTOR, _VECTOR), make


@_native
def total(context: Any, vector: Any) -> Any:
    """The sum of all lanes."""

    def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(ir.FloatType(), [ir.FloatType(), _FLOATS])
        name = f"llvm.vector.reduce.fadd.v{LANES}f32"
        known = builder.module.globals
        add = known[name] if name in known else ir.Function(builder.module, kind, name)
        zero = ir.Constant(ir.FloatType(), -0.0)
        return builder.call(add, [zero, arguments[0]], fastmath=["reassoc"])

    return types.float32(_VECTOR), make


@_native
def turn(
    context: Any, source: Any, start: Any, stride: Any, target: Any, to: Any, to_stride: Any
) -> Any:
    """A square of LANES rows of LANES numbers, from one flat array to another, transposed.

    In each of four rounds every second block of lanes changes places with one of another row, with
    blocks of half the size each time.
    """

    def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def row(first: int, i: int) -> Any:
            array, start, stride = arguments[first : first + 3]
            at = builder.add(start, builder.mul(stride, stride.type(i)))
            return _place(context, builder, signature.args[first], array, at)

        rows = [builder.load(row(0, i), align=4) for i in range(LANES)]
        for block in (8, 4, 2, 1):
            for i in (i for i in range(LANES) if not i & block):
                a, b = rows[i], rows[i + block]
                low = [k + LANES - block if k & block else k for k in range(LANES)]
                rows[i] = _chosen(builder, a, b, low)
                rows[i + block] = _chosen(builder, a, b, [k + block for k in low])
        for i in range(LANES):
            builder.store(rows[i], row(3, i), align=4)
        return context.get_dummy_value()

    where = types.intp
    return types.void(source, where, where, target, where, where), make


def _chosen(builder: Any, a: Any, b: Any, lanes: list[int]) -> Any:
    """Lanes of two vectors, those of the second counted on from the first."""
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(ir.IntType(32), LANES), lanes))


def _place(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
    """Where in an array of some type a vector begins."""
    start = builder.gep(context.make_array(kind)(context, builder, array).data, [at])
    return builder.bitcast(start, _FLOATS.as_pointer())
