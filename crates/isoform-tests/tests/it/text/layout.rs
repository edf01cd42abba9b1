//! Line breaks, and the effects of the options.

use isoform::Array;
use isoform::objects::construct;
use isoform::paths::AccessPath;
use isoform::types::{FieldDef, FieldFlag, Schema, TypeDef, register_type};

use super::*;

/// Checks that the value has this text with these options, and is read again.
#[track_caller]
fn check_with(value: impl Into<Value>, options: &TextOptions, expected: &str) {
    let value = value.into();
    assert_eq!(options.to_text(&value).expect("a text"), expected);
    check_round_trip(&value, options);
}

fn narrow(width: usize) -> TextOptions {
    TextOptions::default().width(width)
}

#[test]
fn what_does_not_fit_is_broken() {
    let value = Value::from([Value::from("a long text"), Value::from([1, 2]), "b".into()]);
    check_with(&value, &narrow(100), "[\"a long text\", [1, 2], \"b\"]\n");
    check_with(&value, &narrow(28), "[\"a long text\", [1, 2], \"b\"]\n");
    check_with(
        &value,
        &narrow(27),
        "[\n  \"a long text\", [1, 2],\n  \"b\"\n]\n",
    );
}

#[test]
fn numbers_fill_lines() {
    let numbers: Array<i64> = (0..12).collect();
    check_with(
        numbers,
        &narrow(16),
        "[\n  0, 1, 2, 3, 4,\n  5, 6, 7, 8, 9,\n  10, 11\n]\n",
    );
}

#[test]
fn small_tensors_stand_on_one_line() {
    let dims: Vec<u8> = [3i64, 1].iter().flat_map(|n| n.to_le_bytes()).collect();
    let tensor = Tensor::new(DType::INT64, vec![2], dims).expect("a tensor");
    check_with(
        [Value::from(Constant::new(tensor))],
        &narrow(52),
        "[tx.Constant(data=Tensor(int64, [2], [3, 1]))]\n",
    );
}

#[test]
fn indentation_is_an_option() {
    let op = Op::new("it.text.layout");
    let node = call(&op, &[1.into(), "some text".into()]);
    check_with(
        node,
        &narrow(20).indent(4),
        "@it.text.layout = tx.Op()\ntx.Call(\n    op=@it.text.layout,\n    args=[\n        \
         1,\n        \"some text\"\n    ],\n)\n",
    );
}

#[test]
fn fields_may_be_hidden() -> Result<()> {
    let ty = register_type(
        TypeDef::new("it.text.Spanned")
            .field(FieldDef::new("x", Schema::Int).default_value(1))
            .field(
                FieldDef::new("span", Schema::Any)
                    .flag(FieldFlag::Ignore)
                    .default_value(Value::NONE),
            ),
    )?;
    let node = construct(ty, vec![1.into(), "here".into()])?;
    check(node.clone(), "it.text.Spanned(span=\"here\")\n");
    let options = TextOptions::default();
    check_with(&node, &options.clone().hide("span"), "it.text.Spanned()\n");
    check_with(
        &node,
        &options.clone().ignored_fields(false),
        "it.text.Spanned()\n",
    );
    check_with(
        &node,
        &options.defaults(true),
        "it.text.Spanned(x=1, span=\"here\")\n",
    );
    Ok(())
}

#[test]
fn objects_may_have_comments() {
    let options = TextOptions::default().annotate(|object| {
        let name = object.type_info().key();
        Ok((name == "tx.Var").then(|| "a */ var\nhere".to_owned()))
    });
    let x = var("x");
    check_with(
        Func::new(&x, [x.clone()]),
        &options,
        "tx.Function(params=[%x: tx.Var() /* a * / var here */], body=%x)\n",
    );
    let failing = TextOptions::default().annotate(|_| Err(isoform::Error::value_error("no")));
    let error = failing.to_text(x).expect_err("the callback fails");
    assert_eq!(error.message(), "no");
}

#[test]
fn places_may_be_underlined() -> Result<()> {
    let x = var("x");
    let func = Func::new([Value::from(&x), 2.into()], [x.clone()]);
    let marked = |path: &str, note: &str| {
        let path = AccessPath::parse(path)?;
        TextOptions::default().mark(path, note).to_text(&func)
    };
    let line = "tx.Function(params=[%x: tx.Var()], body=[%x, 2])\n";
    let under = |carets: &str| format!("{line}{carets}\n");
    let text = marked("<root>.body[1]", "here")?;
    assert_eq!(
        text,
        under("//                                           ^ here")
    );
    // Comments are not part of the value.
    assert_eq!(text_of(from_text(&text)?), line);
    let text = marked("<root>.body", "")?;
    assert_eq!(
        text,
        under("//                                      ^^^^^^^")
    );
    let text = marked("<root>", "all of it")?;
    assert_eq!(text, under(&format!("//{} all of it", "^".repeat(46))));
    // The nearest part that is printed.
    let text = marked("<root>.params[0].name_hint", "")?;
    assert_eq!(text, under("//                  ^^^^^^^^^^^^"));
    let text = marked("<root>.body.<missing:q>", "")?;
    assert_eq!(
        text,
        under("//                                      ^^^^^^^")
    );
    Ok(())
}

#[test]
fn colours_are_escapes_around_the_same_text() -> Result<()> {
    let x = var("x");
    let value = Func::new(
        [Value::from(&x), "s".into(), 1.5.into(), true.into()],
        [x.clone()],
    );
    let plain = text_of(&value);
    let mark = |options: TextOptions| options.mark(AccessPath::root().attr("body"), "note");
    let coloured = TextOptions::default().color(true).to_text(&value)?;
    assert_ne!(coloured, plain);
    let strip = |text: &str| {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once('\u{1b}') {
            out.push_str(before);
            rest = behind.split_once('m').expect("an escape sequence").1;
        }
        out + rest
    };
    assert_eq!(strip(&coloured), plain);
    let coloured = mark(TextOptions::default().color(true)).to_text(&value)?;
    assert_eq!(
        strip(&coloured),
        mark(TextOptions::default()).to_text(&value)?
    );
    Ok(())
}

#[test]
fn depth_is_an_option() {
    let mut value = Value::from(1);
    for _ in 0..5 {
        value = Value::from([value]);
    }
    check_with(
        &value,
        &TextOptions::default().depth(2),
        "%0 = [[1]]\n[[[%0]]]\n",
    );
}
