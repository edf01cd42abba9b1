"""Comparison with other optimisers of ONNX models."""
