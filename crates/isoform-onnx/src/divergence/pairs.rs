//! Values of two models that correspond.

use std::collections::{HashMap, HashSet};

use isoform::{Ref, Value};

use super::inputs::InputPair;
use super::nodes::{Prepared, by_computation, by_structure};
use super::outcome::PairKind;
use super::side::Side;
use super::wrappers::{copied, is_dequantized, is_wrapper, passed_on, resolved};
use crate::ir::Call;
use crate::layout::made_by;
use crate::optimize::commutes;
use crate::values::{ValueKey, output};

/// Two values that correspond.
pub(super) struct ValuePair {
    pub(super) values: [Value; 2],
    pub(super) kind: PairKind,
    /// The positions among the outputs of both models, if the values are a pair as outputs.
    pub(super) outputs: Option<[usize; 2]>,
}

/// Pairs in an order of computation of the left model.
pub(super) struct Pairs {
    pub(super) list: Vec<ValuePair>,
    /// The number of nodes without a partner, on the left and on the right.
    pub(super) unpaired: [usize; 2],
}

/// Pairs the values of two main graphs. Costs as much as a diff of both programs.
///
/// # Errors
///
/// As [`isoform::compare::diff`].
pub(super) fn paired(sides: [&Side; 2], inputs: &[InputPair]) -> isoform::Result<Pairs> {
    let mut pairing = Pairing {
        sides,
        inputs,
        partners: [HashMap::new(), HashMap::new()],
        seen: HashSet::new(),
        list: Vec::new(),
    };
    if let Some(prepared) = Prepared::new(sides, inputs)? {
        // What computes the same comes first: then a node with swapped operands differs, and not
        // the operands, which the diff may pair by their positions.
        for nodes in by_computation(&prepared, inputs)? {
            pairing.add_nodes(nodes, PairKind::Structure);
        }
        for nodes in by_structure(&prepared, sides)? {
            pairing.add_nodes(nodes, PairKind::Structure);
        }
    }
    pairing.by_use();
    pairing.quantized();
    pairing.outputs();
    let unpaired = [0, 1].map(|side| {
        let nodes = sides[side].nodes.iter().enumerate();
        let alone = nodes.filter(|(index, call)| {
            !is_wrapper(call) && !pairing.partners[side].contains_key(index)
        });
        alone.count()
    });
    let mut list = pairing.list;
    let position =
        |side: usize, value: &Value| sides[side].maker(value).map_or(0, |index| index + 1);
    list.sort_by_cached_key(|pair| {
        let [left, right] = &pair.values;
        if pair.outputs.is_some() && made_by(left).is_none() {
            return (usize::MAX, 0, 0);
        }
        let index = made_by(left).map_or(0, |(_, index)| index);
        (position(0, left), index, position(1, right))
    });
    Ok(Pairs { list, unpaired })
}

struct Pairing<'a> {
    sides: [&'a Side; 2],
    inputs: &'a [InputPair],
    /// The partner of each paired node, by positions in the main graphs.
    partners: [HashMap<usize, usize>; 2],
    seen: HashSet<[ValueKey; 2]>,
    list: Vec<ValuePair>,
}

