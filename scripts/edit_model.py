"""Make variants of ONNX models: the same meaning in other words, or a single change.

    python scripts/edit_model.py scramble       IN OUT --seed N
    python scripts/edit_model.py edit-attribute IN OUT --seed N
    python scripts/edit_model.py edit-weight    IN OUT --seed N
    python scripts/edit_model.py edit-random    IN OUT --seed N
    python scripts/edit_model.py scramble-all   DIR OUTDIR --seed N [--every N]
    python scripts/edit_model.py edit-all       DIR OUTDIR --seed N [--every N] [--kind KIND]

`scramble` changes a model without changing the meaning: new names for values, nodes, graphs
and functions, new documentation, and a new order of lists whose order means nothing. The
inputs and outputs keep their order.

The edits change the meaning of a model in exactly one place, and print a JSON line with the
change and the place. The batch commands print a summary and write one JSON line for each
model to OUTDIR/report.jsonl.

Every result is checked against the fingerprint of `model_meaning.py`: a scrambled model
must keep the fingerprint, an edited model must change it.
"""

from __future__ import annotations

import argparse
import json
import random
import struct
import sys
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from model_meaning import (
    Fingerprint,
    function_key,
    names_in,
    names_values,
    node_key,
    references,
    subgraphs,
)
from onnx import (
    AttributeProto,
    FunctionProto,
    GraphProto,
    ModelProto,
    NodeProto,
    TensorProto,
    TypeProto,
    numpy_helper,
)


class SkipModelError(Exception):
    """The requested change cannot be made to this model; the text says why."""


# --------------------------------------------------------------------------------------
# Scrambling
# --------------------------------------------------------------------------------------


