//! Makes models smaller without changing their results.
//!
//! ```no_run
//! use isoform_onnx::optimize::OptimizeOptions;
//!
//! let model = isoform_onnx::load("model.onnx")?;
//! let done = OptimizeOptions::default().optimize(model.program())?;
//! println!("{} nodes of {}", done.report.nodes_after, done.report.nodes_before);
//! # Ok::<(), isoform::Error>(())
//! ```
//!
//! | concept | items |
//! |---|---|
//! | optimisation | [`OptimizeOptions`], [`Optimized`], [`Fold`] |
//! | which rules there are | [`rules()`], [`STEPS`], [`RuleGroup`], [`rule_infos`] |
//! | rules of your own | [`Rule`], [`Pattern`], [`Site`], [`Match`] |
//! | the pass `onnx.Simplify` | [`register`] |
//! | what fired where | [`Report`], [`Fired`], [`RuleTotal`] |
//!
//! By default every bit of every result stays. A program is walked forwards until a
//! walk changes nothing; `rewriter` describes one walk.

mod branches;
mod constants;
mod copyable;
mod fold;
mod info;
mod known;
mod pass;
mod pattern;
mod purity;
mod report;
mod rewriter;
mod rule;
mod rules;
mod settings;
mod steps;
mod table;

use isoform::{Node as _, Ref};

use constants::Constants;
use report::{Contents, Log, without_end};
use rewriter::Rewriter;
use settings::Settings;

use crate::ir::Program;
use crate::layout::{Listing, list};
use crate::passes::local_functions;
use isoform::__setters as setters;

pub use info::{RuleInfo, rule_infos};
pub use pass::register;
pub(crate) use pattern::commutes;
pub use pattern::{Match, Pattern};
pub(crate) use purity::{draws_numbers, is_pure_operator};
pub use report::{Fired, Report, RuleTotal};
pub use rule::{Rewrite, Rule, RuleGroup, Site};
pub use rules::rules;
pub use settings::Fold;
pub use steps::{STEPS, Step};

/// The candidate limits of constants made by folding, in bytes, unless [`max_constant`]
/// is set. The first limit is taken under which all constants together grow by at most
/// [`MAX_GROWTH`] or a tenth, and a second run would choose the same limit. With the
/// last limit nothing grows.
///
/// [`max_constant`]: OptimizeOptions::max_constant
const MAX_CONSTANTS: [u64; 6] = [1 << 20, 128 << 10, 16 << 10, 2 << 10, 64, 0];

/// The growth of all constants that folding may cause in any program, in bytes: about
/// the size of a few hundred nodes in a file.
const MAX_GROWTH: u64 = 16 << 10;

/// After this many walks the program is returned unchanged, unless rules of the user
/// still fire.
const MAX_ROUNDS: usize = 64;

/// Options of [`optimize`](Self::optimize).
#[derive(Clone, Debug, Default)]
pub struct OptimizeOptions {
    fold: Fold,
    fuse: bool,
    max_constant: Option<u64>,
    only: Option<Vec<String>>,
    without: Vec<String>,
    rules: Vec<Rule>,
}

/// An optimised program.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Optimized {
    /// The program; the same object if nothing was found.
    pub program: Ref<Program>,
    /// The changes.
    pub report: Report,
}

impl OptimizeOptions {
    setters! {
        /// Sets which calls on constants are computed; [`Fold::Exact`] by default.
        fold: Fold,
        /// Sets whether operators are fused, which may change the last bits of results.
        fuse: bool,
    }

    /// Sets the size in bytes up to which folding makes constants. A larger constant is
    /// made only if the constants that it replaces are at least as large.
    ///
    /// By default the size is up to 1 MiB, and less if all constants together would grow by
    /// more than 16 KiB and more than a tenth.
    #[must_use]
    pub fn max_constant(mut self, bytes: u64) -> Self {
        self.max_constant = Some(bytes);
        self
    }

