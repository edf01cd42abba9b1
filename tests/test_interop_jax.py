"""Programs of JAX as values: pairs of programs that have to be one key, or two.

They need JAX, which `make test-interop` installs in an environment of its own.
"""

import subprocess
import sys
from pathlib import Path

import pytest

import isoform.jax
from isoform import diff, serialization, structural_digest, structural_equal
from isoform.interop import Call, Program

jax = pytest.importorskip("jax", reason="no JAX here; make test-interop has it")
np = pytest.importorskip("numpy")
jnp = jax.numpy
lax = jax.lax

X = np.arange(4, dtype=np.float32)


def program(function, *args):
    return isoform.jax.program(jax.make_jaxpr(function)(*args))


def close_over(array):
    return lambda x: x + array


def renamed(name):
    def inner(x):
        return x * 2

    inner.__name__ = inner.__qualname__ = name
    return jax.jit(inner)


def in_order(first_sine):
    def function(x):
        if first_sine:
            sine, cosine = jnp.sin(x), jnp.cos(x)
        else:
            cosine, sine = jnp.cos(x), jnp.sin(x)
        return sine - cosine

    return function


def with_dead_code(x):
    jnp.exp(x)
    return jnp.sin(x)


def with_rule():
    @jax.custom_vjp
    def function(x):
        return jnp.sin(x)

    function.defvjp(lambda x: (function(x), x), lambda x, g: (g * jnp.cos(x),))
    return function


def scan(length):
    return lambda x: lax.scan(lambda c, _: (c * 2, c), x, None, length=length)


def ones(dtype):
    return np.ones(4, dtype)


def times(number):
    return lambda x: x * number


