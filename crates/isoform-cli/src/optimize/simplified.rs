//! Simplification of models before they are compared.

use isoform::{Ref, Value};
use isoform_onnx::ir::{Output, Program};
use isoform_onnx::optimize::{OptimizeOptions, Rule, Site};

/// The simplified program of a model. Every bit of the results stays.
pub(crate) fn simplified(program: &Ref<Program>) -> isoform::Result<Ref<Program>> {
    let rule = Rule::new("one-reshape-target", "Reshape(x, target)", one_target)?;
    let options = OptimizeOptions::default().rules([rule.versions(5..=i64::MAX)]);
    Ok(options.optimize(program)?.program)
}

/// The target of a Reshape in a canonical form, if the shapes are known: a number, 0
/// for a size of the input at the same position, and -1 for a remaining size. A model
/// does not get smaller by this change, so `isoform optimize` keeps targets.
fn one_target(site: &mut Site<'_, '_>) -> isoform::Result<Option<Vec<Value>>> {
    let (x, old) = (site.get("x")?.clone(), site.get("target")?.clone());
    let result = Ref::new(Output {
        call: site.root().clone(),
        index: 0,
    });
    let allows_zero = site
        .root()
        .attrs
        .iter()
        .any(|(name, _)| name.as_str() == "allowzero");
    let (Some(old), Some(from), Some(to), false) = (
        site.ints(&old),
        site.shape(&x),
        site.shape(&result.into()),
        allows_zero,
    ) else {
        return Ok(None);
    };
    let mut target = Vec::with_capacity(to.len());
    for (axis, size) in to.iter().enumerate() {
        let is_copied = from
            .get(axis)
            .is_some_and(|input_size| input_size.known_eq(size) == Some(true));
        target.push(match size.as_const() {
            Some(0) => return Ok(None),
            Some(size) => size,
            None if is_copied => 0,
            None => -1,
        });
    }
    // Next to a size of 0, the -1 is undetermined.
    let others = to.iter().zip(&target).filter(|(_, size)| **size >= 0);
    let are_positive = others.map(|(size, _)| size).all(|size| size.is_positive());
    let open = target.iter().filter(|size| **size == -1).count();
    if target == old || open > 1 || (open == 1 && !are_positive) {
        return Ok(None);
    }
    let target = site.int64s(&target);
    Ok(site.replace("Reshape", vec![x, target], &[]))
}
