//! Draws expressions of a given type.

use super::generate::Generator;
use super::known::{Form, Signature, Ty, Typed};
use isoform::types::{NodeEnum, TypeIndex};
use isoform::{Map, Node, Obj, Ref, Result, Str, Value};
use isoform_pto::*;

/// Classes of operations.
type Classes = &'static [fn() -> TypeIndex];

/// Numbers of a result of the same format.
const ARITHMETIC: Classes = &[
    Add::type_index,
    Sub::type_index,
    Mul::type_index,
    FloorDiv::type_index,
    FloorMod::type_index,
    FloatDiv::type_index,
    Min::type_index,
    Max::type_index,
    Pow::type_index,
];
const BITS: Classes = &[
    BitAnd::type_index,
    BitOr::type_index,
    BitXor::type_index,
    BitShiftLeft::type_index,
    BitShiftRight::type_index,
];
const COMPARISONS: Classes = &[
    Lt::type_index,
    Le::type_index,
    Gt::type_index,
    Ge::type_index,
    Eq::type_index,
    Ne::type_index,
];
const LOGIC: Classes = &[And::type_index, Or::type_index, Xor::type_index];

impl Generator<'_> {
    /// An expression of a type: a known or a new one.
    pub(super) fn expr(&mut self, ty: &Ty, depth: usize) -> Result<Ref<Obj>> {
        let choice = self.main.below(10);
        if choice < 3
            && let Some(var) = self.known_var(ty)
        {
            return Ok(var);
        }
        if choice == 3
            && let Some(expr) = self.known_expr(ty)
        {
            return Ok(expr);
        }
        if self.is_over(depth) {
            return self.leaf(ty);
        }
        let below = depth - 1;
        let object = match (choice, &ty.form) {
            (4, _) => self.leaf(ty)?,
            (5, _) => self.call(ty, below)?,
            (6, _) => self.tuple_item(ty, below)?,
            (_, Form::Scalar(dtype)) => self.operation(*dtype, ty, below)?,
            (_, Form::Tuple(parts)) => self.tuple(ty, parts, below)?,
            (_, Form::Other) => self.call(ty, below)?,
        };
        let typed = Typed {
            object: object.clone(),
            ty: ty.clone(),
        };
        self.frame.exprs.push(typed);
        Ok(object)
    }

    /// Expressions of these types.
    pub(super) fn exprs(&mut self, types: &[Ty], depth: usize) -> Result<Value> {
        let exprs = types.iter().map(|ty| Ok(self.expr(ty, depth)?.into()));
        Ok(exprs.collect::<Result<Vec<Value>>>()?.into())
    }

    pub(super) fn known_var(&mut self, ty: &Ty) -> Option<Ref<Obj>> {
        let vars: Vec<_> = recent(&self.frame.vars, ty);
        (!vars.is_empty()).then(|| self.main.pick(&vars).clone())
    }

    fn known_expr(&mut self, ty: &Ty) -> Option<Ref<Obj>> {
        let exprs: Vec<_> = recent(&self.frame.exprs, ty);
        (!exprs.is_empty()).then(|| self.main.pick(&exprs).clone())
    }

    /// An expression with the fewest possible parts.
    fn leaf(&mut self, ty: &Ty) -> Result<Ref<Obj>> {
        match &ty.form {
            Form::Scalar(dtype) => self.literal(*dtype, ty),
            Form::Tuple(parts) => self.tuple(ty, parts, 0),
            Form::Other => {
                if let Some(var) = self.known_var(ty) {
                    return Ok(var);
                }
                let op = self.op()?;
                let args = Value::from(Vec::<Value>::new());
                self.node::<Call>(vec![
                    ("type", Value::from(&ty.object)),
                    ("op", op),
                    ("args", args),
                ])
            }
        }
    }

    fn literal(&mut self, dtype: DataType, ty: &Ty) -> Result<Ref<Obj>> {
        let ty = ("type", Value::from(&ty.object));
        if dtype == DataType::Bool {
            let value = Value::from(self.main.chance(50));
            return self.node::<ConstBool>(vec![ty, ("value", value)]);
        }
        if dtype.is_float() {
            let numbers = [0.0, 1.0, 2.0, -0.0, 0.5, f64::NAN, f64::INFINITY];
            let value = Value::from(*self.main.pick(&numbers));
            return self.node::<ConstFloat>(vec![ty, ("value", value)]);
        }
        let range = dtype.int_range().unwrap_or(0..=0);
        let numbers = [0, 1, 2, 7, -1, i64::MAX, i64::MIN];
        let fits = |number: &i64| range.contains(&i128::from(*number));
        let numbers: Vec<i64> = numbers.into_iter().filter(fits).collect();
        let value = Value::from(*self.main.pick(&numbers));
        self.node::<ConstInt>(vec![ty, ("value", value)])
    }

    /// An operation whose result has a format.
    fn operation(&mut self, dtype: DataType, ty: &Ty, depth: usize) -> Result<Ref<Obj>> {
        if dtype == DataType::Bool {
            return match self.main.below(6) {
                0..=2 => {
                    let class = *self.main.pick(COMPARISONS);
                    let mut of = self.format();
                    if of == DataType::Bool || of == DataType::TaskId {
                        of = DataType::Index;
                    }
                    let operand = self.scalar(of)?;
                    self.binary(class, ty, &operand, depth)
                }
                3 | 4 => {
                    let class = *self.main.pick(LOGIC);
                    self.binary(class, ty, ty, depth)
                }
                _ => self.unary(Not::type_index, ty, ty, depth),
            };
        }
        let is_number = dtype.is_int() || dtype.is_float();
        match self.main.below(8) {
            0..=3 if is_number => {
                let class = *self.main.pick(ARITHMETIC);
                self.binary(class, ty, ty, depth)
            }
            4 | 5 if dtype.is_int() => {
                let class = *self.main.pick(BITS);
                self.binary(class, ty, ty, depth)
            }
            6 if dtype.is_int() => self.unary(BitNot::type_index, ty, ty, depth),
            4..=6 if is_number => {
                let class = *self
                    .main
                    .pick::<fn() -> TypeIndex>(&[Abs::type_index, Neg::type_index]);
                self.unary(class, ty, ty, depth)
            }
            _ => {
                let from = self.format();
                let operand = self.scalar(from)?;
                self.unary(Cast::type_index, ty, &operand, depth)
            }
        }
    }

    fn binary(
        &mut self,
        class: fn() -> TypeIndex,
        ty: &Ty,
        operand: &Ty,
        depth: usize,
    ) -> Result<Ref<Obj>> {
        let left = self.expr(operand, depth)?.into();
        let right = self.expr(operand, depth)?.into();
        let ty = Value::from(&ty.object);
        self.node_of(
            class(),
            vec![("type", ty), ("left", left), ("right", right)],
        )
    }

    fn unary(
        &mut self,
        class: fn() -> TypeIndex,
        ty: &Ty,
        operand: &Ty,
        depth: usize,
    ) -> Result<Ref<Obj>> {
        let operand = self.expr(operand, depth)?.into();
        let ty = Value::from(&ty.object);
        self.node_of(class(), vec![("type", ty), ("operand", operand)])
    }

    fn tuple(&mut self, ty: &Ty, parts: &[Ty], depth: usize) -> Result<Ref<Obj>> {
        let elements = self.exprs(parts, depth.saturating_sub(1))?;
        let ty = Value::from(&ty.object);
        self.node::<MakeTuple>(vec![("type", ty), ("elements", elements)])
    }

    /// An element of a tuple, either a known or a new one.
    fn tuple_item(&mut self, ty: &Ty, depth: usize) -> Result<Ref<Obj>> {
        let position_in = |typed: &Typed| match &typed.ty.form {
            Form::Tuple(parts) => parts.iter().position(|part| part.is(ty)),
            _ => None,
        };
        let vars = self.frame.vars.iter().rev();
        let element = vars
            .filter_map(|var| Some((var.object.clone(), position_in(var)?)))
            .next();
        let (tuple, index) = match element {
            Some(element) => element,
            None => {
                let other = self.closed_type()?;
                let index = self.main.below(2);
                let parts = match index {
                    0 => vec![ty.clone(), other],
                    _ => vec![other, ty.clone()],
                };
                let whole = self.tuple_type(parts.clone())?;
                (self.tuple(&whole, &parts, depth)?, index)
            }
        };
        self.node::<TupleGetItemExpr>(vec![
            ("type", Value::from(&ty.object)),
            ("tuple", tuple.into()),
            ("index", Value::from(index as i64)),
        ])
    }

    fn op(&mut self) -> Result<Value> {
        if !self.ops.is_empty() && !self.main.chance(40) {
            let known = self.main.below(self.ops.len());
            return Ok(Value::from(&self.ops[known]));
        }
        let names = [
            "tile.load",
            "tile.matmul",
            "tensor.create",
            "tile.add",
            "system.sync",
        ];
        let name = Value::from(*self.main.pick(&names));
        let op = self.node::<Op>(vec![("name", name)])?;
        self.ops.push(op.clone());
        Ok(op.into())
    }

    /// A call with a result of a type: of a function with a result of the type, or of
    /// an operator.
    pub(super) fn call(&mut self, ty: &Ty, depth: usize) -> Result<Ref<Obj>> {
        // The type of several results is never requested.
        let fits = |function: &&Signature| {
            function.is_called && matches!(&function.results[..], [result] if result.is(ty))
        };
        let mut functions = self.signatures.iter().rev().take(20);
        let function = functions
            .find(fits)
            .map(|function| (function.name.clone(), function.params.clone()));
        if let Some((name, params)) = function
            && self.main.chance(60)
        {
            return self.call_of(&name, &params, ty, depth);
        }
        let op = self.op()?;
        let count = self.main.below(4);
        let mut args = Vec::new();
        for _ in 0..count {
            let ty = self.known_type()?;
            args.push(Value::from(self.expr(&ty, depth.saturating_sub(1))?));
        }
        let fields = vec![
            ("type", Value::from(&ty.object)),
            ("op", op),
            ("args", args.into()),
            ("kwargs", self.names(&["axis", "pad", "memory", "dtype"])),
            ("attrs", self.names(&["pipe", "note"])),
        ];
        self.node::<Call>(fields)
    }

    /// A call of a function of the program.
    pub(super) fn call_of(
        &mut self,
        name: &str,
        params: &[Ty],
        ty: &Ty,
        depth: usize,
    ) -> Result<Ref<Obj>> {
        let args = self.exprs(params, depth.saturating_sub(1))?;
        let function = self.node::<GlobalVar>(vec![("name", Value::from(name))])?;
        self.node::<Call>(vec![
            ("type", Value::from(&ty.object)),
            ("op", function.into()),
            ("args", args),
        ])
    }

    /// Values by name, for a selection of the names.
    pub(super) fn names(&mut self, names: &[&str]) -> Value {
        let mut entries = Map::<Str, Value>::new();
        for name in names {
            if !self.main.chance(25) {
                continue;
            }
            let value = match self.main.below(9) {
                0 => Value::from(self.main.below(3) as i64),
                1 => Value::from(self.main.chance(50)),
                2 => Value::from(*self.main.pick(&["", "row", "more than fourteen bytes"])),
                3 => Value::from(*self.main.pick(&[0.5, f64::NAN])),
                4 => DataType::MEMBERS[self.main.below(DataType::MEMBERS.len())]
                    .object()
                    .into(),
                5 => self.member::<MemorySpace>(),
                6 => self.member::<PadValue>(),
                7 => self.member::<PipeType>(),
                _ => self.member::<ScopeKind>(),
            };
            entries.insert((*name).into(), value);
        }
        entries.into()
    }
}

/// The latest ones of a type.
fn recent(known: &[Typed], ty: &Ty) -> Vec<Ref<Obj>> {
    let known = known.iter().rev().take(200);
    let fitting = known.filter(|known| known.ty.is(ty));
    fitting.take(30).map(|known| known.object.clone()).collect()
}
