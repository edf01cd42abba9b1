//! Short text of operands, attributes and tensors.

use isoform::values::{Tensor, ValueRef};
use isoform::{Array, Ref, Str, Value};
use isoform_kernels::Control;
use isoform_kernels::difference::{Difference, Tolerance};

use isoform_ir::kernels::tensor_difference;

use crate::elements::{
    abbreviated, abbreviated_pair, element, float, indices, tensor_type, texts_that_differ,
    with_another,
};
use crate::ir::{Call, Function, Graph, Input, StringTensor, TypeAttr};
use crate::layout::made_by;
use crate::summary::{MeasuredWeight, number, value_summary};

/// Items of a list that are shown.
const MOST_ITEMS: usize = 12;

/// Characters of other text.
const MOST_CHARS: usize = 80;

/// A node in words: `Softmax 'sm_3'`.
pub(super) fn node(call: &Call) -> String {
    format!("{} {}", call.shown_op(), node_name(call))
}

/// The part of the text that distinguishes nodes of one operator.
pub(super) fn node_name(call: &Call) -> String {
    if call.name.is_empty() && call.output_names.iter().any(|name| !name.is_empty()) {
        format!("making {}", label(call))
    } else {
        label(call)
    }
}

/// The name of a node, or the name of its first output.
pub(super) fn label(call: &Call) -> String {
    let names = std::iter::once(&call.name).chain(call.output_names.iter());
    let name = names.into_iter().find(|name| !name.is_empty());
    name.map_or_else(|| format!("#{}", call.position), |name| format!("'{name}'"))
}

/// An operand without names, which many nodes may have alike.
pub(super) fn kind_of_operand(value: &Value) -> String {
    if let Some((call, _)) = made_by(value) {
        return call.shown_op();
    }
    match value.view() {
        ValueRef::Tensor(tensor) => format!("constant {}", tensor_type(tensor)),
        _ => text(value),
    }
}

/// A value as an operand: the node that makes the value, or the value itself.
pub(super) fn operand(value: &Value, name: Option<&Str>) -> String {
    if let Some((call, output)) = made_by(value) {
        let text = node(call);
        return match output {
            0 => text,
            output => format!("output {output} of {text}"),
        };
    }
    let named = name
        .filter(|name| !name.is_empty())
        .map_or_else(String::new, |name| format!("'{name}' "));
    match value.view() {
        ValueRef::None => "nothing".to_owned(),
        ValueRef::Tensor(tensor) => format!("constant {named}{}", tensor_text(tensor)),
        _ => text(value),
    }
}

fn tensor_text(tensor: &Tensor) -> String {
    format!("{} {}", tensor_type(tensor), abbreviated(tensor, 4, 2))
}

/// Any value in a few words.
pub(super) fn text(value: &Value) -> String {
    match value.view() {
        ValueRef::None => return "nothing".to_owned(),
        ValueRef::Tensor(tensor) => return tensor_text(tensor),
        ValueRef::Float(number) => return float(number),
        ValueRef::Array(items) => return list(items),
        _ => {}
    }
    if let Some(object) = value.as_object() {
        if let Some(call) = value.peek::<Ref<Call>>() {
            return node(call);
        } else if made_by(value).is_some() {
            return operand(value, None);
        } else if let Some(input) = object.downcast_ref::<Input>() {
            return format!("input '{}'", input.name);
        } else if let Some(graph) = object.downcast_ref::<Graph>() {
            return format!("graph '{}'", graph.name);
        } else if let Some(function) = object.downcast_ref::<Function>() {
            return format!("function '{}'", function.name);
        } else if let Some(strings) = object.downcast_ref::<StringTensor>() {
            return format!("strings {:?}", &strings.shape[..]);
        } else if let Some(ty) = object.downcast_ref::<TypeAttr>() {
            return type_text(&ty.ty);
        }
    }
    let text = format!("{value:?}");
    let [text, _] = abbreviated_pair([&text, ""], MOST_CHARS);
    text
}

