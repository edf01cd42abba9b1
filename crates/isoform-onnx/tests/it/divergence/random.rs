//! Random programs against themselves, with other names and in another order.

use isoform_onnx::divergence::DivergenceOptions;
use isoform_onnx::verify::Evaluator;
use isoform_testing::onnx::{drawn_program, rebuilt};

