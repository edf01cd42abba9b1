//! Properties of programs of the dialect, as functions of bytes.

use super::super::program::{
    Case, Drawing, DrawnProgram, Edit, Streams, account, binary_round_trips, deep_copies_are_equal,
    described, edits_are_found, engine_is_the_oracle, equal_parts_share_hashes,
    hints_are_invisible, ignored_fields_are_invisible, is_below, json_round_trips, leads_to,
    one_of, rebuilding_is_invisible, setup, shown, text_round_trips,
};
use super::super::properties::Property;
use super::super::source::Source;
use super::faults::faults;
use super::generate::Generator;
use isoform::compare::CompareOptions;
use isoform::traverse::{WalkResult, walk_objects};
use isoform::{Array, Ref, Result, Value, structural_equal};
use isoform_pto::{
    Call, ConstInt, DataType, EvalStmt, Expr, Failure, Function, Op, Program, SeqStmts, Stmt, Var,
    VerifyOptions, substitute, verify,
};

/// The properties of programs of the dialect, with their names.
pub const PTO_PROPERTIES: &[(&str, Property)] = &[
    ("pto_json_round_trips", json_round_trips::<Programs>),
    ("pto_binary_round_trips", binary_round_trips::<Programs>),
    ("pto_text_round_trips", text_round_trips::<Programs>),
    (
        "pto_deep_copies_are_equal",
        deep_copies_are_equal::<Programs>,
    ),
    ("pto_renaming_is_invisible", hints_are_invisible::<Programs>),
    (
        "pto_ignored_fields_are_invisible",
        ignored_fields_are_invisible::<Programs>,
    ),
    ("pto_edits_are_found", edits_are_found::<Programs>),
    ("pto_engine_is_the_oracle", engine_is_the_oracle::<Programs>),
    (
        "pto_equal_parts_share_hashes",
        equal_parts_share_hashes::<Programs>,
    ),
    (
        "pto_rebuilding_is_invisible",
        rebuilding_is_invisible::<Programs>,
    ),
    ("pto_programs_are_well_formed", pto_programs_are_well_formed),
    ("pto_faults_are_reported", pto_faults_are_reported),
    (
        "pto_sizes_and_variables_are_replaced",
        pto_sizes_and_variables_are_replaced,
    ),
];

/// Programs without free variables.
pub(super) struct Programs;

impl Drawing for Programs {
    const WAYS: &'static [CompareOptions] = &[
        CompareOptions {
            map_free_vars: false,
            skip_tensor_content: false,
        },
        CompareOptions {
            map_free_vars: true,
            skip_tensor_content: false,
        },
    ];

    fn draw(streams: Streams<'_>, size: usize, edit: Option<&Edit>) -> Result<DrawnProgram> {
        let mut generator = Generator::new(streams, edit)?;
        let program = generator.program(size)?;
        Ok(DrawnProgram {
            root: program.into(),
            made: generator.into_made(),
        })
    }
}

fn verified(program: &Value) -> Result<Vec<Failure>, String> {
    verify(program, &VerifyOptions::default()).map_err(setup)
}

fn listed(failures: &[Failure]) -> String {
    let texts: Vec<_> = failures.iter().map(ToString::to_string).collect();
    texts.join("\n")
}

/// The verifier finds no error in drawn programs.
fn pto_programs_are_well_formed(bytes: &[u8]) -> Result<(), String> {
    let program = Case::of(bytes).draw::<Programs>(None)?.root;
    let failures = verified(&program)?;
    if failures.is_empty() {
        Ok(())
    } else {
        Err(format!("{}\n{}", listed(&failures), shown(&program)))
    }
}

/// A program broken at one place is reported, at this place.
fn pto_faults_are_reported(bytes: &[u8]) -> Result<(), String> {
    let case = Case::of(bytes);
    let DrawnProgram { made: objects, .. } = case.draw::<Programs>(None)?;
    let faults = faults(&objects).map_err(setup)?;
    if faults.is_empty() {
        return Ok(());
    }
    let fault = one_of(&faults, bytes);
    let broken = case.draw::<Programs>(Some(fault))?;
    let place = &broken.made[fault.number];
    // An unused drawn node is not part of the program.
    if !is_below(&broken.root, place) {
        return Ok(());
    }
    let failures = verified(&broken.root)?;
    let is_there = |failure: &Failure| leads_to(&broken.root, &failure.path, place);
    if failures.iter().any(is_there) {
        Ok(())
    } else {
        Err(format!(
            "reported is {:?} after {}\n{}",
            listed(&failures),
            described(fault, place),
            shown(&broken.root)
        ))
    }
}

