#!/usr/bin/env python3
"""Write the table of ONNX operator schemas, from the installed `onnx` package.

Usage: python scripts/make_onnx_schemas.py [--check]

The table is crates/isoform-onnx/src/schema/operators.txt; its first lines describe the
format. With --check, no file is written, and the exit status is 1 if the table differs
from the installed package.

The schemas decide which versions of an operator mean the same where they can: the same
text, the same inputs, outputs and attributes, and all earlier types still allowed.
Where the text differs, a person has read both and noted the result in this file; a new
version that nobody has read has a separate meaning.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import onnx
from onnx import defs, helper

TABLE = Path(__file__).parents[1] / "crates/isoform-onnx/src/schema/operators.txt"

HEAD = """\
# The operators of ONNX {version}. Written by scripts/make_onnx_schemas.py.
# ir IR_VERSION OPSET: the newest operator set that this version of the format knows.
# opset DOMAIN VERSION: the newest operator set of a domain; . is ai.onnx.
# op NAME, and for each version that changed it, newest first:
#   SINCE INPUTS OUTPUTS ATTRIBUTE...: the numbers of inputs and outputs as MIN-MAX, with *
#   if there is no limit; attributes as NAME:KIND, with ! if required, and as NAME:KIND=DEFAULT
#   with commas between the items of a list; "deprecated" if it is.
#   After SINCE, = says that all calls which this version and the next line's allow mean the
#   same in both; =NAME,NAME that this is true without these attributes; =NAME>POSITION that it
#   is true when the attribute of the next line's version is put as that input.
"""

UNLIMITED = 2**31 - 1

# The versions that mean the same as the previous versions though their texts differ,
# found by reading both.
REVIEWED = {
    "the same in other words, or more exactly where no runtime ever chose another reading": """
        Abs 13, Add 14, ArgMax 13, ArgMin 13, BitShift 28, Cast 13,
        Ceil 13, Clip 13, Conv 11, DequantizeLinear 19, Div 14, Dropout 22, EyeLike 22,
        Floor 13, Gather 13, GatherElements 13, GatherND 13, Gemm 13, If 11, LSTM 22,
        Loop 11 13 16, MaxPool 11, Mod 13, Mul 14,
        NonMaxSuppression 11, Pow 13, ReduceL1 13, ReduceL2 13,
        ReduceLogSum 13, ReduceLogSumExp 13, ReduceMax 12 13, ReduceMean 13, ReduceMin 12 13,
        ReduceProd 13, ReduceSumSquare 13, Resize 13, Slice 13, SoftmaxCrossEntropyLoss 13,
        Squeeze 23, Sub 14, Transpose 21 25, Unsqueeze 23""",
    "negative axes are allowed": """
        ArgMax 11, ArgMin 11, Compress 11, Concat 11, Flatten 11, Gather 11, Hardmax 11,
        LogSoftmax 11, ReduceL1 11, ReduceL2 11, ReduceLogSum 11, ReduceLogSumExp 11,
        ReduceMax 11, ReduceMean 11, ReduceMin 11, ReduceProd 11, ReduceSum 11,
        ReduceSumSquare 11, Scan 11, Slice 11, Softmax 11, Split 11, Squeeze 11, Unsqueeze 11""",
    "more operands, types or modes are allowed": """
        Cast 9, Gemm 11, Max 8, Mean 8, Min 8, Mod 28, OptionalGetElement 18,
        OptionalHasElement 18, Pad 13 18 19, QuantizeLinear 25 28, ReduceMax 20, ReduceMin 20,
        Resize 19, ScatterElements 18, ScatterND 18, Sum 8""",
    "what a new attribute does by default was done before": """
        ArgMax 12, ArgMin 12, AveragePool 10, Cast 19 24, CastLike 19 24, DepthToSpace 11,
        DequantizeLinear 13 21 23, GRU 14, GatherND 12, LSTM 14, LpPool 18, MaxPool 8 10,
        QuantizeLinear 13 19 21 23, RNN 14, Reshape 14, Resize 18, ScatterElements 16,
        ScatterND 16, Shape 15, SpaceToDepth 28, TopK 11""",
    "what left the operator is refused, or not used by the calls that stay": """
        BatchNormalization 9 14, Erf 13, ReduceLogSum 28, ReduceLogSumExp 28""",
    # A call with num_outputs asks for this many outputs, and the count already says it.
    "num_outputs repeats the number of outputs": "Split 18",
}

# These versions mean the same as the previous version without certain attributes. Ceilings count
# the windows of a pool in another way, and padding from the output shape goes to the other side.
UNLESS = {
    ("AveragePool", 11): ["ceil_mode"],
    ("AveragePool", 19): ["ceil_mode"],
    ("AveragePool", 22): ["ceil_mode"],
    ("BatchNormalization", 15): ["training_mode"],
    ("ConvTranspose", 11): ["auto_pad", "output_shape"],
    ("LpPool", 11): ["auto_pad"],
    ("MaxPool", 12): ["ceil_mode"],
    ("MaxPool", 22): ["ceil_mode"],
}

# Attributes that became inputs, lists of 64-bit integers.
MOVED = {
    ("ReduceSum", 13): {"axes": 1},
    ("Slice", 10): {"starts": 1, "ends": 2, "axes": 3},
    ("Split", 13): {"split": 1},
    ("Squeeze", 13): {"axes": 1},
    ("TopK", 10): {"k": 1},
    ("Unsqueeze", 13): {"axes": 1},
} | {
    (f"Reduce{name}", 18): {"axes": 1}
    for name in ["L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "SumSquare"]
}

# Versions with the same meaning and a signature that allows less than the previous
# version.
NARROWER = {
    ("BatchNormalization", 9),
    ("BatchNormalization", 14),
    ("Erf", 13),
    ("ReduceLogSum", 28),
    ("ReduceLogSumExp", 28),
}


def span(low: int, high: int) -> str:
    """Return a range in the notation of the table."""
    return f"{low}-{'*' if high == UNLIMITED else high}"


def default(value: int | float | bytes | list[int] | list[bytes]) -> str:
    """Return the default of an attribute in the notation of the table."""
    if isinstance(value, list):
        return ",".join(map(default, value))
    text = value.decode() if isinstance(value, bytes) else repr(value)
    # The table is split at spaces, and lists at commas.
    assert text and not set(text) & set(" ,"), text
    return text


def reviewed() -> set[tuple[str, int]]:
    """Return the versions with the same meaning as the previous version, by review."""
    found = set()
    for text in REVIEWED.values():
        for entry in text.split(","):
            name, *versions = entry.split()
            for version in map(int, versions):
                assert (name, version) not in found, f"{name} {version} is listed twice"
                found.add((name, version))
    return found


def text_of(schema: defs.OpSchema) -> str:
    """Return all that a schema says in words, without blanks and markup."""
    parts = [schema.doc or ""]
    parts += [param.description for param in [*schema.inputs, *schema.outputs]]
    parts += [attribute.description for _, attribute in sorted(schema.attributes.items())]
    return re.sub(r"<br/?>|[\s`]", "", " ".join(parts))


def attributes_of(schema: defs.OpSchema) -> dict[str, tuple[str, bool, str]]:
    """Return kind, obligation and default of the attributes."""
    return {
        name: (
            attribute.type.name,
            attribute.required,
            repr(helper.get_attribute_value(attribute.default_value))
            if attribute.default_value.type
            else "",
        )
        for name, attribute in schema.attributes.items()
    }


def params_of(
    schema: defs.OpSchema, side: str
) -> list[tuple[defs.OpSchema.FormalParameter, tuple[str, bool]]]:
    """Return the inputs or outputs, with option and homogeneity."""
    return [(param, (param.option.name, param.is_homogeneous)) for param in getattr(schema, side)]


def is_wider(old: defs.OpSchema, new: defs.OpSchema) -> bool:
    """Return whether a new schema allows every call that an old schema allows."""
    moved = MOVED.get((new.name, new.since_version), {})
    was, now = attributes_of(old), attributes_of(new)
    if old.deprecated or new.deprecated:
        return False
    for name, (kind, required, value) in was.items():
        if name in moved:
            continue
        if name not in now or (now[name][0], now[name][2]) != (kind, value):
            return False
        if now[name][1] and not required:
            return False
    if any(required for name, (_, required, _) in now.items() if name not in was):
        return False
    for side in ("inputs", "outputs"):
        before, after = params_of(old, side), params_of(new, side)
        if len(after) < len(before):
            return False
        for (one, kind), (other, other_kind) in zip(before, after, strict=False):
            eased = (kind[0], other_kind[0]) == ("Single", "Optional")
            if (kind != other_kind and not eased) or not set(one.types) <= set(other.types):
                return False
        for position in range(len(before), len(after)):
            is_moved = side == "inputs" and position in moved.values()
            if after[position][1][0] != "Optional" and not is_moved:
                return False
    return True


def is_same_by_itself(old: defs.OpSchema, new: defs.OpSchema) -> bool:
    """Return whether two schemas alone show the same meaning."""
    counts = [(s.min_input, s.max_input, s.min_output, s.max_output) for s in (old, new)]
    return (
        is_wider(old, new)
        and attributes_of(old) == attributes_of(new)
        and counts[0] == counts[1]
        and text_of(old) == text_of(new)
    )


def meaning(old: defs.OpSchema | None, new: defs.OpSchema) -> str:
    """Return what the table says after SINCE about the meaning of a version."""
    key = (new.name, new.since_version)
    is_listed = key in reviewed() or key in UNLESS or key in MOVED
    if old is None or new.domain != "":
        return ""
    if is_same_by_itself(old, new):
        assert not is_listed, f"{key} needs no review: nothing but types changed"
        return "="
    if not is_listed:
        return ""
    assert is_wider(old, new) != (key in NARROWER), f"{key} does not allow all calls of before"
    moved = [f"{name}>{at}" for name, at in MOVED.get(key, {}).items()]
    return "=" + ",".join([*UNLESS.get(key, []), *moved])


def line(schema: defs.OpSchema, before: defs.OpSchema | None) -> str:
    """Return the line for one version of an operator, given the previous version."""
    words = [
        f"{schema.since_version}{meaning(before, schema)}",
        span(schema.min_input, schema.max_input),
        span(schema.min_output, schema.max_output),
    ]
    if schema.deprecated:
        words.append("deprecated")
    for name, attribute in sorted(schema.attributes.items()):
        kind = attribute.type.name.lower()
        word = f"{name}:{kind}{'!' if attribute.required else ''}"
        if attribute.default_value.type:
            word += f"={default(helper.get_attribute_value(attribute.default_value))}"
        words.append(word)
    return " ".join(words)


def table() -> str:
    """Return the whole table."""
    lines = []
    newest: dict[int, int] = {}
    for _, ir_version, opset, *_ in helper.VERSION_TABLE:
        newest[ir_version] = max(newest.get(ir_version, 0), opset)
    lines += [f"ir {ir_version} {opset}" for ir_version, opset in sorted(newest.items())]
    schemas = defs.get_all_schemas_with_history()
    for domain in sorted({schema.domain for schema in schemas}):
        version = max(s.since_version for s in schemas if s.domain == domain)
        if domain == "":
            version = defs.onnx_opset_version()
        lines.append(f"opset {domain or '.'} {version}")
        for name in sorted({s.name for s in schemas if s.domain == domain}):
            lines.append(f"op {name}")
            versions = [s for s in schemas if (s.domain, s.name) == (domain, name)]
            versions.sort(key=lambda schema: -schema.since_version)
            before = [*versions[1:], None]
            lines += [line(*pair) for pair in zip(versions, before, strict=True)]
    known = {(s.name, s.since_version) for s in schemas if s.domain == ""}
    unknown = (reviewed() | UNLESS.keys() | MOVED.keys() | NARROWER) - known
    assert not unknown, f"{sorted(unknown)} are no versions of operators"
    return HEAD.format(version=onnx.__version__) + "\n".join(lines) + "\n"


def main() -> int:
    """Write the table, or compare it; return the exit status."""
    text = table()
    if "--check" in sys.argv[1:]:
        return int(TABLE.read_text() != text)
    TABLE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
