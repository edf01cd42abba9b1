//! Finds the pass of a pipeline, and the functions, that make a program fail a check.

use isoform::functions::Function;
use isoform::types::Schema;
use isoform::{Array, Error, Map, Obj, Ref, Result, Str, Value, export};

use super::context::PassContext;
use super::frames;
use super::nodes::{Pass, Sequential};
use super::registry::make_pass;
use super::root::{FunctionChange, changed, with_functions};
use super::run::run;

/// The result of [`bisect`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Bisection {
    /// The pass that makes the check fail.
    pub pass: Ref<Pass>,
    /// The number of earlier passes.
    pub position: usize,
    /// The program before the pass; the check accepts this program.
    pub before: Ref<Obj>,
    /// The program after the pass, with changes in as few functions as possible.
    pub after: Ref<Obj>,
    /// The names of these functions; empty if the check fails only with all changes.
    pub functions: Vec<String>,
    /// The number of calls of the check.
    pub checks: usize,
    /// The programs that the check judged, in order; as many as `checks`.
    pub trail: Vec<Trial>,
}

/// A program that [`bisect`] gave to the check, and the answer.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Trial {
    /// The program.
    pub subject: TrialSubject,
    /// True if the check accepted the program.
    pub is_good: bool,
}

/// A program that [`bisect`] gives to the check.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TrialSubject {
    /// The program after the first passes of the pipeline; the input after 0.
    After {
        /// The number of passes.
        passes: usize,
        /// The name of the last one; empty for the input.
        last: String,
    },
    /// The program before the pass that fails, with the changes of these functions by the
    /// pass.
    Functions(Vec<String>),
}

/// Finds the first pass of a pipeline that makes a check fail. Then finds a smallest
/// set of functions whose changes by the pass make the check fail.
///
/// The pipeline runs once, under the current context, and keeps the intermediate
/// programs. The check returns true for a good program, and must accept the input and
/// reject the result. The check runs O(log passes) times for the pass. For a pass that
/// changes n functions, the check runs between O(log n) and O(n²) times for the
/// functions: no remaining function can be left out.
///
/// # Errors
///
/// `ValueError` if the check rejects the input or accepts the result; errors of passes
/// and of the check.
///
/// ```
/// use isoform_ir::transform::{ModulePass, PassContext, PassInfo, Sequential, bisect};
/// use isoform::{Node, Ref, Result};
///
/// /// A program of a single number.
/// #[derive(Node)]
/// #[node(key = "doc.bisect.Program")]
/// #[repr(C)]
/// struct Program {
///     number: i64,
/// }
///
/// let add = |name: &str, more: i64| {
///     let run = move |program: Ref<Program>, _: &Ref<PassContext>| -> Result<Ref<Program>> {
///         Ok(program.with_number(program.number + more))
///     };
///     ModulePass::new(&PassInfo::new(0, name), run).upcast()
/// };
/// let pipeline = Sequential::new([add("One", 1), add("Ten", 10), add("Two", 2)]).upcast();
/// let found = bisect(&pipeline, &Program::new(0).into_object(), |program| {
///     Ok(program.clone().cast::<Program>()?.number < 5)
/// })?;
/// assert_eq!((&*found.pass.info.name, found.position), ("Ten", 1));
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn bisect(
    pipeline: &Ref<Pass>,
    root: &Ref<Obj>,
    mut check: impl FnMut(&Ref<Obj>) -> Result<bool>,
) -> Result<Bisection> {
    search(pipeline, root, &mut check)
}

fn search(
    pipeline: &Ref<Pass>,
    root: &Ref<Obj>,
    check: &mut dyn FnMut(&Ref<Obj>) -> Result<bool>,
) -> Result<Bisection> {
    let ctx = PassContext::current();
    let passes = flattened(pipeline, &ctx)?;
    let mut programs = vec![root.clone()];
    for pass in &passes {
        let next = run(pass, &programs[programs.len() - 1], &ctx)?;
        programs.push(next);
    }
    let mut trail = Vec::new();
    let mut is_good = |program: &Ref<Obj>, subject: TrialSubject| {
        let is_good = check(program)?;
        trail.push(Trial { subject, is_good });
        Ok(is_good)
    };
    let after = |position: usize| {
        let last = position.checked_sub(1).map(|last| &passes[last]);
        TrialSubject::After {
            passes: position,
            last: last.map_or_else(String::new, |pass| pass.info.name.to_string()),
        }
    };
    if !is_good(root, after(0))? {
        let message = "the check rejects the program before the first pass";
        return Err(Error::value_error(message));
    }
    let (mut good, mut bad) = (0, programs.len() - 1);
    if bad == 0 || is_good(&programs[bad], after(bad))? {
        let message = "the check accepts the program after the last pass";
        return Err(Error::value_error(message));
    }
    while bad - good > 1 {
        let middle = good.midpoint(bad);
        if is_good(&programs[middle], after(middle))? {
            good = middle
        } else {
            bad = middle
        }
    }
    let (before, after) = (programs[good].clone(), programs[bad].clone());
    let changes = changed(&before, &after)?;
    let (after, functions) = reduced(&before, after, changes, &mut |program, names| {
        is_good(program, TrialSubject::Functions(names))
    })?;
    Ok(Bisection {
        pass: passes[good].clone(),
        position: good,
        before,
        after,
        functions,
        checks: trail.len(),
        trail,
    })
}

