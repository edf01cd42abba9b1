//! Sentences about the interface: inputs, outputs and their types.

use isoform::compare::ChangeKind;
use isoform::{Ref, Str, Value};

use super::groups::{ChangeSite, Writer};
use super::place::{Around, Part, field, index};
use super::sentence::{Item, Rank};
use super::values::{operand, step, tensors, type_text, weights};
use super::weights::apart;
use crate::NodeOrigin;
use crate::elements::with_another;
use crate::ir::Input;
use crate::summary::Role;
use crate::values::tensor;

impl Writer<'_> {
    /// The type of an input as a whole.
    pub(super) fn input_type(&mut self, site: &ChangeSite<'_>) -> Option<Item> {
        let sides = site.sides.each_ref().map(Around::around);
        let [
            Some((Part::Input(left), steps)),
            Some((Part::Input(right), _)),
        ] = sides
        else {
            return Some(self.other(site));
        };
        let kind = site.change.kind().name();
        if field(steps.first()) == "default" {
            let mut weight = 0.0;
            let change = match (tensor(&left.default), tensor(&right.default)) {
                (Some(left), Some(right)) => match self.measured.get(left, right) {
                    Some(difference) => {
                        weight = apart(difference);
                        weights(difference, self.options.tolerance)
                    }
                    None => tensors(left, right, self.options.tolerance),
                },
                _ => step(&left.default, &right.default),
            };
            let before = format!("default of {}: {change}", self.named_input(right));
            let mut item = Item::new(Rank::Weights, kind, before, String::new());
            item.weight = weight;
            return Some(item.of_input(right));
        }
        if !self.told.insert((right.identity(), "type".to_owned())) {
            return None;
        }
        let types = with_another([&left.ty, &right.ty].map(type_text)).join(" -> ");
        let before = format!("type of {}: {types}", self.named_input(right));
        let item = Item::new(Rank::Interface, "type", before, String::new());
        Some(item.of_input(right))
    }

    fn named_input(&self, input: &Input) -> String {
        let place = match (input.in_function, input.graph == *self.main) {
            (true, _) => format!(" of function '{}'", input.graph),
            (false, true) => String::new(),
            (false, false) => format!(" of graph '{}'", input.graph),
        };
        format!("input '{}'{place}", input.name)
    }

    pub(super) fn in_graph(
        &mut self,
        number: usize,
        site: &ChangeSite<'_>,
        side: usize,
    ) -> Option<Item> {
        let (part, steps) = site.sides[side].around()?;
        let other = site.sides[1 - side].around();
        let kind = site.change.kind();
        let (owner, graph, of) = match part {
            Part::Graph(graph) => (graph.identity(), &graph.name, "graph"),
            Part::Function(function) => (function.identity(), &function.name, "function"),
            Part::Call(_) | Part::Input(_) => return Some(self.other(site)),
        };
        let of = if *graph == *self.main && of == "graph" {
            String::new()
        } else {
            format!(" of {of} '{graph}'")
        };
        let names = |part: &Part| match part {
            Part::Graph(graph) => Some((graph.result_names.clone(), graph.results.clone())),
            Part::Function(function) => {
                Some((function.result_names.clone(), function.results.clone()))
            }
            _ => None,
        };
        let (role, verb) = match kind {
            ChangeKind::Inserted => (Role::Right, " added"),
            ChangeKind::Deleted => (Role::Left, " removed"),
            _ => (Role::Changed, ""),
        };
        let list = field(steps.first());
        let position = index(steps.get(1));
        match (list, position) {
            ("params", Some(_)) => {
                let value = site.change.right().or(site.change.left())?;
                let input = value.peek::<Ref<Input>>()?;
                let ty = type_text(&input.ty);
                let before = format!("{}{verb}: {ty}", self.named_input(input));
                let item = Item::new(Rank::Interface, kind.name(), before, String::new());
                Some(item.of_input(input).role(role))
            }
            ("result_types" | "results", Some(position)) => {
                let (names_here, results) = names(part)?;
                let name = names_here.get(position).cloned().unwrap_or_default();
                let what = format!("output '{name}'{of}");
                let is_type = list == "result_types";
                if !self
                    .told
                    .insert((owner, format!("{list} {position} {kind}")))
                {
                    return None;
                }
                let other_position = other.and_then(|(_, steps)| index(steps.get(1)));
                let both = |here: String, there: Option<String>| match (there, verb) {
                    (Some(there), "") if side == 1 => with_another([there, here]).join(" -> "),
                    (Some(there), "") => with_another([here, there]).join(" -> "),
                    _ => here,
                };
                let change = match (is_type, part, other) {
                    (true, Part::Graph(here), Some((Part::Graph(there), _))) => {
                        let ty = |types: &isoform::Array, index| {
                            types.values().get(index).map(type_text)
                        };
                        let there = other_position.and_then(|index| ty(&there.result_types, index));
                        both(ty(&here.result_types, position)?, there)
                    }
                    _ => {
                        let here = results.values().get(position)?.clone();
                        let there = other
                            .and_then(|(part, _)| names(part))
                            .map(|(_, values)| values)
                            .zip(other_position)
                            .and_then(|(values, index)| values.values().get(index).cloned());
                        if let (Some(left), Some(right)) =
                            (there.as_ref().and_then(tensor), tensor(&here))
                        {
                            let change = tensors(left, right, self.options.tolerance);
                            let before = format!("weight (as {what}): {change}");
                            let mut item =
                                Item::new(Rank::Weights, kind.name(), before, String::new());
                            item.key = format!("weight {number}");
                            return Some(item);
                        }
                        both(
                            operand(&here, None),
                            there.map(|value| operand(&value, None)),
                        )
                    }
                };
                let of_type = if is_type { "type of " } else { "" };
                let before = format!("{of_type}{what}{verb}: {change}");
                let kind = if is_type { "type" } else { kind.name() };
                let mut item = Item::new(Rank::Interface, kind, before, String::new());
                item.node = NodeOrigin::of_output(
                    graph,
                    matches!(part, Part::Function(_)),
                    &names_here,
                    position,
                );
                Some(item.role(role))
            }
            _ => Some(self.other(site)),
        }
    }

    pub(super) fn in_program(&self, at: &ChangeSite<'_>) -> Item {
        let kind = at.change.kind();
        let sides = (at.change.left(), at.change.right());
        let name = |value: &Value| value.peek::<Str>().map(|it| format!("'{it}'"));
        let before = match sides {
            (Some(left), Some(right)) => match (name(left), name(right)) {
                (Some(left), Some(right)) => {
                    format!("name of an input or output: {left} -> {right}")
                }
                _ => return self.other(at),
            },
            _ => return self.other(at),
        };
        Item::new(Rank::Interface, kind.name(), before, String::new())
    }
}
