//! What evaluation and optimisation promise about programs.

use isoform::Ref;
use isoform::transform::Script as _;
use isoform_onnx::ir::Program;

use super::generate::RandomProgram;
use super::{drawn_program, running};
use crate::properties::Property;

/// The size of programs.
const SIZE: usize = 24;

/// All properties with their names.
pub const ONNX_PROPERTIES: &[(&str, Property)] = &[(
    "onnx_programs_have_the_drawn_shapes",
    programs_have_the_drawn_shapes,
)];

fn draw(bytes: &[u8]) -> RandomProgram {
    drawn_program(bytes, SIZE)
}

/// A program as text for people.
pub(super) fn text(program: &Ref<Program>) -> String {
    match program.script() {
        Ok(script) => script.to_string(),
        Err(error) => format!("{error:#}"),
    }
}

/// Each drawn program has results, of the element types and shapes that were drawn.
fn programs_have_the_drawn_shapes(bytes: &[u8]) -> Result<(), String> {
    let drawn = draw(bytes);
    let account = |what: String| format!("{what}\n{}", text(&drawn.program));
    let results = running::results(&drawn, &drawn.program).map_err(account)?;
    for which in 0..2 {
        for (at, value) in results[which].iter().enumerate() {
            let expected = (Some(drawn.elems[at]), drawn.shapes[which][at].clone());
            let got = running::type_of(value);
            if expected != got {
                return Err(account(format!(
                    "result {at} with sizes {which}: expected {expected:?}, got {got:?}"
                )));
            }
        }
    }
    Ok(())
}