class Scrambler:
    """Rewrites a model in place with other names and another valid order."""

    def __init__(self, model: ModelProto, rng: random.Random, *, reencode: bool) -> None:
        """Prepare to scramble a model."""
        self.model = model
        self.rng = rng
        self.reencode = reencode
        self.used: set[str] = set()
        self.functions = {function_key(item): self.fresh() for item in model.functions}

    def fresh(self) -> str:
        """Make up an unused name."""
        while True:
            name = "".join(self.rng.choices("abcdefghijklmnopqrstuvwxyz", k=8))
            if name not in self.used:
                self.used.add(name)
                return name

    def run(self) -> None:
        """Scramble the whole model."""
        model = self.model
        if model.training_info:
            raise SkipModelError("training_info binds names across graphs")
        order = self.function_order()
        self.graph(model.graph, {})
        for item in model.functions:
            self.function(item)
        self.replace(model.functions, order)
        self.shuffle(model.opset_import)
        model.producer_name = self.fresh()
        model.producer_version = self.fresh()
        model.domain = self.fresh()
        model.model_version = self.rng.randrange(1, 1000)
        self.document(model)
        model.metadata_props.add(key=self.fresh(), value=self.fresh())

    def shuffle(self, items: Any) -> None:
        """Shuffle a repeated message field."""
        self.replace(items, self.rng.sample(range(len(items)), len(items)))

    def replace(self, items: Any, order: list[int]) -> None:
        """Reorder a repeated message field."""
        copies = [type(item).FromString(item.SerializeToString()) for item in items]
        del items[:]
        items.extend(copies[index] for index in order)

    def document(self, item: Any) -> None:
        """Change or clear the documentation of an item."""
        if self.rng.random() < 0.5:
            item.doc_string = self.fresh()
        else:
            item.ClearField("doc_string")
        item.ClearField("metadata_props")

    def graph(self, graph: GraphProto, outer: dict[str, str]) -> None:
        """Scramble a graph inside the names of the enclosing graphs."""
        order = self.order(graph.node)
        env = dict(outer)
        local: dict[str, str] = {}

        def define(name: str) -> str:
            if name and name not in local:
                local[name] = env[name] = self.fresh()
            return local.get(name, "")

        for value in graph.input:
            value.name = define(value.name)
            self.document(value)
        for tensor in graph.initializer:
            tensor.name = define(tensor.name)
            self.tensor(tensor)
        for sparse in graph.sparse_initializer:
            sparse.values.name = define(sparse.values.name)
        self.nodes(graph.node, env, define)
        for value in graph.output:
            value.name = env.get(value.name, value.name)
            self.document(value)
        for value in graph.value_info:
            value.name = local.get(value.name) or self.fresh()
            self.document(value)
        for note in graph.quantization_annotation:
            note.tensor_name = env.get(note.tensor_name, note.tensor_name)
            for entry in note.quant_parameter_tensor_names:
                entry.value = env.get(entry.value, entry.value)
        self.replace(graph.node, order)
        for items in (graph.initializer, graph.sparse_initializer, graph.value_info):
            self.shuffle(items)
        self.shuffle(graph.quantization_annotation)
        graph.name = self.fresh()
        self.document(graph)

    def function(self, item: FunctionProto) -> None:
        """Scramble a function, but keep the attribute names, which callers use."""
        order = self.order(item.node)
        env: dict[str, str] = {}

        def define(name: str) -> str:
            if name and name not in env:
                env[name] = self.fresh()
            return env.get(name, "")

        inputs = [define(name) for name in item.input]
        self.nodes(item.node, env, define)
        outputs = [env.get(name, name) for name in item.output]
        for value in item.value_info:
            value.name = env.get(value.name) or self.fresh()
            self.document(value)
        item.input[:] = inputs
        item.output[:] = outputs
        item.name = self.functions[function_key(item)]
        self.replace(item.node, order)
        self.shuffle(item.value_info)
        self.document(item)

    def nodes(
        self, nodes: Iterable[NodeProto], env: dict[str, str], define: Callable[[str], str]
    ) -> None:
        """Rename the nodes of one body in their original order, to keep scopes right."""
        for node in nodes:
            for attr in node.attribute:
                if names_values(node, attr):
                    texts = [env.get(name, name).encode() for name in names_in(attr)]
                    if attr.type == AttributeProto.STRING:
                        attr.s = texts[0]
                    else:
                        attr.strings[:] = texts
                attr.ClearField("doc_string")
                if attr.type == AttributeProto.TENSOR:
                    attr.t.name = self.fresh()
                    self.tensor(attr.t)
            for _, graph in subgraphs(node):
                self.graph(graph, env)
            node.input[:] = [env.get(name, name) for name in node.input]
            node.output[:] = [define(name) for name in node.output]
            node.op_type = self.functions.get(node_key(node), node.op_type)
            node.name = self.fresh()
            self.shuffle(node.attribute)
            self.document(node)

    def tensor(self, tensor: TensorProto) -> None:
        """Scramble a constant, if requested by storing the elements the other way."""
        self.document(tensor)
        fields = {TensorProto.FLOAT: "float_data", TensorProto.INT64: "int64_data"}
        name = fields.get(tensor.data_type)
        if not self.reencode or name is None or self.rng.random() < 0.5:
            return
        array = numpy_helper.to_array(tensor)
        if np.isnan(array).any():
            # A NaN may change its bits on the way through a Python float.
            return
        if tensor.HasField("raw_data"):
            tensor.ClearField("raw_data")
            getattr(tensor, name).extend(array.ravel().tolist())
        else:
            tensor.ClearField(name)
            tensor.raw_data = numpy_helper.tobytes_little_endian(array)

    def order(self, nodes: Any) -> list[int]:
        """Choose a random order of nodes, with all nodes after their operands."""
        producer = {name: i for i, node in enumerate(nodes) for name in node.output if name}
        return self.topological(
            # A name produced only later stands for a value of an outer graph here.
            [
                {producer[name] for name in references(node) if producer.get(name, index) < index}
                for index, node in enumerate(nodes)
            ]
        )

    def function_order(self) -> list[int]:
        """Choose a random order of functions, callees first, for certain readers."""
        index_of = {function_key(item): i for i, item in enumerate(self.model.functions)}

        def calls(nodes: Iterable[NodeProto]) -> set[int]:
            found: set[int] = set()
            for node in nodes:
                if node_key(node) in index_of:
                    found.add(index_of[node_key(node)])
                for _, graph in subgraphs(node):
                    found |= calls(graph.node)
            return found

        return self.topological([calls(item.node) for item in self.model.functions])

    def topological(self, needs: list[set[int]]) -> list[int]:
        """Choose a random order of the items, with each item after the needed items."""
        users: list[list[int]] = [[] for _ in needs]
        for index, needed in enumerate(needs):
            for other in needed:
                users[other].append(index)
        waiting = [len(needed) for needed in needs]
        ready = [index for index, count in enumerate(waiting) if count == 0]
        order: list[int] = []
        while ready:
            position = self.rng.randrange(len(ready))
            ready[position], ready[-1] = ready[-1], ready[position]
            index = ready.pop()
            order.append(index)
            for user in users[index]:
                waiting[user] -= 1
                if waiting[user] == 0:
                    ready.append(user)
        if len(order) != len(needs):
            raise SkipModelError("functions call one another in a circle")
        return order


