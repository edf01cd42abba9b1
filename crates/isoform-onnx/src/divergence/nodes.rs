//! Nodes of two main graphs that correspond: those that compute the same, and those that the
//! diff pairs.

use std::collections::{BTreeMap, HashMap};

use isoform::compare::{ClassOptions, CompareOptions, DiffOptions};
use isoform::traverse::substitute;
use isoform::{Node as _, Ref, Value};

use super::inputs::{InputPair, in_left_order};
use super::side::Side;
use super::wrappers::{is_wrapper, unwrapped};
use crate::ir::{Call, Graph, Program};
use crate::layout::{self, BodyKind, list_body};
use crate::levels::Levels;

/// Two programs in a form in which the diff sees only what counts.
pub(super) struct Prepared<'a> {
    sides: [&'a Side; 2],
    programs: [Ref<Program>; 2],
    skips_wrappers: bool,
}

impl<'a> Prepared<'a> {
    /// The programs without wrappers; if their nodes can then not be found again, as they are;
    /// None if the nodes cannot be found at all. O(n).
    ///
    /// # Errors
    ///
    /// Those of rewriting.
    pub(super) fn new(sides: [&'a Side; 2], inputs: &[InputPair]) -> isoform::Result<Option<Self>> {
        for skips_wrappers in [true, false] {
            let mut programs = sides.map(|side| side.program.clone());
            if skips_wrappers {
                for program in &mut programs {
                    *program = unwrapped(program)?;
                }
            }
            programs[1] = in_left_order(&programs[1], inputs);
            let (left, right) = Levels::ALL.apply_pair(&programs[0], &programs[1])?;
            let prepared = Prepared {
                sides,
                programs: [left, right],
                skips_wrappers,
            };
            let is_complete =
                (0..2).all(|side| prepared.nodes(side, &prepared.graph(side)).is_some());
            if is_complete {
                return Ok(Some(prepared));
            }
        }
        Ok(None)
    }

    fn graph(&self, side: usize) -> Ref<Graph> {
        self.programs[side].graph.clone()
    }

    /// The nodes of a copy of a main graph in their order, with their positions in the model;
    /// None if the nodes are not the same.
    fn nodes(&self, side: usize, graph: &Ref<Graph>) -> Option<Vec<(Ref<Call>, usize)>> {
        let mut listing = list_body(BodyKind::Graph(graph.clone()));
        let copies = std::mem::take(&mut listing.bodies[0].nodes);
        let nodes = self.sides[side].nodes.iter().enumerate();
        let nodes: Vec<(usize, &Ref<Call>)> = nodes
            .filter(|(_, call)| !(self.skips_wrappers && is_wrapper(call)))
            .collect();
        // The order of a listing depends on the structure alone.
        let is_same = |(copy, (_, call)): (&layout::Node, &(usize, &Ref<Call>))| {
            let copy = &copy.call;
            (&copy.op, &copy.domain, &copy.name, copy.position)
                == (&call.op, &call.domain, &call.name, call.position)
        };
        if copies.len() != nodes.len() || !copies.iter().zip(&nodes).all(is_same) {
            return None;
        }
        let pairs = copies.into_iter().zip(nodes);
        Some(pairs.map(|(copy, (index, _))| (copy.call, index)).collect())
    }

    /// The positions in the model, by the identity of the node.
    fn positions(&self, side: usize) -> HashMap<u64, usize> {
        let nodes = self.nodes(side, &self.graph(side)).unwrap_or_default();
        let nodes = nodes.into_iter();
        nodes
            .map(|(call, index)| (call.identity(), index))
            .collect()
    }
}

/// Pairs of nodes that compute the same from the same inputs, if equally many on both sides do.
/// O(n), plus the bytes of weights.
///
/// # Errors
///
/// Those of classification.
pub(super) fn by_computation(
    prepared: &Prepared<'_>,
    inputs: &[InputPair],
) -> isoform::Result<Vec<[usize; 2]>> {
    let [left, right] = [0, 1].map(|side| prepared.graph(side));
    // The inputs of both models are one variable. Those of the right model are in the order of
    // the pairs.
    let places = prepared.sides[0].program.graph.params.iter().enumerate();
    let places: HashMap<u64, usize> = places
        .map(|(place, param)| (param.identity(), place))
        .collect();
    let variables = inputs.iter().zip(right.params.iter());
    let variables: Vec<(Value, Value)> = variables
        .filter_map(|(pair, right)| {
            let place = *places.get(&pair.left.identity())?;
            Some((right.into(), left.params.get(place)?.into()))
        })
        .collect();
    let results = [
        Value::from(left.results.clone()),
        substitute(right.results.clone(), &variables)?,
    ];
    let right = Ref::new(Graph {
        results: results[1].extract()?,
        ..right.clone_fields()
    });
    let classes = ClassOptions::default().classes_of_all(&results)?;
    let mut members: BTreeMap<usize, [Vec<usize>; 2]> = BTreeMap::new();
    for (side, graph) in [left, right].iter().enumerate() {
        for (call, index) in prepared.nodes(side, graph).unwrap_or_default() {
            if let Some(class) = classes.class_of(call) {
                members.entry(class.number()).or_default()[side].push(index);
            }
        }
    }
    let same = members
        .into_values()
        .filter(|[left, right]| left.len() == right.len());
    let pairs = same.flat_map(|[left, right]| left.into_iter().zip(right));
    Ok(pairs.map(|(left, right)| [left, right]).collect())
}

/// Pairs of nodes by the diff.
///
/// # Errors
///
/// As [`isoform::compare::diff`].
pub(super) fn by_structure(
    prepared: &Prepared<'_>,
    sides: [&Side; 2],
) -> isoform::Result<Vec<[usize; 2]>> {
    let options = DiffOptions {
        compare: CompareOptions {
            map_free_vars: true,
            ..CompareOptions::default()
        },
        ..DiffOptions::default()
    };
    let [left, right] = &prepared.programs;
    let difference = options.diff(left, right)?;
    if difference.is_empty() {
        // Equal programs list their nodes in one order. Only files that list nodes
        // further out than they are used may list them in other graphs.
        let [left, right] = [0, 1].map(|side| {
            let nodes = prepared.nodes(side, &prepared.graph(side));
            nodes.unwrap_or_default()
        });
        let nodes = left.iter().zip(&right).map(|(l, r)| [l.1, r.1]);
        let op = |side: usize, index: usize| sides[side].nodes[index].op.clone();
        let nodes = nodes.filter(|nodes| op(0, nodes[0]) == op(1, nodes[1]));
        return Ok(nodes.collect());
    }
    let positions = [0, 1].map(|side| prepared.positions(side));
    let position = |side: usize, value: &Value| {
        let call = value.peek::<Ref<Call>>()?;
        positions[side].get(&call.identity()).copied()
    };
    let pairs = difference.node_pairs();
    let mut nodes: Vec<[usize; 2]> = pairs
        .filter_map(|(left, right)| Some([position(0, &left)?, position(1, &right)?]))
        .collect();
    nodes.sort_unstable();
    Ok(nodes)
}
