//! Draws programs.

use isoform::values::{DType, DTypeCode, Tensor};
use isoform::{Ref, Value};
use isoform_ir::ir::IRModuleRef;
use isoform_ir::ir::{GlobalVar, IRModule, RelayExpr};
use isoform_relay::{
    AsExpr, Call, Constant, Function, If, Let, RefCreate, RefRead, RefWrite, Tuple, TupleGetItem,
    Var, op,
};

use super::types::{Ty, Typed, TypedProgram, is_float};
use crate::source::Source;

/// The data types of tensors.
pub(super) const DTYPES: [DType; 7] = [
    DType::FLOAT32,
    DType::INT32,
    DType::BOOL,
    DType::INT64,
    DType::FLOAT64,
    DType::new(DTypeCode::Float, 16),
    DType::new(DTypeCode::UInt, 8),
];

/// How deep expressions nest at most, which bounds the recursion of the generator.
const DEPTH: usize = 8;

/// A function that may be called.
#[derive(Clone)]
struct Callee {
    expr: Ref<RelayExpr>,
    params: Vec<Ty>,
    result: Ty,
}

/// The names in scope.
#[derive(Clone, Default)]
struct Scope {
    /// Variables, and reusable expressions.
    known: Vec<Typed>,
    functions: Vec<Callee>,
    /// References with the types of their contents.
    references: Vec<Typed>,
}

/// The state of drawing a program.
pub(super) struct Generator<'a> {
    pub(super) source: Source<'a>,
    /// How many expressions may still be drawn.
    budget: usize,
    depth: usize,
    scope: Scope,
    made: usize,
}

impl<'a> Generator<'a> {
    pub(super) fn new(source: Source<'a>, size: usize) -> Self {
        Generator {
            source,
            budget: size,
            depth: 0,
            scope: Scope::default(),
            made: 0,
        }
    }

    /// Draws a module with a few functions, all callable from `main`.
    pub(super) fn program(mut self) -> TypedProgram {
        let module = IRModule::new();
        let count = self.source.below(3);
        let total = self.budget;
        for number in 0..count {
            self.budget = total / 4;
            let global = GlobalVar::new(format!("helper{number}"));
            let (function, callee) = self.function(&[], global.expr());
            module
                .update_func(&global, function.upcast())
                .expect("a new name");
            self.scope.functions.push(callee);
        }
        self.budget = total;
        let (function, callee) = self.function(&[], Tuple::new([]).expr());
        let main = GlobalVar::new("main");
        module
            .update_func(&main, function.upcast())
            .expect("a new name");
        let arguments = callee.params.iter().map(|ty| self.value(ty)).collect();
        TypedProgram { module, arguments }
    }

    pub(super) fn var(&mut self, hint: &str, ty: &Ty) -> Ref<Var> {
        self.made += 1;
        let var = Var::typed(format!("{hint}{}", self.made), ty.node());
        Typed::new(var, ty.clone()).expr.cast().expect("a variable")
    }

    /// Draws a function. `first` are its first parameters, with annotations.
    fn function(&mut self, first: &[Ref<Var>], callee: Ref<RelayExpr>) -> (Ref<Function>, Callee) {
        let before = self.scope.clone();
        let mut params: Vec<Typed> = Vec::new();
        for var in first {
            let ty = var
                .type_annotation
                .as_ref()
                .and_then(Ty::of)
                .expect("a type of tensors");
            params.push(Typed {
                expr: var.expr(),
                ty,
            });
        }
        for _ in 0..1 + self.source.below(2) {
            let ty = self.ty();
            let var = self.var("p", &ty);
            params.push(Typed {
                expr: var.expr(),
                ty,
            });
        }
        self.scope.known.extend(params.iter().cloned());
        let body = self.any();
        self.scope = before;
        let vars: Vec<Ref<Var>> = params
            .iter()
            .map(|param| param.expr.clone().cast().expect("a variable"))
            .collect();
        let types: Vec<Ty> = params.into_iter().map(|param| param.ty).collect();
        let function = Function::new(vars, &body.expr).with_ret_type(Some(body.ty.node()));
        let callee = Callee {
            expr: callee,
            params: types,
            result: body.ty,
        };
        (function, callee)
    }