def scramble(model: ModelProto, seed: int, *, reencode: bool = False) -> dict[str, Any]:
    """Scramble a model in place."""
    before = Fingerprint(model).value
    Scrambler(model, random.Random(seed), reencode=reencode).run()
    if Fingerprint(model).value != before:
        raise AssertionError("scrambling changed the meaning of the model")
    return {"kind": "scramble"}


# --------------------------------------------------------------------------------------
# Edits. Each one changes the model in place and describes the change, or gives up.
# --------------------------------------------------------------------------------------

# Data type to (struct code, numpy type) of what an element edit understands.
ELEMENTS: dict[int, tuple[str, Any]] = {
    TensorProto.FLOAT: ("<f", np.float32),
    TensorProto.DOUBLE: ("<d", np.float64),
    TensorProto.FLOAT16: ("<e", np.float16),
    TensorProto.INT64: ("<q", np.int64),
    TensorProto.INT32: ("<i", np.int32),
}
TYPED_FIELDS = {
    TensorProto.FLOAT: "float_data",
    TensorProto.DOUBLE: "double_data",
    TensorProto.INT64: "int64_data",
    TensorProto.INT32: "int32_data",
}
FLOATS = (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16)

COMMUTATIVE = frozenset(
    [
        "Add",
        "Mul",
        "And",
        "Or",
        "Xor",
        "Equal",
        "Max",
        "Min",
        "Sum",
        "Mean",
        "BitwiseAnd",
        "BitwiseOr",
        "BitwiseXor",
    ]
)
SIMILAR_OPERATORS = [
    [
        "Relu",
        "Sigmoid",
        "Tanh",
        "Abs",
        "Neg",
        "Exp",
        "Sqrt",
        "Reciprocal",
        "Softplus",
        "Sign",
        "Ceil",
        "Floor",
    ],
    ["Add", "Sub", "Mul", "Div"],
    ["Max", "Min", "Sum"],
    ["MaxPool", "AveragePool"],
    ["GlobalMaxPool", "GlobalAveragePool"],
    ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd"],
    ["Softmax", "LogSoftmax"],
    ["And", "Or", "Xor"],
    ["Less", "Greater"],
]


def toward(value: Any) -> Any:
    """Return the neighbouring number of the same floating-point type."""
    kind = type(value)
    up = np.nextafter(value, kind(np.inf))
    return up if np.isfinite(up) else np.nextafter(value, kind(0))


def change_element(rng: random.Random, tensor: TensorProto, types: Iterable[int]) -> dict[str, Any]:
    """Change an element: a float by one unit in the last place, an integer by one."""
    if tensor.data_type not in types:
        raise SkipModelError("element type")
    code, kind = ELEMENTS[tensor.data_type]
    size = struct.calcsize(code)
    raw = tensor.HasField("raw_data")
    if raw:
        items: Any = tensor.raw_data
        count = len(items) // size
    else:
        if tensor.data_type not in TYPED_FIELDS:
            raise SkipModelError("storage")
        items = getattr(tensor, TYPED_FIELDS[tensor.data_type])
        count = len(items)
    if count == 0:
        raise SkipModelError("no elements")
    index = rng.randrange(count)
    number = struct.unpack_from(code, items, index * size)[0] if raw else items[index]
    old = kind(number)
    if issubclass(kind, np.floating):
        if not np.isfinite(old):
            raise SkipModelError("not a finite number")
        new = toward(old)
    else:
        new = kind(old - 1 if old == np.iinfo(kind).max else old + 1)
    if raw:
        tensor.raw_data = (
            items[: index * size] + struct.pack(code, new.item()) + items[(index + 1) * size :]
        )
    else:
        items[index] = new.item()
    return {"flat_index": index, "old": old.item(), "new": new.item()}


