//! Draws calls of operators: type inference rejects a choice that does not fit the
//! operands, as in a compiler.

use isoform::values::DType;
use isoform::{Ref, Value};
use isoform_ir::ir::RelayExpr;
use isoform_relay::attrs;
use isoform_relay::attrs::{size, sizes};
use isoform_relay::{Call, Tuple, TupleGetItem, infer_type_local, op};

use super::generate::{DTYPES, Generator};
use super::types::{Ty, Typed, is_float, is_integer};

type Expr = Ref<RelayExpr>;
type Unary = fn(&Expr) -> Ref<Call>;
type Binary = fn(&Expr, &Expr) -> Ref<Call>;

macro_rules! functions {
    (1 $($name:ident)*) => { [$((|x: &Expr| op::$name(x)) as Unary),*] };
    (2 $($name:ident)*) => { [$((|x: &Expr, y: &Expr| op::$name(x, y)) as Binary),*] };
}

impl Generator<'_> {
    /// A call of an operator on drawn tensors.
    pub(super) fn operator(&mut self) -> Typed {
        let x = self.tensor();
        if self.source.chance(20)
            && let Some(made) = self.simplifiable(&x)
            && is_small(&made.ty)
        {
            return made;
        }
        for _ in 0..4 {
            if let Some(call) = self.attempt(&x)
                && let Ok(ty) = infer_type_local(&call)
                && let Some(ty) = Ty::of(&ty)
                && is_small(&ty)
            {
                return Typed::new(call, ty);
            }
        }
        x
    }

    /// A call on a tensor, possibly ill-typed. None if there is nothing to call.
    fn attempt(&mut self, x: &Typed) -> Option<Ref<Call>> {
        let (dtype, shape) = x.tensor()?;
        match self.source.below(8) {
            0 | 1 => self.unary(x, dtype),
            2 | 3 => self.binary(x, dtype, shape),
            4 => self.reduction(x, dtype, shape),
            5 => self.shape(x, dtype, shape),
            6 => self.movement(x, dtype, shape),
            _ => self.network(x, dtype, shape),
        }
    }

    fn unary(&mut self, x: &Typed, dtype: DType) -> Option<Ref<Call>> {
        let of_floats = functions![1 log log2 log10 exp sqrt rsqrt sigmoid tanh cos cosh sin sinh
            tan acos acosh asin asinh atan atanh erf floor ceil trunc round];
        let of_numbers = functions![1 abs sign negative relu isnan isfinite isinf];
        let of_integers = functions![1 bitwise_not];
        let of_all = functions![1 copy zeros_like ones_like];
        let any = self.source.below(10) < 2;
        let choice: &[Unary] = if any {
            &of_all
        } else if dtype == DType::BOOL {
            &[|x| op::logical_not(x)]
        } else if is_float(dtype) && self.source.chance(60) {
            &of_floats
        } else if is_integer(dtype) && self.source.chance(20) {
            &of_integers
        } else {
            &of_numbers
        };
        Some(self.source.pick(choice)(&x.expr))
    }

    /// An operand that broadcasts with a shape.
    fn companion(&mut self, dtype: DType, shape: &[i64]) -> Typed {
        let mut other: Vec<i64> = shape.to_vec();
        for dim in &mut other {
            if self.source.chance(25) {
                *dim = 1;
            }
        }
        let skip = if self.source.chance(25) {
            self.source.below(other.len() + 1)
        } else {
            0
        };
        self.of_type(&Ty::Tensor(dtype, other[skip..].to_vec()))
    }

    fn binary(&mut self, x: &Typed, dtype: DType, shape: &[i64]) -> Option<Ref<Call>> {
        let arithmetic = functions![2 add subtract multiply maximum minimum];
        let of_floats =
            functions![2 divide power modulo floor_divide floor_mod trunc_divide trunc_mod];
        let of_bits = functions![2 bitwise_and bitwise_or bitwise_xor];
        let of_truths = functions![2 logical_and logical_or logical_xor];
        let compared = functions![2 equal not_equal less less_equal greater greater_equal];
        let divided = functions![2 divide modulo floor_divide floor_mod trunc_divide trunc_mod];
        let shifted = functions![2 left_shift right_shift power];
        if is_integer(dtype) && self.source.chance(25) {
            // The result is not defined for every operand, so these are chosen.
            let (choice, numbers): (&[Binary], &[i64]) = if self.source.chance(50) {
                (&divided, &[1, 2, 3, 7])
            } else {
                (&shifted, &[0, 1, 2, 3])
            };
            let y = self.numbers(dtype, &[], numbers);
            return Some(self.source.pick(choice)(&x.expr, &y.expr));
        }
        let choice: &[Binary] = match self.source.below(4) {
            0 => &compared,
            1 if dtype == DType::BOOL => &of_truths,
            1 if is_float(dtype) => &of_floats,
            1 => &of_bits,
            _ if dtype == DType::BOOL => &of_bits,
            _ => &arithmetic,
        };
        let y = self.companion(dtype, shape);
        if self.source.chance(50) {
            Some(self.source.pick(choice)(&x.expr, &y.expr))
        } else {
            Some(self.source.pick(choice)(&y.expr, &x.expr))
        }
    }

    fn axis(&mut self, shape: &[i64]) -> i64 {
        let rank = shape.len() as i64;
        self.source.below(2 * shape.len().max(1)) as i64 - rank.max(1)
    }

    fn axes(&mut self, shape: &[i64]) -> Vec<i64> {
        let all = 0..shape.len() as i64;
        all.filter(|_| self.source.chance(50)).collect()
    }

    fn reduction(&mut self, x: &Typed, dtype: DType, shape: &[i64]) -> Option<Ref<Call>> {
        let axis = if self.source.chance(25) {
            None
        } else {
            Some(sizes(self.axes(shape)))
        };
        let (keepdims, exclude) = (self.source.chance(50), self.source.chance(25));
        let attrs = attrs::ReduceAttrs::new()
            .with_axis(axis.clone())
            .with_keepdims(keepdims)
            .with_exclude(exclude);
        let x = &x.expr;
        let number = self.source.below(9);
        // The largest or smallest of no elements is undefined.
        let is_extreme = matches!(number, 1 | 2 | 4..);
        if dtype != DType::BOOL && is_extreme && shape.contains(&0) {
            return None;
        }
        Some(match (dtype == DType::BOOL, number) {
            (true, 0..5) => op::all(x, attrs),
            (true, _) => op::any(x, attrs),
            (false, 0) => op::sum(x, attrs),
            (false, 1) => op::max(x, attrs),
            (false, 2) => op::min(x, attrs),
            (false, 3) => op::prod(x, attrs),
            (false, 4) if is_float(dtype) => op::mean(x, attrs),
            (false, 5) if is_float(dtype) => {
                let mean = op::mean(x, attrs.with_keepdims(true));
                let mean = Typed::new(mean.clone(), Ty::of(&infer_type_local(&mean).ok()?)?);
                let attrs = attrs::VarianceAttrs::new()
                    .with_axis(axis)
                    .with_exclude(exclude);
                op::variance(x, &mean.expr, attrs)
            }
            (false, number) => {
                let attrs = attrs::ArgReduceAttrs::new()
                    .with_axis(axis)
                    .with_keepdims(keepdims)
                    .with_exclude(exclude)
                    .with_select_last_index(self.source.chance(50));
                match number {
                    6 => op::argmin(x, attrs),
                    _ => op::argmax(x, attrs),
                }
            }
        })
    }

    fn shape(&mut self, x: &Typed, dtype: DType, shape: &[i64]) -> Option<Ref<Call>> {
        let data = &x.expr;
        Some(match self.source.below(12) {
            0 => {
                let codes: &[&[i64]] = &[
                    &[-1],
                    &[0, -1],
                    &[-2],
                    &[-3, -2],
                    &[1, -1],
                    &[-4, 1, -1, -2],
                ];
                let codes = self.source.pick(codes).iter().copied();
                op::reshape(data, attrs::ReshapeAttrs::new(sizes(codes)))
            }
            1 => {
                let codes: &[&[i64]] = &[&[-1], &[-1, 0], &[-1, 1]];
                let codes = self.source.pick(codes).iter().copied();
                op::reverse_reshape(data, attrs::ReshapeAttrs::new(sizes(codes)))
            }
            2 => {
                let mut axes: Vec<i64> = (0..shape.len() as i64).collect();
                self.source.shuffle(&mut axes);
                let axes = self.source.chance(70).then(|| sizes(axes));
                op::transpose(data, attrs::TransposeAttrs::new(axes))
            }
            3 => op::squeeze(data, attrs::SqueezeAttrs::new()),
            4 => {
                let axis = self.source.below(shape.len() + 1) as i64;
                let count = self.source.below(3) as i64;
                op::expand_dims(
                    data,
                    attrs::ExpandDimsAttrs::new(axis).with_num_newaxis(count),
                )
            }
            5 => {
                // A float may be outside of the range of an integer type.
                let fits = |to: &DType| !is_float(dtype) || is_float(*to);
                let targets: Vec<DType> = DTYPES.into_iter().filter(fits).collect();
                let target = *self.source.pick(&targets);
                if self.source.chance(50) {
                    op::cast(data, attrs::CastAttrs::new(target))
                } else {
                    let like = self.of_type(&Ty::Tensor(target, vec![1]));
                    op::cast_like(data, &like.expr)
                }
            }
            6 => op::shape_of(data, attrs::ShapeOfAttrs::new()),
            7 => op::ndarray_size(data, attrs::NdarraySizeAttrs::new()),
            8 => op::batch_flatten(data),
            9 => {
                let count: i64 = shape.iter().product();
                let like = self.of_type(&Ty::Tensor(DType::INT32, vec![count]));
                op::reshape_like(data, &like.expr, attrs::ReshapeLikeAttrs::new())
            }
            10 => {
                let mut wide = shape.to_vec();
                wide.insert(0, 2);
                let target = attrs::InitOpAttrs::new(Some(sizes(wide)));
                op::broadcast_to(data, target)
            }
            // Truth values have no sum.
            _ => match self.source.below(3) {
                0 | 1 if dtype == DType::BOOL => return None,
                0 => {
                    let target: Vec<i64> = shape.iter().map(|_| 1).collect();
                    op::collapse_sum_to(data, attrs::InitOpAttrs::new(Some(sizes(target))))
                }
                1 => {
                    let like = self.of_type(&Ty::Tensor(dtype, shape.get(1..)?.to_vec()));
                    op::collapse_sum_like(data, &like.expr)
                }
                _ => {
                    let mut wide = shape.to_vec();
                    wide.insert(0, 2);
                    let like = self.of_type(&Ty::Tensor(dtype, wide));
                    op::broadcast_to_like(data, &like.expr)
                }
            },
        })
    }

    fn movement(&mut self, x: &Typed, dtype: DType, shape: &[i64]) -> Option<Ref<Call>> {
        let data = &x.expr;
        let axis = self.axis(shape);
        let rank = shape.len();
        let length = *shape.get(axis.rem_euclid(rank.max(1) as i64) as usize)?;
        Some(match self.source.below(16) {
            0 | 1 => {
                let other = self.of_type(&x.ty);
                let ty = Ty::Tuple(vec![x.ty.clone(), other.ty]);
                let pair = Typed::new(Tuple::new([data.clone(), other.expr]), ty);
                if self.source.chance(50) {
                    op::concatenate(&pair.expr, attrs::ConcatenateAttrs::new().with_axis(axis))
                } else {
                    op::stack(&pair.expr, attrs::StackAttrs::new().with_axis(axis))
                }
            }
            2 => {
                let cuts: Value = if self.source.chance(50) {
                    length.into()
                } else {
                    isoform::Array::from(vec![Value::from(length / 2)]).into()
                };
                let parts = op::split(data, attrs::SplitAttrs::new(cuts).with_axis(axis));
                let ty = Ty::of(&infer_type_local(&parts).ok()?)?;
                let Ty::Tuple(fields) = &ty else { return None };
                let index = self.source.below(fields.len());
                let first = fields.get(index)?.clone();
                let parts = Typed::new(parts, ty);
                let item = Typed::new(TupleGetItem::new(&parts.expr, index as i64), first);
                op::copy(&item.expr)
            }
            3 => {
                let begin = sizes(shape.iter().map(|_| self.source.below(2) as i64));
                let end = sizes(
                    shape
                        .iter()
                        .map(|dim| *dim + 1 - self.source.below(2) as i64),
                );
                let steps = self
                    .source
                    .chance(50)
                    .then(|| sizes(shape.iter().map(|_| 2)));
                op::strided_slice(
                    data,
                    attrs::StridedSliceAttrs::new(Some(begin), Some(end), steps, None),
                )
            }
            4 => {
                let begin = Some(sizes([length]));
                let end = Some(sizes([-length - 1]));
                let (steps, axes) = (Some(sizes([-1])), Some(sizes([axis])));
                op::strided_slice(data, attrs::StridedSliceAttrs::new(begin, end, steps, axes))
            }
            5 => op::reverse(data, attrs::ReverseAttrs::new().with_axis(size(axis))),
            6 => {
                let attrs = attrs::RepeatAttrs::new(size(2));
                let axis = self.source.chance(70).then(|| size(axis));
                op::repeat(data, attrs.with_axis(axis))
            }
            7 => op::tile(data, attrs::TileAttrs::new(sizes([2, 1]))),
            8 if shape.contains(&0) => return None,
            8 => {
                let mode = *self.source.pick(&["clip", "wrap"]);
                let indices = self.of_type(&Ty::Tensor(DType::INT32, vec![2]));
                let axis = self.source.chance(70).then(|| size(axis));
                op::take(
                    data,
                    &indices.expr,
                    attrs::TakeAttrs::new().with_axis(axis).with_mode(mode),
                )
            }
            9 => {
                let choice: Vec<i64> = (0..length).collect();
                let indices = self.numbers(DType::INT64, shape, &choice);
                op::gather(
                    data,
                    &indices.expr,
                    attrs::GatherAttrs::new().with_axis(size(axis)),
                )
            }
            // An empty axis has no first element.
            10 if *shape.first()? == 0 => return None,
            10 => {
                let indices = self.numbers(DType::INT32, &[1, 2], &[0]);
                op::gather_nd(data, &indices.expr, attrs::GatherNDAttrs::new())
            }
            11 => {
                let condition = self.companion(DType::BOOL, shape);
                let other = self.companion(dtype, shape);
                op::select(&condition.expr, data, &other.expr)
            }
            12 if dtype != DType::BOOL => {
                let ascending = self.source.chance(50);
                op::argsort(
                    data,
                    attrs::ArgsortAttrs::new()
                        .with_axis(axis)
                        .with_is_ascend(ascending),
                )
            }
            13 if is_integer(dtype) => {
                let (on, off) = (
                    self.of_type(&Ty::scalar(DType::FLOAT32)),
                    self.of_type(&Ty::scalar(DType::FLOAT32)),
                );
                let attrs = attrs::OneHotAttrs::new()
                    .with_depth(3)
                    .with_dtype(DType::FLOAT32);
                op::one_hot(data, &on.expr, &off.expr, attrs)
            }
            14 => {
                let scalar = self.of_type(&Ty::scalar(dtype));
                if self.source.chance(50) {
                    op::full_like(data, &scalar.expr)
                } else {
                    let attrs = attrs::InitOpAttrs::new(Some(sizes(shape.iter().copied())));
                    op::full(&scalar.expr, attrs)
                }
            }
            15 => {
                let attrs =
                    attrs::InitOpAttrs::new(Some(sizes(shape.iter().copied()))).with_dtype(dtype);
                if self.source.chance(50) {
                    op::zeros(attrs)
                } else {
                    op::ones(attrs)
                }
            }
            _ => {
                let widths: isoform::Array<_> = shape
                    .iter()
                    .map(|_| sizes([1, self.source.below(2) as i64]))
                    .collect();
                let value = self.of_type(&Ty::scalar(dtype));
                // An empty axis has no edge.
                let mode = if shape.contains(&0) {
                    "constant"
                } else {
                    *self.source.pick(&["constant", "edge"])
                };
                op::pad(
                    data,
                    &value.expr,
                    attrs::PadAttrs::new(widths).with_pad_mode(mode),
                )
            }
        })
    }

    fn network(&mut self, x: &Typed, dtype: DType, shape: &[i64]) -> Option<Ref<Call>> {
        let data = &x.expr;
        if dtype == DType::BOOL {
            return None;
        }
        let last = shape.last().copied();
        let vector = |size: i64| Ty::Tensor(dtype, vec![size]);
        Some(match (shape.len(), self.source.below(10)) {
            (4, 0..4) => {
                let groups = shape[1];
                let weight = self.of_type(&Ty::Tensor(dtype, vec![groups * 2, 1, 2, 1]));
                let attrs = attrs::Conv2DAttrs::new()
                    .with_groups(groups)
                    .with_padding(sizes([1, 0]))
                    .with_strides(sizes([1, 2]));
                op::conv2d(data, &weight.expr, attrs)
            }
            (4, 4..6) => {
                let attrs = attrs::MaxPool2DAttrs::new(sizes([2, 1]))
                    .with_padding(sizes([1]))
                    .with_ceil_mode(self.source.chance(50));
                op::max_pool2d(data, attrs)
            }
            (4, 6..8) => {
                let attrs = attrs::AvgPool2DAttrs::new(sizes([2, 2]))
                    .with_layout(*self.source.pick(&["NHWC", "NCHW"]))
                    .with_padding(sizes([1, 1, 1, 0]))
                    .with_count_include_pad(self.source.chance(50));
                op::avg_pool2d(data, attrs)
            }
            // Empty windows have no mean and no largest element.
            (4, _) if shape[2..].contains(&0) => return None,
            (4, _) => match self.source.below(3) {
                0 => op::global_avg_pool2d(data, attrs::GlobalPool2DAttrs::new()),
                1 => op::global_max_pool2d(data, attrs::GlobalPool2DAttrs::new()),
                _ => {
                    let attrs = attrs::UpSamplingAttrs::new(1.5, 2.0)
                        .with_align_corners(self.source.chance(50));
                    op::upsampling(data, attrs)
                }
            },
            (3, 0..4) => {
                let other = self.of_type(&x.ty);
                let attrs = attrs::BatchMatmulAttrs::new().with_transpose_b(true);
                op::batch_matmul(data, &other.expr, attrs)
            }
            (1.., 4..6) if is_float(dtype) => {
                if self.source.chance(50) {
                    op::softmax(data, attrs::SoftmaxAttrs::new())
                } else {
                    op::log_softmax(data, attrs::SoftmaxAttrs::new().with_axis(0))
                }
            }
            (1.., 6) => {
                let bias = self.of_type(&vector(last?));
                op::bias_add(data, &bias.expr, attrs::BiasAddAttrs::new().with_axis(-1))
            }
            (1.., 7) if is_float(dtype) => {
                let [gamma, beta] = [self.of_type(&vector(last?)), self.of_type(&vector(last?))];
                op::layer_norm(data, &gamma.expr, &beta.expr, attrs::LayerNormAttrs::new())
            }
            (1.., 8) if is_float(dtype) => {
                let parts = [(); 4].map(|()| self.of_type(&vector(shape[0])).expr);
                let [gamma, beta, mean, variance] = parts;
                let attrs = attrs::BatchNormAttrs::new().with_axis(0);
                let norm = op::batch_norm(data, gamma, beta, mean, variance, attrs);
                let ty = Ty::Tuple(vec![x.ty.clone(), vector(shape[0]), vector(shape[0])]);
                let norm = Typed::new(norm, ty);
                let first = Typed::new(TupleGetItem::new(&norm.expr, 0), x.ty.clone());
                op::copy(&first.expr)
            }
            (2, _) => {
                let weight = self.of_type(&Ty::Tensor(dtype, vec![2, last?]));
                if self.source.chance(50) {
                    op::dense(data, &weight.expr, attrs::DenseAttrs::new(None))
                } else {
                    op::matmul(
                        data,
                        &weight.expr,
                        attrs::MatmulAttrs::new(None).with_transpose_b(true),
                    )
                }
            }
            _ if is_float(dtype) => {
                op::leaky_relu(data, attrs::LeakyReluAttrs::new().with_alpha(0.5))
            }
            _ => op::clip(data, attrs::ClipAttrs::new(-1.0, 2.0)),
        })
    }
}

/// Tensors stay small, to make running many programs possible.
fn is_small(ty: &Ty) -> bool {
    match ty {
        Ty::Tensor(_, shape) => shape.len() <= 5 && shape.iter().product::<i64>() <= 256,
        Ty::Tuple(fields) => fields.iter().all(is_small),
    }
}