/// If a variable of the parameters is replaced in a body, it is gone from the body, and
/// from the types of other variables; the function with the new body is verified, and
/// if the replacement is another variable, it is equal.
fn pto_sizes_and_variables_are_replaced(bytes: &[u8]) -> Result<(), String> {
    let root = Case::of(bytes).draw::<Programs>(None)?.root;
    let program = root.extract::<Ref<Program>>().map_err(setup)?;
    let mut source = Source::new(bytes);
    for (_, function) in program.functions.iter() {
        let counters = counters_of(function)?;
        if counters.is_empty() {
            continue;
        }
        let old = source.pick(&counters).clone();
        let is_renamed = source.chance(50);
        let new: Ref<Expr> = if is_renamed {
            Var::new("renamed", &old.ty).upcast()
        } else {
            ConstInt::new(1, old.scalar_dtype().unwrap_or(DataType::Index)).upcast()
        };
        // In the body alone, the variable would not be known to have a value.
        let first = EvalStmt::new(Call::new(Op::new("use"), vec![old.clone().upcast()]));
        let body = SeqStmts::new(vec![first.upcast(), function.body.clone()]);
        let together = Array::from(vec![
            Value::from(function.params.clone()),
            Value::from(&body),
        ]);
        let pair = (Value::from(&old), Value::from(&new));
        let replaced = substitute(together, &[pair]).map_err(setup)?;
        if is_below(&replaced, old.as_object()) {
            return Err(format!("{old:?} is left in\n{}", shown(&replaced)));
        }
        let parts = replaced.extract::<Array>().map_err(setup)?;
        let [params, changed] = parts.values() else {
            return Err("a pair became something else".into());
        };
        let params = params.extract::<Array<Ref<Expr>>>().map_err(setup)?;
        // A literal cannot be a parameter; the old value is kept.
        let params: Vec<Ref<Var>> = params
            .iter()
            .zip(function.params.iter())
            .map(|(new, old)| new.downcast_ref::<Var>().unwrap_or(old).clone())
            .collect();
        let before = function.with_body(body);
        let changed = changed.extract::<Ref<Stmt>>().map_err(setup)?;
        let after = function.with_params(params).with_body(changed);
        let failures = verified(&after.clone().into())?;
        if !failures.is_empty() {
            return Err(format!("{}\n{}", listed(&failures), shown(&after.into())));
        }
        let equal = structural_equal(&before, &after).map_err(setup)?;
        if is_renamed && !equal {
            let (before, after) = (before.into(), after.into());
            return Err(account("a renamed function differs", &before, &after));
        }
    }
    Ok(())
}

/// The integers of a function: parameters, and variables in the types of parameters.
fn counters_of(function: &Ref<Function>) -> Result<Vec<Ref<Var>>, String> {
    let mut found = Vec::new();
    let params = Value::from(function.params.clone());
    walk_objects(&params, |object, _| {
        let var = object.downcast_ref::<Var>();
        let is_counter = |var: &&Ref<Var>| var.scalar_dtype().is_some_and(DataType::is_int);
        found.extend(var.filter(is_counter).cloned());
        Ok(WalkResult::<()>::Advance)
    })
    .map_err(setup)?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::super::program::edits;
    use super::super::super::source::random_bytes;
    use super::*;

    /// The changes of many programs, by class and field.
    fn places(
        changes: impl Fn(&DrawnProgram) -> Result<Vec<Edit>>,
    ) -> BTreeSet<(&'static str, &'static str)> {
        let mut found = BTreeSet::new();
        for seed in 0..200 {
            let case = Case::of(&random_bytes(seed, 600));
            let drawn = case.draw::<Programs>(None).expect("a program");
            found.extend(changes(&drawn).expect("changes").iter().map(|edit| {
                let info = drawn.made[edit.number].type_info();
                (info.key(), info.fields()[edit.field].name())
            }));
        }
        found
    }

    #[test]
    fn edits_are_of_many_classes() {
        let edited = places(|drawn| edits(&drawn.root, &drawn.made));
        for wanted in [
            ("pto.ScalarType", "dtype"),
            ("pto.MemRef", "size"),
            ("pto.TileType", "memref"),
            ("pto.TileView", "pad"),
            ("pto.ForStmt", "kind"),
            ("pto.WhileStmt", "iter_args"),
            ("pto.IfStmt", "else_body"),
            ("pto.Call", "kwargs"),
            ("pto.Function", "params"),
            ("pto.Program", "functions"),
        ] {
            assert!(edited.contains(&wanted), "{wanted:?} is not in {edited:?}");
        }
        for ignored in [("pto.Var", "name_hint"), ("pto.Add", "span")] {
            assert!(!edited.contains(&ignored), "{ignored:?}");
        }
    }

    #[test]
    fn faults_are_of_many_kinds() {
        let broken = places(|drawn| faults(&drawn.made));
        for wanted in [
            ("pto.YieldStmt", "value"),
            ("pto.AssignStmt", "value"),
            ("pto.Function", "body"),
            ("pto.IfStmt", "else_body"),
            ("pto.WhileStmt", "return_vars"),
            ("pto.IterArg", "init_value"),
            ("pto.Call", "op"),
            ("pto.Xor", "left"),
            ("pto.BitShiftLeft", "right"),
        ] {
            assert!(broken.contains(&wanted), "{wanted:?} is not in {broken:?}");
        }
    }
}