    /// A small type.
    fn ty(&mut self) -> Ty {
        if self.source.chance(10) {
            return Ty::Tuple(
                (0..self.source.below(3))
                    .map(|_| self.tensor_type())
                    .collect(),
            );
        }
        self.tensor_type()
    }

    fn tensor_type(&mut self) -> Ty {
        let dtype = *self.source.pick(&DTYPES);
        let rank = *self.source.pick(&[1, 2, 0, 2, 3, 4]);
        let mut shape: Vec<i64> = (0..rank).map(|_| 1 + self.source.below(3) as i64).collect();
        if rank > 0 && self.source.chance(15) {
            let axis = self.source.below(rank);
            shape[axis] = 0;
        }
        Ty::Tensor(dtype, shape)
    }

    /// Draws an expression of any type, and remembers it to be used again.
    pub(super) fn any(&mut self) -> Typed {
        if self.budget == 0 || self.depth >= DEPTH {
            return self.leaf();
        }
        self.budget -= 1;
        self.depth += 1;
        let typed = match self.source.below(20) {
            0 => self.leaf(),
            1 => self.tuple(),
            2 => self.item(),
            3 | 4 => self.binding(),
            5 => self.choice(),
            6 => self.local_function(),
            7 => self.call_known(),
            8 => self.reference(),
            9 => self.read_or_write(),
            10 => self.recursion(),
            11 | 12 => self.again(),
            _ => self.operator(),
        };
        self.depth -= 1;
        self.scope.known.push(typed.clone());
        typed
    }

    /// Draws a tensor.
    pub(super) fn tensor(&mut self) -> Typed {
        let made = self.any();
        if made.tensor().is_some() {
            return made;
        }
        let tensors: Vec<Typed> = self
            .scope
            .known
            .iter()
            .filter(|known| known.tensor().is_some())
            .cloned()
            .collect();
        if tensors.is_empty() {
            self.leaf()
        } else {
            self.source.pick(&tensors).clone()
        }
    }

    /// A constant or a value in scope.
    fn leaf(&mut self) -> Typed {
        if self.source.chance(60) && !self.scope.known.is_empty() {
            return self.again();
        }
        let ty = self.tensor_type();
        self.constant(&ty)
    }

    /// Something that is in scope.
    fn again(&mut self) -> Typed {
        if self.scope.known.is_empty() {
            let ty = self.tensor_type();
            self.constant(&ty)
        } else {
            self.source.pick(&self.scope.known).clone()
        }
    }

    /// Draws an expression of a type.
    pub(super) fn of_type(&mut self, ty: &Ty) -> Typed {
        let same = |typed: &&Typed| typed.ty == *ty;
        let candidates: Vec<Typed> = self.scope.known.iter().filter(same).cloned().collect();
        if !candidates.is_empty() && self.source.chance(60) {
            return self.source.pick(&candidates).clone();
        }
        match ty {
            Ty::Tuple(fields) => {
                let fields: Vec<_> = fields
                    .iter()
                    .map(|field| self.of_type(field).expr)
                    .collect();
                Typed::new(Tuple::new(fields), ty.clone())
            }
            Ty::Tensor(dtype, _) if self.budget > 0 && self.depth < DEPTH => {
                self.budget -= 1;
                self.depth += 1;
                let typed = match (*dtype == DType::BOOL, self.source.below(4)) {
                    (_, 0) => self.constant(ty),
                    (true, _) => {
                        let x = self.of_type(ty);
                        Typed::new(op::logical_not(&x.expr), ty.clone())
                    }
                    (false, 1) => {
                        let x = self.of_type(ty);
                        Typed::new(op::negative(&x.expr), ty.clone())
                    }
                    (false, number) => {
                        let (x, y) = (self.of_type(ty), self.of_type(ty));
                        let call = match number {
                            2 => op::add(&x.expr, &y.expr),
                            _ => op::maximum(&x.expr, &y.expr),
                        };
                        Typed::new(call, ty.clone())
                    }
                };
                self.depth -= 1;
                typed
            }
            Ty::Tensor(..) => self.constant(ty),
        }
    }

    pub(super) fn constant(&mut self, ty: &Ty) -> Typed {
        let value = self.value(ty);
        match value.peek::<Tensor>() {
            Some(tensor) => Typed::new(Constant::new(tensor.clone()), ty.clone()),
            None => self.of_type(ty),
        }
    }

