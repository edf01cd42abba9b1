//! Draws programs from the tables of constructs: inputs, scopes and results.

use std::collections::BTreeSet;

use isoform::{Ref, Str, Value};
use isoform_onnx::ElemType;
use isoform_onnx::ir::{Input, Program};

use super::build;
use super::calls::Op;
use super::generator::{Draw, Generator};
use super::values::Val;
use super::{compute, control, elementwise, layers, moves, patterns, shapes};
use crate::source::{Source, random_bytes};

/// The drawn versions of the operator set.
pub const OPSETS: std::ops::RangeInclusive<i64> = 9..=25;

/// A random program, with the data needed to run it.
#[derive(Clone, Debug)]
pub struct RandomProgram {
    /// The program.
    pub program: Ref<Program>,
    /// The inputs by name, under each of two assignments of the symbolic dimensions.
    pub inputs: [Vec<(String, Value)>; 2],
    /// The shapes of the outputs under both assignments.
    pub shapes: [Vec<Vec<i64>>; 2],
    /// The element types of the outputs.
    pub elems: Vec<ElemType>,
    /// The constructs in the program with rewriting rules.
    pub patterns: BTreeSet<&'static str>,
    /// True if declared types of outputs contradict the outputs.
    pub is_misdeclared: bool,
}

/// All constructs that may be drawn, by the names in [`RandomProgram::patterns`].
pub fn drawn_constructs() -> Vec<&'static str> {
    let tables = [
        elementwise::DRAWS,
        moves::DRAWS,
        shapes::DRAWS,
        patterns::DRAWS,
        compute::DRAWS,
        layers::DRAWS,
        control::DRAWS,
    ];
    tables
        .iter()
        .flat_map(|table| table.iter().map(|row| row.0))
        .collect()
}

/// Returns a random valid program of about `size` constructs, the same one for the same
/// seed and size.
///
/// ```
/// use isoform_testing::onnx::random_onnx_program;
///
/// let drawn = random_onnx_program(3, 20);
/// assert_eq!(drawn.inputs[0].len(), drawn.program.graph.params.len());
/// assert_eq!(drawn.shapes[0].len(), drawn.program.graph.results.len());
/// ```
pub fn random_onnx_program(seed: u64, size: usize) -> RandomProgram {
    let bytes = random_bytes(seed, size.saturating_mul(12).saturating_add(32));
    drawn_program(&bytes, size)
}

/// Returns the program of a byte string; a shorter one means a simpler program.
pub fn drawn_program(bytes: &[u8], size: usize) -> RandomProgram {
    Generator::new(Source::new(bytes), size).program()
}

impl Generator<'_> {
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

    /// Draws a construct; a table listed twice is drawn twice as often.
    pub(super) fn step(&mut self) {
        let tables: [&[(&'static str, Draw)]; 9] = [
            elementwise::DRAWS,
            moves::DRAWS,
            shapes::DRAWS,
            patterns::DRAWS,
            elementwise::DRAWS,
            moves::DRAWS,
            compute::DRAWS,
            layers::DRAWS,
            control::DRAWS,
        ];
        let table = *self.source.pick(&tables);
        let (name, draw) = *self.source.pick(table);
        if draw(self).is_some() {
            self.patterns.insert(name);
        }
    }

    /// Draws a program with equal calls of random operators, all of them significant;
    /// returns the number of calls.
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

    /// The results of the main graph: some recent values, sometimes a repeated value, or an
    /// input.
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
                // Exporters that guess declare dimensions wrongly.
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
        let names = (0..results.len()).map(|index| Str::from(format!("result{index}")));
        let params: Vec<Ref<Input>> = self.inputs.iter().map(|input| input.var.clone()).collect();
        let values = results.iter().map(|result| result.value.clone()).collect();
        let graph = build::graph("main", params, types, values, names.collect());
        let fed = |which: usize| {
            let named = self.inputs.iter().map(|input| {
                let value = input.values[which].clone();
                (input.var.name.as_str().to_owned(), value)
            });
            named.collect()
        };
        RandomProgram {
            program: build::program(graph, ir_version),
            inputs: [fed(0), fed(1)],
            shapes: [0, 1].map(|which| results.iter().map(|result| result.shape(which)).collect()),
            elems: results.iter().map(|result| result.elem).collect(),
            patterns: self.patterns,
            is_misdeclared,
        }
    }
}
