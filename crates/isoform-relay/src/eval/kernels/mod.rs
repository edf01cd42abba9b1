//! The table from operators to kernels, with the attributes of calls as their settings.
//!
//! Shapes and data types follow the type relations of the operators.

mod create;
mod elementwise;
mod indexing;
mod movement;
mod nn;
mod reduce;
mod upsampling;

use std::sync::LazyLock;

use hashbrown::HashMap;
use isoform_kernels::elementwise::{self as by_element, Binary, Comparison, Unary};
use isoform_kernels::reduce::Reduction;
use rapidhash::fast::RandomState;

use super::call::{OpCall, Outcome};

/// How an operator is computed.
#[derive(Clone, Copy)]
pub(crate) enum Kernel {
    Unary(Unary),
    Binary(Binary),
    Comparison(Comparison),
    Reduction(Reduction),
    Other(fn(&OpCall<'_>) -> Outcome),
}

impl Kernel {
    pub(super) fn run(self, call: &OpCall<'_>) -> Outcome {
        let control = &call.control;
        let computed = match self {
            Kernel::Unary(op) => by_element::unary(op, call.view(0)?, control)?,
            Kernel::Binary(op) => by_element::binary(op, call.view(0)?, call.view(1)?, control)?,
            Kernel::Comparison(op) => {
                by_element::compare(op, call.view(0)?, call.view(1)?, control)?
            }
            Kernel::Reduction(op) => return reduce::reduction(op, call),
            Kernel::Other(kernel) => return kernel(call),
        };
        call.made(computed)
    }
}

/// The kernel for the name of an operator.
pub(super) fn find(name: &str) -> Option<Kernel> {
    TABLE.get(name).copied()
}

static TABLE: LazyLock<HashMap<&'static str, Kernel, RandomState>> = LazyLock::new(|| {
    let mut table: HashMap<&'static str, Kernel, RandomState> = HashMap::default();
    // Kernels without an operator of their name stay unused.
    table.extend(Unary::ALL.iter().map(|op| (op.name(), Kernel::Unary(*op))));
    table.extend(
        Binary::ALL
            .iter()
            .map(|op| (op.name(), Kernel::Binary(*op))),
    );
    table.extend(
        Comparison::ALL
            .iter()
            .map(|op| (op.name(), Kernel::Comparison(*op))),
    );
    table.extend(
        Reduction::ALL
            .iter()
            .map(|op| (op.name(), Kernel::Reduction(*op))),
    );
    table.insert("mod", Kernel::Binary(Binary::TruncMod));
    table.insert("nn.relu", Kernel::Unary(Unary::Relu));
    table.extend(
        OTHERS
            .iter()
            .map(|(name, kernel)| (*name, Kernel::Other(*kernel))),
    );
    table
});

type Row = (&'static str, fn(&OpCall<'_>) -> Outcome);

const OTHERS: &[Row] = &[
    ("cast", elementwise::cast),
    ("cast_like", elementwise::cast_like),
    ("clip", elementwise::clip),
    ("where", elementwise::select),
    ("nn.leaky_relu", elementwise::leaky_relu),
    ("nn.bias_add", elementwise::bias_add),
    ("full", create::full),
    ("full_like", create::full_like),
    ("zeros", create::zeros),
    ("ones", create::ones),
    ("arange", create::arange),
    ("shape_of", create::shape_of),
    ("ndarray_size", create::ndarray_size),
    ("one_hot", create::one_hot),
    ("reshape", movement::reshape),
    ("contrib_reverse_reshape", movement::reverse_reshape),
    ("reshape_like", movement::reshape_like),
    ("squeeze", movement::squeeze),
    ("expand_dims", movement::expand_dims),
    ("transpose", movement::transpose),
    ("concatenate", movement::concatenate),
    ("stack", movement::stack),
    ("split", movement::split),
    ("strided_slice", movement::strided_slice),
    ("reverse", movement::reverse),
    ("repeat", movement::repeat),
    ("tile", movement::tile),
    ("broadcast_to", movement::broadcast_to),
    ("broadcast_to_like", movement::broadcast_to_like),
    ("layout_transform", movement::layout_transform),
    ("nn.pad", movement::pad),
    ("nn.batch_flatten", movement::batch_flatten),
    ("take", indexing::take),
    ("gather", indexing::gather),
    ("gather_nd", indexing::gather_nd),
    ("argsort", indexing::argsort),
    ("argmax", reduce::argmax),
    ("argmin", reduce::argmin),
    ("variance", reduce::variance),
    ("collapse_sum_to", reduce::collapse_sum_to),
    ("collapse_sum_like", reduce::collapse_sum_like),
    ("nn.dense", nn::dense),
    ("nn.matmul", nn::matmul),
    ("nn.batch_matmul", nn::batch_matmul),
    ("nn.conv2d", nn::conv2d),
    ("nn.max_pool2d", nn::max_pool2d),
    ("nn.avg_pool2d", nn::avg_pool2d),
    ("nn.global_max_pool2d", nn::global_max_pool2d),
    ("nn.global_avg_pool2d", nn::global_avg_pool2d),
    ("nn.softmax", nn::softmax),
    ("nn.log_softmax", nn::log_softmax),
    ("nn.batch_norm", nn::batch_norm),
    ("nn.layer_norm", nn::layer_norm),
    ("nn.dropout", nn::dropout),
    ("nn.upsampling", upsampling::upsampling),
    ("on_device", unchanged),
    ("device_copy", unchanged),
    ("annotation.stop_fusion", unchanged),
    ("annotation.checkpoint", unchanged),
    ("annotation.compiler_begin", unchanged),
    ("annotation.compiler_end", unchanged),
];

/// The input itself, for any input.
fn unchanged(call: &OpCall<'_>) -> Outcome {
    match call.values {
        [value] => Ok(value.clone()),
        values => Err(isoform::Error::type_error(format!(
            "expected 1 argument, got {}",
            values.len()
        ))
        .into()),
    }
}
