"""Compilation of the kernels to machine code with numba."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from soulmem.kernels import (
    bm25,
    chains,
    dots,
    hops,
    lookups,
    ordering,
    passing,
    pull,
    push,
    texts,
    token_codes,
)
from soulmem.kernels.arrays import Float64s

# Sums in any order, and no look at every divisor, for the sake of wide registers; NaN stays NaN.
_WIDE: dict[str, Any] = {
    "fastmath": {"reassoc", "contract", "nsz"},
    "error_model": "numpy",
}


@dataclass(frozen=True, slots=True)
class Kernels:
    """The kernels by name. Compiled ones accept only arrays of the types documented there."""

    lay_out: Callable[..., None]
    mark_own: Callable[..., None]
    push: Callable[..., tuple[int, int]]
    transpose: Callable[..., None]
    pull: Callable[..., int]
    best_chains: Callable[
        ...,
        tuple[chains.Labels, chains.Labels, chains.Labels, Float64s, chains.Labels],
    ]
    dots_of_two: Callable[..., None]
    order_edges: Callable[..., None]
    bound_classes: Callable[..., None]
    add_passed: Callable[..., None]
    follow_hops: Callable[..., int]
    add_words: Callable[..., None]
    add_pairs: Callable[..., None]
    link_rows: Callable[..., None]
    open_pairs: Callable[..., tuple[int, float]]
    take_pairs: Callable[..., None]
    fuse_texts: Callable[..., None]
    add_walk: Callable[..., None]
    measure: Callable[..., tuple[float, float]]
    follow: Callable[..., int]
    add_worth: Callable[..., None]
    find_tokens: Callable[..., None]
    count_home: Callable[..., None]
    take_home: Callable[..., None]
    count_windows: Callable[..., tuple[int, int]]
    mark_rows: Callable[..., None]
    mark_accessible_facts: Callable[..., None]
    unpack_states: Callable[..., None]
    best_matches: Callable[..., None]


def compile_kernels(cache: bool) -> Kernels:
    """Compile all kernels, or load them from numba's cache. Takes some 8 CPU seconds uncached."""
    import numba
    from numba.extending import register_jitable

    _teach_prefetch()
    register_jitable(chains.edge_weight)
    register_jitable(bm25.inverse_frequency)
    register_jitable(lookups.tally_row)
    register_jitable(**_WIDE)(dots.dots)
    register_jitable(**_WIDE)(texts.measure)
    register_jitable(**_WIDE)(texts.join)
    u4, f4, f8, b1 = (
        numba.types.Array(getattr(numba, t), 1, "C")
        for t in ("uint32", "float32", "float64", "boolean")
    )
    u1, i4, i8 = (numba.types.Array(getattr(numba, t), 1, "C") for t in ("uint8", "int32", "int64"))
    s1 = numba.types.Array(numba.int8, 1, "C")
    real, whole, flag = numba.float64, numba.int64, numba.boolean

    table = numba.types.Array(numba.int8, 2, "C", readonly=True)
    scales = numba.types.Array(numba.float32, 1, "C", readonly=True)
    # Postings of an image are read where they lie.
    kept_1, kept_4, kept_8 = (
        numba.types.Array(getattr(numba, t), 1, "C", readonly=True)
        for t in ("uint8", "int32", "int64")
    )
    cells = numba.types.Array(numba.int32, 2, "C")
    marks = numba.types.Array(numba.boolean, 2, "C")
    nibbles = numba.types.Array(numba.uint8, 2, "C")
    states = numba.types.Array(numba.float32, 2, "C")

    def jit(function: Callable[..., Any], *signatures: tuple[Any, ...], **options: Any) -> Any:
        return numba.njit(list(signatures), nogil=True, cache=cache, **options)(function)

    graph = (u4, u4, f8, f4, u4, u4)
    query = (u4, f8, real, real, real)
    tuning = (flag, f4, i4, f4, real, b1, b1)
    state = (f8, f4, u4, f8, u4, u4)
    search = (
        u4,
        u4,
        u4,
        f4,
        u1,
        f4,
        i4,
        f4,
        b1,
        b1,
        u4,
        f8,
        b1,
        whole,
        real,
        whole,
        u1,
        f8,
        u1,
    )
    sweep = (f8, real, real, u4, u4, real)
    single = numba.float32
    words = (i8, i4, u1, f4, whole, f4, single, single)
    return Kernels(
        lay_out=jit(push.lay_out, (u4, u4, u4, u4, f4, u1, u4, f8, f4, u4, u4)),
        mark_own=jit(push.mark_own, (u4, u4, u4, i4, u4)),
        push=jit(push.push, (*graph, *query, *tuning, *state, u4, f8, f8)),
        transpose=jit(pull.transpose, (u4,) * 6),
        pull=jit(pull.pull, *((u4, u4, a, *sweep, a, f8, whole) for a in (f4, f8))),
        best_chains=jit(chains.best_chains, search),
        add_passed=jit(
            passing.add_passed,
            (u4, u4, u4, f4, u1, u4, f8, f4, b1, b1, real, i4, i4, b1, f4),
        ),
        follow_hops=jit(
            hops.follow_hops,
            (u4, u4, u4, f4, u1, f4, b1, b1, whole, whole, whole, u4, s1, f4, f4),
        ),
        order_edges=jit(ordering.order_edges, (u4, u4, u4, u4)),
        bound_classes=jit(ordering.bound_classes, (u4, u1, f8, real, whole, f8)),
        dots_of_two=jit(dots.dots_of_two, (*(table, scales, f4) * 2, f4), **_WIDE),
        add_words=jit(bm25.add_words, (*words, f4), **_WIDE),
        add_pairs=jit(bm25.add_pairs, (*words, i4, i4, i4, f4, i4, f4), **_WIDE),
        link_rows=jit(bm25.link_rows, (i4, i4, i4)),
        open_pairs=jit(bm25.open_pairs, (f4, i4, f4)),
        add_walk=jit(texts.add_walk, (f4, f4, u1, real, f4), **_WIDE),
        measure=jit(texts.measure, (f4, u1, whole), **_WIDE),
        follow=jit(lookups.follow, (i4, i4, i8, u1, u1, i8, i8)),
        add_worth=jit(lookups.add_worth, (i4, i4, i8, u1, whole, u4, u1, whole, i8)),
        find_tokens=jit(lookups.find_tokens, (kept_8, kept_4, i8, i8, i8)),
        count_home=jit(lookups.count_home, (kept_4, i8, i8, i4, whole, i8)),
        take_home=jit(lookups.take_home, (kept_4, kept_1, i8, i8, i4, whole, flag, i8, i4, u1)),
        count_windows=jit(lookups.count_windows, (cells, i8, i4, i4, b1, b1, cells, i4)),
        mark_rows=jit(lookups.mark_rows, (i8, i8, i4, i8, marks)),
        mark_accessible_facts=jit(lookups.mark_accessible_facts, (cells, b1)),
        unpack_states=jit(token_codes.unpack, (nibbles, f4, states), **_WIDE),
        best_matches=jit(token_codes.best_matches, (states, i8, states, f4), **_WIDE),
        take_pairs=jit(texts.take_pairs, (f4, i4, i4, f4, f4)),
        fuse_texts=jit(texts.fuse_texts, (*(f4,) * 5, i4, i4, u1, whole, real, real, f4, f4, f4)),
    )


def _teach_prefetch() -> None:
    """Make compiled calls of `push.prefetch` a prefetch instruction of the processor."""
    from llvmlite import ir  # type: ignore[import-untyped]
    from numba import types
    from numba.extending import intrinsic, overload

    @intrinsic
    def ask(_: Any, array: Any, index: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            address = builder.bitcast(builder.gep(data, [arguments[1]]), ir.IntType(8).as_pointer())
            number = ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [address.type, number, number, number])
            function = builder.module.declare_intrinsic("llvm.prefetch", [address.type], kind)
            # To read, keep, data
            builder.call(function, [address, number(0), number(3), number(1)])
            return context.get_dummy_value()

        return types.void(array, index), emit

    @overload(push.prefetch, strict=False)
    def _(array: Any, index: Any) -> Any:
        return lambda array, index: ask(array, index)