NEXT = np.nextafter(np.float32(1.5), np.float32(2))
# Name: the two programs, and whether one key serves both.
PAIRS = {
    "closed-over array": (program, close_over(X), (X,), close_over(X + 1), (X,), False),
    "weak type": (program, times(2.0), (1.0,), times(2.0), (np.float32(1),), False),
    "renamed jit": (program, renamed("f"), (X,), renamed("g"), (X,), True),
    "order of equations": (program, in_order(True), (X,), in_order(False), (X,), True),
    "dead code": (program, jnp.sin, (X,), with_dead_code, (X,), True),
    "custom_vjp traced twice": (program, with_rule(), (X,), with_rule(), (X,), True),
    "sign of zero": (program, times(0.0), (X,), times(-0.0), (X,), False),
    "nan": (program, times(float("nan")), (X,), times(float("nan")), (X,), True),
    "one ulp": (program, times(np.float32(1.5)), (X,), times(NEXT), (X,), False),
    "int and float": (program, jnp.negative, (1,), jnp.negative, (1.0,), False),
    "dtype": (program, jnp.sin, (ones("float32"),), jnp.sin, (ones("float16"),), False),
    "shape": (program, jnp.sin, (ones("float32"),), jnp.sin, (np.ones(5, "float32"),), False),
    "axis by either sign": (
        *(program, lambda x: jnp.sum(x, -1), (np.ones((2, 3)),)),
        *(lambda x: jnp.sum(x, 1), (np.ones((2, 3)),), True),
    ),
    "another axis": (
        *(program, lambda x: jnp.sum(x, -1), (np.ones((2, 3)),)),
        *(lambda x: jnp.sum(x, -2), (np.ones((2, 3)),), False),
    ),
    "length of scan": (program, scan(3), (1.0,), scan(4), (1.0,), False),
    "complex": (program, times(1 + 2j), (X,), times(1 - 2j), (X,), False),
    "operands": (program, lambda x, y: x - y, (X, X), lambda x, y: y - x, (X, X), False),
    "unused input": (program, jnp.sin, (X,), lambda x, y: jnp.sin(x), (X, X), False),
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_pairs(pair):
    read, left, left_args, right, right_args, hit = pair
    left, right = read(left, *left_args), read(right, *right_args)
    assert structural_equal(left, right) is hit
    assert (structural_digest(left) == structural_digest(right)) is hit
    assert (not diff.diff(left, right).changes) is hit


def test_the_pairs_of_the_table_are_eighteen():
    assert len(PAIRS) == 18


def network(x, w):
    def layer(carry, scale):
        return jnp.tanh(carry @ w * scale), carry.sum()

    carry, sums = lax.scan(layer, x, jnp.arange(3.0))
    noise = jax.random.normal(jax.random.key(0), carry.shape)
    picked = lax.cond(sums[0] > 0, lambda v: v, lambda v: -v, carry + noise)
    kernel = jnp.ones((1, 1, 2, 2))
    image = lax.conv_general_dilated(picked[None, None], kernel, (1, 1), "SAME")
    rows = picked[jnp.array([0, 1])]
    steps = lax.while_loop(lambda i: i < 3, lambda i: i + 1, 0)
    return jax.nn.relu(image).sum() + jnp.sort(rows, 1).sum() + steps


def test_a_program_with_most_kinds_of_parameters_has_the_same_digest_in_another_process():
    code = (
        "import test_interop_jax as t, isoform; print(isoform.structural_digest(t.example()).hex())"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parent,
    )
    assert run.stdout.strip() == structural_digest(example()).hex()


def example():
    square = np.ones((3, 3), np.float32)
    return program(jax.value_and_grad(network), square, square)


def test_programs_go_through_files():
    made = example()
    for write, read in (
        (serialization.to_bytes, serialization.from_bytes),
        (serialization.to_json_graph_str, serialization.from_json_graph_str),
    ):
        assert structural_digest(read(write(made))) == structural_digest(made)


def test_functions_that_are_called_twice_are_one_program_however_they_were_traced():
    def twice(f, g):
        return program(lambda x: f(x) + g(x), X)

    shared = renamed("f")
    assert structural_equal(twice(shared, shared), twice(renamed("f"), renamed("g")))


def test_effects_count_in_their_order():
    def printing(*texts):
        def function(x):
            for text in texts:
                jax.debug.print(text, x=x)
            return x

        return program(function, 1.0)

    first = printing("a {x}", "b {x}")
    assert len(first.effects) == 2
    assert structural_equal(first, printing("a {x}", "b {x}"))
    assert not structural_equal(first, printing("b {x}", "a {x}"))
    assert not structural_equal(first, printing("a {x}"))


def test_a_callback_without_name_is_refused_with_its_place():
    def function(x):
        shape = jax.ShapeDtypeStruct((), np.float32)
        return jax.pure_callback(lambda v: v, shape, x)

    jaxpr = jax.make_jaxpr(function)(np.float32(1))
    with pytest.raises(TypeError, match=r"eqns\[0\] \(pure_callback\)\.params\['callback'\]"):
        isoform.jax.program(jaxpr)
    made = isoform.jax.program(jaxpr, on_unknown=lambda obj: "my callback")
    assert made.outputs[0].call.op == "pure_callback"


def test_shardings_and_keys_have_values():
    mesh = jax.make_mesh((1,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))

    def constrained(*axes):
        spec = jax.sharding.PartitionSpec(*axes)
        sharding = jax.sharding.NamedSharding(mesh, spec)
        return program(lambda x: lax.with_sharding_constraint(x, sharding), X)

    assert structural_equal(constrained("x"), constrained("x"))
    assert not structural_equal(constrained("x"), constrained(None))
    keys = [jax.random.key(seed) for seed in (0, 0, 1)]
    first, same, other = (program(lambda x, k=k: x + jax.random.normal(k, (4,)), X) for k in keys)
    assert structural_equal(first, same)
    assert not structural_equal(first, other)


def test_a_long_chain_takes_linear_time_and_no_stack():
    def function(x):
        for _ in range(3000):
            x = x + 1
        return x

    made = program(function, 1.0)
    assert isinstance(made, Program)
    assert isinstance(made.outputs[0].call, Call)
    assert len(structural_digest(made)) == 32


def test_jaxprs_without_constants_take_them_as_inputs():
    jaxpr = jax.make_jaxpr(close_over(X))(X)
    # Newer versions of JAX have constants in both forms.
    assert len(isoform.jax.program(jaxpr.jaxpr).inputs) == len(jaxpr.jaxpr.constvars) + 1


def test_other_objects_are_refused():
    with pytest.raises(TypeError, match=r"expected a jaxpr, got function; jax\.make_jaxpr"):
        isoform.jax.program(network)