    /// A constant with numbers from a choice.
    pub(super) fn numbers(&mut self, dtype: DType, shape: &[i64], choice: &[i64]) -> Typed {
        let count = shape.iter().product::<i64>();
        let numbers: Vec<i64> = (0..count).map(|_| *self.source.pick(choice)).collect();
        let bytes = numbers
            .iter()
            .flat_map(|number| encoded(dtype, *number as f64))
            .collect::<Vec<u8>>();
        let tensor = Tensor::new(dtype, shape.to_vec(), bytes).expect("the shape fits");
        Typed::new(Constant::new(tensor), Ty::Tensor(dtype, shape.to_vec()))
    }

    /// The scalar -0 of a type of floats.
    pub(super) fn negative_zero(&mut self, dtype: DType) -> Typed {
        let tensor = Tensor::new(dtype, Vec::new(), encoded(dtype, -0.0));
        let constant = Constant::new(tensor.expect("one element"));
        Typed::new(constant, Ty::scalar(dtype))
    }

    /// A value of a type.
    fn value(&mut self, ty: &Ty) -> Value {
        match ty {
            Ty::Tensor(dtype, shape) => {
                let count = shape.iter().product::<i64>();
                let bytes: Vec<u8> = (0..count)
                    .flat_map(|_| {
                        let number = if is_float(*dtype) {
                            *self.source.pick(&[
                                1.0,
                                -2.0,
                                0.5,
                                0.0,
                                -0.0,
                                3.25,
                                1e-3,
                                100.0,
                                f64::NAN,
                                f64::INFINITY,
                            ])
                        } else {
                            *self.source.pick(&[1.0, 0.0, 2.0, -1.0, 3.0, 100.0, -7.0])
                        };
                        encoded(*dtype, number)
                    })
                    .collect();
                Tensor::new(*dtype, shape.clone(), bytes)
                    .expect("the shape fits")
                    .into()
            }
            Ty::Tuple(fields) => {
                let fields = fields.iter().map(|field| self.value(field));
                fields.collect::<isoform::Array>().into()
            }
        }
    }

    fn tuple(&mut self) -> Typed {
        let fields: Vec<Typed> = (0..self.source.below(4)).map(|_| self.any()).collect();
        let ty = Ty::Tuple(fields.iter().map(|field| field.ty.clone()).collect());
        Typed::new(
            Tuple::new(
                fields
                    .into_iter()
                    .map(|field| field.expr)
                    .collect::<Vec<_>>(),
            ),
            ty,
        )
    }

    fn item(&mut self) -> Typed {
        let tuple = self.any();
        match &tuple.ty {
            Ty::Tuple(fields) if !fields.is_empty() => {
                let index = self.source.below(fields.len());
                Typed::new(
                    TupleGetItem::new(&tuple.expr, index as i64),
                    fields[index].clone(),
                )
            }
            _ => tuple,
        }
    }

    fn binding(&mut self) -> Typed {
        let value = self.any();
        let var = self.var("x", &value.ty);
        self.within(&var, &value.expr, |this| {
            let bound = Typed {
                expr: var.expr(),
                ty: value.ty.clone(),
            };
            this.scope.known.push(bound);
        })
    }

    /// A binding with a body that may use the additions of `open` to the scope.
    fn within(
        &mut self,
        var: &Ref<Var>,
        value: &Ref<RelayExpr>,
        open: impl FnOnce(&mut Self),
    ) -> Typed {
        let before = self.scope.clone();
        open(self);
        let body = self.any();
        self.scope = before;
        Typed::new(Let::new(var, value, &body.expr), body.ty)
    }

    fn choice(&mut self) -> Typed {
        let cond = self.of_type(&Ty::scalar(DType::BOOL));
        let before = self.scope.clone();
        let left = self.any();
        self.scope.clone_from(&before);
        let right = self.of_type(&left.ty);
        self.scope = before;
        Typed::new(If::new(&cond.expr, &left.expr, &right.expr), left.ty)
    }

    /// A function that is bound and may be called in the body.
    fn local_function(&mut self) -> Typed {
        let placeholder = Tuple::new([]).expr();
        let (function, callee) = self.function(&[], placeholder);
        self.made += 1;
        let var = Var::new(format!("f{}", self.made));
        let callee = Callee {
            expr: var.expr(),
            ..callee
        };
        self.within(&var, &function.expr(), |this| {
            this.scope.functions.push(callee)
        })
    }