/// The single passes in running order, including the passes of inner sequences and
/// required passes.
fn flattened(pipeline: &Ref<Pass>, ctx: &PassContext) -> Result<Vec<Ref<Pass>>> {
    let mut passes = Vec::new();
    // Passes, with their depth in chains of required passes.
    let mut stack = vec![(pipeline.clone(), 0)];
    while let Some((pass, depth)) = stack.pop() {
        if depth > frames::MOST_NESTED {
            return Err(frames::too_deep(&pass.info.name));
        }
        let Some(sequence) = pass.downcast_ref::<Sequential>() else {
            passes.push(pass);
            continue;
        };
        let mut inner = Vec::new();
        for pass in sequence
            .passes
            .iter()
            .filter(|pass| ctx.enables(&pass.info))
        {
            for name in pass.info.required.iter() {
                inner.push((make_pass(name, [])?, depth + 1));
            }
            inner.push((pass.clone(), depth));
        }
        stack.extend(inner.into_iter().rev());
    }
    Ok(passes)
}

/// Judges a program in which only the named functions have changed.
type Judge<'j> = &'j mut dyn FnMut(&Ref<Obj>, Vec<String>) -> Result<bool>;

/// The program with as few failing changes as possible, by delta debugging: sets of
/// changes are halved until no change can be left out.
fn reduced(
    before: &Ref<Obj>,
    after: Ref<Obj>,
    changes: Vec<FunctionChange>,
    is_good: Judge<'_>,
) -> Result<(Ref<Obj>, Vec<String>)> {
    // Added and removed functions belong to all changes: other functions may depend on
    // them.
    let replaced: Option<Vec<(Str, Ref<Obj>)>> = changes
        .into_iter()
        .map(|(name, old, new)| old.and(new).map(|new| (name, new)))
        .collect();
    let Some(all) = replaced.filter(|all| !all.is_empty()) else {
        return Ok((after, Vec::new()));
    };
    let names = |kept: &[(Str, Ref<Obj>)]| -> Vec<String> {
        kept.iter().map(|(name, _)| name.to_string()).collect()
    };
    if all.len() == 1 {
        return Ok((after, names(&all)));
    }
    let apply = |kept: &[(Str, Ref<Obj>)]| with_functions(before, kept.to_vec());
    let mut program = apply(&all)?;
    if is_good(&program, names(&all))? {
        // The pass has changed something besides the functions.
        return Ok((after, Vec::new()));
    }
    let (mut kept, mut parts) = (all, 2);
    while kept.len() > 1 {
        let size = kept.len().div_ceil(parts);
        let subsets: Vec<Vec<_>> = kept.chunks(size).map(<[_]>::to_vec).collect();
        let rests = (0..subsets.len()).map(|left_out| {
            let rest = subsets
                .iter()
                .enumerate()
                .filter(|(position, _)| *position != left_out);
            rest.flat_map(|(_, subset)| subset.clone())
                .collect::<Vec<_>>()
        });
        // With two parts, the rests are the parts.
        let rests: Vec<_> = if parts > 2 {
            rests.collect()
        } else {
            Vec::new()
        };
        let mut reduction = None;
        for (position, candidate) in subsets.iter().chain(&rests).enumerate() {
            let result = apply(candidate)?;
            if !is_good(&result, names(candidate))? {
                let is_subset = position < subsets.len();
                reduction = Some((candidate.clone(), result, is_subset));
                break;
            }
        }
        match reduction {
            Some((smaller, result, is_subset)) => {
                kept = smaller;
                program = result;
                parts = if is_subset { 2 } else { (parts - 1).max(2) };
            }
            None if parts >= kept.len() => break,
            None => parts = (2 * parts).min(kept.len()),
        }
    }
    let functions = names(&kept);
    Ok((program, functions))
}

/// Finds the pass and functions that make a program fail a check.
#[export("passes.bisect")]
fn bisect_exported(
    pipeline: &Ref<Pass>,
    root: &Ref<Obj>,
    check: Function,
) -> Result<Map<Str, Value>> {
    let found = bisect(pipeline, root, |program| {
        let answer = Schema::Bool.convert(check.call(&[program.into()])?)?;
        Ok(answer.as_bool() == Some(true))
    })?;
    let functions: Vec<Str> = found.functions.iter().map(Str::from).collect();
    Ok(Map::from_iter([
        ("pass".into(), Value::from(&found.pass)),
        ("position".into(), Value::from(found.position)),
        ("before".into(), Value::from(&found.before)),
        ("after".into(), Value::from(&found.after)),
        ("functions".into(), Array::from(functions).into()),
        ("checks".into(), Value::from(found.checks)),
    ]))
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![bisect_exported]
}
