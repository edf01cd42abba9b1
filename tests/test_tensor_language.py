"""The example of a tensor language: text, passes that keep results, and the cache on disk."""

import copy
import random
import subprocess
import sys
from pathlib import Path

import pytest

from isoform import serialization, structural_equal, text, verify
from isoform.store import Store
from isoform.transform import PassContext, StoreCache, changes_text, script

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
sys.path.insert(0, str(EXAMPLES))
import tensor_language  # noqa: E402
from tensor_language.__main__ import PROGRAM  # noqa: E402
from tensor_language.evaluate import evaluate  # noqa: E402
from tensor_language.passes import PIPELINE  # noqa: E402

sys.path.remove(str(EXAMPLES))


def expression(random, depth, names):
    """The text of an expression of the buffer `a` and of variables."""
    choice = random.randrange(4 if depth else 3)
    if choice == 0:
        return f"{random.randrange(4)}.{random.choice('05')}"
    if choice == 1:
        return f"a[{random.choice(names['index'])}]"
    if choice == 2 and names["value"]:
        return random.choice(names["value"])
    lhs, rhs = (expression(random, max(depth - 1, 0), names) for _ in range(2)) if depth else "12"
    op = random.choice("+-*mM")
    calls = {"m": f"min({lhs}, {rhs})", "M": f"max({lhs}, {rhs})"}
    return calls.get(op, f"({lhs} {op} {rhs})")


def statements(random, depth, names):
    """The lines of a block."""
    lines = []
    for _ in range(random.randint(1, 3)):
        choice = random.randrange(3)
        if choice == 0 and depth:
            var = random.choice("ijk")
            extent = 16 if not names["index"] else random.choice([1, 2, 8, 16])
            inner = {"index": [*names["index"], var], "value": list(names["value"])}
            lines += [f"for {var} in {extent} {{", *statements(random, depth - 1, inner), "}"]
        elif choice == 1 and names["index"]:
            lines.append(f"let x = {expression(random, 2, names)};")
            names["value"] = [*names["value"], "x"]
        elif names["index"]:
            place = f"{random.choice('bc')}[{random.choice(names['index'])}]"
            lines.append(f"{place} = {expression(random, 2, names)};")
    return lines


def program(seed):
    body = statements(random.Random(seed), 3, {"index": [], "value": []})
    lines = "\n".join(body)
    return tensor_language.parse(f"fn f(a: f32[16], b: f32[16], c: f32[16]) {{\n{lines}\n}}\n")


INPUTS = {"a": [float(number % 5) - 1.5 for number in range(16)]}


def test_passes_keep_results():
    changed = 0
    for seed in range(60):
        module = program(seed)
        verify(module)
        expected = evaluate(module["f"], INPUTS)
        for name in [*PIPELINE.split(","), PIPELINE, f"{PIPELINE},{PIPELINE}"]:
            with PassContext(opt_level=2):
                done = tensor_language.pipeline(name)(module)
            assert evaluate(done["f"], INPUTS) == expected, (seed, name)
            changed += not structural_equal(done, module)
    assert changed > 60


def test_text_files_and_copies_are_equal():
    for seed in range(30):
        module = program(seed)
        for other in (
            tensor_language.parse(script(module)),
            text.from_text(text.to_text(module)),
            serialization.from_bytes(serialization.to_bytes(module)),
            copy.deepcopy(module),
        ):
            assert structural_equal(other, module)
            assert script(other) == script(module)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("fn f() {\n  b[0] = 1;\n}", "line 2: no variable 'b' here"),
        ("fn f(a: f64[4]) {}", "line 1: no type 'f64'"),
        ("fn f(a: f32[4]) {\n a[0] = ;\n}", "line 2: expected an expression, got ';'"),
        ("fn f(a: f32[4]) {\n for i in 4 { i = 3; } }", "line 2: 'i' is not a buffer"),
        ("fn f(a: f32[4]) {\n for i in 4 { a[i] = 3;", "expected a name, got 'the end'"),
        ("fn f ?", "line 1: unexpected '?'"),
    ],
)
def test_errors_have_lines(source, message):
    with pytest.raises(tensor_language.ParseError, match=message.replace("?", r"\?")):
        tensor_language.parse(source)


def test_options_are_checked():
    with pytest.raises(ValueError, match="factor"):
        tensor_language.pipeline("tensor_language.Tile{factr=8}")


def test_changes_are_in_the_language():
    module = tensor_language.parse(PROGRAM)
    with PassContext(opt_level=2):
        done = tensor_language.pipeline("tensor_language.Simplify")(module)
    changes = changes_text(module, done).splitlines()
    assert "-      let factor = 2.0 * 1.5;" in changes
    assert "+      let factor = 3.0;" in changes


def test_a_second_process_finds_the_results(tmp_path):
    module = tensor_language.parse(PROGRAM)
    hits = []
    # A line before it moves the program, which does not matter: passes ignore lines.
    for source in (PROGRAM, f"\n{PROGRAM.replace('factor', 'scale_')}"):
        with Store.open(tmp_path / "cache") as store:
            with PassContext(opt_level=2, cache=StoreCache(store)):
                done = tensor_language.pipeline()(tensor_language.parse(source))
            hits.append(store.statistics()["hits"])
    assert hits == [0, 5]
    assert evaluate(done["scale"], {}) == evaluate(module["scale"], {})


def test_the_example_runs():
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tensor_language"],
        cwd=EXAMPLES,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "0 results of the first run, 5 of the second" in done.stdout
    assert done.stdout.endswith("the passes kept the results\n")