impl Pairing<'_> {
    fn add(&mut self, values: [Value; 2], kind: PairKind) {
        if self.seen.insert(values.each_ref().map(ValueKey::of)) {
            self.list.push(ValuePair {
                values,
                kind,
                outputs: None,
            });
        }
    }

    /// Pairs two nodes of the main graphs with their results; false if one has a partner.
    fn add_nodes(&mut self, nodes: [usize; 2], kind: PairKind) -> bool {
        if [0, 1]
            .iter()
            .any(|&side| self.partners[side].contains_key(&nodes[side]))
        {
            return false;
        }
        for side in [0, 1] {
            self.partners[side].insert(nodes[side], nodes[1 - side]);
        }
        let calls = [0, 1].map(|side| self.sides[side].nodes[nodes[side]].clone());
        for index in 0..calls[0].outputs.min(calls[1].outputs) {
            if calls.iter().all(|call| has_output(call, index)) {
                self.add(calls.each_ref().map(|call| output(call, index)), kind);
            }
        }
        true
    }

    /// Pairs what corresponding nodes of one operator use at the same position, also inside of
    /// their bodies, and what the outputs are, as long as that gives new pairs.
    fn by_use(&mut self) {
        let (left, right) = self.results().into_iter().map(|(_, [l, r])| (l, r)).unzip();
        let mut pending: Vec<[usize; 2]> = self.partners[0]
            .iter()
            .map(|(left, right)| [*left, *right])
            .collect();
        pending.sort_unstable();
        self.pair_operands([left, right], &mut pending);
        while let Some(nodes) = pending.pop() {
            let calls = [0, 1].map(|side| &self.sides[side].nodes[nodes[side]]);
            let op = |call: &Call| (call.domain.clone(), call.shown_op());
            let [left, right] = [0, 1].map(|side| self.sides[side].uses[nodes[side]].clone());
            if op(calls[0]) != op(calls[1]) || left.len() != right.len() {
                continue;
            }
            let right = if self.are_swapped(calls) {
                right.into_iter().rev().collect()
            } else {
                right
            };
            self.pair_operands([left, right], &mut pending);
        }
    }

    /// True if the operands of two nodes correspond crosswise.
    fn are_swapped(&self, calls: [&Ref<Call>; 2]) -> bool {
        if !calls.iter().all(|call| commutes(call)) {
            return false;
        }
        let makers = [0, 1].map(|side| {
            let inputs = calls[side].inputs.values();
            [0, 1].map(|index| self.sides[side].maker(resolved(&inputs[index])))
        });
        let op = |side: usize, index: Option<usize>| {
            index.map(|index| self.sides[side].nodes[index].shown_op())
        };
        let partner = |index: Option<usize>| self.partners[0].get(&index?).copied();
        let crossed = (0..2).any(|index| {
            let expected = partner(makers[0][index]);
            expected.is_some() && expected == makers[1][1 - index]
        });
        let straight = (0..2).any(|index| {
            let expected = partner(makers[0][index]);
            expected.is_some() && expected == makers[1][index]
        });
        let alike = |cross: usize| {
            (0..2).all(|index| op(0, makers[0][index]) == op(1, makers[1][index ^ cross]))
        };
        !straight && (crossed || alike(1) && !alike(0))
    }

    fn pair_operands(&mut self, operands: [Vec<Value>; 2], pending: &mut Vec<[usize; 2]>) {
        let [left, right] = operands;
        for (left, right) in left.iter().zip(&right) {
            let values = [resolved(left), resolved(right)];
            let [Some((_, l)), Some((_, r))] = values.map(made_by) else {
                continue;
            };
            let [Some(left), Some(right)] = [0, 1].map(|side| self.sides[side].maker(values[side]))
            else {
                continue;
            };
            if l == r && self.add_nodes([left, right], PairKind::Use) {
                pending.push([left, right]);
            }
        }
    }

    fn outputs(&mut self) {
        for (positions, values) in self.results() {
            let values = values.each_ref().map(|value| copied(value).clone());
            if self.seen.insert(values.each_ref().map(ValueKey::of)) {
                self.list.push(ValuePair {
                    values,
                    kind: PairKind::Output,
                    outputs: Some(positions),
                });
            }
        }
    }

    /// The outputs of both models: by name if both have the same names, and otherwise by
    /// position.
    fn results(&self) -> Vec<([usize; 2], [Value; 2])> {
        let graphs = self.sides.map(|side| &side.program.graph);
        let names = graphs.map(|graph| graph.result_names.iter().collect::<HashSet<_>>());
        let is_named = names[0] == names[1] && names[0].len() == graphs[0].results.len();
        let [left, right] = graphs.map(|graph| graph.results.values());
        let partner = |index: usize| {
            let name = graphs[0].result_names.get(index).filter(|_| is_named);
            let named =
                name.and_then(|name| graphs[1].result_names.iter().position(|it| it == name));
            named.unwrap_or(index)
        };
        let positions = (0..left.len()).map(|index| [index, partner(index)]);
        positions
            .filter_map(|index| {
                Some((
                    index,
                    [left.get(index[0])?.clone(), right.get(index[1])?.clone()],
                ))
            })
            .collect()
    }

    /// Pairs each dequantised form of a paired value: with the form in the other model if
    /// that model quantises the value too, and otherwise with the value.
    fn quantized(&mut self) {
        let forms = self.sides.map(dequantized_forms);
        let inputs = self.inputs.iter();
        let mut bases: Vec<[Value; 2]> = inputs
            .map(|pair| [(&pair.left).into(), (&pair.right).into()])
            .collect();
        bases.extend(self.list.iter().map(|pair| pair.values.clone()));
        for base in bases {
            let keys = base.each_ref().map(ValueKey::of);
            let [left, right] = [0, 1].map(|side| forms[side].get(&keys[side]));
            let [left, right] = [left, right].map(|forms| forms.map_or(&[][..], Vec::as_slice));
            for number in 0..left.len().max(right.len()) {
                let values = [left.get(number), right.get(number)];
                let values = [0, 1].map(|side| values[side].unwrap_or(&base[side]).clone());
                self.add(values, PairKind::Quantized);
            }
        }
    }
}

/// The results of DequantizeLinear in the main graph, by what they stand for. O(nodes).
fn dequantized_forms(side: &Side) -> HashMap<ValueKey, Vec<Value>> {
    let mut forms: HashMap<ValueKey, Vec<Value>> = HashMap::new();
    // Each wrapper continues where the wrapper below ended, so long chains take linear time.
    let mut behind: HashMap<ValueKey, Value> = HashMap::new();
    for call in side.nodes.iter().filter(|call| is_wrapper(call)) {
        let value = output(call, 0);
        let Some(inner) = passed_on(&value) else {
            continue;
        };
        let inner = behind.get(&ValueKey::of(inner)).unwrap_or(inner).clone();
        if is_dequantized(&value) && crate::values::constant(&inner).is_none() {
            forms
                .entry(ValueKey::of(&inner))
                .or_default()
                .push(value.clone());
        }
        behind.insert(ValueKey::of(&value), inner);
    }
    forms
}

/// True if the node gives an output that another node could use.
fn has_output(call: &Call, index: i64) -> bool {
    let names = &call.output_names;
    let name = usize::try_from(index)
        .ok()
        .and_then(|index| names.get(index));
    names.is_empty() || name.is_some_and(|name| !name.is_empty())
}
