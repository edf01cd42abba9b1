//! Where two nodes with bodies differ inside, by structure: their inner values are not compared.

use std::collections::HashMap;

use isoform::{Ref, Str, Value};
use isoform_kernels::Control;

use super::side::Side;
use crate::ir::Call;
use crate::layout::{BodyKind, list_body, made_by};
use crate::levels::Levels;
use crate::report::ReportOptions;

/// A node of a body by its place in the file: graph or function, position and name.
type InnerKey = (Str, bool, i64, Str);

/// The first difference inside of the nodes that make two values, in words; None if neither has
/// a body or calls a function, or nothing differs inside. Costs as much as a diff of what both
/// values are computed from.
///
/// # Errors
///
/// As [`ReportOptions::report`].
pub(super) fn first_difference_inside(
    sides: [&Side; 2],
    values: &[Value; 2],
) -> isoform::Result<Option<String>> {
    let mut places: HashMap<InnerKey, usize> = HashMap::new();
    let mut programs = Vec::new();
    for (side, value) in sides.into_iter().zip(values) {
        let Some((call, _)) = made_by(value) else {
            return Ok(None);
        };
        for (place, inner) in inner_calls(side, call).into_iter().enumerate() {
            places.entry(key(&inner)).or_insert(place);
        }
        programs.push(side.exposing(std::slice::from_ref(value)));
    }
    if places.is_empty() {
        return Ok(None);
    }
    let options = ReportOptions {
        levels: Levels::ALL,
        ..ReportOptions::default()
    };
    let report = options.report(&programs[0], &programs[1], &Control::default())?;
    let place = |value: &Value| places.get(&key(value.peek::<Ref<Call>>()?)).copied();
    let inside = report.groups.iter().filter_map(|group| {
        let parts = group.parts.iter().flatten().flatten();
        Some((parts.filter_map(place).min()?, &group.text))
    });
    Ok(inside
        .min_by_key(|(place, _)| *place)
        .map(|(_, text)| text.clone()))
}

fn key(call: &Call) -> InnerKey {
    (
        call.graph.clone(),
        call.in_function,
        call.position,
        call.name.clone(),
    )
}

/// The nodes inside of the bodies of a node of the main graph, or of the function that it calls.
fn inner_calls(side: &Side, call: &Ref<Call>) -> Vec<Ref<Call>> {
    if let Some(function) = &call.callee {
        let listing = list_body(BodyKind::Function(function.clone()));
        let nodes = listing.bodies.into_iter().flat_map(|body| body.nodes);
        return nodes.map(|node| node.call).collect();
    }
    let listing = list_body(BodyKind::Graph(side.program.graph.clone()));
    let mut nodes = listing.bodies[0].nodes.iter();
    let node = nodes.find(|node| node.call.identity() == call.identity());
    let bodies = node.into_iter().flat_map(|node| &node.bodies);
    let mut pending: Vec<usize> = bodies.map(|(_, body)| *body).collect();
    let mut calls = Vec::new();
    while let Some(body) = pending.pop() {
        for node in &listing.bodies[body].nodes {
            calls.push(node.call.clone());
            pending.extend(node.bodies.iter().map(|(_, body)| *body));
        }
    }
    calls
}
