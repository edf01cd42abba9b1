//! The rule of each operator.

use super::context::Context;
use super::{
    attention, create, elementwise, image, indexing, linear, ml, movement, normalize, reduce,
    reshape, sequence, signal, slice, windows,
};
use crate::elem_type::ElemType;
use crate::facts::fact::Fact;
use crate::facts::size::Size;

type Shape = Option<Vec<Size>>;

/// One result with a shape.
fn one(elem: Option<ElemType>, shape: Shape) -> Option<Vec<Fact>> {
    Some(vec![Fact::tensor(elem, shape)])
}

fn same_shape(c: &Context<'_>, at: usize) -> Shape {
    c.shape(at).map(<[Size]>::to_vec)
}

/// Facts of the results of operators outside of `ai.onnx`; None if unknown.
pub(super) fn of_other_domains(c: &mut Context<'_>) -> Option<Vec<Fact>> {
    if c.call.callee.is_some() {
        return None;
    }
    match c.call.domain.as_str() {
        "ai.onnx.ml" => ml::shapes(c),
        "ai.onnx.preview" if c.call.op == "FlexAttention" => attention::flex_attention(c),
        "com.microsoft" => contributed(c),
        _ => None,
    }
}

/// Operators of `com.microsoft` written by exporters and quantisers.
fn contributed(c: &mut Context<'_>) -> Option<Vec<Fact>> {
    let first = c.elem(0);
    match c.call.op.as_str() {
        "DynamicQuantizeLSTM" => sequence::recurrent(c, 4, 3),
        "BiasGelu"
        | "FastGelu"
        | "Gelu"
        | "QuickGelu"
        | "SkipLayerNormalization"
        | "SkipSimplifiedLayerNormalization" => Some(vec![Fact::tensor(first, same_shape(c, 0))]),
        _ => None,
    }
}

