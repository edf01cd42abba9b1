//! Complex numbers: the type that the library declares itself.

use isoform::compare::{recursive_eq, recursive_hash};
use isoform::files::{from_bytes, from_json_graph, to_bytes, to_json_graph};
use isoform::objects::{construct, repr};
use isoform::text::{from_text, to_text};
use isoform::types::{FieldDef, Schema, TypeDef, find_type, register_type};
use isoform::values::Complex;
use isoform::{Node, Result, Value, structural_digest, structural_equal, structural_hash};

fn complex(real: f64, imag: f64) -> Value {
    Complex::new(real, imag).into()
}

/// Files of a type of the same key and fields that was declared at run time, and its digest.
struct File {
    graph: &'static str,
    text: &'static str,
    binary: &'static str,
    digest: &'static str,
}

fn check_file(value: &Value, file: &File) -> Result<()> {
    assert_eq!(to_json_graph(value)?, file.graph);
    assert_eq!(to_text(value)?, file.text);
    let hex = |bytes: &[u8]| {
        bytes
            .iter()
            .map(|it| format!("{it:02x}"))
            .collect::<String>()
    };
    let bytes = to_bytes(value)?;
    assert_eq!(hex(&bytes), file.binary);
    assert_eq!(hex(structural_digest(value)?.as_bytes()), file.digest);
    for read in [
        from_json_graph(file.graph)?,
        from_text(file.text)?,
        from_bytes(&bytes)?,
    ] {
        assert!(structural_equal(&read, value)?, "{read:?}");
    }
    Ok(())
}

#[test]
fn files_and_digests_are_those_of_a_type_declared_at_run_time() -> Result<()> {
    check_file(
        &complex(1.0, 2.0),
        &File {
            graph: r#"{"root_index":0,"nodes":[{"type":"isoform.Complex","data":{"real":1.0,"imag":2.0}}]}"#,
            text: "isoform.Complex(real=1.0, imag=2.0)\n",
            binary: "8969736f666f726d01010f69736f666f726d2e436f6d706c65780002047265616c0204696d616702\
                     12000000000000f03f00000000000000400050defcc26c9ec37e",
            digest: "d54b5889b877d1fe2a96f28fbfecd207ad75493a682455d42fc6ebc4fdc67f18",
        },
    )?;
    check_file(
        &[
            complex(-0.0, f64::NAN),
            complex(0.0, f64::INFINITY),
            1.into(),
        ]
        .into(),
        &File {
            graph: r#"{"root_index":3,"nodes":[{"type":"isoform.Complex","data":{"real":-0.0,"imag":NaN}},{"type":"isoform.Complex","data":{"real":0.0,"imag":Infinity}},{"type":"int","data":1},{"type":"ffi.Array","data":[0,1,2]}]}"#,
            text: "[isoform.Complex(real=-0.0, imag=nan), isoform.Complex(real=0.0, imag=inf), 1]\n",
            binary: "8969736f666f726d01010f69736f666f726d2e436f6d706c65780002047265616c0204696d616702\
                     120000000000000080000000000000f87f120000000000000000000000000000f07f05020c030302\
                     010036d51bf907f0c6d1",
            digest: "7098b0c50ef901954463b63ff5d0c43a754471776ecd5fa09135d3e1dac8ba70",
        },
    )
}

#[test]
fn parts_are_compared_as_floats() -> Result<()> {
    let other_nan = f64::from_bits(f64::NAN.to_bits() | 1);
    let parts = [0.0, -0.0, 1.0, f64::NAN, f64::INFINITY, f64::MIN_POSITIVE];
    let numbers: Vec<(f64, f64)> = parts
        .iter()
        .flat_map(|real| parts.iter().map(move |imag| (*real, *imag)))
        .collect();
    let value = |(real, imag): (f64, f64)| complex(real, imag);
    for (i, left) in numbers.iter().enumerate() {
        for (j, right) in numbers.iter().enumerate() {
            let (left, right) = (value(*left), value(*right));
            assert_eq!(
                structural_equal(&left, &right)?,
                i == j,
                "{left:?} {right:?}"
            );
            let same = structural_digest(&left)? == structural_digest(&right)?;
            assert_eq!(same, i == j, "{left:?} {right:?}");
        }
    }
    let (left, right) = (complex(f64::NAN, 1.0), complex(other_nan, 1.0));
    assert!(structural_equal(&left, &right)?);
    assert_eq!(structural_hash(&left)?, structural_hash(&right)?);
    assert_eq!(structural_digest(&left)?, structural_digest(&right)?);
    assert!(recursive_eq(complex(1.0, 2.0), complex(1.0, 2.0))?);
    assert_eq!(
        recursive_hash(complex(1.0, 2.0))?,
        recursive_hash(complex(1.0, 2.0))?
    );
    Ok(())
}

#[test]
fn the_text_is_that_of_python() {
    for (real, imag, text) in [
        (0.0, 1.0, "1j"),
        (0.0, -1.5, "-1.5j"),
        (0.0, -0.0, "-0j"),
        (-0.0, 0.0, "(-0+0j)"),
        (1.0, 2.0, "(1+2j)"),
        (1.5, -2.5, "(1.5-2.5j)"),
        (f64::NAN, f64::INFINITY, "(nan+infj)"),
        (-f64::INFINITY, f64::NAN, "(-inf+nanj)"),
        (1e16, 1e-7, "(1e+16+1e-07j)"),
    ] {
        assert_eq!(repr(complex(real, imag)), text);
    }
}

#[test]
fn a_field_takes_ints_and_floats() -> Result<()> {
    let known = find_type(Complex::TYPE_KEY).expect("the library declares it");
    assert_eq!(known.index(), Complex::type_index());
    let ty = register_type(
        TypeDef::new("complex.Holder").field(FieldDef::new("z", Schema::named(Complex::TYPE_KEY))),
    )?;
    let holder = |value: Value| construct(ty, vec![value]).map(Value::from);
    for (given, real) in [(Value::from(2), 2.0), (Value::from(2.5), 2.5)] {
        assert!(structural_equal(
            &holder(given)?,
            &holder(complex(real, 0.0))?
        )?);
    }
    for refused in [Value::from("1j"), Value::from(true), Value::NONE] {
        let error = holder(refused).expect_err("no number");
        assert!(error.message().contains("complex.Holder.z"), "{error}");
        assert!(
            error.message().contains("expected isoform.Complex"),
            "{error}"
        );
    }
    let clash = TypeDef::new(Complex::TYPE_KEY).field(FieldDef::new("re", Schema::Float));
    let error = register_type(clash).expect_err("the library declares it");
    assert!(error.message().contains("already registered"), "{error}");
    Ok(())
}