def change_attribute(rng: random.Random, attr: AttributeProto) -> tuple[Any, Any]:
    """Change the value of an attribute; return the old and the new one."""

    def other_float(value: float) -> float:
        new = float(np.float32(value + 0.125))
        return new if new != value else float(toward(np.float32(value)))

    match attr.type:
        case AttributeProto.FLOAT:
            old: Any = attr.f
            attr.f = other_float(attr.f)
            return old, attr.f
        case AttributeProto.INT:
            old = attr.i
            attr.i += 1
            return old, attr.i
        case AttributeProto.STRING:
            old = attr.s
            attr.s += b"_edited"
            return old.decode(errors="replace"), attr.s.decode(errors="replace")
        case AttributeProto.INTS if attr.ints:
            old = list(attr.ints)
            attr.ints[rng.randrange(len(old))] += 1
            return old, list(attr.ints)
        case AttributeProto.FLOATS if attr.floats:
            old = list(attr.floats)
            index = rng.randrange(len(old))
            attr.floats[index] = other_float(old[index])
            return old, list(attr.floats)
        case AttributeProto.STRINGS if attr.strings:
            old = [text.decode(errors="replace") for text in attr.strings]
            attr.strings[rng.randrange(len(old))] += b"_edited"
            return old, [text.decode(errors="replace") for text in attr.strings]
        case AttributeProto.TENSOR:
            change = change_element(rng, attr.t, ELEMENTS)
            index = change["flat_index"]
            return {"flat_index": index, "value": change["old"]}, {
                "flat_index": index,
                "value": change["new"],
            }
    raise SkipModelError("kind of attribute")


