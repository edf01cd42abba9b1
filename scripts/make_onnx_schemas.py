#!/usr/bin/env python3
"""Write the table of ONNX operator schemas, from the installed `onnx` package.

Usage: python scripts/make_onnx_schemas.py [--check]

The table is crates/isoform-onnx/src/schema/operators.txt; its first lines say
how to read it. With --check, nothing is written, and the exit status is 1 if
the table is not that of the installed package.
"""

from __future__ import annotations

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
"""

UNLIMITED = 2**31 - 1


def span(low: int, high: int) -> str:
    """Return a range as the table has it."""
    return f"{low}-{'*' if high == UNLIMITED else high}"


def default(value: int | float | bytes | list[int] | list[bytes]) -> str:
    """Return the default of an attribute as the table has it."""
    if isinstance(value, list):
        return ",".join(map(default, value))
    text = value.decode() if isinstance(value, bytes) else repr(value)
    # The table is split at spaces, and lists at commas.
    assert text and not set(text) & set(" ,"), text
    return text


def line(schema: defs.OpSchema) -> str:
    """Return the line for one version of an operator."""
    words = [
        str(schema.since_version),
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
            lines += map(line, versions)
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
