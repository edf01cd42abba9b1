"""Programs that JAX lowers and xDSL holds, judged by MLIR's own parser and print.

They need JAX, which `make test-interop` installs in an environment of its own.
"""

import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

import isoform
from isoform import mlir, structural_digest, structural_equal

jax = pytest.importorskip("jax", reason="no JAX here; make test-interop has it")
jnp = jax.numpy

import mlir_corpus as corpus  # noqa: E402
import test_docs  # noqa: E402
from jaxlib.mlir import ir  # noqa: E402

PAGE = Path(__file__).resolve().parent.parent / "docs" / "stablehlo.md"


@pytest.fixture(scope="module")
def texts():
    """The generic texts of the corpus by name."""
    return {
        name: corpus.text_of(lowered.compiler_ir("stablehlo"))
        for name, lowered in corpus.programs()
    }


def test_the_corpus_is_large(texts):
    assert len(texts) >= 300
    names = " ".join(texts.values())
    for operation in ("stablehlo.while", "stablehlo.case", "stablehlo.custom_call", "sdy."):
        assert operation in names


def test_mlir_reads_every_written_program(texts):
    """Reading MLIR's print of our text gives the program again."""
    for name, text in texts.items():
        program = mlir.read(text)
        again = ir.Module.parse(mlir.write(program), corpus.context())
        assert structural_equal(program, mlir.read(corpus.text_of(again))), name


def test_digests_survive_other_spellings(texts):
    """Locations, aliases, names of values, and names of private functions do not count."""
    for name, text in texts.items():
        digest = structural_digest(mlir.read(text))
        module = ir.Module.parse(text, corpus.context())
        spellings = [
            corpus.text_of(module, enable_debug_info=True),
            corpus.text_of(module, use_local_scope=True),
            re.sub(r"%(\w+)", r"%value_\1", text),
        ]
        for private in corpus.PRIVATE.findall(text):
            text = re.sub(rf'(@|"){re.escape(private)}(?![\w.$])', rf"\g<1>renamed.{private}", text)
        spellings.append(text)
        for spelling in spellings:
            assert structural_digest(mlir.read(spelling)) == digest, name


@pytest.mark.parametrize("name", [*corpus.EDITS, *corpus.TEXT_EDITS])
def test_verdicts_are_those_of_mlir(texts, name):
    """Every edit that changes MLIR's print changes the digest, and no other one does."""
    rng = random.Random(name)
    names = rng.sample(sorted(texts), len(texts))
    judged = 0
    for source in names:
        text = texts[source]
        if len(text) > 60_000:
            continue
        made = corpus.edited(text, name, rng)
        if made is None:
            continue
        is_same = corpus.judged(text) == corpus.judged(made)
        left, right = mlir.read(text), mlir.read(made)
        assert structural_equal(left, right) == is_same, (source, str(mlir.diff(left, right)))
        assert (structural_digest(left) == structural_digest(right)) == is_same
        if not is_same:
            found = mlir.diff(left, right)
            assert found.changes
            assert structural_equal(found.difference.apply(left), right)
        judged += 1
        if judged == 12:
            break
    assert judged >= 3


def test_live_objects_are_programs():
    lowered = jax.jit(corpus.norm).lower(jax.ShapeDtypeStruct((4, 4), jnp.float32))
    module = lowered.compiler_ir("stablehlo")
    program = mlir.from_module(module)
    assert structural_equal(program, mlir.read(corpus.text_of(module)))
    again = mlir.from_jax(corpus.norm, jax.ShapeDtypeStruct((4, 4), jnp.float32))
    assert structural_equal(program, again)
    function = module.body.operations[0]
    assert len(mlir.from_module(function).module.regions[0].blocks[0].operations) == 1


def test_operations_of_xdsl_are_programs():
    xdsl_ir = pytest.importorskip("xdsl.ir")
    from xdsl.dialects import arith, builtin

    constant = arith.ConstantOp(builtin.IntegerAttr(1, 32))
    module = builtin.ModuleOp([constant])
    assert isinstance(module, xdsl_ir.Operation)
    program = mlir.from_module(module)
    assert structural_equal(program, mlir.read("module { %c = arith.constant 1 : i32 }"))


def lowered(function, *args):
    return jax.jit(function).lower(*args)


def other_line(x):
    return jnp.sin(x) + 1


# fmt: off



def on_another_line(x): return jnp.sin(x) + 1
# fmt: on


X = jax.ShapeDtypeStruct((4,), jnp.float32)


def test_keys_survive_what_does_not_matter():
    key = isoform.jax.cache_key(lowered(other_line, X))
    assert isoform.jax.cache_key(lowered(on_another_line, X)) == key

    def renamed(y):
        return jnp.sin(y) + 1

    assert isoform.jax.cache_key(lowered(renamed, X)) == key

    def numbered(number):
        """Private functions get other numbers after functions that are not used."""
        inner = jax.jit(lambda v: jnp.clip(v, 0, 1), inline=False)
        inner.__wrapped__.__name__ = f"inner_{number}"
        return lambda v: inner(v) + 1

    keys = {isoform.jax.cache_key(lowered(numbered(number), X)) for number in range(3)}
    assert len(keys) == 1


@pytest.mark.parametrize(
    "other",
    [
        lambda x: jnp.cos(x) + 1,
        lambda x: jnp.sin(x) - 1,
        lambda x: jnp.sin(x) + 2,
        lambda x: jnp.sin(x) + jnp.float32(1.0000001),
        lambda x: jnp.sin(x + 1),
        lambda x: jnp.sin(x) + x,
        lambda x: (jnp.sin(x) + 1)[::-1],
        lambda x: jnp.sin(x) + 1 + 0 * x,
        lambda x: (jnp.sin(x) + 1, x),
        lambda x: (jnp.sin(x) + 1).sum(),
        lambda x: (jnp.sin(x) + 1).astype(jnp.float64),
        lambda x: jax.lax.cond(True, lambda v: jnp.sin(v) + 1, lambda v: v, x),
    ],
)
def test_keys_tell_functions_apart(other):
    key = isoform.jax.cache_key(lowered(other_line, X))
    assert isoform.jax.cache_key(lowered(other, X)) != key


@pytest.mark.parametrize(
    "shape",
    [
        jax.ShapeDtypeStruct((5,), jnp.float32),
        jax.ShapeDtypeStruct((4,), jnp.float64),
        jax.ShapeDtypeStruct((4, 1), jnp.float32),
    ],
)
def test_keys_tell_arguments_apart(shape):
    key = isoform.jax.cache_key(lowered(other_line, X))
    assert isoform.jax.cache_key(lowered(other_line, shape)) != key


def test_donation_and_shardings_count():
    key = isoform.jax.cache_key(lowered(other_line, X))
    donated = jax.jit(other_line, donate_argnums=0).lower(X)
    assert isoform.jax.cache_key(donated) != key
    mesh = jax.sharding.Mesh(jax.devices()[:2], ("x",))
    placed = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x"))
    sharded = jax.jit(other_line, in_shardings=placed).lower(X)
    assert isoform.jax.cache_key(sharded) != key


def test_the_tutorial_runs(tmp_path):
    """In a process of its own, with JAX as users have it."""
    source = test_docs.program(PAGE.read_text(encoding="utf-8"))
    done = subprocess.run(
        [sys.executable, "-c", source], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
