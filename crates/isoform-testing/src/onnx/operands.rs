//! Draws operands: values in scope, inputs and constants.

use isoform::Value;
use isoform_onnx::ElemType;

use super::build;
use super::generator::{Generator, MOST_ELEMENTS, MadeInput};
use super::values::{Size, Val, broadcast, product, random_tensor};

impl Generator<'_> {
    /// A new input of the program.
    pub(super) fn input(&mut self, elem: ElemType, dims: Option<Vec<Size>>) -> Val {
        let dims = dims.unwrap_or_else(|| self.dims(4));
        let tame = self.source.chance(50) || self.gentle;
        let ty = self.declared(elem, &dims);
        let name = format!("input{}", self.inputs.len());
        let var = build::input(&name, ty);
        let mut val = Val::new(Value::from(&var), elem, dims);
        val.tame = tame;
        let values =
            [0, 1].map(|which| random_tensor(&mut self.source, elem, &val.shape(which), tame));
        self.inputs.push(MadeInput { var, values });
        self.scope.push(val.clone());
        val
    }

    /// A new constant with drawn elements.
    pub(super) fn constant(&mut self, elem: ElemType, shape: &[i64]) -> Val {
        let tame = self.source.chance(60) || self.gentle;
        let value = random_tensor(&mut self.source, elem, shape, tame);
        let dims = shape.iter().map(|&size| [size, size]).collect();
        Val {
            tame,
            constant: true,
            ..Val::new(value, elem, dims)
        }
    }

    /// A new constant with the same number everywhere.
    pub(super) fn uniform(&mut self, elem: ElemType, shape: &[i64], number: f64) -> Val {
        let count: i64 = shape.iter().product();
        let elements = vec![super::values::number(elem, number); count as usize];
        let dims = shape.iter().map(|&size| [size, size]).collect();
        Val {
            tame: number.abs() <= 100.0,
            constant: true,
            ..Val::new(build::tensor(elem, shape, &elements), elem, dims)
        }
    }

    /// A new constant of int64.
    pub(super) fn int_constant(&mut self, shape: &[i64], numbers: &[i64]) -> Val {
        let dims = shape.iter().map(|&size| [size, size]).collect();
        Val {
            constant: true,
            ints: Some([numbers.to_vec(), numbers.to_vec()]),
            tame: numbers.iter().all(|number| number.abs() <= 100),
            ..Val::new(build::ints(shape, numbers), ElemType::Int64, dims)
        }
    }

    /// The axes of an operator as a constant operand.
    pub(super) fn axes(&mut self, numbers: &[i64]) -> Val {
        self.int_constant(&[numbers.len() as i64], numbers)
    }

    /// A fitting value in scope, most likely a recent one.
    pub(super) fn known(&mut self, fits: impl Fn(&Val) -> bool) -> Option<Val> {
        let found: Vec<usize> = (0..self.scope.len())
            .rev()
            .filter(|&at| fits(&self.scope[at]))
            .collect();
        if found.is_empty() {
            return None;
        }
        let near = if self.source.chance(70) {
            found.len().min(4)
        } else {
            found.len()
        };
        let at = found[self.source.below(near)];
        Some(self.scope[at].clone())
    }

    /// A value of one of the element types: in scope, a new input or a constant.
    pub(super) fn operand(&mut self, elems: &[ElemType]) -> Val {
        self.operand_where(elems, |_| true, 4)
    }

    /// Like `operand`, with at most this many axes.
    pub(super) fn operand_where(
        &mut self,
        elems: &[ElemType],
        fits: impl Fn(&Val) -> bool,
        most: usize,
    ) -> Val {
        let val = if self.source.chance(12) {
            None
        } else {
            self.known(|val| elems.contains(&val.elem) && val.rank() <= most && fits(val))
        };
        if let Some(val) = val {
            return val;
        }
        for _ in 0..4 {
            let elem = *self.source.pick(elems);
            let dims = self.dims(most);
            let sample = Val::new(Value::NONE, elem, dims.clone());
            if fits(&sample) {
                return self.fresh(elem, dims);
            }
        }
        let rank =
            (0..=most).find(|&rank| fits(&Val::new(Value::NONE, elems[0], vec![[2, 2]; rank])));
        self.fresh(elems[0], vec![[2, 2]; rank.unwrap_or(0)])
    }

    /// A new input, or a constant where new inputs are unavailable or sizes allow a
    /// constant.
    pub(super) fn fresh(&mut self, elem: ElemType, dims: Vec<Size>) -> Val {
        let fixed = dims.iter().all(|size| size[0] == size[1]);
        if self.in_function || fixed && (self.source.chance(60) || self.inputs.len() > 7) {
            let shape: Vec<i64> = dims.iter().map(|size| size[0]).collect();
            return self.constant(elem, &shape);
        }
        self.input(elem, Some(dims))
    }

    /// An operand that broadcasts against `to` without enlarging `to`.
    pub(super) fn matching(&mut self, to: &Val) -> Val {
        let fits = |val: &Val| {
            val.elem == to.elem
                && broadcast(&val.dims, &to.dims)
                    .is_some_and(|dims| product(&dims).iter().all(|&n| n <= MOST_ELEMENTS))
        };
        if self.source.chance(65)
            && let Some(known) = self.known(fits)
        {
            return known;
        }
        let skip = self.source.below(to.rank() + 1);
        let mut dims: Vec<Size> = to.dims[skip..].to_vec();
        for size in &mut dims {
            if size[0] != size[1] || self.source.chance(20) {
                *size = [1, 1];
            }
        }
        self.fresh(to.elem, dims)
    }
}
