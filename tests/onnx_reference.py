"""The operator tests of the package onnx, and onnxruntime without its optimisations."""

import functools
import warnings


@functools.cache
def node_cases():
    """The generated tests that have data."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.case.node import collect_testcases

        return [case for case in collect_testcases(None) if case.model and case.data_sets]


def session_of(model):
    """A session of onnxruntime that runs the model as it is."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
