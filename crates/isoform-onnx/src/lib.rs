//! Reads ONNX models as isoform dataflow programs.