/// Facts of the results without their elements; None if unknown.
pub(super) fn shapes(c: &mut Context<'_>, op: &str, count: usize) -> Option<Vec<Fact>> {
    use ElemType::{Bool, Float, Int32, Int64, String, Uint8};
    let first = c.elem(0);
    match op {
        // The result has the shape and type of the only input.
        "Abs"
        | "Acos"
        | "Acosh"
        | "Asin"
        | "Asinh"
        | "Atan"
        | "Atanh"
        | "BitwiseNot"
        | "Ceil"
        | "Celu"
        | "Clip"
        | "Cos"
        | "Cosh"
        | "CumSum"
        | "CumProd"
        | "Elu"
        | "Erf"
        | "Exp"
        | "Floor"
        | "Gelu"
        | "HardSigmoid"
        | "HardSwish"
        | "Hardmax"
        | "InstanceNormalization"
        | "LRN"
        | "LeakyRelu"
        | "Log"
        | "LogSoftmax"
        | "LpNormalization"
        | "MeanVarianceNormalization"
        | "Mish"
        | "Neg"
        | "PRelu"
        | "Reciprocal"
        | "Relu"
        | "ReverseSequence"
        | "Round"
        | "Scatter"
        | "ScatterElements"
        | "ScatterND"
        | "Selu"
        | "Shrink"
        | "Sigmoid"
        | "Sign"
        | "Sin"
        | "Sinh"
        | "Softmax"
        | "Softplus"
        | "Softsign"
        | "Sqrt"
        | "SwiGLU"
        | "Swish"
        | "Tan"
        | "Tanh"
        | "TensorScatter"
        | "ThresholdedRelu"
        | "Trilu"
        | "GroupNormalization"
        | "RMSNormalization"
        | "RotaryEmbedding"
        | "ImageScaler"
        | "ParametricSoftplus"
        | "ScaledTanh"
        | "Affine" => one(first, same_shape(c, 0)),
        "Identity" => Some(vec![c.fact(0)?.clone()]),
        "Not" | "IsInf" | "IsNaN" => one(Some(Bool), same_shape(c, 0)),
        "Bernoulli" | "EyeLike" | "RandomNormalLike" | "RandomUniformLike" => {
            let elem = c.elem_attr("dtype")?.or(first);
            one(elem, same_shape(c, 0))
        }
        "Cast" | "BitCast" => one(elementwise::cast_elem(c), same_shape(c, 0)),
        "CastLike" => one(c.elem(1), same_shape(c, 0)),

        // Elementwise with broadcasting.
        "Add" | "Sub" | "Mul" | "Div" | "Mod" | "BitShift" | "BitwiseAnd" | "BitwiseOr"
        | "BitwiseXor" | "StringConcat" => one(first.or(c.elem(1)), elementwise::binary(c)),
        "Pow" => one(first, elementwise::binary(c)),
        "Max" | "Min" | "Mean" | "Sum" => {
            let elem = (0..c.inputs.len()).find_map(|index| c.elem(index));
            one(elem, elementwise::variadic(c))
        }
        "And" | "Or" | "Xor" | "Equal" | "Greater" | "Less" | "GreaterOrEqual" | "LessOrEqual" => {
            one(Some(Bool), elementwise::binary(c))
        }
        "Where" => one(c.elem(1).or(c.elem(2)), elementwise::variadic(c)),

        // Making tensors.
        "Constant" => create::constant(c),
        "Shape" => one(Some(Int64), create::shape_of(c)),
        "Size" => one(Some(Int64), Some(Vec::new())),
        "ConstantOfShape" => create::constant_of_shape(c),
        "Range" => one(first.or(c.elem(1)).or(c.elem(2)), create::range(c)),
        "RandomNormal" | "RandomUniform" => create::random(c),
        "Multinomial" => create::multinomial(c),
        "BlackmanWindow" | "HammingWindow" | "HannWindow" => signal::window(c),
        "MelWeightMatrix" => signal::mel(c),

        // Moving elements.
        "Transpose" => one(first, movement::transpose(c)),
        "Reshape" => one(first, reshape::reshape(c)),
        "Flatten" => one(first, movement::flatten(c)),
        "Squeeze" => one(first, movement::squeeze(c)),
        "Unsqueeze" => one(first, movement::unsqueeze(c)),
        "Expand" => one(first, movement::expand(c)),
        "Tile" => one(first, movement::tile(c)),
        "Pad" => one(first, movement::pad(c)),
        "Concat" => {
            let elem = (0..c.inputs.len()).find_map(|index| c.elem(index));
            one(elem, movement::concat(c))
        }
        "Split" => movement::split(c, count),
        "DepthToSpace" => one(first, movement::depth_to_space(c)),
        "SpaceToDepth" => one(first, movement::space_to_depth(c)),
        "CenterCropPad" => one(first, movement::center_crop_pad(c)),

        // Taking and placing elements.
        "Slice" => one(first, slice::slice(c)),
        "Gather" => one(first, indexing::gather(c)),
        "GatherElements" => one(first, same_shape(c, 1)),
        "GatherND" => one(first, indexing::gather_nd(c)),
        "Compress" => one(first, indexing::compress(c)),
        "NonZero" => one(Some(Int64), indexing::non_zero(c)),
        "Unique" => indexing::unique(c),
        "TopK" => indexing::top_k(c),
        "OneHot" => one(c.elem(2), indexing::one_hot(c)),
        "NonMaxSuppression" => one(Some(Int64), indexing::non_max_suppression(c)),

        // Reductions.
        "ReduceL1" | "ReduceL2" | "ReduceLogSum" | "ReduceLogSumExp" | "ReduceMax"
        | "ReduceMean" | "ReduceMin" | "ReduceProd" | "ReduceSum" | "ReduceSumSquare" => {
            one(first, reduce::reduce(c, op))
        }
        "ArgMax" | "ArgMin" => one(Some(Int64), reduce::arg(c)),
        "Det" => one(first, linear::determinant(c)),

        // Products.
        "MatMul" => one(first.or(c.elem(1)), linear::matmul(c, 0, 1)),
        "MatMulInteger" => one(Some(Int32), linear::matmul(c, 0, 1)),
        "QLinearMatMul" => one(c.elem(7), linear::matmul(c, 0, 3)),
        "Gemm" => one(first.or(c.elem(1)), linear::gemm(c)),
        "Einsum" => one(first, linear::einsum(c)),
        "Attention" => attention::attention(c),
        "LinearAttention" => attention::linear_attention(c),
        "CausalConvWithState" => attention::causal_conv(c),

        // Windows.
        "Conv" => one(first, windows::conv(c, 0, 1)),
        "ConvInteger" => one(Some(Int32), windows::conv(c, 0, 1)),
        "QLinearConv" => one(c.elem(7), windows::conv(c, 0, 3)),
        "DeformConv" => one(first, windows::conv(c, 0, 1)),
        "ConvTranspose" => one(first, windows::conv_transpose(c)),
        "AveragePool" | "LpPool" => one(first, windows::pool(c)),
        "MaxPool" => {
            let shape = windows::pool(c);
            let indices = Fact::tensor(Some(Int64), shape.clone());
            Some(vec![Fact::tensor(first, shape), indices])
        }
        "GlobalAveragePool" | "GlobalLpPool" | "GlobalMaxPool" => {
            one(first, windows::global_pool(c))
        }
        "MaxUnpool" => one(first, windows::max_unpool(c)),
        "Col2Im" => one(first, windows::col2im(c)),

        // Normalisations.
        "BatchNormalization" => normalize::batch(c, count),
        "LayerNormalization" => normalize::layer(c),
        "Dropout" => normalize::dropout(c),

        // Recurrences.
        "LSTM" => sequence::recurrent(c, 4, 3),
        "GRU" => sequence::recurrent(c, 3, 2),
        "RNN" => sequence::recurrent(c, 1, 2),

        // Quantisation.
        "QuantizeLinear" => one(elementwise::quantized_elem(c), same_shape(c, 0)),
        "DequantizeLinear" => one(elementwise::dequantized_elem(c), same_shape(c, 0)),
        "DynamicQuantizeLinear" => Some(vec![
            Fact::tensor(Some(Uint8), same_shape(c, 0)),
            Fact::tensor(Some(Float), Some(Vec::new())),
            Fact::tensor(Some(Uint8), Some(Vec::new())),
        ]),

        // Images.
        "Resize" | "Upsample" => one(first, image::resize(c, op)),
        "GridSample" => one(first, image::grid_sample(c)),
        "AffineGrid" => one(first, image::affine_grid(c)),
        "RoiAlign" => one(first, image::roi_align(c)),
        "MaxRoiPool" => one(first, image::max_roi_pool(c)),
        "ImageDecoder" => one(Some(Uint8), Some(c.symbols.fresh_shape(3))),

        // Signals.
        "STFT" => one(first, signal::stft(c)),
        "DFT" => one(first, signal::dft(c)),

        // Strings.
        "StringNormalizer" => one(Some(String), sequence::string_normalizer(c)),
        "RegexFullMatch" => one(Some(Bool), same_shape(c, 0)),
        "StringSplit" => sequence::string_split(c),
        "TfIdfVectorizer" => one(Some(Float), sequence::tf_idf(c)),

        // Losses.
        "NegativeLogLikelihoodLoss" => one(first, normalize::loss(c)),
        "SoftmaxCrossEntropyLoss" => {
            let loss = Fact::tensor(first, normalize::loss(c));
            Some(vec![loss, Fact::tensor(first, same_shape(c, 0))])
        }

        // Sequences and optionals.
        "SequenceLength" => one(Some(Int64), Some(Vec::new())),
        "OptionalHasElement" => one(Some(Bool), Some(Vec::new())),
        "ConcatFromSequence" => one(None, None),
        _ => None,
    }
}
