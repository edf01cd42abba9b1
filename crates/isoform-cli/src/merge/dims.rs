//! The names of symbolic dimensions of a merged model.
//!
//! Comparison ignores these names, but a file tells dimensions apart by them alone.

use std::collections::{HashMap, HashSet};

use isoform::traverse::{WalkResult, walk_objects};
use isoform::{Ref, Result, Str, Value};
use isoform_onnx::ir::Dim;

use super::picks::{Picks, Versions};

/// The names of the dimensions in the types of a merged model's inputs and outputs, by identity,
/// and remarks on new names. The types are those of the base, left, right and merged models, in
/// the same order. O(n).
///
/// # Errors
///
/// As [`walk_objects`].
pub(super) fn dim_names(
    types: &[Vec<Value>; 4],
    picks: &mut Picks,
) -> Result<(HashMap<u64, Str>, Vec<String>)> {
    let mut versions: HashMap<u64, Versions<Str>> = HashMap::new();
    let mut merged: Vec<Ref<Dim>> = Vec::new();
    for (number, ty) in types[3].iter().enumerate() {
        let own = dims_of(ty)?;
        for (version, types) in types[..3].iter().enumerate() {
            let others = types.get(number).map(dims_of).transpose()?;
            let others = others.filter(|others| others.len() == own.len());
            for (dim, other) in own.iter().zip(others.into_iter().flatten()) {
                let names = versions.entry(dim.identity()).or_default();
                names[version].get_or_insert_with(|| other.name.clone());
            }
        }
        merged.extend(own);
    }
    let (mut names, mut taken) = (HashMap::new(), HashSet::new());
    let mut notes = Vec::new();
    for dim in merged {
        if names.contains_key(&dim.identity()) {
            continue;
        }
        let versions = versions.remove(&dim.identity()).unwrap_or_default();
        let name = picks.pick(&dim.name, versions);
        let mut unique = name.clone();
        let mut number = 0;
        while !taken.insert(unique.clone()) {
            number += 1;
            unique = format!("{name}_{number}").into();
        }
        if unique != name {
            notes.push(format!(
                "two dimensions are named '{name}' by different sides; one of them is '{unique}' in the result"
            ));
        }
        names.insert(dim.identity(), unique);
    }
    Ok((names, notes))
}

/// The symbolic dimensions in a type, in the order of a walk.
fn dims_of(ty: &Value) -> Result<Vec<Ref<Dim>>> {
    let mut dims = Vec::new();
    walk_objects(ty, |object, _| {
        dims.extend(object.downcast_ref::<Dim>().cloned());
        Ok(WalkResult::<()>::Advance)
    })?;
    Ok(dims)
}
