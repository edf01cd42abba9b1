//! Draws programs: inputs, scopes, calls and results.

use std::collections::BTreeSet;

use isoform::{Ref, Str, Value};
use isoform_onnx::ElemType;
use isoform_onnx::ir::{Call, Dim, Function, Input, Program};

use super::build::{self, Callee};
use super::values::{FLOAT8, SIGNED, Size, UNSIGNED, Val, random_tensor};
use super::{compute, control, elementwise, moves, patterns, shapes};
use crate::source::Source;

/// The versions of the operator set that are drawn.
pub const OPSETS: std::ops::RangeInclusive<i64> = 9..=25;

/// How deep branches and bodies nest at most.
pub(super) const NESTING: usize = 3;

/// Tensors have at most so many elements.
const MOST_ELEMENTS: i64 = 600;

/// A random program, with what is needed to run it.
#[derive(Clone, Debug)]
pub struct RandomProgram {
    /// The program.
    pub program: Ref<Program>,
    /// The inputs by name, under each of two assignments of the symbolic dimensions.
    pub inputs: [Vec<(String, Value)>; 2],
    /// The shapes of the outputs under each assignment.
    pub shapes: [Vec<Vec<i64>>; 2],
    /// The element types of the outputs.
    pub elems: Vec<ElemType>,
    /// The constructs in it that rewriting has rules for.
    pub patterns: BTreeSet<&'static str>,
    /// True if declared types of outputs contradict the outputs.
    pub is_misdeclared: bool,
}