    fn call_known(&mut self) -> Typed {
        if self.scope.functions.is_empty() {
            return self.operator();
        }
        let callee = self.source.pick(&self.scope.functions).clone();
        let args: Vec<_> = callee
            .params
            .iter()
            .map(|ty| self.of_type(ty).expr)
            .collect();
        Typed::new(Call::new(&callee.expr, args), callee.result)
    }

    fn reference(&mut self) -> Typed {
        let content = self.any();
        self.made += 1;
        let var = Var::new(format!("r{}", self.made));
        let reference = Typed {
            expr: var.expr(),
            ty: content.ty,
        };
        let create = RefCreate::new(&content.expr).expr();
        self.within(&var, &create, |this| this.scope.references.push(reference))
    }

    fn read_or_write(&mut self) -> Typed {
        if self.scope.references.is_empty() {
            return self.reference();
        }
        let reference = self.source.pick(&self.scope.references).clone();
        if self.source.chance(50) {
            return Typed::new(RefRead::new(&reference.expr), reference.ty);
        }
        let value = self.of_type(&reference.ty);
        let write = Typed::new(
            RefWrite::new(&reference.expr, &value.expr),
            Ty::Tuple(Vec::new()),
        );
        let var = self.var("w", &write.ty);
        self.within(&var, &write.expr, |_| {})
    }

    /// let f = fn(n, p…) { if n < 1 { start } else { f(n - 1, p…) + … } } in f(few, …)
    fn recursion(&mut self) -> Typed {
        let int = Ty::scalar(DType::INT32);
        let n = self.var("n", &int);
        self.made += 1;
        let f = Var::new(format!("f{}", self.made));
        let (function, callee) = self.function(std::slice::from_ref(&n), f.expr());
        let one = self.numbers(DType::INT32, &[], &[1]);
        let bool_type = Ty::scalar(DType::BOOL);
        let ends = Typed::new(op::less(&n, &one.expr), bool_type);
        let before = Typed::new(op::subtract(&n, &one.expr), int);
        let mut args = vec![before.expr];
        args.extend(function.params.iter().skip(1).map(AsExpr::expr));
        let again = Typed::new(Call::new(&f, args), callee.result.clone());
        let again = match &callee.result {
            Ty::Tensor(dtype, _) if *dtype != DType::BOOL => Typed::new(
                op::subtract(&again.expr, &again.expr),
                callee.result.clone(),
            ),
            _ => again,
        };
        let body = If::new(&ends.expr, &function.body, &again.expr);
        let body = Typed::new(body, callee.result.clone());
        let function = function.with_body(&body.expr);
        let count = self.numbers(DType::INT32, &[], &[2, 0, 1, 3]);
        let mut args = vec![count.expr];
        args.extend(callee.params.iter().skip(1).map(|ty| self.of_type(ty).expr));
        let call = Typed::new(Call::new(&f, args), callee.result);
        Typed::new(Let::new(&f, function, &call.expr), call.ty)
    }
}

/// The bytes of a number of a type; the numbers of the generator fit.
pub(super) fn encoded(dtype: DType, number: f64) -> Vec<u8> {
    match (dtype.code(), dtype.bits()) {
        (DTypeCode::Float, 64) => number.to_le_bytes().to_vec(),
        (DTypeCode::Float, 32) => (number as f32).to_le_bytes().to_vec(),
        (DTypeCode::Float, _) => half(number).to_le_bytes().to_vec(),
        (DTypeCode::Bool, _) => vec![u8::from(number > 0.0)],
        (_, bits) => (number as i64).to_le_bytes()[..usize::from(bits) / 8].to_vec(),
    }
}

/// The bits of a 16-bit float: the numbers of the generator have few digits or are cut.
fn half(number: f64) -> u16 {
    let bits = (number as f32).to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    match (number.is_nan(), number.is_infinite(), number == 0.0) {
        (true, ..) => 0x7e00,
        (_, true, _) => sign | 0x7c00,
        (.., true) => sign,
        _ => {
            let exponent = (bits >> 23 & 0xff) as i32 - 127 + 15;
            sign | (exponent.clamp(1, 30) as u16) << 10 | (bits >> 13) as u16 & 0x3ff
        }
    }
}
