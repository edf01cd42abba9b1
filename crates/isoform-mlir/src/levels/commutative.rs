//! The order of the operands of commutative operations.
//!
//! The operands have the order of their definitions in the program. The order depends on
//! no name, and any two values have different places, so both orders of two operands give
//! one normal form.

use hashbrown::HashMap;
use isoform::traverse::MapOptions;
use isoform::{Array, Node, Ref, Result};
use rapidhash::fast::RandomState;

use super::{Dialects, only};
use crate::nodes::{Operation, Program, Value};

/// The places of definitions by the identity of the value.
type Places = HashMap<u64, usize, RandomState>;

/// The program with operands in the order of their definitions, where they have no order.
pub(super) fn sorted(dialects: &Dialects, program: &Ref<Program>) -> Result<Ref<Program>> {
    let places = places(&program.module);
    let wanted = only([Operation::type_index()]);
    let sorted = MapOptions::default().map_selected(program, wanted, |visit| {
        let Some(operation) = visit.downcast::<Operation>() else {
            return Ok(None);
        };
        let operands = sorted_operands(dialects, &places, operation)?;
        Ok(operands.map(|operands| operation.with_operands(operands).into()))
    })?;
    sorted.extract()
}

/// The operands of an operation in the order of their definitions; None if they stay.
fn sorted_operands(
    dialects: &Dialects,
    places: &Places,
    operation: &Operation,
) -> Result<Option<Array<Ref<Value>>>> {
    let count = dialects.unordered_operands(operation)?;
    // Arguments of regions and blocks could correspond to operands.
    if count < 2 || !operation.regions.is_empty() || !operation.successors.is_empty() {
        return Ok(None);
    }
    let place = |value: &Ref<Value>| places.get(&value.identity()).copied();
    let mut operands: Vec<Ref<Value>> = operation.operands.iter().cloned().collect();
    let first = &mut operands[..count];
    // A value without a definition has no place.
    if first.is_sorted_by_key(place) || first.iter().any(|value| place(value).is_none()) {
        return Ok(None);
    }
    first.sort_by_key(place);
    Ok(Some(operands.into()))
}

/// Numbers the definitions from outside to inside, and front to back.
fn places(module: &Ref<Operation>) -> Places {
    let mut places = Places::default();
    let mut open: Vec<&Ref<Operation>> = vec![module];
    while let Some(operation) = open.pop() {
        let blocks = operation.regions.iter().flat_map(|region| &region.blocks);
        let arguments = blocks.flat_map(|block| &block.arguments);
        for value in operation.results.iter().chain(arguments) {
            let place = places.len();
            places.entry(value.identity()).or_insert(place);
        }
        open.extend(operation.inner().rev());
    }
    places
}
