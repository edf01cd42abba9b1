"""The optimisers compared with Isoform, each in a separate process.

    python -m bench.onnx.peers NAME IN OUT

`copy` reads and writes the model, the minimal work of every tool in Python.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.metadata import version


def copy(source: str, target: str) -> None:
    """Read and write."""
    import onnx

    onnx.save(onnx.load(source), target)


def onnxsim(source: str, target: str) -> None:
    """Run onnxsim as its page says."""
    import onnx
    import onnxsim as tool

    model, _ = tool.simplify(source)
    onnx.save(model, target)


def onnxslim(source: str, target: str) -> None:
    """Run onnxslim as its page says."""
    import onnxslim as tool

    tool.slim(source, target)


def onnxoptimizer(source: str, target: str) -> None:
    """Run all eliminations and fusions until nothing changes."""
    import onnx
    import onnxoptimizer as tool

    passes = tool.get_fuse_and_elimination_passes()
    onnx.save(tool.optimize(onnx.load(source), passes, fixed_point=True), target)


def onnxscript(source: str, target: str) -> None:
    """Run the default optimisation of onnxscript."""
    import onnx_ir
    from onnxscript import optimizer

    onnx_ir.save(optimizer.optimize(onnx_ir.load(source)), target)


def onnx_ir(source: str, target: str) -> None:
    """Run the clean-up passes of onnx-ir."""
    import onnx_ir as ir
    from onnx_ir import passes
    from onnx_ir.passes import common

    steps = passes.Sequential(
        common.InlinePass(),
        common.RemoveUnusedNodesPass(),
        common.RemoveUnusedFunctionsPass(),
        common.LiftConstantsToInitializersPass(lift_all_constants=False),
        common.LiftSubgraphInitializersToMainGraphPass(),
        common.DeduplicateInitializersPass(),
        common.CommonSubexpressionEliminationPass(),
        common.IdentityEliminationPass(),
        common.RemoveUnusedNodesPass(),
    )
    ir.save(steps(ir.load(source)).model, target)


def onnxruntime(source: str, target: str) -> None:
    """Let onnxruntime write the model after its basic level."""
    import onnxruntime as tool

    options = tool.SessionOptions()
    options.graph_optimization_level = tool.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = target
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    tool.InferenceSession(source, options, providers=["CPUExecutionProvider"])


PEERS: dict[str, tuple[str, Callable[[str, str], None]]] = {
    "copy": ("onnx", copy),
    "onnxsim": ("onnxsim", onnxsim),
    "onnxslim": ("onnxslim", onnxslim),
    "onnxoptimizer": ("onnxoptimizer", onnxoptimizer),
    "onnxscript": ("onnxscript", onnxscript),
    "onnx-ir": ("onnx-ir", onnx_ir),
    "onnxruntime": ("onnxruntime", onnxruntime),
}


def version_of(name: str) -> str:
    """Return the installed version of a peer."""
    return version(PEERS[name][0])


if __name__ == "__main__":
    PEERS[sys.argv[1]][1](sys.argv[2], sys.argv[3])
