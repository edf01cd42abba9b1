//! Programs with less in them than before, although no node is chosen to go: the nodes of a
//! body in place of an If, Loop or Scan, and fewer outputs.

use isoform::{Ref, Result, Value};

use super::Draft;
use super::rebuild::Rebuild;
use super::types::Types;
use crate::ir::{Call, Input};
use crate::values::{ValueKey, output};

/// A way to have less.
#[derive(Clone, Copy, Debug)]
enum Variant {
    /// A body takes the place of a node, by their positions.
    Open { node: usize, body: usize },
    /// An output of the main graph goes.
    Output(usize),
}

impl Draft {
    fn all_variants(&self) -> Vec<Variant> {
        let mut variants = Vec::new();
        for (node, place) in self.places.iter().enumerate() {
            let entry = self.node(*place);
            if !matches!(entry.call.standard_op(), Some("If" | "Loop" | "Scan")) {
                continue;
            }
            for (_, body) in &entry.bodies {
                variants.push(Variant::Open { node, body: *body });
            }
        }
        let outputs = self.program.graph.results.len();
        if outputs > 1 {
            variants.extend((0..outputs).map(Variant::Output));
        }
        variants
    }

    /// The number of variants: a branch in place of an If, one run of the body in place of a
    /// Loop or Scan, and fewer outputs by one. O(nodes).
    pub fn variants(&self) -> usize {
        self.all_variants().len()
    }

    /// A variant by its number; None if it is not a valid model, or there is no such number.
    /// Linear in the program.
    ///
    /// # Errors
    ///
    /// None at present.
    pub fn variant(&self, number: usize) -> Result<Option<Draft>> {
        let Some(variant) = self.all_variants().get(number).copied() else {
            return Ok(None);
        };
        let mut rebuild = Rebuild::new(self);
        let count = self.program.graph.results.len();
        let mut kept: Vec<bool> = vec![true; count];
        let opened = match variant {
            Variant::Output(output) => {
                kept[output] = false;
                None
            }
            Variant::Open { node, body } => {
                let call = self.call(self.places[node]).identity();
                rebuild.opened.insert(call, body);
                if !rebuild.run() {
                    return Ok(None);
                }
                Some(call)
            }
        };
        let graph = &self.program.graph;
        let results = graph.results.values().iter().zip(kept).enumerate();
        let results = results
            .filter(|(_, (_, kept))| *kept)
            .map(|(at, (value, _))| {
                let name = graph.result_names.get(at).cloned().unwrap_or_default();
                let ty = graph.result_types.get(at).cloned();
                (name, rebuild.value(value), ty.unwrap_or(Value::NONE))
            })
            .collect();
        let Some(mut draft) = rebuild.finish(results, false) else {
            return Ok(None);
        };
        if opened.is_some() {
            // The body may run on other types than before.
            draft
                .types
                .add_missing(Types::of(&draft.program, &draft.listing));
        }
        Ok(Some(draft))
    }
}

impl Rebuild<'_> {
    /// Gives values to the inputs of a body that takes the place of a node; false if one has
    /// an unknown type.
    pub(super) fn open(&mut self, call: &Ref<Call>, body: usize) -> bool {
        let params: Vec<Ref<Input>> = {
            let params = self.draft.listing.bodies[body].kind.params().iter();
            params.cloned().collect()
        };
        let Some(states) = states(call, params.len()) else {
            return false;
        };
        for (at, param) in params.iter().enumerate() {
            let param = Value::from(param);
            let key = ValueKey::of(&param);
            let initial = at.checked_sub(states.first_param).and_then(|state| {
                let position = states.first_input + state;
                (state < states.count).then(|| call.input(position).cloned())?
            });
            let initial = initial.filter(|initial| {
                let types = &self.draft.types;
                types.is_same(key, ValueKey::of(initial)) || types.is_type_of(key, initial)
            });
            match initial {
                Some(initial) => {
                    let initial = self.value(&initial);
                    self.made.insert(key, initial);
                }
                None if self.input(&param).is_none() => return false,
                None => {}
            }
        }
        true
    }

    /// Gives values to the outputs of the node in whose place a body was computed; false if
    /// one has an unknown type.
    pub(super) fn close(&mut self, call: &Ref<Call>, body: usize) -> bool {
        let kind = &self.draft.listing.bodies[body].kind;
        let Some(states) = states(call, kind.params().len()) else {
            return false;
        };
        let results = kind.results().clone();
        for index in 0..call.outputs {
            let old = output(call, index);
            let key = ValueKey::of(&old);
            let position = usize::try_from(index).unwrap_or(usize::MAX);
            let result = results.values().get(states.first_result + position);
            match result.filter(|_| position < states.count) {
                Some(result) => {
                    let result = self.value(result);
                    self.made.insert(key, result);
                }
                // Elements of all runs, in a tensor of more axes than the body has.
                None => {
                    self.cut.insert(key);
                    if !self.draft.types.is_known(key) {
                        return false;
                    }
                }
            }
        }
        true
    }
}

/// The values that a body hands on: from inputs of the node to inputs of the body, and from
/// results of the body to outputs of the node.
struct States {
    first_input: usize,
    first_param: usize,
    first_result: usize,
    count: usize,
}

fn states(call: &Call, params: usize) -> Option<States> {
    let (first_input, first_param, first_result, count) = match call.standard_op()? {
        "If" => (0, 0, 0, usize::MAX),
        // The number of the iteration and the condition come first.
        "Loop" => (2, 2, 1, params.checked_sub(2)?),
        "Scan" if call.version >= 9 => {
            let scanned = usize::try_from(call.int("num_scan_inputs").ok()??).ok()?;
            (0, 0, 0, params.checked_sub(scanned)?)
        }
        _ => return None,
    };
    Some(States {
        first_input,
        first_param,
        first_result,
        count,
    })
}
