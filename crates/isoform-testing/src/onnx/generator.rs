//! The state of drawing a program, and the drawn types and sizes.

use std::collections::BTreeSet;

use isoform::{Ref, Value};
use isoform_onnx::ElemType;
use isoform_onnx::ir::{Dim, Function, Input};

use super::build;
use super::values::{FLOAT8, SIGNED, Size, UNSIGNED, Val, product};
use crate::source::Source;

/// How deep branches and bodies nest at most.
pub(super) const NESTING: usize = 3;

/// Tensors have at most so many elements.
pub(super) const MOST_ELEMENTS: i64 = 600;

/// A construct to draw: adds values to the scope, or none if no operand fits.
pub(super) type Draw = fn(&mut Generator<'_>) -> Option<()>;

/// A symbolic dimension with its sizes.
struct Symbol {
    dim: Ref<Dim>,
    size: Size,
}

/// An input of the program with the values under both assignments.
pub(super) struct MadeInput {
    pub(super) var: Ref<Input>,
    pub(super) values: [Value; 2],
}

/// A function that may be called again.
#[derive(Clone)]
pub(super) struct KnownFunction {
    pub(super) function: Ref<Function>,
    pub(super) params: Vec<Val>,
    pub(super) results: Vec<Val>,
    /// The attributes with their possible values.
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
    pub(super) inputs: Vec<MadeInput>,
    pub(super) patterns: BTreeSet<&'static str>,
    /// True if all drawn floats are small.
    pub(super) gentle: bool,
}

impl<'a> Generator<'a> {
    pub(super) fn new(mut source: Source<'a>, size: usize) -> Self {
        // The newest version supported by all kernels is the simplest choice.
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

    /// The element types of operators that only pass elements on.
    pub(super) fn wide_elems(&self) -> Vec<ElemType> {
        let mut elems = self.base_elems();
        if self.since(21) {
            elems.extend(FLOAT8);
            elems.extend([ElemType::Int4, ElemType::Uint4]);
        }
        elems
    }

    /// An element type, usually float or int64.
    pub(super) fn any_elem(&mut self) -> ElemType {
        let usual = [ElemType::Float, ElemType::Int64, ElemType::Float];
        if self.source.chance(40) {
            return *self.source.pick(&usual);
        }
        let elems = self.wide_elems();
        *self.source.pick(&elems)
    }

    /// A size: a symbol or a number.
    pub(super) fn size(&mut self) -> Size {
        if self.source.chance(45) && !self.in_function {
            return self.symbols[self.source.below(3)].size;
        }
        let number = *self.source.pick(&[2, 3, 1, 4, 1, 2, 5, 0]);
        // Empty tensors are rare enough to leave room for other cases.
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

    /// A true type of a value; some known facts are left undeclared.
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

    /// Records that a construct with a rewriting rule was drawn.
    pub(super) fn note(&mut self, pattern: &'static str) {
        self.patterns.insert(pattern);
    }

    /// True if a tensor of these sizes is small enough to be drawn.
    pub(super) fn is_small(&self, dims: &[Size]) -> bool {
        product(dims).iter().all(|&count| count <= MOST_ELEMENTS)
    }

    /// An axis of a tensor, and the number to write for it.
    pub(super) fn axis(&mut self, rank: usize) -> (usize, i64) {
        let axis = self.source.below(rank);
        (axis, self.written(axis, rank))
    }

    /// The number to write for an axis: counted from the end in some cases.
    pub(super) fn written(&mut self, axis: usize, rank: usize) -> i64 {
        if self.since(11) && self.source.chance(25) {
            axis as i64 - rank as i64
        } else {
            axis as i64
        }
    }
}
