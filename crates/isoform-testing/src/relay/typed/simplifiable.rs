//! Draws programs for simplification rules to match: neutral operands, consecutive calls
//! that merge, constants that can be combined.

use isoform::Ref;
use isoform::values::{DType, DTypeCode};
use isoform_ir::ir::RelayExpr;
use isoform_relay::attrs;
use isoform_relay::attrs::sizes;
use isoform_relay::{Call, infer_type_local, op};

use super::generate::{DTYPES, Generator};
use super::types::{Ty, Typed, is_float, is_integer};

type Binary = fn(&Ref<RelayExpr>, &Ref<RelayExpr>) -> Ref<Call>;

pub(super) fn made(call: Ref<Call>) -> Option<Typed> {
    let ty = Ty::of(&infer_type_local(&call).ok()?)?;
    Some(Typed::new(call, ty))
}

fn init(shape: &[i64], dtype: DType) -> Ref<attrs::InitOpAttrs> {
    attrs::InitOpAttrs::new(Some(sizes(shape.iter().copied()))).with_dtype(dtype)
}

impl Generator<'_> {
    /// Draws calls around a tensor; None if no kind of call fits the type.
    pub(super) fn simplifiable(&mut self, x: &Typed) -> Option<Typed> {
        let (dtype, shape) = x.tensor()?;
        match self.source.below(9) {
            0 if dtype != DType::BOOL => made(op::add(&x.expr, &x.expr)),
            1 | 2 if dtype != DType::BOOL => self.neutral(x, dtype, shape),
            3 => self.moves(x, shape),
            4 => self.casts(x, dtype),
            5 if dtype != DType::BOOL => self.clips(x, dtype),
            6 => self.uniform(x, dtype, shape),
            8 if is_integer(dtype) => self.quadratic_form(x, dtype, shape),
            _ if dtype != DType::BOOL => self.constants(x, dtype, shape),
            _ => self.moves(x, shape),
        }
    }

    /// Draws a quadratic form of two tensors with small integers as roots.
    fn quadratic_form(&mut self, x: &Typed, dtype: DType, shape: &[i64]) -> Option<Typed> {
        let y = self.of_type(&Ty::Tensor(dtype, shape.to_vec()));
        let [s, t] = [0, 1].map(|_| 1 + self.source.below(3) as i64);
        let mut times = |number: i64, left: &Typed, right: &Typed| {
            let number = self.numbers(dtype, &[], &[number]);
            op::multiply(&number.expr, op::multiply(&left.expr, &right.expr))
        };
        let [first, mixed] = [times(1, x, x), times(s + t, x, &y)];
        made(op::add(op::add(first, mixed), times(s * t, &y, &y)))
    }

    /// A tensor of equal elements, in one of many forms. A product with -1 of zero is
    /// negative zero.
    fn filled(
        &mut self,
        number: i64,
        negative: bool,
        dtype: DType,
        shape: &[i64],
    ) -> Option<Typed> {
        let scalar = self.numbers(dtype, &[], &[number]);
        let scalar = if negative {
            self.negative_zero(dtype)
        } else {
            scalar
        };
        let skip = self.source.below(shape.len() + 1);
        let mut part = shape[skip..].to_vec();
        if let Some(first) = part.first_mut()
            && self.source.chance(30)
        {
            *first = 1;
        }
        match (self.source.below(5), number, negative) {
            (0, 0, false) => made(op::zeros(init(&part, dtype))),
            (0, 1, false) => made(op::ones(init(&part, dtype))),
            (1, 0, false) => {
                let like = self.of_type(&Ty::Tensor(dtype, part));
                made(op::zeros_like(&like.expr))
            }
            (1, 1, false) => {
                let like = self.of_type(&Ty::Tensor(dtype, part));
                made(op::ones_like(&like.expr))
            }
            (2, ..) => made(op::full(&scalar.expr, init(&part, dtype))),
            (3, ..) => {
                let like = self.of_type(&Ty::Tensor(dtype, part));
                made(op::full_like(&like.expr, &scalar.expr))
            }
            _ => Some(scalar),
        }
    }

    fn neutral(&mut self, x: &Typed, dtype: DType, shape: &[i64]) -> Option<Typed> {
        // A few of these operands are not neutral, or not for all types.
        let choice: [(Binary, i64); 7] = [
            (|x, y| op::add(x, y), 0),
            (|x, y| op::add(y, x), 0),
            (|x, y| op::subtract(x, y), 0),
            (|x, y| op::multiply(x, y), 1),
            (|x, y| op::multiply(y, x), 1),
            (|x, y| op::divide(x, y), 1),
            (|x, y| op::subtract(y, x), 0),
        ];
        let (make, number) = *self.source.pick(&choice);
        let negative = number == 0 && is_float(dtype) && self.source.chance(40);
        let operand = self.filled(number, negative, dtype, shape)?;
        made(make(&x.expr, &operand.expr))
    }

    fn moves(&mut self, x: &Typed, shape: &[i64]) -> Option<Typed> {
        let rank = shape.len();
        let letters = || "ABCDEFGH".chars().take(rank);
        let mut made_of = x.clone();
        for _ in 0..2 + self.source.below(2) {
            let data = &made_of.expr;
            let now = made_of.tensor()?.1.to_vec();
            let next = match self.source.below(4) {
                0 => {
                    let choice: &[&[i64]] = &[&[-1], &[1, -1], &[-1, 1], &[0, -1]];
                    let codes = attrs::ReshapeAttrs::new(sizes(self.source.pick(choice).to_vec()));
                    if self.source.chance(30) {
                        op::reverse_reshape(data, codes)
                    } else {
                        op::reshape(data, codes)
                    }
                }
                1 => {
                    let codes = attrs::ReshapeAttrs::new(sizes(now.iter().rev().copied()));
                    op::reshape(data, codes)
                }
                2 if now.len() == rank && rank > 0 => {
                    let (from, mut to): (String, Vec<char>) =
                        (letters().collect(), letters().collect());
                    self.source.shuffle(&mut to);
                    let to: String = to.into_iter().collect();
                    op::layout_transform(data, attrs::LayoutTransformAttrs::new(from, to))
                }
                _ => {
                    let mut axes: Vec<i64> = (0..now.len() as i64).collect();
                    self.source.shuffle(&mut axes);
                    let axes = self.source.chance(70).then(|| sizes(axes));
                    op::transpose(data, attrs::TransposeAttrs::new(axes))
                }
            };
            if let Some(next) = made(next) {
                made_of = next;
            }
        }
        Some(made_of)
    }

    /// Casts whose results are defined for all values: floats become no integers.
    fn casts(&mut self, x: &Typed, dtype: DType) -> Option<Typed> {
        const MORE: [DType; 5] = [
            DType::new(DTypeCode::Int, 8),
            DType::new(DTypeCode::Int, 16),
            DType::new(DTypeCode::UInt, 16),
            DType::new(DTypeCode::UInt, 32),
            DType::new(DTypeCode::BFloat, 16),
        ];
        let types: Vec<DType> = DTYPES.into_iter().chain(MORE).collect();
        let mut now = dtype;
        let mut result = x.clone();
        let last = self.source.below(3);
        for step in 0..=1 {
            let is_real = |ty: DType| is_float(ty) || ty.code() == DTypeCode::BFloat;
            let small = dtype == DType::BOOL || dtype.bits() == 8;
            // Small integers are in every range, also after a while as floats.
            let fits = |to: &DType| {
                !is_real(now) || is_real(*to) || *to == DType::BOOL || small && *to == dtype
            };
            let fitting: Vec<DType> = types.iter().copied().filter(fits).collect();
            let target = if step == 1 && last == 0 && fits(&dtype) {
                dtype
            } else {
                *self.source.pick(&fitting)
            };
            result = made(op::cast(&result.expr, attrs::CastAttrs::new(target)))?;
            now = target;
        }
        // Only some types are drawn elsewhere.
        if DTYPES.contains(&now) {
            Some(result)
        } else if is_integer(now) {
            made(op::cast(&result.expr, attrs::CastAttrs::new(DType::INT64)))
        } else {
            made(op::cast(
                &result.expr,
                attrs::CastAttrs::new(DType::FLOAT32),
            ))
        }
    }

    fn clips(&mut self, x: &Typed, dtype: DType) -> Option<Typed> {
        let infinity = f64::INFINITY;
        let choice = [
            (-128.0, 127.0),
            (0.0, 255.0),
            (-1e30, 1e30),
            (-infinity, infinity),
            (0.0, 1.0),
            (-129.0, 5.0),
        ];
        let (least, most) = *self.source.pick(&choice);
        let clipped = made(op::clip(&x.expr, attrs::ClipAttrs::new(least, most)))?;
        if !is_integer(dtype) || self.source.chance(30) {
            return Some(clipped);
        }
        let narrow = [
            DType::new(DTypeCode::Int, 8),
            DType::new(DTypeCode::UInt, 8),
            DType::BOOL,
        ];
        let narrow = *self.source.pick(&narrow);
        let cast = made(op::cast(&clipped.expr, attrs::CastAttrs::new(narrow)))?;
        let wide = *self.source.pick(&[dtype, DType::FLOAT32, DType::INT64]);
        made(op::cast(&cast.expr, attrs::CastAttrs::new(wide)))
    }

    fn uniform(&mut self, x: &Typed, dtype: DType, shape: &[i64]) -> Option<Typed> {
        let number = self.source.below(3) as i64;
        let operand = self.filled(number.min(1), false, dtype, shape)?;
        let choice: [Binary; 5] = [
            |x, y| op::less(x, y),
            |x, y| op::equal(y, x),
            |x, y| op::maximum(x, y),
            |x, y| op::minimum(y, x),
            |x, y| op::subtract(y, x),
        ];
        let truths: [Binary; 2] = [|x, y| op::logical_and(x, y), |x, y| op::logical_xor(y, x)];
        let make = if dtype == DType::BOOL {
            *self.source.pick(&truths)
        } else {
            *self.source.pick(&choice)
        };
        made(make(&x.expr, &operand.expr))
    }

    /// A tensor and two constants.
    fn constants(&mut self, x: &Typed, dtype: DType, shape: &[i64]) -> Option<Typed> {
        let operators: [Binary; 4] = [
            |x, y| op::add(x, y),
            |x, y| op::multiply(x, y),
            |x, y| op::add(y, x),
            |x, y| op::multiply(y, x),
        ];
        let numbers: &[i64] = match dtype.code() {
            DTypeCode::UInt => &[2, 3, 100, 255],
            _ => &[2, 3, -1, 100, 7],
        };
        let mut result = x.clone();
        for _ in 0..2 {
            let skip = self.source.below(shape.len() + 1);
            let constant = self.numbers(dtype, &shape[skip..], numbers);
            let make = *self.source.pick(&operators);
            result = made(make(&result.expr, &constant.expr))?;
        }
        Some(result)
    }
}
