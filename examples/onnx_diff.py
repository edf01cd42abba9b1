"""Are two ONNX models the same program?

    python examples/onnx_diff.py LEFT.onnx RIGHT.onnx

Prints the digest of both, the operators of the left one, and where the two
differ. The status is that of `isoform diff`: 0 equal, 1 different, 2 error.
"""

import sys
from collections import Counter

from isoform import explain_structural_mismatch, onnx, structural_digest, structural_walk


def operators(model: onnx.Model) -> Counter[str]:
    """Count the operators that a program calls."""
    found: Counter[str] = Counter()

    def count(call: onnx.Call) -> None:
        found[call.op_name] += 1

    structural_walk(model.program, (onnx.Call, count))
    return found


def main(arguments: list[str]) -> int:
    """Compare two models."""
    if len(arguments) != 2:
        print("usage: onnx_diff.py LEFT.onnx RIGHT.onnx", file=sys.stderr)
        return 2
    try:
        left, right = (onnx.load(path) for path in arguments)
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"onnx_diff: {error}", file=sys.stderr)
        return 2
    for model in (left, right):
        print(structural_digest(model.program).hex(), model.path)
    print("operators:", ", ".join(f"{count} {op}" for op, count in operators(left).most_common(5)))
    mismatch = explain_structural_mismatch(left.program, right.program)
    print("equal" if mismatch is None else mismatch)
    return 0 if mismatch is None else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