    /// Uses only these rules and steps, by name.
    #[must_use]
    pub fn only<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.only = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Leaves out these rules and steps.
    #[must_use]
    pub fn without<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.without = names.into_iter().map(Into::into).collect();
        self
    }

    /// Adds custom rules, to be tried after the rules of the library.
    #[must_use]
    pub fn rules(mut self, rules: impl IntoIterator<Item = Rule>) -> Self {
        self.rules.extend(rules);
        self
    }

    /// Makes a program smaller.
    ///
    /// Results keep every bit, unless [`fold`](Self::fold) or [`fuse`](Self::fuse) allow
    /// otherwise. Names and types of inputs and outputs stay. Optimising the result again
    /// changes nothing. Each walk over the program is linear in its nodes, and constants are
    /// read once; most programs need two or three walks.
    ///
    /// # Errors
    ///
    /// `ValueError` for an unknown rule, for rules that replace each other without an
    /// end or introduce a value of another type, and for a program that uses values
    /// where they are not computed. Errors of custom rules; interruption.
    pub fn optimize(&self, program: &Ref<Program>) -> isoform::Result<Optimized> {
        let mut rules: Vec<Rule> = rules::rules()
            .iter()
            .filter(|rule| self.fuse || rule.group() != RuleGroup::Fuse || self.names(rule))
            .cloned()
            .collect();
        rules.extend(self.rules.iter().cloned());
        let mut settings = Settings::new(
            self.fold,
            self.max_constant.unwrap_or(MAX_CONSTANTS[0]),
            rules,
            self.only.as_deref(),
            &self.without,
        )?;
        if self.max_constant.is_some() {
            return fixpoint(program, &settings);
        }
        let mut limits = Limits::default();
        let mut done = fixpoint(program, &settings)?;
        for smaller in &MAX_CONSTANTS[1..] {
            if limits.allows(done.report.bytes_before, done.report.bytes_after) {
                break;
            }
            settings.max_constant = *smaller;
            done = fixpoint(program, &settings)?;
        }
        Ok(done)
    }

    fn names(&self, rule: &Rule) -> bool {
        self.only
            .as_ref()
            .is_some_and(|only| only.iter().any(|name| name == rule.name()))
    }
}

/// The tried limits of constants: the bytes of all constants under a limit, and whether
/// a run on the result chooses the same limit again.
#[derive(Default)]
struct Limits {
    tried: Vec<(u64, bool)>,
}

impl Limits {
    /// True if constants may grow this far. The larger result raises the allowance, and
    /// parts left unfolded by a run might then fit. A limit is taken only if this does
    /// not happen.
    fn allows(&mut self, before: u64, after: u64) -> bool {
        let allowed = |bytes: u64| bytes.saturating_add(MAX_GROWTH.max(bytes / 10));
        let mut larger = self.tried.iter();
        let is_stable = !larger.any(|(bytes, stable)| *stable && *bytes <= allowed(after));
        self.tried.push((after, is_stable));
        is_stable && after <= allowed(before)
    }
}

/// Walks over a program until a walk changes nothing.
fn fixpoint(program: &Ref<Program>, settings: &Settings) -> isoform::Result<Optimized> {
    let mut report = Report::default();
    let before = list(program);
    report.nodes_before = before.node_count();
    report.bytes_before = contents(&before).bytes();
    let mut program = program.clone();
    let mut constants = Constants::default();
    loop {
        report.rounds += 1;
        let mut log = Log::default();
        let new = walk(&program, settings, &mut log, &mut constants)?;
        let mut names = log.fired.iter().map(|fired| &fired.rule);
        let endless = names.rfind(|name| settings.is_user(name)).cloned();
        report.fired.append(&mut log.fired);
        if new.same_as(&program) {
            break;
        }
        program = new;
        if report.rounds == MAX_ROUNDS {
            match endless {
                Some(rule) => return Err(without_end(&rule)),
                None => break,
            }
        }
    }
    let after = list(&program);
    let contents_after = contents(&after);
    report.copies = contents_after.copies;
    report.nodes_after = after.node_count();
    report.bytes_after = contents_after.bytes();
    Ok(Optimized { program, report })
}

fn walk(
    program: &Ref<Program>,
    settings: &Settings,
    log: &mut Log,
    constants: &mut Constants,
) -> isoform::Result<Ref<Program>> {
    let mut rewriter = Rewriter::new(settings, log, constants);
    for (_, function) in local_functions(program)? {
        rewriter.function(&function)?;
    }
    let graph = rewriter.main(&program.graph)?;
    if graph.same_as(&program.graph) {
        return Ok(program.clone());
    }
    Ok(Ref::new(Program {
        graph,
        ..program.clone_fields()
    }))
}

fn contents(listing: &Listing) -> Contents {
    let mut contents = Contents::default();
    contents.add(listing);
    contents
}
