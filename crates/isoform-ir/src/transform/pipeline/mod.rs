//! Pipelines as text: `FoldConstant,FuseOps{fuse_opt_level=1},(A,B)`.
//!
//! ```text
//! pipeline = [ item { "," item } [ "," ] ]
//! item     = name [ "{" [ option { "," option } [ "," ] ] "}" ] | "(" pipeline ")"
//! option   = name "=" value
//! ```
//!
//! A name consists of letters, digits, `_`, `.`, `-` and `/`. A value is written as in
//! `docs/text.md`; a bare word is a string. Parentheses make a sequence of its own. White
//! space and comments (`//` to the end of the line) are ignored.

mod parse;
mod print;

pub use parse::{parse_pipeline, parse_value};
pub use print::pipeline_text;

use isoform::{Ref, Result, export};

use super::nodes::{Pass, Sequential};

/// Makes the passes of a pipeline's text.
#[export("passes.parse_pipeline")]
fn parse_exported(text: &str) -> Result<Ref<Sequential>> {
    parse_pipeline(text)
}

/// The text of a pipeline.
#[export("passes.pipeline_text")]
fn text_exported(pass: &Ref<Pass>) -> Result<String> {
    pipeline_text(pass)
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![parse_exported, text_exported]
}
