//! Complex numbers: a node type that the library declares, so every program reads files with
//! complex numbers.

use isoform_macros::Node as DeriveNode;

use super::{Schema, TypeDef};
use crate::kernel::error::{Error, Result};
use crate::kernel::hooks::{DynConvert, DynKeyEqual, DynKeyHash, DynRepr};
use crate::kernel::object::reference::{Node, Obj, Ref};
use crate::kernel::spell;
use crate::kernel::value::{Value, ValueRef};

/// A complex number of two 64-bit floats, which Python sees as `complex`.
///
/// Equality, hashes and digests compare both parts as floats: by bits, except that all NaNs
/// are equal. No map takes a complex number as a key. A field of this type also takes an int or
/// a float from other languages.
///
/// ```
/// use isoform::values::Complex;
/// use isoform::{structural_equal, Value};
///
/// let number = Complex::new(0.0, 1.0);
/// assert!(structural_equal(&number, &Complex::new(0.0, 1.0))?);
/// assert!(!structural_equal(&number, &Complex::new(-0.0, 1.0))?);
/// assert_eq!(isoform::objects::repr(&Value::from(&number)), "1j");
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(DeriveNode)]
#[node(key = "isoform.Complex", crate = crate, define = with_hooks)]
#[repr(C)]
pub struct Complex {
    /// The real part.
    pub real: f64,
    /// The imaginary part.
    pub imag: f64,
}

/// Comparison matches objects as keys of maps by identity, and two equal complex numbers are two
/// objects.
fn refused_key(number: &Ref<Obj>) -> Error {
    let number = text(number).unwrap_or_default();
    Error::type_error(format!("a complex number is no key of a map, got {number}"))
}

fn number_of(object: &Ref<Obj>) -> Result<&Ref<Complex>> {
    object.downcast_ref::<Complex>().ok_or_else(|| {
        Error::type_error(format!(
            "expected {}, got {}",
            Complex::TYPE_KEY,
            object.type_info().key()
        ))
    })
}

fn with_hooks(definition: TypeDef) -> TypeDef {
    definition
        .hook(DynConvert::new(from_number))
        .hook(DynRepr::new(|number, _| text(number)))
        .hook(DynKeyHash::new(|number| Err(refused_key(number))))
        .hook(DynKeyEqual::new(|number, _| Err(refused_key(number))))
}

/// The complex number of an int or a float.
fn from_number(value: &Value) -> Result<Value> {
    let (ValueRef::Int(_) | ValueRef::BigInt(_) | ValueRef::Float(_)) = value.view() else {
        return Err(Error::type_error(format!(
            "{} is not a complex number",
            value.type_name()
        )));
    };
    let real = Schema::Float.convert(value.clone())?;
    Ok(Complex::new(real.as_float().unwrap_or(f64::NAN), 0.0).into())
}

/// The number in the spelling of Python: the real part is left out if it is a positive zero.
fn text(number: &Ref<Obj>) -> Result<String> {
    let number = number_of(number)?;
    let part = |part: f64| {
        let mut text = String::new();
        spell::float(part, &mut text);
        text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
    };
    let imag = part(number.imag);
    if number.real.to_bits() == 0 {
        return Ok(format!("{imag}j"));
    }
    let sign = if imag.starts_with('-') { "" } else { "+" };
    Ok(format!("({}{sign}{imag}j)", part(number.real)))
}