/// A value that became another one.
pub(super) fn step(left: &Value, right: &Value) -> String {
    both(left, right).join(" -> ")
}

/// The texts of two values, which tell the values apart.
pub(super) fn both(left: &Value, right: &Value) -> [String; 2] {
    texts_that_differ([left, right], MOST_CHARS, text)
}

/// The texts of two operands, which tell the operands apart. Names alone tell nodes apart.
pub(super) fn operands(values: [&Value; 2], names: [Option<&Str>; 2]) -> [String; 2] {
    let texts = [0, 1].map(|side| operand(values[side], names[side]));
    if texts[0] != texts[1] || values.iter().any(|value| made_by(value).is_some()) {
        return with_another(texts);
    }
    with_another(both(values[0], values[1]))
}

fn list(items: &Array) -> String {
    let shown = items.values().iter().take(MOST_ITEMS);
    // A list inside a list would need a stack, and no attribute has one.
    let mut shown: Vec<String> = shown
        .map(|item| match item.view() {
            ValueRef::Array(_) => "[...]".to_owned(),
            _ => text(item),
        })
        .collect();
    if items.len() > MOST_ITEMS {
        shown.push("...".to_owned());
    }
    format!("[{}]", shown.join(", "))
}

/// A type as in a summary.
pub(super) fn type_text(ty: &Value) -> String {
    value_summary(String::new(), ty).ty()
}

/// How two tensors differ; their types if these do.
pub(super) fn tensors(left: &Tensor, right: &Tensor, tolerance: Option<Tolerance>) -> String {
    if (left.dtype(), left.shape()) != (right.dtype(), right.shape()) {
        return format!("{} -> {}", tensor_type(left), tensor_type(right));
    }
    let Ok(found) = tensor_difference(left, right, tolerance, &Control::default()) else {
        return with_another([left, right].map(tensor_text)).join(" -> ");
    };
    measured(left, right, tolerance, &found)
}

/// The difference of two weights: their types if different, and then their distance as
/// numbers.
pub(super) fn weights(found: &MeasuredWeight, tolerance: Option<Tolerance>) -> String {
    match &found.difference {
        None => found.types(),
        Some(difference) if found.is_of_one_form() => {
            let (left, right) = (&found.left.tensor, &found.right.tensor);
            measured(left, right, tolerance, difference)
        }
        Some(difference) => found.types() + &distances(difference),
    }
}

/// The distances of two tensors as numbers, preceded by commas.
fn distances(found: &Difference) -> String {
    let facts = [
        ("relative L2", found.relative_l2),
        ("max abs", found.max_abs),
        ("max rel", found.max_rel),
    ];
    let mut text = String::new();
    for (name, value) in facts {
        if let Some(value) = value.filter(|value| value.is_finite()) {
            text.push_str(&format!(", {name} {}", number(value)));
        }
    }
    text
}

fn measured(
    left: &Tensor,
    right: &Tensor,
    tolerance: Option<Tolerance>,
    difference: &Difference,
) -> String {
    let Some(first) = difference.first else {
        return "the same elements".to_owned();
    };
    let first = first as u64 / u64::from(left.dtype().lanes());
    let change = format!("{} -> {}", element(left, first), element(right, first));
    if difference.count == 1 {
        return change;
    }
    let mut text = format!(
        "{} of {} elements differ",
        difference.differing, difference.count
    );
    if tolerance.is_some() {
        text.push_str(&format!(", {} beyond the tolerance", difference.beyond));
    }
    for (name, value) in [
        ("max abs", difference.max_abs),
        ("max rel", difference.max_rel),
    ] {
        if let Some(value) = value {
            text.push_str(&format!(", {name} {}", number(value)));
        }
    }
    let position = indices(left.shape(), first);
    text.push_str(&format!(", first at {position:?}: {change}"));
    text
}
