//! From passes to the text of a pipeline.

use crate::transform::nodes::{Pass, SEQUENTIAL, Sequential};
use isoform::text::to_text;
use isoform::{Error, Ref, Result, Str, Value};

/// The text of a pipeline, from which [`parse_pipeline`](crate::transform::parse_pipeline)
/// makes the same passes. Linear in the number of passes.
///
/// Sequences with a custom name, level or requirements cannot be printed; options must
/// be plain values and containers of plain values.
///
/// # Errors
///
/// `ValueError` for an unprintable sequence or option. A pass made without a name is
/// still written by its name.
pub fn pipeline_text(pass: &Ref<Pass>) -> Result<String> {
    let mut out = String::new();
    // The remaining pieces, the next piece last.
    let mut stack = vec![Piece::Pass(pass.clone(), true)];
    while let Some(piece) = stack.pop() {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Pass(pass, is_root) => match pass.downcast_ref::<Sequential>() {
                None => write_pass(&pass, &mut out)?,
                Some(sequence) => {
                    check_plain(sequence, is_root)?;
                    if !is_root {
                        stack.push(Piece::Text(")"));
                    }
                    let mut later = false;
                    for inner in sequence.passes.iter().rev() {
                        if std::mem::replace(&mut later, true) {
                            stack.push(Piece::Text(","));
                        }
                        stack.push(Piece::Pass(inner.clone(), false));
                    }
                    if !is_root {
                        stack.push(Piece::Text("("));
                    }
                }
            },
        }
    }
    Ok(out)
}

enum Piece {
    Pass(Ref<Pass>, bool),
    Text(&'static str),
}

fn check_plain(sequence: &Ref<Sequential>, is_root: bool) -> Result<()> {
    let info = &sequence.info;
    let is_plain = info.name == SEQUENTIAL && info.opt_level == 0 && info.required.is_empty();
    if is_root || is_plain {
        Ok(())
    } else {
        Err(Error::value_error(format!(
            "the sequence '{}' has no text: expected one named '{SEQUENTIAL}', of level 0 and \
             without requirements",
            info.name
        )))
    }
}

fn write_pass(pass: &Ref<Pass>, out: &mut String) -> Result<()> {
    out.push_str(&pass.info.name);
    let options = pass.options.snapshot();
    if options.is_empty() {
        return Ok(());
    }
    out.push('{');
    for (position, (name, value)) in options.iter().enumerate() {
        if position > 0 {
            out.push(',');
        }
        let name = name.peek::<Str>().map_or("", Str::as_str);
        out.push_str(name);
        out.push('=');
        out.push_str(&value_text(&pass.info.name, name, value)?);
    }
    out.push('}');
    Ok(())
}

fn value_text(pass: &str, option: &str, value: &Value) -> Result<String> {
    let text = to_text(value)
        .map_err(|error| error.in_context(format_args!("pass '{pass}', option '{option}'")))?;
    let text = text.trim_end();
    if text.contains('\n') {
        Err(Error::value_error(format!(
            "pass '{pass}', option '{option}': {} has no text in a line",
            value.type_name()
        )))
    } else {
        Ok(text.to_owned())
    }
}
