//! Draws networks for inference: products with weights, normalizations, and factors and
//! biases of channels.

use isoform::values::{DType, Tensor};
use isoform::{Ref, Value};
use isoform_ir::ir::{GlobalVar, IRModule, IRModuleRef};
use isoform_relay::attrs::{
    BatchNormAttrs, BiasAddAttrs, Conv2DAttrs, DenseAttrs, DropoutAttrs, LayerNormAttrs,
    LeakyReluAttrs, UpSamplingAttrs, sizes,
};
use isoform_relay::{AsExpr, Call, Constant, Function, Tuple, TupleGetItem, op};

use super::generate::{Generator, encoded};
use super::simplifiable::made;
use super::types::{Ty, Typed, TypedProgram};

/// The type of all numbers: precise enough to tell wrong results from rounded results.
const DTYPE: DType = DType::FLOAT64;

/// The layout of images, and the axis of their channels.
#[derive(Clone, Copy)]
struct Layout {
    data: &'static str,
    kernel: &'static str,
    axis: usize,
}

const LAYOUTS: [Layout; 3] = [
    Layout {
        data: "NCHW",
        kernel: "OIHW",
        axis: 1,
    },
    Layout {
        data: "NHWC",
        kernel: "HWIO",
        axis: 3,
    },
    // Rows of a product of matrices.
    Layout {
        data: "",
        kernel: "",
        axis: 1,
    },
];

const NUMBERS: [f64; 8] = [1.0, 0.5, -1.0, 2.0, 0.75, -0.25, 1.5, 0.0];
const POSITIVE: [f64; 4] = [1.0, 0.5, 2.0, 0.75];

