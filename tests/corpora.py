"""Collections of models for the tests of indexes, and the command on these collections."""

import itertools
import os
import subprocess
import sys
import time

from onnx import TensorProto, helper

from isoform import corpus

# No test waits this long.
PATIENCE = 120

_changes = itertools.count()


def age(*paths):
    """Date files back, each to another time: an index reads files of this second again."""
    for path in paths:
        then = time.time() - 10_000_000 + next(_changes)
        os.utime(path, (then, then))


def write_program(path, name="x"):
    """Write a program of an IR, which differs for different names."""
    path.write_text(f"%{name} = ir.GlobalVar()\n%{name}\n", encoding="utf-8")
    age(path)


def write_programs(folder, count, distinct=100):
    """Fill a folder with links to a few programs, in folders of a thousand."""
    originals = [folder.parent / f"{folder.name}-{number}" for number in range(distinct)]
    for number, original in enumerate(originals):
        write_program(original, f"x{number}")
    for number in range(count):
        inner = folder / f"{number // 1000:03}"
        if number % 1000 == 0:
            inner.mkdir(parents=True)
        (inner / f"{number:06}.iso").hardlink_to(originals[number % distinct])


def model_bytes(weights=(1.0, 2.0), name="x", operator="Add", external=None):
    """An ONNX model of one node; its weights are in the file `external` if there is one."""
    count = len(weights)
    weight = helper.make_tensor("w", TensorProto.FLOAT, [count], weights)
    if external is not None:
        del weight.float_data[:]
        weight.data_location = TensorProto.EXTERNAL
        weight.external_data.add(key="location", value=external)
    values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [count]) for n in (name, "y")]
    node = helper.make_node(operator, [name, "w"], ["y"])
    graph = helper.make_graph([node], "g", values[:1], values[1:], [weight])
    opsets = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opsets).SerializeToString()


def write_model(path, *arguments, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(model_bytes(*arguments, **options))
    age(path)
    return path


def as_dict(row):
    """All that a row tells, except for its stamp."""
    parts = [name for name in dir(row) if not name.startswith("_") and name != "stamp"]
    told = {name: getattr(row, name) for name in parts}
    told["blocks"] = [(block.digest, block.nodes, block.count) for block in row.blocks]
    return told


def rows_of(index):
    return [as_dict(row) for row in corpus.CorpusIndex(index)]


def numbers(report):
    """The rows of an update: all, read, kept and failed."""
    return report.rows, report.read, report.kept, report.failed


def command(folder, *arguments, **options):
    """Run `isoform` in a folder; returns the exit status, the output and the errors."""
    done = subprocess.run(
        [sys.executable, "-m", "isoform", *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        **options,
    )
    return done.returncode, done.stdout, done.stderr


def printed(folder, *arguments):
    """The output of a command that has to succeed."""
    status, output, errors = command(folder, *arguments)
    assert (status, errors) == (0, ""), errors
    return output


def perceptron(layers, last=1.0, names=""):
    """An ONNX model of equal layers; `last` is the weight of the last one."""
    values, nodes, weights = ["x"], [], []
    for number in range(layers):
        weight = last if number == layers - 1 else 0.5
        weights += [
            helper.make_tensor(f"{names}w{number}", TensorProto.FLOAT, [8, 8], [weight] * 64),
            helper.make_tensor(f"{names}b{number}", TensorProto.FLOAT, [8], [0.0] * 8),
        ]
        product, total, output = (f"{names}{kind}{number}" for kind in ("product", "sum", "relu"))
        nodes += [
            helper.make_node("MatMul", [values[-1], weights[-2].name], [product]),
            helper.make_node("Add", [product, weights[-1].name], [total]),
            helper.make_node("Relu", [total], [output]),
        ]
        values.append(output)
    ends = [
        helper.make_tensor_value_info(n, TensorProto.FLOAT, ["n", 8]) for n in ("x", values[-1])
    ]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], weights)
    opsets = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()


def write_downloads(folder):
    """The files of the page about collections."""
    files = {
        "downloads/base/model.onnx": perceptron(4),
        "downloads/deep/model.onnx": perceptron(6),
        "downloads/mirror/model.onnx": perceptron(4, names="onnx::"),
        "downloads/tuned/model.onnx": perceptron(4, last=1.25),
        "downloads/cut/model.onnx": perceptron(4)[:-40],
        "candidate.onnx": perceptron(4, last=2.0),
        "other.onnx": perceptron(3),
        "wider.onnx": perceptron(5),
    }
    for name, contents in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(contents)
        age(path)
