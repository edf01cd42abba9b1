//! Where the results of two models part: both run on the same inputs, and each pair of
//! corresponding values is compared.
//!
//! ```no_run
//! use isoform_onnx::divergence::divergence;
//!
//! let (float, quantized) = (isoform_onnx::load("float.onnx")?, isoform_onnx::load("int8.onnx")?);
//! let result = divergence(float.program(), quantized.program())?;
//! println!("{result}");
//! # Ok::<(), isoform::Error>(())
//! ```
//!
//! Values are paired by structure, never by name: nodes that compute the same from the inputs,
//! then nodes as the diff pairs them, then what corresponding nodes use at the same position,
//! and outputs by position. Only values of the main graph are paired, not those inside of
//! bodies and functions; where nodes with bodies differ, the result tells the first difference
//! inside.
//!
//! | file | job |
//! |---|---|
//! | `options.rs` | options, and the comparison from end to end |
//! | `side.rs` | one model: its nodes in an order of computation, and what each uses |
//! | `inputs.rs` | inputs of both models as pairs, and values for them |
//! | `wrappers.rs` | nodes that pass a value on: Identity, and both directions of quantisation |
//! | `nodes.rs` | nodes that correspond: by computation, and by the diff |
//! | `pairs.rs` | values that correspond |
//! | `inside.rs` | the first difference inside of two nodes with bodies |
//! | `rounds.rs` | runs of both models that expose a few pairs at a time |
//! | `measure.rs` | how far two values are apart |
//! | `quantization.rs` | numbers that quantised values stand for |
//! | `outcome.rs` | the result as data |
//! | `text.rs` | the result as text: sentence, chart and table |

mod inputs;
mod inside;
mod measure;
mod nodes;
mod options;
mod outcome;
mod pairs;
mod quantization;
mod rounds;
mod side;
mod text;
mod wrappers;

pub use options::{DivergenceOptions, divergence};
pub use outcome::{Crossing, Divergence, PairError, PairKind, PairStatus, ValuePlace};