impl Generator<'_> {
    /// Draws a program of one function: a network of floats.
    pub(super) fn inference(mut self) -> TypedProgram {
        let layout = *self.source.pick(&LAYOUTS);
        let channels = 1 + self.source.below(3) as i64;
        let shape = match layout.data {
            "NCHW" => vec![2, channels, 3, 2],
            "NHWC" => vec![1, 3, 2, channels],
            _ => vec![3, channels],
        };
        let input = self.var("x", &Ty::Tensor(DTYPE, shape.clone()));
        let mut params = vec![input.clone()];
        let mut arguments = vec![self.drawn(&shape, &NUMBERS)];
        let mut values = vec![Typed {
            expr: input.expr(),
            ty: Ty::Tensor(DTYPE, shape),
        }];
        for _ in 0..3 + self.source.below(8) {
            let x = if self.source.chance(80) {
                values[values.len() - 1].clone()
            } else {
                self.source.pick(&values).clone()
            };
            let Some(next) = self.layer(&x, &values, layout) else {
                continue;
            };
            values.push(next);
        }
        let last = values[values.len() - 1].expr.clone();
        let body = if self.source.chance(15) {
            Tuple::new([last, self.source.pick(&values).expr.clone()]).expr()
        } else {
            last
        };
        // A factor may also be known only at run time.
        if self.source.chance(20)
            && let Some((dtype, shape)) = values[values.len() - 1].tensor()
            && let Some(size) = shape.last().copied()
        {
            let ty = Ty::Tensor(dtype, vec![size]);
            let factor = self.var("s", &ty);
            arguments.push(self.drawn(&[size], &NUMBERS));
            params.push(factor.clone());
            let scaled = op::multiply(&values[values.len() - 1].expr, &factor).expr();
            return program(params, Tuple::new([scaled, body]).expr(), arguments);
        }
        program(params, body, arguments)
    }

    /// A tensor of some numbers.
    fn drawn(&mut self, shape: &[i64], choice: &[f64]) -> Value {
        let count = shape.iter().product::<i64>();
        let bytes: Vec<u8> = (0..count)
            .flat_map(|_| encoded(DTYPE, *self.source.pick(choice)))
            .collect();
        let tensor = Tensor::new(DTYPE, shape.to_vec(), bytes);
        tensor.expect("the shape fits").into()
    }

    fn weights(&mut self, shape: &[i64], choice: &[f64]) -> Ref<Constant> {
        let value = self.drawn(shape, choice);
        Constant::new(value.extract::<Tensor>().expect("a tensor"))
    }

    /// A number for each channel, or a number for all of them.
    fn of_channels(&mut self, x: &Typed, layout: Layout, choice: &[f64]) -> Ref<Constant> {
        let shape = x.tensor().map(|(_, shape)| shape).unwrap_or_default();
        let size = match self.source.below(4) {
            0 => 1,
            _ => shape[layout.axis],
        };
        let axes = shape.len() - layout.axis;
        let mut small = vec![
            1;
            if self.source.chance(30) {
                shape.len()
            } else {
                axes
            }
        ];
        let place = small.len() - axes;
        small[place] = size;
        self.weights(&small, choice)
    }

    /// Draws an operator on a value.
    fn layer(&mut self, x: &Typed, values: &[Typed], layout: Layout) -> Option<Typed> {
        let (_, shape) = x.tensor()?;
        let channels = shape[layout.axis];
        let positive = self.source.chance(60);
        let choice = if positive {
            &POSITIVE[..]
        } else {
            &NUMBERS[..]
        };
        let first = |call: Ref<Call>| {
            let ty = Ty::Tensor(DTYPE, shape.to_vec());
            Some(Typed::new(TupleGetItem::new(made(call)?.expr, 0), ty))
        };
        match self.source.below(14) {
            0..3 => self.product(x, layout),
            3 => made(op::relu(&x.expr)),
            4 => made(op::leaky_relu(&x.expr, LeakyReluAttrs::new())),
            5 | 6 => {
                let factor = self.of_channels(x, layout, choice);
                if self.source.chance(50) {
                    made(op::multiply(&x.expr, factor))
                } else {
                    made(op::multiply(factor, &x.expr))
                }
            }
            7 => {
                let bias = self.of_channels(x, layout, &NUMBERS);
                match self.source.below(4) {
                    3 => {
                        let bias = self.weights(&[channels], &NUMBERS);
                        let attrs = BiasAddAttrs::new().with_axis(layout.axis as i64);
                        made(op::bias_add(&x.expr, bias, attrs))
                    }
                    0 => made(op::add(&x.expr, bias)),
                    1 => made(op::subtract(bias, &x.expr)),
                    _ => made(op::subtract(&x.expr, bias)),
                }
            }
            8 | 9 => {
                let [gamma, beta, mean] = [(); 3].map(|()| self.weights(&[channels], &NUMBERS));
                let variance = self.weights(&[channels], &POSITIVE);
                let attrs = BatchNormAttrs::new()
                    .with_axis(layout.axis as i64)
                    .with_center(self.source.chance(70))
                    .with_scale(self.source.chance(70));
                first(op::batch_norm(&x.expr, gamma, beta, mean, variance, attrs))
            }
            10 => first(op::dropout(&x.expr, DropoutAttrs::new())),
            11 => {
                let axis = self.source.below(shape.len());
                let [gamma, beta] = [(); 2].map(|()| self.weights(&[shape[axis]], &NUMBERS));
                let attrs = LayerNormAttrs::new()
                    .with_axis(axis as i64 - shape.len() as i64)
                    .with_epsilon(0.5)
                    .with_center(self.source.chance(70))
                    .with_scale(self.source.chance(70));
                made(op::layer_norm(&x.expr, gamma, beta, attrs))
            }
            12 => {
                // Both branches of a residual block compute.
                let [left, right] = [(); 2].map(|()| self.unit(x, layout));
                made(op::add(left?.expr, right?.expr))
            }
            _ => {
                let other = self.source.pick(values).clone();
                match self.source.below(4) {
                    0 if !layout.data.is_empty() && shape.iter().product::<i64>() < 64 => {
                        let attrs = UpSamplingAttrs::new(2.0, 1.5).with_layout(layout.data);
                        made(op::upsampling(&x.expr, attrs))
                    }
                    1 => made(op::multiply(&x.expr, &other.expr)),
                    _ => made(op::add(&x.expr, &other.expr)),
                }
            }
        }
    }

    /// A product with weights, and a bias.
    fn unit(&mut self, x: &Typed, layout: Layout) -> Option<Typed> {
        let product = self.product(x, layout)?;
        let bias = self.of_channels(&product, layout, &NUMBERS);
        made(op::add(product.expr, bias))
    }

    /// A product with weights.
    fn product(&mut self, x: &Typed, layout: Layout) -> Option<Typed> {
        let (_, shape) = x.tensor()?;
        let channels = shape[layout.axis];
        let outputs = 1 + self.source.below(3) as i64;
        if layout.data.is_empty() {
            let weight = self.weights(&[outputs, channels], &NUMBERS);
            return made(op::dense(&x.expr, weight, DenseAttrs::new(None)));
        }
        let (groups, outputs, inputs) = match self.source.below(4) {
            0 => (channels, channels, 1),
            1 => (channels, 2 * channels, 1),
            _ => (1, outputs, channels),
        };
        let window = if self.source.chance(50) { 3 } else { 1 };
        let kernel = match layout.kernel {
            "OIHW" => [outputs, inputs, window, window],
            _ => [window, window, inputs, outputs],
        };
        let weight = self.weights(&kernel, &NUMBERS);
        let attrs = Conv2DAttrs::new()
            .with_padding(sizes([(window - 1) / 2; 2]))
            .with_groups(groups)
            .with_data_layout(layout.data)
            .with_kernel_layout(layout.kernel);
        made(op::conv2d(&x.expr, weight, attrs))
    }
}

fn program(
    params: Vec<Ref<isoform_relay::Var>>,
    body: Ref<isoform_ir::ir::RelayExpr>,
    arguments: Vec<Value>,
) -> TypedProgram {
    let module = IRModule::new();
    module
        .update_func(
            &GlobalVar::new("main"),
            Function::new(params, body).upcast(),
        )
        .expect("a new name");
    TypedProgram { module, arguments }
}
