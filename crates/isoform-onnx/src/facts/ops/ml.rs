//! Operators of `ai.onnx.ml`.

use isoform::values::ValueRef;

use super::context::Context;
use crate::elem_type::ElemType;
use crate::facts::fact::Fact;
use crate::facts::size::Size;

type Shape = Option<Vec<Size>>;

fn one(elem: Option<ElemType>, shape: Shape) -> Option<Vec<Fact>> {
    Some(vec![Fact::tensor(elem, shape)])
}

/// Facts of the results of an operator of `ai.onnx.ml`; None if unknown.
pub(super) fn shapes(c: &mut Context<'_>) -> Option<Vec<Fact>> {
    use ElemType::{Float, Int64, String};
    let same = c.shape(0).map(<[Size]>::to_vec);
    let first = c.elem(0);
    match c.call.op.as_str() {
        "Binarizer" | "Imputer" => one(first, same),
        "Normalizer" | "Scaler" => one(Some(Float), same),
        "LabelEncoder" => one(labels(c), same),
        "CategoryMapper" => one(opposite(first), same),
        "OneHotEncoder" => {
            let count = match first {
                Some(String) => attribute_length(c, "cats_strings"),
                Some(_) => attribute_length(c, "cats_int64s"),
                None => None,
            };
            let count = c.symbols.or_fresh(count);
            let shape = same.map(|mut shape| {
                shape.push(count);
                shape
            });
            one(Some(Float), shape)
        }
        "ArrayFeatureExtractor" => one(first, extracted(c)),
        "FeatureVectorizer" => one(Some(Float), joined(c)),
        "LinearRegressor" => {
            let targets = Size::from(c.int("targets", 1)?);
            one(Some(Float), by_row(c, Some(targets)))
        }
        "SVMRegressor" => one(Some(Float), by_row(c, Some(Size::from(1)))),
        "TreeEnsembleRegressor" => {
            let targets = c.call.int("n_targets").ok()?.map(Size::from);
            one(Some(Float), by_row(c, targets))
        }
        "TreeEnsemble" => {
            let targets = c.call.int("n_targets").ok()?.map(Size::from);
            one(first, by_row(c, targets))
        }
        "LinearClassifier" | "SVMClassifier" | "TreeEnsembleClassifier" => {
            let texts = attribute_length(c, "classlabels_strings")
                .filter(|count| count.as_const() != Some(0));
            let elem = if texts.is_some() { String } else { Int64 };
            let ints = match c.call.op.as_str() {
                "TreeEnsembleClassifier" => "classlabels_int64s",
                _ => "classlabels_ints",
            };
            // Support vectors of several classes may have a score for each pair of
            // classes, and one class may have two scores.
            let classes = texts.or_else(|| attribute_length(c, ints));
            let is_plain = |count: &Size| {
                c.call.op != "SVMClassifier" && count.as_const().is_some_and(|count| count > 1)
            };
            let classes = classes.filter(is_plain);
            let rows = rows(c);
            let scores = by_row(c, classes);
            Some(vec![
                Fact::tensor(Some(elem), rows.map(|rows| vec![rows])),
                Fact::tensor(Some(Float), scores),
            ])
        }
        _ => None,
    }
}

/// The number of items of an attribute; None if the attribute is omitted or unknown.
fn attribute_length(c: &Context<'_>, name: &str) -> Option<Size> {
    let value = c.call.attribute(name).ok()??;
    match value.view() {
        ValueRef::Array(items) => i64::try_from(items.len()).ok().map(Size::from),
        _ => None,
    }
}

/// The number of observations: rows of a matrix, or one vector.
fn rows(c: &Context<'_>) -> Option<Size> {
    match c.shape(0)? {
        [_] => Some(Size::from(1)),
        [rows, _] => Some(rows.clone()),
        _ => None,
    }
}

fn by_row(c: &mut Context<'_>, width: Option<Size>) -> Shape {
    let rows = rows(c);
    Some(vec![c.symbols.or_fresh(rows), c.symbols.or_fresh(width)])
}

/// Strings become integers, and integers strings.
fn opposite(elem: Option<ElemType>) -> Option<ElemType> {
    match elem? {
        ElemType::String => Some(ElemType::Int64),
        ElemType::Int64 => Some(ElemType::String),
        _ => None,
    }
}

fn labels(c: &Context<'_>) -> Option<ElemType> {
    if c.version() < 2 {
        return opposite(c.elem(0));
    }
    if let Some(values) = c.call.attribute("values_tensor").ok()? {
        return Fact::of_constant(values).elem;
    }
    let named = [
        ("values_floats", ElemType::Float),
        ("values_int64s", ElemType::Int64),
        ("values_strings", ElemType::String),
    ];
    let given = |(name, _): &&(&str, ElemType)| attribute_length(c, name).is_some();
    named.iter().find(given).map(|(_, elem)| *elem)
}

fn extracted(c: &mut Context<'_>) -> Shape {
    let count = c.fact(1).and_then(Fact::count);
    let count = c.symbols.or_fresh(count);
    match c.shape(0)? {
        [] => None,
        [_] => Some(vec![Size::from(1), count]),
        [outer @ .., _] => {
            let mut shape = outer.to_vec();
            shape.push(count);
            Some(shape)
        }
    }
}

fn joined(c: &mut Context<'_>) -> Shape {
    let rows = match c.shape(0) {
        Some([rows, _]) => Some(rows.clone()),
        _ => None,
    };
    let widths: Option<Vec<Size>> = match c.given_ints("inputdimensions")? {
        Some(widths) => Some(widths.into_iter().map(Size::from).collect()),
        None => (0..c.inputs.len())
            .map(|at| c.shape(at)?.get(1).cloned())
            .collect(),
    };
    let width = widths.map(|widths| {
        let none = Size::from(0);
        widths
            .iter()
            .fold(none, |all, width| c.symbols.sum(&all, width))
    });
    Some(vec![c.symbols.or_fresh(rows), c.symbols.or_fresh(width)])
}