/// Something to draw: adds values to the scope, or nothing if nothing there fits.
pub(super) type Draw = fn(&mut Generator<'_>) -> Option<()>;

/// An operator with its operands and attributes.
#[derive(Clone)]
pub(super) struct Op {
    name: &'static str,
    inputs: Vec<Value>,
    attrs: Vec<(&'static str, Value)>,
}

impl Op {
    pub(super) fn new(name: &'static str) -> Self {
        Op {
            name,
            inputs: Vec::new(),
            attrs: Vec::new(),
        }
    }

    pub(super) fn on(mut self, value: &Val) -> Self {
        self.inputs.push(value.value.clone());
        self
    }

    /// An omitted input.
    pub(super) fn skip(mut self) -> Self {
        self.inputs.push(Value::NONE);
        self
    }

    pub(super) fn attr(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.attrs.push((name, value.into()));
        self
    }

    pub(super) fn ints(self, name: &'static str, numbers: &[i64]) -> Self {
        self.attr(name, build::int_list(numbers))
    }
}

/// A symbolic dimension with its sizes.
pub(super) struct Symbol {
    dim: Ref<Dim>,
    size: Size,
}

struct MadeInput {
    var: Ref<Input>,
    values: [Value; 2],
}

/// A function that may be called again.
#[derive(Clone)]
pub(super) struct KnownFunction {
    pub(super) function: Ref<Function>,
    pub(super) params: Vec<Val>,
    pub(super) results: Vec<Val>,
    /// The attributes with the values that they may have.
    pub(super) attrs: Vec<(&'static str, Vec<Value>)>,
}

/// The state of drawing a program.
pub(super) struct Generator<'a> {
    pub(super) source: Source<'a>,
    pub(super) opset: i64,
    /// How many constructs may still be drawn.
    pub(super) budget: usize,
    pub(super) depth: usize,
    /// The values that may be used here.
    pub(super) scope: Vec<Val>,
    pub(super) functions: Vec<KnownFunction>,
    /// True inside a function, which has no way to ask for another input.
    pub(super) in_function: bool,
    pub(super) made: usize,
    symbols: Vec<Symbol>,
    inputs: Vec<MadeInput>,
    patterns: BTreeSet<&'static str>,
    /// True if all floats that are drawn are small.
    gentle: bool,
}

impl<'a> Generator<'a> {
    pub(super) fn new(mut source: Source<'a>, size: usize) -> Self {
        // The newest version that all kernels have is the simplest choice.
        let newest = [
            17, 13, 11, 21, 9, 10, 12, 14, 15, 16, 18, 19, 20, 22, 23, 24, 25,
        ];
        let opset = *source.pick(&newest);
        let sizes: [Size; 7] = [[2, 3], [3, 1], [2, 0], [4, 2], [1, 5], [1, 2], [2, 2]];
        let mut symbols = Vec::new();
        for name in ["batch", "n", "length"] {
            let (dim, size) = (build::dim(name), *source.pick(&sizes));
            symbols.push(Symbol { dim, size });
        }
        Generator {
            source,
            opset,
            budget: size,
            depth: 0,
            scope: Vec::new(),
            functions: Vec::new(),
            in_function: false,
            made: 0,
            symbols,
            inputs: Vec::new(),
            patterns: BTreeSet::new(),
            gentle: false,
        }
    }

    /// Draws only small finite numbers.
    pub(super) fn gentle(mut self) -> Self {
        self.gentle = true;
        self
    }

    /// Draws a program.
    pub(super) fn program(mut self) -> RandomProgram {
        for _ in 0..1 + self.source.below(3) {
            let elem = self.any_elem();
            self.input(elem, None);
        }
        self.fill();
        let results = self.results();
        self.finish(results)
    }

    /// Draws constructs until the budget is used up.
    pub(super) fn fill(&mut self) {
        while self.budget > 0 && !(self.source.is_empty() && self.scope.len() > 3) {
            self.budget -= 1;
            self.step();
        }
    }

    /// Draws one construct; some more often than others.
    pub(super) fn step(&mut self) {
        let tables: [&[(&'static str, Draw)]; 8] = [
            elementwise::DRAWS,
            moves::DRAWS,
            shapes::DRAWS,
            patterns::DRAWS,
            elementwise::DRAWS,
            moves::DRAWS,
            compute::DRAWS,
            control::DRAWS,
        ];
        let table = *self.source.pick(&tables);
        let (name, draw) = *self.source.pick(table);
        if draw(self).is_some() {
            self.patterns.insert(name);
        }
    }

    /// Draws a program with equal calls of random operators, all of which matter; returns
    /// how many there are.
    pub(super) fn twins(mut self) -> (Ref<Program>, usize) {
        let x = self.input(ElemType::Float, Some(vec![[2, 2], [3, 3]]));
        let count = 2 + self.source.below(3);
        let op = compute::random_operator(&mut self, &x);
        let mut results = Vec::new();
        for _ in 0..count {
            let call = self.call(op.clone(), 1);
            let value = Val::new(build::output(&call, 0), ElemType::Float, x.dims.clone());
            results.push(match self.source.below(3) {
                0 => value,
                1 => self.make(Op::new("Neg").on(&value), value.elem, x.dims.clone()),
                _ => control::in_branch(&mut self, &value),
            });
        }
        let drawn = self.finish(results);
        (drawn.program, count)
    }

    /// The results of the main graph: some recent values, sometimes one twice, or an input.
    fn results(&mut self) -> Vec<Val> {
        let mut results = Vec::new();
        let recent = self.scope.len().min(12);
        for back in 0..recent {
            let at = self.scope.len() - 1 - back;
            if back == 0 || self.source.chance(35) {
                results.push(self.scope[at].clone());
            }
        }
        if self.source.chance(8) {
            let again = self.source.pick(&results).clone();
            results.push(again);
            self.patterns.insert("result: twice");
        }
        if self.source.chance(8) {
            results.push(self.scope[0].clone());
            self.patterns.insert("result: input");
        }
        results
    }

    fn finish(mut self, results: Vec<Val>) -> RandomProgram {
        let mut is_misdeclared = false;
        let mut types = Vec::new();
        for result in &results {
            types.push(match self.source.below(6) {
                0 => Value::NONE,
                1 => build::tensor_type(result.elem, None),
                // Dimensions get declared by exporters that guess, and wrongly.
                2 if self.source.chance(15) && result.rank() > 0 => {
                    is_misdeclared = true;
                    self.patterns.insert("result: misdeclared");
                    let sizes = result.dims.iter().map(|size| Value::from(size[0] + 1));
                    build::tensor_type(result.elem, Some(sizes.collect()))
                }
                _ => self.declared(result.elem, &result.dims),
            });
        }
        let old_format = self.opset <= 9 && self.source.chance(50);
        let ir_version = if old_format {
            3
        } else {
            4 + self.source.below(7) as i64
        };
        let names = (0..results.len()).map(|at| Str::from(format!("result{at}")));
        let params: Vec<Ref<Input>> = self.inputs.iter().map(|it| it.var.clone()).collect();
        let values = results.iter().map(|result| result.value.clone()).collect();
        let graph = build::graph("main", params, types, values, names.collect());
        let fed = |which: usize| {
            let named = self.inputs.iter().map(|it| {
                let value = it.values[which].clone();
                (it.var.name.as_str().to_owned(), value)
            });
            named.collect()
        };
        RandomProgram {
            program: build::program(graph, ir_version),
            inputs: [fed(0), fed(1)],
            shapes: [0, 1].map(|which| results.iter().map(|it| it.shape(which)).collect()),
            elems: results.iter().map(|result| result.elem).collect(),
            patterns: self.patterns,
            is_misdeclared,
        }
    }

    // ---- types and sizes ---------------------------------------------------------

    /// True if the operator set has at least this version.
    pub(super) fn since(&self, opset: i64) -> bool {
        self.opset >= opset
    }

    pub(super) fn floats(&self) -> Vec<ElemType> {
        let mut elems = vec![ElemType::Float, ElemType::Float16, ElemType::Double];
        if self.since(13) {
            elems.push(ElemType::Bfloat16);
        }
        elems
    }

    pub(super) fn integers(&self) -> Vec<ElemType> {
        SIGNED.into_iter().chain(UNSIGNED).collect()
    }

    /// The element types that moves take.
    pub(super) fn base_elems(&self) -> Vec<ElemType> {
        let mut elems = self.floats();
        elems.extend(self.integers());
        elems.extend([ElemType::Bool, ElemType::String]);
        elems
    }

    /// The element types that operators take which do nothing but pass elements on.
    pub(super) fn wide_elems(&self) -> Vec<ElemType> {
        let mut elems = self.base_elems();
        if self.since(21) {
            elems.extend(FLOAT8);
            elems.extend([ElemType::Int4, ElemType::Uint4]);
        }
        elems
    }

    /// An element type; float and int64 are the usual ones.
    pub(super) fn any_elem(&mut self) -> ElemType {
        let usual = [ElemType::Float, ElemType::Int64, ElemType::Float];
        if self.source.chance(40) {
            return *self.source.pick(&usual);
        }
        let elems = self.wide_elems();
        *self.source.pick(&elems)
    }

    /// A size: a symbolic one or a number.
    pub(super) fn size(&mut self) -> Size {
        if self.source.chance(45) && !self.in_function {
            return self.symbols[self.source.below(3)].size;
        }
        let number = *self.source.pick(&[2, 3, 1, 4, 1, 2, 5, 0]);
        // Empty tensors are rare enough to leave room for everything else.
        let number = if number == 0 && self.source.chance(60) {
            2
        } else {
            number
        };
        [number, number]
    }

    pub(super) fn dims(&mut self, most: usize) -> Vec<Size> {
        let rank = *self.source.pick(&[2, 1, 3, 2, 4, 0]);
        (0..rank.min(most)).map(|_| self.size()).collect()
    }

    /// A type that is true of a value; not all that is known is declared.
    pub(super) fn declared(&mut self, elem: ElemType, dims: &[Size]) -> Value {
        let mut shape = Vec::new();
        for size in dims {
            let symbol = self.symbols.iter().find(|symbol| symbol.size == *size);
            let symbol = symbol.map(|symbol| Value::from(&symbol.dim));
            shape.push(match (symbol, size[0] == size[1]) {
                (_, true) if self.source.chance(85) => size[0].into(),
                (Some(symbol), false) if self.source.chance(85) => symbol,
                _ => Value::NONE,
            });
        }
        build::tensor_type(elem, Some(shape))
    }

    // ---- operands ----------------------------------------------------------------

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

    /// A value in scope that fits, most likely a recent one.
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

    /// A value of one of the element types: one in scope, a new input or a constant.
    pub(super) fn operand(&mut self, elems: &[ElemType]) -> Val {
        self.operand_where(elems, |_| true, 4)
    }

    /// As `operand`, of at most so many axes.
    pub(super) fn operand_where(
        &mut self,
        elems: &[ElemType],
        fits: impl Fn(&Val) -> bool,
        most: usize,
    ) -> Val {
        let known = match self.source.chance(12) {
            true => None,
            false => self.known(|val| elems.contains(&val.elem) && val.rank() <= most && fits(val)),
        };
        if let Some(known) = known {
            return known;
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

    /// A new input, or a constant where there are none or sizes allow it.
    pub(super) fn fresh(&mut self, elem: ElemType, dims: Vec<Size>) -> Val {
        let fixed = dims.iter().all(|size| size[0] == size[1]);
        if self.in_function || fixed && (self.source.chance(60) || self.inputs.len() > 7) {
            let shape: Vec<i64> = dims.iter().map(|size| size[0]).collect();
            return self.constant(elem, &shape);
        }
        self.input(elem, Some(dims))
    }

    /// An operand that broadcasts against `to` without making it larger.
    pub(super) fn matching(&mut self, to: &Val) -> Val {
        let fits = |val: &Val| {
            val.elem == to.elem
                && super::values::broadcast(&val.dims, &to.dims).is_some_and(|dims| {
                    super::values::product(&dims)
                        .iter()
                        .all(|&n| n <= MOST_ELEMENTS)
                })
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

    // ---- calls -------------------------------------------------------------------

    /// Makes a call whose outputs are used by the caller alone.
    pub(super) fn call(&mut self, op: Op, outputs: usize) -> Ref<Call> {
        self.made += 1;
        let Op {
            name,
            inputs,
            attrs,
        } = op;
        let attrs = attrs
            .into_iter()
            .map(|(name, value)| (Str::from(name), value));
        build::call(
            Callee::Standard(name, self.opset),
            attrs,
            inputs,
            outputs,
            self.made,
        )
    }

    /// Makes a call and puts its outputs in scope.
    pub(super) fn make_all(&mut self, op: Op, outputs: &[(ElemType, Vec<Size>)]) -> Vec<Val> {
        let call = self.call(op, outputs.len());
        let vals = outputs.iter().enumerate().map(|(index, (elem, dims))| {
            Val::new(build::output(&call, index), *elem, dims.clone())
        });
        let vals: Vec<Val> = vals.collect();
        self.scope.extend(vals.iter().cloned());
        vals
    }

    /// Makes a call with one output.
    pub(super) fn make(&mut self, op: Op, elem: ElemType, dims: Vec<Size>) -> Val {
        let mut vals = self.make_all(op, &[(elem, dims)]);
        vals.remove(0)
    }

    /// As `make`, for a call that keeps numbers small if they were.
    pub(super) fn make_tame(&mut self, op: Op, elem: ElemType, dims: Vec<Size>, tame: bool) -> Val {
        let val = self.make(op, elem, dims);
        self.scope.pop();
        self.keep(Val { tame, ..val })
    }

    /// Makes a call that computes known integers.
    pub(super) fn make_ints(&mut self, op: Op, dims: Vec<Size>, ints: [Vec<i64>; 2]) -> Val {
        let val = self.make(op, ElemType::Int64, dims);
        self.scope.pop();
        self.keep(Val {
            tame: ints.iter().flatten().all(|number| number.abs() <= 100),
            ints: Some(ints),
            ..val
        })
    }

    /// Puts a value in scope.
    pub(super) fn keep(&mut self, val: Val) -> Val {
        self.scope.push(val.clone());
        val
    }

    /// Records that a construct was drawn which rewriting has a rule for.
    pub(super) fn note(&mut self, pattern: &'static str) {
        self.patterns.insert(pattern);
    }

    /// True if a tensor of these sizes is small enough to be drawn.
    pub(super) fn is_small(&self, dims: &[Size]) -> bool {
        super::values::product(dims)
            .iter()
            .all(|&count| count <= MOST_ELEMENTS)
    }

    /// An axis of a tensor, and the number to write for it.
    pub(super) fn axis(&mut self, rank: usize) -> (usize, i64) {
        let axis = self.source.below(rank);
        (axis, self.written(axis, rank))
    }

    /// The number to write for an axis: counted from the end in some cases.
    pub(super) fn written(&mut self, axis: usize, rank: usize) -> i64 {
        match self.since(11) && self.source.chance(25) {
            true => axis as i64 - rank as i64,
            false => axis as i64,
        }
    }
}
