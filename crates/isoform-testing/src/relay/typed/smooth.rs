//! Draws programs with values that hardly depend on rounding: sums, products, quotients
//! and roots of positive floats, all near 1.

use isoform::Value;
use isoform::values::{DType, DTypeCode, Tensor};
use isoform::{Ref, structural_equal};
use isoform_ir::ir::IRModuleRef;
use isoform_ir::ir::{GlobalVar, IRModule, RelayExpr};
use isoform_relay::attrs;
use isoform_relay::attrs::sizes;
use isoform_relay::{AsExpr, Call, Constant, Function, Var, op};

use super::generate::Generator;
use super::simplifiable::made;
use super::types::{Ty, Typed, TypedProgram};

/// The types of floats with the precision of a result, after the loss of some digits.
pub(super) const FLOATS: [(DType, f64); 3] = [
    (DType::FLOAT32, 1e-5),
    (DType::FLOAT64, 1e-12),
    (DType::new(DTypeCode::Float, 16), 3e-2),
];

/// A tensor with bounds for its elements.
#[derive(Clone)]
struct Bounded {
    typed: Typed,
    least: f64,
    most: f64,
}

/// Results stay within these bounds.
const BOUNDS: [f64; 2] = [1.0 / 64.0, 64.0];

impl Generator<'_> {
    /// Draws a program of one function of floats, and the precision of the result.
    pub(super) fn smooth(mut self) -> (TypedProgram, f64) {
        let (dtype, precision) = *self.source.pick(&FLOATS);
        let shape = [[2, 3], [3, 1], [1, 4]][self.source.below(3)].to_vec();
        let ty = Ty::Tensor(dtype, shape.clone());
        let params: Vec<_> = (0..2).map(|_| self.var("p", &ty)).collect();
        let of_param = |param: &Ref<Var>| Bounded {
            typed: Typed {
                expr: param.expr(),
                ty: ty.clone(),
            },
            least: 0.5,
            most: 2.0,
        };
        let mut values: Vec<Bounded> = params.iter().map(of_param).collect();
        for _ in 0..4 + self.source.below(10) {
            let next = self.step(&values, dtype, &shape);
            values.extend(next.filter(|next| next.least >= BOUNDS[0] && next.most <= BOUNDS[1]));
        }
        let body = values
            .last()
            .map(|last| last.typed.expr.clone())
            .unwrap_or_else(|| params[0].expr());
        let main = Function::new(params, body);
        let module = IRModule::new();
        module
            .update_func(&GlobalVar::new("main"), main.upcast())
            .expect("a new name");
        let numbers = [0.5, 1.0, 0.75, 1.25, 2.0, 1.5];
        let count = shape.iter().product::<i64>() as usize;
        let arguments: Vec<Value> = (0..2)
            .map(|_| {
                let values: Vec<f64> = (0..count).map(|_| *self.source.pick(&numbers)).collect();
                self.floats(dtype, &shape, &values)
            })
            .collect();
        (TypedProgram { module, arguments }, precision)
    }

    /// The tensor of some floats.
    fn floats(&mut self, dtype: DType, shape: &[i64], values: &[f64]) -> Value {
        let bytes: Vec<u8> = values
            .iter()
            .flat_map(|value| super::generate::encoded(dtype, *value))
            .collect();
        let tensor = Tensor::new(dtype, shape.to_vec(), bytes);
        tensor.expect("the shape fits").into()
    }

    fn number(&mut self, dtype: DType, choice: &[f64]) -> (Ref<RelayExpr>, f64) {
        let number = *self.source.pick(choice);
        let value = self.floats(dtype, &[], &[number]);
        let tensor = value.extract::<Tensor>().expect("a tensor");
        (Constant::new(tensor).expr(), number)
    }

    fn step(&mut self, values: &[Bounded], dtype: DType, shape: &[i64]) -> Option<Bounded> {
        let x = self.source.pick(values).clone();
        let y = self.source.pick(values).clone();
        let (a, b) = (&x.typed.expr, &y.typed.expr);
        let near = |call: Ref<Call>, least: f64, most: f64| {
            Some(Bounded {
                typed: made(call)?,
                least,
                most,
            })
        };
        let factors = [2.0, 0.5, 1.5, 0.75, 1.0];
        match self.source.below(13) {
            0 => near(op::add(a, b), x.least + y.least, x.most + y.most),
            1 => near(op::multiply(a, b), x.least * y.least, x.most * y.most),
            2 => near(op::divide(a, b), x.least / y.most, x.most / y.least),
            3 => {
                let root = made(op::sqrt(b))?;
                let call = op::divide(a, &root.expr);
                near(call, x.least / y.most.sqrt(), x.most / y.least.sqrt())
            }
            4 => near(op::add(a, a), 2.0 * x.least, 2.0 * x.most),
            5 | 6 => {
                let (first, first_number) = self.number(dtype, &factors);
                let (second, second_number) = self.number(dtype, &factors);
                let inner = made(op::multiply(a, first))?;
                near(
                    op::multiply(second, &inner.expr),
                    x.least * first_number * second_number,
                    x.most * first_number * second_number,
                )
            }
            7 => {
                let (first, first_number) = self.number(dtype, &factors);
                let (second, second_number) = self.number(dtype, &factors);
                let inner = made(op::add(first, a))?;
                near(
                    op::add(&inner.expr, second),
                    x.least + first_number + second_number,
                    x.most + first_number + second_number,
                )
            }
            8 => {
                let (first, first_number) = self.number(dtype, &factors);
                let (second, second_number) = self.number(dtype, &factors);
                let inner = made(op::add(a, first))?;
                let call = op::multiply(&inner.expr, second);
                near(
                    call,
                    (x.least + first_number) * second_number,
                    (x.most + first_number) * second_number,
                )
            }
            9 => {
                let (zero, _) = self.number(dtype, &[0.0, -0.0]);
                let call = if self.source.chance(50) {
                    op::add(zero, a)
                } else {
                    op::subtract(a, zero)
                };
                near(call, x.least, x.most)
            }
            10 | 11 => self.quadratic(&x, &y, dtype),
            _ => {
                let codes = || attrs::ReshapeAttrs::new(sizes(shape.iter().copied()));
                let flat = attrs::ReshapeAttrs::new(sizes([-1]));
                let inner = made(op::reshape(a, flat))?;
                near(op::reshape(&inner.expr, codes()), x.least, x.most)
            }
        }
    }

    /// `a*x*x + b*x*y + c*y*y`, mostly with real roots.
    fn quadratic(&mut self, x: &Bounded, y: &Bounded, dtype: DType) -> Option<Bounded> {
        let same = structural_equal(&x.typed.expr, &y.typed.expr);
        if same.unwrap_or(true) {
            return None;
        }
        let (a, a_number) = self.number(dtype, &[1.0, 0.5]);
        let (b, b_number) = self.number(dtype, &[2.0, 3.0, 1.5, 0.5]);
        let (c, c_number) = self.number(dtype, &[1.0, 0.5]);
        let (x1, y1) = (&x.typed.expr, &y.typed.expr);
        let mut term = |number: &Ref<RelayExpr>, left, right| {
            let product = made(op::multiply(left, right))?;
            if self.source.chance(50) {
                made(op::multiply(number, &product.expr))
            } else {
                made(op::multiply(&product.expr, number))
            }
        };
        let terms = [term(&a, x1, x1)?, term(&b, x1, y1)?, term(&c, y1, y1)?];
        let inner = made(op::add(&terms[0].expr, &terms[1].expr))?;
        let sum = |x: f64, y: f64| a_number * x * x + b_number * x * y + c_number * y * y;
        Some(Bounded {
            typed: made(op::add(&inner.expr, &terms[2].expr))?,
            least: sum(x.least, y.least),
            most: sum(x.most, y.most),
        })
    }
}