def edit_attribute(rng: random.Random, look: Fingerprint) -> dict[str, Any]:
    """Change an attribute of a node, away from the beginning of the model if possible."""
    kinds = (AttributeProto.GRAPH, AttributeProto.GRAPHS)
    choices = [
        (site, attr)
        for site in look.sites
        for attr in site.node.attribute
        if attr.type not in kinds and not attr.ref_attr_name and not names_values(site.node, attr)
    ]
    if not choices:
        raise SkipModelError("no node has an attribute that can be changed")
    site, attr = rng.choice(choices[len(choices) // 3 :])
    old, new = change_attribute(rng, attr)
    where = site.describe()
    return {"kind": "attribute", **where, "attribute": attr.name, "old": old, "new": new}


def edit_tensor(rng: random.Random, look: Fingerprint, types: Iterable[int]) -> dict[str, Any]:
    """Change one element of an initializer or of a constant in an attribute."""
    graphs = [("main", look.model.graph)]
    graphs += [(site.path, graph) for site in look.sites for _, graph in subgraphs(site.node)]
    choices: list[tuple[dict[str, Any], TensorProto]] = [
        ({"graph": path, "tensor": tensor.name}, tensor)
        for path, graph in graphs
        for tensor in graph.initializer
    ]
    choices += [
        ({**site.describe(), "attribute": attr.name, "tensor": attr.t.name}, attr.t)
        for site in look.sites
        for attr in site.node.attribute
        if attr.type == AttributeProto.TENSOR and not attr.ref_attr_name
    ]
    choices = [choice for choice in choices if choice[1].data_type in types]
    if not choices:
        raise SkipModelError("no constant of a type that can be changed")
    where, tensor = rng.choice(choices)
    return {"kind": "weight", **where, **change_element(rng, tensor, types)}


def edit_weight(rng: random.Random, look: Fingerprint) -> dict[str, Any]:
    """Change a float of a constant by one unit in the last place."""
    return edit_tensor(rng, look, FLOATS)


def edit_element(rng: random.Random, look: Fingerprint) -> dict[str, Any]:
    """Change one number of a constant."""
    return edit_tensor(rng, look, ELEMENTS)


def edit_operator(rng: random.Random, look: Fingerprint) -> dict[str, Any]:
    """Replace an operator by another operator of the same arity."""
    choices = [
        (site, [name for name in group if name != site.node.op_type])
        for site in look.sites
        for group in SIMILAR_OPERATORS
        if site.node.op_type in group and site.node.domain in ("", "ai.onnx")
    ]
    if not choices:
        raise SkipModelError("no operator has a similar one")
    site, others = rng.choice(choices)
    where = site.describe()
    site.node.op_type = rng.choice(others)
    return {"kind": "op_type", **where, "old": where["op_type"], "new": site.node.op_type}


def edit_rewire(rng: random.Random, look: Fingerprint) -> dict[str, Any]:
    """Let an input read another value available at that point."""
    site = rng.choice(look.sites) if look.sites else None
    slots = [i for i, name in enumerate(site.node.input) if name] if site else []
    if site is None or not slots:
        raise SkipModelError("no input")
    slot = rng.choice(slots)
    old = site.node.input[slot]
    others = [n for n, v in site.available.items() if n and v != site.available.get(old)]
    if not others:
        raise SkipModelError("no other value")
    site.node.input[slot] = rng.choice(others)
    where = site.describe()
    return {"kind": "rewire", **where, "input": slot, "old": old, "new": site.node.input[slot]}


def edit_swap(rng: random.Random, look: Fingerprint) -> dict[str, Any]:
    """Swap two inputs of an operator with an order of inputs."""
    choices = [
        (site, first, second)
        for site in look.sites
        if site.node.op_type not in COMMUTATIVE
        for second in range(len(site.node.input))
        for first in range(second)
        if site.available.get(site.node.input[first]) != site.available.get(site.node.input[second])
    ]
    if not choices:
        raise SkipModelError("no operator has two different inputs that do not commute")
    site, first, second = rng.choice(choices)
    inputs = site.node.input
    inputs[first], inputs[second] = inputs[second], inputs[first]
    return {"kind": "swap_inputs", **site.describe(), "inputs": [first, second]}


def edit_drop(rng: random.Random, look: Fingerprint) -> dict[str, Any]:
    """Leave out an optional input."""
    choices = []
    for site in look.sites:
        node = site.node
        try:
            version = site.opsets.get(node.domain, 1)
            schema = onnx.defs.get_schema(node.op_type, version, node.domain)
        except onnx.defs.SchemaError:
            continue
        for slot, name in enumerate(node.input):
            formal = schema.inputs[min(slot, len(schema.inputs) - 1)]
            if name and formal.option == onnx.defs.OpSchema.FormalParameterOption.Optional:
                choices.append((site, slot))
    if not choices:
        raise SkipModelError("no optional input")
    site, slot = rng.choice(choices)
    old = site.node.input[slot]
    site.node.input[slot] = ""
    while site.node.input and not site.node.input[-1]:
        site.node.input.pop()
    return {"kind": "drop_input", **site.describe(), "input": slot, "old": old}


def edit_outputs(rng: random.Random, look: Fingerprint) -> dict[str, Any]:
    """Swap two outputs of the model."""
    outputs = look.model.graph.output
    if len(outputs) < 2:
        raise SkipModelError("fewer than two outputs")
    first, second = sorted(rng.sample(range(len(outputs)), 2))
    copies = [onnx.ValueInfoProto.FromString(value.SerializeToString()) for value in outputs]
    copies[first], copies[second] = copies[second], copies[first]
    del outputs[:]
    outputs.extend(copies)
    return {"kind": "output_order", "graph": "main", "outputs": [first, second]}


def edit_type(rng: random.Random, look: Fingerprint) -> dict[str, Any]:
    """Change the declared type of an input, or of an output if there is no input."""
    graph = look.model.graph
    slot, value = rng.choice(list(enumerate(graph.input)) or list(enumerate(graph.output)))
    where = {"graph": "main", "value": value.name, "position": slot}
    kind = value.type.WhichOneof("value")
    if kind == "tensor_type":
        tensor = value.type.tensor_type
        if tensor.shape.dim and rng.random() < 0.5:
            axis = rng.randrange(len(tensor.shape.dim))
            dim = tensor.shape.dim[axis]
            old: Any = dim.dim_param or dim.dim_value
            new = dim.dim_value + 1
            dim.dim_value = new
            return {"kind": "input_shape", **where, "axis": axis, "old": old, "new": new}
        old = tensor.elem_type
        same = TensorProto.FLOAT if old != TensorProto.FLOAT else TensorProto.DOUBLE
        tensor.elem_type = same
        return {"kind": "input_type", **where, "old": old, "new": same}
    inner = TypeProto.FromString(value.type.SerializeToString())
    value.type.Clear()
    value.type.optional_type.elem_type.CopyFrom(inner)
    return {"kind": "input_type", **where, "old": kind, "new": f"optional of {kind}"}


RANDOM_EDITS = [
    edit_attribute,
    edit_element,
    edit_operator,
    edit_rewire,
    edit_swap,
    edit_drop,
    edit_outputs,
]
Edit = Callable[[random.Random, Fingerprint], dict[str, Any]]


def try_edit(model: ModelProto, rng: random.Random, edit: Edit, tries: int) -> dict[str, Any]:
    """Try an edit until the fingerprint changes."""
    before = Fingerprint(model).value
    reason = "no attempt changed what the model computes"
    for _ in range(tries):
        copy = ModelProto()
        copy.CopyFrom(model)
        try:
            change = edit(rng, Fingerprint(copy))
        except SkipModelError as skip:
            reason = str(skip)
            continue
        if Fingerprint(copy).value != before:
            model.CopyFrom(copy)
            return change
    raise SkipModelError(reason)


def edit_random(model: ModelProto, rng: random.Random) -> dict[str, Any]:
    """Make a random edit, trying other kinds until one applies."""
    for edit in rng.sample(RANDOM_EDITS, len(RANDOM_EDITS)):
        try:
            return try_edit(model, rng, edit, 5)
        except SkipModelError:
            continue
    return try_edit(model, rng, edit_type, 20)


def edit(model: ModelProto, kind: str, seed: int) -> dict[str, Any]:
    """Make one edit of the named kind to a model in place."""
    rng = random.Random(seed)
    match kind:
        case "attribute":
            return try_edit(model, rng, edit_attribute, 20)
        case "weight":
            return try_edit(model, rng, edit_weight, 20)
        case _:
            return edit_random(model, rng)


# --------------------------------------------------------------------------------------
# Commands
# --------------------------------------------------------------------------------------


def save(model: ModelProto, path: Path) -> None:
    """Write a model, with equal files for equal models."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(model.SerializeToString(deterministic=True))


def run_one(args: argparse.Namespace, change: Callable[[ModelProto, int], dict[str, Any]]) -> None:
    """Change a model and print the change."""
    model = onnx.load(args.input)
    try:
        report = change(model, args.seed)
    except SkipModelError as skip:
        sys.exit(f"{args.input}: {skip}")
    save(model, args.output)
    print(json.dumps({"model": args.input.name, "seed": args.seed, **report}))


def run_all(args: argparse.Namespace, change: Callable[[ModelProto, int], dict[str, Any]]) -> None:
    """Change every model of a folder and write a report."""
    lines: list[str] = []
    skipped = 0
    for path in sorted(args.input.glob("*.onnx"))[:: args.every]:
        # The seed of a model must not depend on the other models.
        seed = args.seed ^ zlib.crc32(path.name.encode())
        model = onnx.load(path)
        try:
            report = change(model, seed)
            save(model, args.output / path.name)
        except SkipModelError as skip:
            report = {"skipped": str(skip)}
            skipped += 1
        lines.append(json.dumps({"model": path.name, "seed": seed, **report}))
    args.output.mkdir(parents=True, exist_ok=True)
    (args.output / "report.jsonl").write_text("".join(line + "\n" for line in lines))
    print(f"{len(lines) - skipped} models written to {args.output}; {skipped} skipped")


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("scramble", "edit-attribute", "edit-weight", "edit-random"):
        command = commands.add_parser(name)
        command.add_argument("input", type=Path, metavar="IN")
        command.add_argument("output", type=Path, metavar="OUT")
    for name in ("scramble-all", "edit-all"):
        command = commands.add_parser(name)
        command.add_argument("input", type=Path, metavar="DIR")
        command.add_argument("output", type=Path, metavar="OUTDIR")
        command.add_argument("--every", type=int, default=1, help="take every Nth model only")
        if name == "edit-all":
            kinds = ("random", "attribute", "weight")
            command.add_argument("--kind", choices=kinds, default="random")
    for name, command in commands.choices.items():
        command.add_argument("--seed", type=int, default=0)
        if name.startswith("scramble"):
            command.add_argument(
                "--reencode", action="store_true", help="also move elements between raw and typed"
            )
    args = parser.parse_args()

    run = run_all if args.command.endswith("-all") else run_one
    if args.command.startswith("scramble"):
        run(args, lambda model, seed: scramble(model, seed, reencode=args.reencode))
    else:
        kind = getattr(args, "kind", None) or args.command.removeprefix("edit-")
        run(args, lambda model, seed: edit(model, kind, seed))


if __name__ == "__main__":
    main()
