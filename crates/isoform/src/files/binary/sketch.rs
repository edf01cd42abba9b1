//! The types of a file without their declarations.

use super::format::{BinaryReadOptions, Literal, container, record};
use super::reader::{Reader, skip_literal, skip_plain};
use crate::kernel::container::ContainerType;
use crate::kernel::error::{Error, Result};
use crate::kernel::object::access::Poll;
use crate::kernel::types::Schema;
use crate::kernel::types::stand_ins::TypeSketch;

/// The types of bytes in the binary form, as far as the bytes describe them. O(n).
///
/// # Errors
///
/// `ValueError` for bytes that are not in the binary form.
pub fn type_sketches(bytes: &[u8]) -> Result<Vec<TypeSketch>> {
    let mut reader = Reader::new(bytes, BinaryReadOptions::default(), None)?;
    let input = &mut reader.input;
    let mut types: Vec<(TypeSketch, Vec<Literal>)> = Vec::new();
    let mut poll = Poll::default();
    loop {
        poll.step_outside()?;
        let number = input.number()?;
        if let Some(ty) = number.checked_sub(record::FIRST_OBJECT) {
            let ty = usize::try_from(ty).ok().and_then(|ty| types.get(ty));
            let Some((sketch, literals)) = ty else {
                return Err(Error::value_error("binary form: an unknown type"));
            };
            if sketch.is_hooked {
                input.content()?;
            }
            for literal in literals {
                skip_literal(input, *literal)?;
            }
            continue;
        }
        match number {
            record::END => break,
            record::TYPE => {
                let mut sketch = TypeSketch::new(input.text()?);
                sketch.is_hooked = input.bool()?;
                let mut literals = Vec::new();
                for _ in 0..input.count()? {
                    let name = input.text()?;
                    let literal = usize::from(input.byte()?);
                    let Some(&literal) = Literal::ALL.get(literal) else {
                        return Err(Error::value_error(
                            "binary form: an unknown kind of a field",
                        ));
                    };
                    sketch.add(name, schema(literal));
                    literals.push(literal);
                }
                types.push((sketch, literals));
            }
            number => match container(number).and_then(ContainerType::of) {
                Some(container) => {
                    for _ in 0..input.count()? * container.parts_per_element() {
                        input.number()?;
                    }
                }
                None => skip_plain(input, number, false)?,
            },
        }
    }
    Ok(types.into_iter().map(|(sketch, _)| sketch).collect())
}

fn schema(literal: Literal) -> Schema {
    match literal {
        Literal::Reference => Schema::Any,
        Literal::Int => Schema::Int,
        Literal::Float => Schema::Float,
        Literal::Bool => Schema::Bool,
        Literal::DType => Schema::DType,
    }
}
