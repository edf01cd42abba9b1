"""Copy the ONNX models that ship inside the installed `onnx` and `magika` wheels.

    python scripts/fetch_models.py DEST [--control-flow]

The models get flat, readable names that stay apart on case-insensitive file systems:

    light/light_resnet50.onnx                       -> light_resnet50.onnx
    pytorch-converted/test_AvgPool1d/model.onnx     -> converted_AvgPool1d.onnx
    pytorch-operator/test_operator_add_size1/...    -> operator_add_size1.onnx
    simple/test_sequence_model1/model.onnx          -> simple_sequence_model1.onnx
    magika/models/standard_v3_3/model.onnx          -> magika_standard_v3_3.onnx

None of these models has a subgraph. With `--control-flow`, the operator tests that the
`onnx` wheel generates in memory and that contain a subgraph (If, Loop, Scan, ...) are
written as `case_NAME.onnx` too.

Existing files with the same content are left alone.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path


def package_folder(name: str) -> Path:
    """Find an installed package without importing it, because magika's import is slow."""
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        sys.exit(f"the Python package '{name}' is not installed")
    return Path(spec.origin).parent


def wheel_models() -> Iterator[tuple[str, str, bytes]]:
    """Yield (group, file name, content) of every model stored in the wheels."""
    prefixes = {
        "pytorch-converted": ("test_", "converted_"),
        "pytorch-operator": ("test_operator_", "operator_"),
        "simple": ("test_", "simple_"),
    }
    data = package_folder("onnx") / "backend" / "test" / "data"
    for path in sorted(data.rglob("*.onnx")):
        group = path.relative_to(data).parts[0]
        if path.name != "model.onnx":
            name = path.name
        else:
            old, new = prefixes.get(group, ("test_", f"{group}_"))
            name = new + path.parent.name.removeprefix(old) + ".onnx"
        yield group, name, path.read_bytes()
    for path in sorted((package_folder("magika") / "models").rglob("*.onnx")):
        yield "magika", f"magika_{path.parent.name}.onnx", path.read_bytes()


def control_flow_cases() -> Iterator[tuple[str, str, bytes]]:
    """Yield the generated operator tests that contain a graph attribute."""
    warnings.simplefilter("ignore")
    from onnx import AttributeProto
    from onnx.backend.test.case.node import collect_testcases

    graphs = (AttributeProto.GRAPH, AttributeProto.GRAPHS)
    for case in collect_testcases(None):
        model = case.model
        if model is None:
            continue
        if any(attr.type in graphs for node in model.graph.node for attr in node.attribute):
            name = case.name.removeprefix("test_")
            yield "case", f"case_{name}.onnx", model.SerializeToString(deterministic=True)


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("dest", type=Path, help="folder to copy into; made if needed")
    parser.add_argument("--control-flow", action="store_true", help="add generated cases")
    args = parser.parse_args()

    args.dest.mkdir(parents=True, exist_ok=True)
    models = list(wheel_models())
    if args.control_flow:
        models.extend(control_flow_cases())
    groups: Counter[str] = Counter()
    taken: set[str] = set()
    written = 0
    for group, name, content in models:
        if name.casefold() in taken:
            sys.exit(f"two models would be named {name}")
        taken.add(name.casefold())
        groups[group] += 1
        target = args.dest / name
        if not target.exists() or target.read_bytes() != content:
            target.write_bytes(content)
            written += 1
    details = ", ".join(f"{count} {group}" for group, count in sorted(groups.items()))
    print(f"{len(models)} models in {args.dest} ({details}); {written} written")


if __name__ == "__main__":
    main()
