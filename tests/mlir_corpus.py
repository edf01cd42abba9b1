"""Modules that JAX lowers, and edits of them through MLIR's own bindings.

The corpus is made on demand: a list of functions, each lowered for several types, as a gradient
and as a batch. Edits go through the bindings of MLIR, and the judge is MLIR's own print, so
neither shares code with the reader.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=4")

import jax
import jax.numpy as jnp
from jax import lax
from jaxlib.mlir import ir

jax.config.update("jax_enable_x64", True)

Function = Callable[..., Any]


def square(x):
    """The arguments are one square matrix each."""
    return x @ x + x.T


def attention(x):
    """A head of attention, with a mask."""
    scores = jnp.where(jnp.tril(jnp.ones(x.shape, bool)), x @ x.T, -1e9)
    return jax.nn.softmax(scores, axis=-1) @ x


def norm(x):
    """The normalisation of a layer."""
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5)


def network(x):
    """Three layers with different activations."""
    for activation in (jax.nn.relu, jnp.tanh, jax.nn.gelu):
        x = activation(x @ x + 1)
    return x


def convolution(x):
    """Two convolutions of an image with one channel."""
    image = x[None, :, :, None]
    kernel = jnp.ones((3, 3, 1, 2), x.dtype)
    numbers = ("NHWC", "HWIO", "NHWC")
    first = lax.conv_general_dilated(image, kernel, (1, 1), "SAME", dimension_numbers=numbers)
    kernel = jnp.ones((2, 2, 2, 1), x.dtype)
    return lax.conv_general_dilated(first, kernel, (2, 2), "VALID", dimension_numbers=numbers)


def pooling(x):
    """The maximum and the mean of windows."""
    largest = lax.reduce_window(x, -jnp.inf, lax.max, (2, 2), (2, 2), "VALID")
    return largest + lax.reduce_window(x, 0.0, lax.add, (2, 2), (2, 2), "VALID") / 4


def loop(x):
    """A loop whose length is not known."""
    state = (x, jnp.int32(0))
    return lax.while_loop(lambda s: s[1] < 5, lambda s: (s[0] * 2, s[1] + 1), state)[0]


def scan(x):
    """A loop with a result in each step."""
    carry, rows = lax.scan(lambda c, row: (c + row, jnp.sin(c) * row), jnp.zeros_like(x[0]), x)
    return rows + carry


def branches(x):
    """One of four functions."""
    functions = [jnp.sin, jnp.cos, lambda v: v * v, lambda v: v[::-1]]
    return lax.switch(jnp.int32(x.shape[0]) % 4, functions, x)


def condition(x):
    """A branch by a value."""
    return lax.cond(x.sum() > 0, lambda v: v + 1, lambda v: jnp.abs(v) - 2, x)


def sorting(x):
    """Sorted rows, and the places of the largest elements."""
    return jnp.sort(x, axis=1) + x[jnp.argsort(x[:, 0])] + jnp.argmax(x, 1)[:, None]


def indices(x):
    """Reading and writing at computed places."""
    return x.at[jnp.array([0, 2])].add(x[1]) + jnp.take(x, jnp.array([1, 0, 1, 0]), axis=0)


def slices(x):
    """Fixed and computed slices, and padding."""
    part = lax.dynamic_slice(x, (1, 0), (2, 4))
    return lax.dynamic_update_slice(x, part * 2, (0, 0)) + jnp.pad(part, ((1, 1), (0, 0)))


def noise(x):
    """Random numbers from a fixed key."""
    return x + jax.random.normal(jax.random.key(3), x.shape).astype(x.dtype)


def solver(x):
    """Custom calls of LAPACK."""
    matrix = x @ x.T + 4 * jnp.eye(4, dtype=x.dtype)
    return jnp.linalg.cholesky(matrix) + jnp.linalg.solve(matrix, x)


def spectrum(x):
    """A Fourier transform there and back."""
    return jnp.fft.irfft(jnp.fft.rfft(x), n=4).astype(x.dtype)


def cumulative(x):
    """Running sums and maxima."""
    return jnp.cumsum(x, 0) + lax.cummax(x, axis=1) + lax.associative_scan(jnp.add, x)


def special(x):
    """Functions beyond arithmetic."""
    return jnp.log1p(jnp.exp(x)) + lax.erf(x) + jnp.arctan2(x, x + 1) + jnp.logaddexp(x, -x)


def constants(x):
    """A large constant, a splat, and special numbers."""
    table = jnp.asarray([[float(i * j % 7) for j in range(4)] for i in range(4)], x.dtype)
    return x * table + jnp.full((4, 4), 2.5, x.dtype) + jnp.asarray(-0.0, x.dtype)


def nested(x):
    """Private functions that call each other."""
    inner = jax.jit(lambda v: jnp.clip(v, -1, 1) * 3)
    outer = jax.jit(lambda v: inner(v) + inner(v.T))
    return outer(x) - inner(x)


def checkpointed(x):
    """A function that is computed again for the gradient."""
    return jax.checkpoint(lambda v: jnp.sin(jnp.cos(v) @ v))(x)


def einsum(x):
    """Products over several axes."""
    return jnp.einsum("ij,jk,ki->ik", x, x, x) + jnp.tensordot(x, x, 1)


FUNCTIONS: list[Function] = [
    *(square, attention, norm, network, convolution, pooling, loop, scan, branches, condition),
    *(sorting, indices, slices, noise, solver, spectrum, cumulative, special, constants),
    *(nested, checkpointed, einsum),
]
TYPES = [jnp.float32, jnp.float64, jnp.bfloat16, jnp.float16]
# LAPACK and Fourier transforms have no short floats, and loops of unknown length no gradient.
WIDE = {"solver", "spectrum"}
NO_GRADIENT = {"loop", "sorting", "cumulative"}


def programs() -> Iterator[tuple[str, Any]]:
    """The names of the programs, and the lowered functions."""
    for function in FUNCTIONS:
        for dtype in TYPES:
            if function.__name__ in WIDE and dtype in (jnp.bfloat16, jnp.float16):
                continue
            matrix = jax.ShapeDtypeStruct((4, 4), dtype)
            batch = jax.ShapeDtypeStruct((3, 4, 4), dtype)
            name = f"{function.__name__}-{jnp.dtype(dtype).name}"
            yield name, jax.jit(function).lower(matrix)
            yield f"{name}-batch", jax.jit(jax.vmap(function)).lower(batch)
            if function.__name__ not in NO_GRADIENT:
                total = _sum_of(function)
                yield f"{name}-gradient", jax.jit(jax.grad(total)).lower(matrix)
                yield f"{name}-both", jax.jit(jax.value_and_grad(total)).lower(matrix)
    yield from _sharded()


def _sum_of(function: Function) -> Function:
    def total(x):
        return function(x).astype(jnp.float32).sum()

    return total


def _sharded() -> Iterator[tuple[str, Any]]:
    """Programs for several devices, with collectives."""
    from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

    mesh = Mesh(jax.devices()[:4], ("x",))
    placed = NamedSharding(mesh, P("x"))
    matrix = jax.ShapeDtypeStruct((4, 4), jnp.float32)
    for function in (square, norm, network):
        jitted = jax.jit(function, in_shardings=placed, out_shardings=placed)
        yield f"{function.__name__}-sharded", jitted.lower(matrix)
    for name, collective in (
        ("sum", lambda v: lax.psum(v, "x")),
        ("gather", lambda v: lax.all_gather(v, "x")),
        ("permute", lambda v: lax.ppermute(v, "x", [(0, 1), (1, 0)])),
    ):
        mapped = jax.shard_map(
            collective, mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=False
        )
        yield f"collective-{name}", jax.jit(mapped).lower(matrix)


def context() -> ir.Context:
    """A context that knows the builtin dialect alone, as a reader that knows no dialect."""
    made = ir.Context()
    made.allow_unregistered_dialects = True
    return made


def text_of(module: Any, **options: Any) -> str:
    """The generic form with all contents."""
    limits = {"large_elements_limit": None, "large_resource_limit": None}
    return module.operation.get_asm(print_generic_op_form=True, **limits, **options)


PRIVATE = re.compile(r'sym_name = "([\w.$]+)"[^\n]*?sym_visibility = "private"')


def judged(text: str) -> str:
    """The text by which programs are told apart: MLIR's print without aliases and locations, with
    private functions numbered in their order."""
    printed = text_of(ir.Module.parse(text, context()), use_local_scope=True)
    for number, name in enumerate(PRIVATE.findall(printed)):
        for before, after in (
            (f"@{name}", f"@private {number}"),
            (f'"{name}"', f'"private {number}"'),
        ):
            printed = re.sub(re.escape(before) + r"(?![\w.$])", after, printed)
    return printed


def operations(module: Any) -> list[Any]:
    """All operations inside of the module, in the order of the text."""
    found: list[Any] = []
    stack = [module.operation]
    while stack:
        operation = stack.pop()
        found.append(operation)
        inner = [op.operation for region in operation.regions for block in region for op in block]
        stack.extend(reversed(inner))
    return found[1:]


Edit = Callable[[Any, list[Any], random.Random], bool]
EDITS: dict[str, Edit] = {}


def edit(function: Edit) -> Edit:
    """Adds an edit: True if it changed something."""
    EDITS[function.__name__] = function
    return function


def _one(found: list[Any], rng: random.Random) -> Any:
    return rng.choice(found) if found else None


@edit
def swap_operands(module, ops, rng):
    """Two operands of one type change places."""

    def is_mixed(op):
        given = list(op.operands)
        return len(given) >= 2 and given[0].type == given[1].type and given[0] != given[1]

    op = _one([op for op in ops if is_mixed(op)], rng)
    if op is None:
        return False
    first, second = op.operands[0], op.operands[1]
    op.operands[0], op.operands[1] = second, first
    return True


@edit
def other_operand(module, ops, rng):
    """An operand becomes another value of its type before the operation, in one block."""
    for op in rng.sample(ops, len(ops)):
        before = []
        for other in op.block if op.parent is not None else []:
            if other.operation == op:
                break
            before += list(other.operation.results)
        for position, operand in enumerate(op.operands):
            found = [value for value in before if value.type == operand.type and value != operand]
            if found:
                op.operands[position] = rng.choice(found)
                return True
    return False


@edit
def added_attribute(module, ops, rng):
    """An operation gets an attribute of no dialect."""
    rng.choice(ops).attributes["x.extra"] = ir.UnitAttr.get(module.context)
    return True


@edit
def removed_attribute(module, ops, rng):
    """An attribute goes, if the operation can do without."""
    found = [(op, name) for op in [module.operation, *ops] for name in op.attributes]
    if not found:
        return False
    op, name = rng.choice(found)
    del op.attributes[name]
    return True


@edit
def unused_operation(module, ops, rng):
    """A copy of an operation whose results nobody uses."""
    found = [op for op in ops if len(op.results) == 1 and not list(op.regions)]
    op = _one(found, rng)
    if op is None:
        return False
    copy = op.clone(ip=ir.InsertionPoint(op))
    return copy is not None


@edit
def bypassed_operation(module, ops, rng):
    """Users of a result take an operand of the same type instead."""

    def is_plain(op):
        one = len(op.results) == 1 and len(op.operands) >= 1
        return one and op.operands[0].type == op.results[0].type and list(op.results[0].uses)

    op = _one([op for op in ops if is_plain(op)], rng)
    if op is None:
        return False
    op.results[0].replace_all_uses_with(op.operands[0])
    return True


@edit
def moved_operation(module, ops, rng):
    """An operation that the next one does not need goes after it."""
    for op in rng.sample(ops, len(ops)):
        block = (
            list(op.block) if op.parent is not None and op.parent.name != "builtin.module" else []
        )
        places = [place for place, other in enumerate(block) if other.operation == op]
        if not places or places[0] + 2 >= len(block):
            continue
        after = block[places[0] + 1].operation
        used = {operand.owner for operand in after.operands if hasattr(operand.owner, "name")}
        if op in used or list(after.regions) or list(op.regions):
            continue
        op.move_after(after)
        return True
    return False


@edit
def renamed_public(module, ops, rng):
    """A function that callers know gets another name."""
    for op in ops:
        names = op.attributes
        if "sym_name" in names and str(names["sym_name"]) == '"main"':
            names["sym_name"] = ir.StringAttr.get("main_2", context=module.context)
            return True
    return False


@edit
def public_function(module, ops, rng):
    """A private function becomes a public one."""
    private = [op for op in ops if "sym_visibility" in op.attributes]
    private = [op for op in private if "private" in str(op.attributes["sym_visibility"])]
    op = _one(private, rng)
    if op is None:
        return False
    op.attributes["sym_visibility"] = ir.StringAttr.get("public", context=module.context)
    return True


@edit
def renamed_module(module, ops, rng):
    """The module gets another name."""
    module.operation.attributes["sym_name"] = ir.StringAttr.get("other", context=module.context)
    return True


def _next(number: str) -> str:
    return str(int(number) + 1)


# Edits of the generic text, for properties, which bindings do not show of operations of unknown
# dialects: a pattern, and its replacement.
TEXT_EDITS: dict[str, tuple[str, Callable[[re.Match[str]], str]]] = {
    "bump_integer": (r"(?<== )(\d+)(?= : i(?:32|64)[,}])", lambda m: _next(m[1])),
    "flipped_bool": (r"(?<== )(true|false)\b", lambda m: "false" if m[1] == "true" else "true"),
    "longer_string": (r'((?:target_name|result_info|name) = "\w*)"', lambda m: f'{m[1]}x"'),
    "array_element": (r"(array<i64: )(\d+)", lambda m: m[1] + _next(m[2])),
    "dropped_property": (r"<\{\w+ = (?:true|false|\d+ : i\d+), ", lambda _: "<{"),
    "other_element_type": (r"xf32>", lambda _: "xf64>"),
    "other_size": (r"tensor<4x4x", lambda _: "tensor<4x5x"),
    "dynamic_size": (r"tensor<4x4x", lambda _: "tensor<?x4x"),
    "signed_zero": (r"dense<0\.0+e\+00>", lambda _: "dense<-0.0>"),
    "last_digit": (r"(dense<-?\d\.\d{4})(\d)", lambda m: m[1] + _next(m[2])[-1]),
    "other_operation": (r'"stablehlo\.add"', lambda _: '"stablehlo.subtract"'),
    "other_comparison": (r"(comparison_direction )\w+>", lambda m: f"{m[1]}EQ>"),
    "other_element": (r"(dense<\[\[*-?)(\d)", lambda m: m[1] + _next(m[2])[-1]),
}


def edited(text: str, name: str, rng: random.Random) -> str | None:
    """The text after an edit; None if it does not apply, or MLIR refuses the result."""
    if name in TEXT_EDITS:
        pattern, replacement = TEXT_EDITS[name]
        found = list(re.finditer(pattern, text))
        if not found:
            return None
        match = rng.choice(found)
        made = text[: match.start()] + replacement(match) + text[match.end() :]
    else:
        with context() as made_context:
            module = ir.Module.parse(text, made_context)
            with ir.Location.unknown(made_context):
                if not EDITS[name](module, operations(module), rng):
                    return None
            made = text_of(module)
    try:
        ir.Module.parse(made, context())
    except ir.MLIRError:
        return None
    return None if made == text else made
