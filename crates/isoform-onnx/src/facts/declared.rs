//! Declared types that contradict derived facts.

use std::fmt;

use isoform::Str;

use super::analysis::Analysis;
use super::fact::{Fact, Kind, fact_of_type};
use super::size::Size;
use crate::ir::Graph;

/// A declared type that is wrong in every run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Problem {
    /// The name of the output in the file.
    pub name: Str,
    /// The declared type.
    pub declared: Fact,
    /// The derived one.
    pub derived: Fact,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Problem {
            name,
            declared,
            derived,
        } = self;
        write!(
            f,
            "output '{name}' is declared as {declared}, but is {derived}"
        )
    }
}

/// The declared types of a graph's results that cannot be right. Files with wrong types
/// run all the same, so declared types must not be relied on. Linear in the program,
/// once for each analysis.
pub fn problems(analysis: &mut Analysis, graph: &Graph) -> Vec<Problem> {
    let mut found = Vec::new();
    let results = graph
        .results
        .values()
        .iter()
        .zip(graph.result_types.values());
    for (at, (result, ty)) in results.enumerate() {
        let declared = fact_of_type(ty, analysis.symbols());
        let derived = Fact::clone(&analysis.fact(result));
        if contradicts(&declared, &derived) {
            let name = graph.result_names.get(at).cloned().unwrap_or_default();
            found.push(Problem {
                name,
                declared,
                derived,
            });
        }
    }
    found
}

fn contradicts(declared: &Fact, derived: &Fact) -> bool {
    if declared.kind != Kind::Tensor || derived.kind != Kind::Tensor {
        return false;
    }
    let types = declared.elem.zip(derived.elem);
    let shapes = declared.shape.as_ref().zip(derived.shape.as_ref());
    types.is_some_and(|(declared, derived)| declared != derived)
        || shapes.is_some_and(|(declared, derived)| {
            let mut extents = declared.iter().zip(derived);
            let differs = |(declared, derived): (&Size, &Size)| {
                // A dimension of the outputs alone is only a name.
                declared.known_eq(derived) == Some(false)
            };
            declared.len() != derived.len() || extents.any(differs)
        })
}

/// The element type and the shape, as in `float[batch, 3]`; `?` where unknown.
impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.kind != Kind::Tensor {
            return f.write_str("?");
        }
        f.write_str(self.elem.map_or("?", crate::ElemType::name))?;
        let Some(shape) = &self.shape else {
            return f.write_str("[...]");
        };
        if !shape.is_empty() {
            let extents: Vec<String> = shape.iter().map(Size::to_string).collect();
            write!(f, "[{}]", extents.join(", "))?;
        }
        let Some(elements) = &self.elements else {
            return Ok(());
        };
        let elements: Vec<String> = elements.iter().map(Size::to_string).collect();
        match &*elements {
            [one] if shape.is_empty() => write!(f, " = {one}"),
            _ => write!(f, " = ({})", elements.join(", ")),
        }
    }
}
