//! Values of two models that correspond.

use std::collections::{HashMap, HashSet};

use isoform::compare::{CompareOptions, DiffOptions};
use isoform::{Ref, Value};

use super::inputs::{InputPair, in_left_order};
use super::outcome::PairKind;
use super::side::Side;
use super::wrappers::{copied, is_dequantized, is_wrapper, passed_on, resolved, unwrapped};
use crate::ir::{Call, Program};
use crate::layout::{BodyKind, list_body, made_by};
use crate::levels::Levels;
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
    pairing.by_structure()?;
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

    fn by_structure(&mut self) -> isoform::Result<()> {
        // Without wrappers first; if the nodes can then not be found again, as they are.
        for skips_wrappers in [true, false] {
            if let Some(nodes) = self.structural(skips_wrappers)? {
                for pair in nodes {
                    self.add_nodes(pair, PairKind::Structure);
                }
                return Ok(());
            }
        }
        Ok(())
    }

    /// Pairs of nodes by the diff; None if the diff's nodes do not correspond to those of the
    /// models.
    fn structural(&self, skips_wrappers: bool) -> isoform::Result<Option<Vec<[usize; 2]>>> {
        let mut programs = self.sides.map(|side| side.program.clone());
        if skips_wrappers {
            for program in &mut programs {
                *program = unwrapped(program)?;
            }
        }
        programs[1] = in_left_order(&programs[1], self.inputs);
        let (left, right) = Levels::ALL.apply_pair(&programs[0], &programs[1])?;
        let programs = [left, right];
        let [Some(left), Some(right)] =
            [0, 1].map(|side| originals(self.sides[side], &programs[side], skips_wrappers))
        else {
            return Ok(None);
        };
        let options = DiffOptions {
            compare: CompareOptions {
                map_free_vars: true,
                ..CompareOptions::default()
            },
            ..DiffOptions::default()
        };
        let difference = options.diff(&programs[0], &programs[1])?;
        if difference.is_empty() {
            // Equal programs list their nodes in one order. Only files that list nodes
            // further out than they are used may list them in other graphs.
            let nodes = left.iter().zip(&right).map(|(l, r)| [l.1, r.1]);
            let op = |side: usize, index: usize| self.sides[side].nodes[index].op.clone();
            let nodes = nodes.filter(|nodes| op(0, nodes[0]) == op(1, nodes[1]));
            return Ok(Some(nodes.collect()));
        }
        let positions = [left, right].map(|nodes| nodes.into_iter().collect::<HashMap<_, _>>());
        let position = |side: usize, value: &Value| {
            let call = value.peek::<Ref<Call>>()?;
            positions[side].get(&call.identity()).copied()
        };
        let pairs = difference.node_pairs();
        let mut nodes: Vec<[usize; 2]> = pairs
            .filter_map(|(left, right)| Some([position(0, &left)?, position(1, &right)?]))
            .collect();
        nodes.sort_unstable();
        Ok(Some(nodes))
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

/// The nodes of a program without wrappers by identity, in their order, with their positions in
/// the model; None if the nodes are not the same.
fn originals(
    side: &Side,
    program: &Ref<Program>,
    skips_wrappers: bool,
) -> Option<Vec<(u64, usize)>> {
    let listing = list_body(BodyKind::Graph(program.graph.clone()));
    let copies = &listing.bodies[0].nodes;
    let nodes = side.nodes.iter().enumerate();
    let nodes: Vec<(usize, &Ref<Call>)> = nodes
        .filter(|(_, call)| !(skips_wrappers && is_wrapper(call)))
        .collect();
    // The order of a listing depends on the structure alone.
    let is_same = |(copy, (_, call)): (&crate::layout::Node, &(usize, &Ref<Call>))| {
        let copy = &copy.call;
        (&copy.op, &copy.domain, &copy.name, copy.position)
            == (&call.op, &call.domain, &call.name, call.position)
    };
    if copies.len() != nodes.len() || !copies.iter().zip(&nodes).all(is_same) {
        return None;
    }
    let pairs = copies.iter().zip(&nodes);
    Some(
        pairs
            .map(|(copy, (index, _))| (copy.call.identity(), *index))
            .collect(),
    )
}
