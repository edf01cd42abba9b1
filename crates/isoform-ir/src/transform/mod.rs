//! Passes: functions from program to program, run under a context and observed by
//! instruments.
//!
//! The same passes run on modules of [`ir`](crate::ir), on the programs of every dialect,
//! and on your own types ([`Root`]). `docs/passes.md` is the guide.
//!
//! | concept | items |
//! |---|---|
//! | passes | [`ModulePass`], [`FunctionPass`], [`Sequential`], [`PassInfo`] |
//! | what a function of a program is | [`Root`], [`Script`], [`ModuleScript`], [`Check`] |
//! | conditions of runs | [`PassContext`], [`ContextOptions`], [`register_config_option`] |
//! | what is told about every pass | [`PassInstrument`], [`Instrument`], [`instruments`] |
//! | facts that are computed once | [`Analysis`], [`register_analysis`] |
//! | passes by name, pipelines as text | [`register_pass`], [`make_pass`], [`parse_pipeline`] |
//! | the pass that breaks a program | [`bisect`] |
//! | equal expressions computed once, in any language | [`cse`] |
//! | results that are kept between runs | [`Memo`], [`ResultCache`], [`MemoryCache`] |
//! | messages about source texts | [`diagnostics`] |
//! | a pass that goes on in another thread | [`ThreadState`] |
//!
//! ```
//! use isoform_ir::transform::PassContextRef;
//! use isoform_ir::transform::PassRef;
//! use isoform_ir::ir::IRModule;
//! use isoform_ir::transform::{ContextOptions, Sequential, make_pass, parse_pipeline};
//! use isoform::{Node, Obj, Ref};
//!
//! isoform_ir::transform::register()?;
//! let program = Ref::new(Obj {});
//! let pipeline = parse_pipeline("PrintIR,PrintIR{header=\"again\"}")?;
//! let ctx = ContextOptions::default().opt_level(3).make()?;
//! let result = ctx.within(|| pipeline.run(&program))?;
//! assert!(result.same_as(&program));
//! # Ok::<(), isoform::Error>(())
//! ```
//!
//! A pass is a node around a `Function`, so passes of all languages share one type; a
//! kind of pass is a type with the trait [`RunPass`]. A program is any object, and the
//! trait [`Root`] of its type lists the functions of the program.
//!
//! | file | job |
//! |---|---|
//! | `info.rs`, `nodes.rs` | the node types of passes |
//! | `instrument.rs`, `instruments/` | the listeners of a context, and ready-made ones |
//! | `config.rs`, `context.rs` | options of contexts; contexts and the stack of each thread |
//! | `root.rs` | programs as functions, as text, and their checks |
//! | `frames.rs`, `run.rs` | one run of one pass: messages, instruments, errors, panics, analyses |
//! | `module_pass.rs`, `function_pass.rs`, `sequential.rs` | how each kind of pass runs |
//! | `registry.rs`, `pipeline/` | passes by name, pipelines as text |
//! | `analyses.rs`, `kept.rs` | analyses, and the results that a context keeps |
//! | `cache.rs`, `memo/` | caches, and results of pure passes that are kept in them |
//! | `bisect.rs`, `reproducer.rs` | finding and repeating failures |
//! | `thread_state.rs` | passes that go on in another thread |
//! | `cse/` | equal expressions computed once |
//!
//! A pass never changes its input; a pass without changes returns the same object. No
//! lock is held while a pass, an instrument or an analysis runs.
//!
//! Absent: running the functions of one pass in parallel.

mod analyses;
mod bisect;
mod builtin;
mod cache;
mod config;
mod context;
pub mod cse;
mod frames;
mod function_pass;
mod info;
mod instrument;
pub mod instruments;
mod kept;
mod memo;
mod module_pass;
mod nodes;
mod pipeline;
mod registry;
mod reproducer;
mod root;
mod run;
mod sequential;
mod thread_state;

pub use analyses::{Analysis, AnalysisResults, register_analysis};
pub use bisect::{Bisection, Trial, TrialSubject, bisect};
pub use builtin::apply_to_functions;
pub use cache::{MemoryCache, ResultCache};
pub use config::{ConfigOption, config_option, config_options, register_config_option};
pub use context::{ContextOptions, PassContextRef};
pub use cse::CseOptions;
pub use frames::diagnostics;
pub use instrument::Instrument;
pub use nodes::RunPass;
pub use pipeline::{parse_pipeline, parse_value, pipeline_text};
pub use registry::{PassEntry, make_pass, register_pass, registered_passes};
pub use root::{Check, ModuleScript, Root, Script, Signature, functions, own_script, script};
pub use run::PassRef;
pub use thread_state::ThreadState;

use isoform::Result;
use isoform::plumbing::Poll;

isoform::dialect! {
    "transform";
    pub use info::PassInfo;
    pub use instrument::PassInstrument;
    pub use cache::{Cache, Memo, NoProgram};
    pub use context::PassContext;
    pub use nodes::{Pass, ModulePass, FunctionPass, Sequential};
}

/// Checks for an interruption by the user; long-running passes call this function from
/// time to time. Costs less than a microsecond.
///
/// # Errors
///
/// The error raised by the interruption, for example Python's `KeyboardInterrupt`.
pub fn check_interrupted() -> Result<()> {
    Poll::now()
}

/// Registers the node types, functions and passes of this module.
///
/// Types are registered on first use anyway; passes by name, options of contexts and
/// modules of [`ir`](crate::ir) as programs need this call.
///
/// # Errors
///
/// `ValueError` if another definition owns one of the names.
pub fn register() -> Result<()> {
    crate::ir::register()?;
    register_types()?;
    root::register()?;
    info::register()?;
    cache::register()?;
    config::register()?;
    context::register()?;
    frames::register()?;
    nodes::register()?;
    analyses::register()?;
    pipeline::register()?;
    instruments::register()?;
    bisect::register()?;
    cse::register()?;
    builtin::register()
}
