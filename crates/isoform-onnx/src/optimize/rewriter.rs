//! A walk that rebuilds a program in simplified form.
//!
//! Calls are rebuilt in an order of computation, from simplified inputs. A new call is
//! looked up among the equal calls of its body and the enclosing bodies, computed if
//! possible, and offered to the rules; the call is built only if no rule replaces it.
//! Calls made by rules take the same path. A single walk therefore applies every rule
//! to every call once, and knows the shapes and values of all operands examined by a
//! rule.

use std::collections::HashMap;
use std::sync::Arc;

use isoform::values::{DType, Tensor, ValueRef};
use isoform::{Array, Error, Map, Node as _, Ref, Str, Value};
use isoform_ir::transform::check_interrupted;

use super::branches::{Ranks, same_branches};
use super::constants::Constants;
use super::copyable::is_copyable;
use super::known;
use super::purity::Purity;
use super::report::Log;
use super::rule::{Rule, Surroundings};
use super::settings::Settings;
use super::table::{Table, holds_values};
use crate::facts::{Analysis, Fact, Size};
use crate::ir::{Call, Function, Graph};
use crate::layout::{self, BodyKind, Listing, graph_in, list_body};
use crate::values::{ValueKey, constant, made_by, output, trimmed};

/// The number of outputs that a call made by a rule may have.
const MAX_OUTPUTS: i64 = 1 << 16;

/// The depth to which calls made by rules are replaced by further calls of rules. The
/// next walk handles deeper calls.
const MAX_REQUESTS: usize = 24;
/// The depth of bodies in bodies.
const MAX_BODIES: usize = 200;

pub(super) struct Rewriter<'r> {
    pub(super) analysis: Analysis,
    pub(super) constants: &'r mut Constants,
    pub(super) settings: &'r Settings,
    pub(super) log: &'r mut Log,
    purity: Purity,
    known: known::ValueTable,
    ranks: Ranks,
    table: Table,
    /// The new values of the outputs of each call of the source.
    made: HashMap<u64, Vec<Value>>,
    functions: HashMap<u64, Ref<Function>>,
    /// How often the source uses each value.
    source_uses: HashMap<ValueKey, usize>,
    /// The number of uses of each new value in the program.
    uses: HashMap<ValueKey, usize>,
    /// For a new call, the call of the source from which it was made.
    origin: HashMap<u64, u64>,
    /// The versions of operator sets that the calls of the source use.
    versions: HashMap<Str, i64>,
    /// For a Concat of the source, a second Concat that uses it.
    joined: HashMap<u64, Ref<Call>>,
    /// The body that is being made: 0 for the main graph or a function.
    depth: i64,
    /// How many calls of rules are being made around this one.
    requests: usize,
    polled: usize,
}

impl<'r> Rewriter<'r> {
    pub(super) fn new(
        settings: &'r Settings,
        log: &'r mut Log,
        constants: &'r mut Constants,
    ) -> Self {
        Rewriter {
            analysis: Analysis::new(),
            constants,
            settings,
            log,
            purity: Purity::default(),
            known: known::ValueTable::default(),
            ranks: Ranks::default(),
            table: Table::default(),
            made: HashMap::new(),
            functions: HashMap::new(),
            source_uses: HashMap::new(),
            uses: HashMap::new(),
            origin: HashMap::new(),
            versions: HashMap::new(),
            joined: HashMap::new(),
            depth: 0,
            requests: 0,
            polled: 0,
        }
    }

    /// Rewrites a local function. Callees must be rewritten first.
    pub(super) fn function(&mut self, function: &Ref<Function>) -> isoform::Result<()> {
        self.analysis.enter_function(function);
        let listing = list_body(BodyKind::Function(function.clone()));
        self.purity.enter();
        let results = self.root(&listing)?;
        let is_pure = self.purity.leave();
        let new = if same_values(&function.results, &results) {
            function.clone()
        } else {
            Ref::new(Function {
                results: Array::from(results),
                ..function.clone_fields()
            })
        };
        let after = list_body(BodyKind::Function(new.clone()));
        self.log.leave(&listing, &after, &self.origin);
        if is_pure {
            self.purity.note(function.as_object());
            self.purity.note(new.as_object());
        }
        self.functions.insert(function.identity(), new);
        Ok(())
    }

    /// Makes the main graph again.
    pub(super) fn main(&mut self, graph: &Ref<Graph>) -> isoform::Result<Ref<Graph>> {
        self.analysis.enter_graph(graph);
        let listing = list_body(BodyKind::Graph(graph.clone()));
        self.learn_nonzero(&listing);
        let results = self.root(&listing)?;
        let new = with_results(graph, results);
        let after = list_body(BodyKind::Graph(new.clone()));
        self.log.leave(&listing, &after, &self.origin);
        Ok(new)
    }

    fn root(&mut self, listing: &Listing) -> isoform::Result<Vec<Value>> {
        self.count_uses(listing);
        self.log.enter(listing);
        if self.settings.uses("drop-failing-branch") {
            self.ranks.learn_needs(listing);
        }
        self.enter_body();
        let results = self.body(listing, 0);
        self.leave_body();
        results
    }

    /// Begins a body that stays separate in the result.
    fn enter_body(&mut self) {
        self.table.enter();
        self.known.enter();
        self.ranks.enter();
    }

    fn leave_body(&mut self) {
        self.ranks.leave();
        self.known.leave();
        self.table.leave();
    }

    /// Learns that sizes are not zero in any run that ends well: a Reshape that runs in
    /// every run cannot determine its -1 if another size is zero.
    fn learn_nonzero(&mut self, listing: &Listing) {
        let nodes = listing.bodies.first().map(|body| &body.nodes);
        for node in nodes.into_iter().flatten() {
            let call = &node.call;
            let Some(target) = call.input(1).filter(|_| call.is("Reshape")) else {
                continue;
            };
            let target = self.analysis.fact(target).elements.clone();
            let shape = self.analysis.fact(&output(call, 0)).shape.clone();
            let (Some(target), Some(shape)) = (target, shape) else {
                continue;
            };
            let is_open = |size: &Size| size.as_const() == Some(-1);
            if target.iter().any(is_open) && target.len() == shape.len() {
                for (size, extent) in target.iter().zip(&shape) {
                    if !is_open(size) {
                        extent.assume_nonzero();
                    }
                }
            }
        }
    }

    fn count_uses(&mut self, listing: &Listing) {
        for body in &listing.bodies {
            let operands = body.nodes.iter().flat_map(|node| {
                let call = &node.call;
                if call.callee.is_none() {
                    self.versions
                        .entry(call.domain.clone())
                        .or_insert(call.version);
                }
                if call.is("Concat") {
                    let parts = call.inputs.values().iter().filter_map(layout::call_of);
                    for part in parts.filter(|part| part.is("Concat")) {
                        self.joined.insert(part.identity(), call.clone());
                    }
                }
                layout::operands(call)
            });
            let results = body.kind.results().values().iter();
            for value in operands.chain(results) {
                let value = match constant(value) {
                    // All equal constants are one.
                    Some(value) => &self.constants.intern(value.clone()),
                    None => value,
                };
                *self.source_uses.entry(ValueKey::of(value)).or_default() += 1;
            }
        }
    }

    /// Makes the calls of a body in the current one, and returns the results of the body.
    fn body(&mut self, listing: &Listing, body_index: usize) -> isoform::Result<Vec<Value>> {
        let body = &listing.bodies[body_index];
        if body.depth > MAX_BODIES {
            return Err(Error::value_error(format!(
                "graph inside of graph, {} times: expected at most {MAX_BODIES} levels",
                body.depth
            )));
        }
        for node in &body.nodes {
            self.polled += 1;
            if self.polled.is_multiple_of(256) {
                check_interrupted()?;
            }
            let values = self.node(listing, node)?;
            for (index, value) in values.iter().enumerate() {
                let used = ValueKey::Output(node.call.identity(), index as i64);
                let count = self.source_uses.get(&used).copied().unwrap_or(0);
                *self.uses.entry(ValueKey::of(value)).or_default() += count;
            }
            self.made.insert(node.call.identity(), values);
        }
        let results = body.kind.results().values().iter();
        results.map(|value| self.value(value)).collect()
    }

    /// The new value for a value of the source.
    fn value(&mut self, value: &Value) -> isoform::Result<Value> {
        if let Some((call, index)) = made_by(value) {
            let Some(values) = self.made.get(&call.identity()) else {
                return Err(Error::value_error(format!(
                    "an output of {} is used where it is not computed yet",
                    call.op_name
                )));
            };
            let result = usize::try_from(index)
                .ok()
                .and_then(|position| values.get(position));
            return result.cloned().ok_or_else(|| {
                Error::value_error(format!(
                    "output {index} of {} is used, which has {} outputs",
                    call.op_name,
                    values.len()
                ))
            });
        }
        Ok(match constant(value) {
            Some(constant) => self.constants.intern(constant.clone()),
            None => value.clone(),
        })
    }

    fn node(&mut self, listing: &Listing, node: &layout::Node) -> isoform::Result<Vec<Value>> {
        let old = &node.call;
        let inputs: Vec<Value> = old
            .inputs
            .values()
            .iter()
            .map(|value| self.value(value))
            .collect::<isoform::Result<_>>()?;
        if let Some((step, branch)) = self.decided(listing, node, &inputs) {
            let body = node.bodies.iter().find(|(label, _)| *label == branch);
            if let Some((_, body)) = body {
                let mut results = self.body(listing, *body)?;
                let outputs = usize::try_from(old.outputs).unwrap_or(0);
                if results.len() >= outputs {
                    results.truncate(outputs);
                    self.log.event(step, old, Some(old.identity()));
                    return Ok(results);
                }
            }
        }
        let callee = match &old.callee {
            Some(function) => self.functions.get(&function.identity()).cloned(),
            None => None,
        };
        let is_same_callee = match (&callee, &old.callee) {
            (Some(new), Some(old)) => new.same_as(old),
            _ => true,
        };
        let same_inputs = same_values(&old.inputs, &inputs);
        let inputs = if same_inputs {
            old.inputs.clone()
        } else {
            trimmed(inputs)
        };
        let attrs = if node.bodies.is_empty() && !holds_values(old) {
            None
        } else {
            self.attributes(listing, node, &inputs)?
        };
        let moved = old.depth >= 0 && old.depth != self.depth;
        let call = if same_inputs && is_same_callee && attrs.is_none() && !moved {
            old.clone()
        } else {
            Ref::new(Call {
                inputs,
                callee: callee.or_else(|| old.callee.clone()),
                attrs: attrs.unwrap_or_else(|| old.attrs.clone()),
                depth: if moved { self.depth } else { old.depth },
                ..old.clone_fields()
            })
        };
        self.origin.insert(call.identity(), old.identity());
        let call = self.without_failing_branch(old, call);
        self.simplify(&call)
    }

    /// The step that replaces an If by a branch, and the attribute of the branch.
    fn decided(
        &mut self,
        listing: &Listing,
        node: &layout::Node,
        inputs: &[Value],
    ) -> Option<(&'static str, &'static str)> {
        let call = &node.call;
        if !call.is("If") {
            return None;
        }
        let branch = |taken: bool| if taken { "then_branch" } else { "else_branch" };
        let condition = inputs.first()?;
        if self.settings.uses("inline-if")
            && let Some([taken]) = self.analysis.fact(condition).elements_const().as_deref()
        {
            return Some(("inline-if", branch(*taken != 0)));
        }
        if let Some(taken) = self.ranks.decided(condition) {
            return Some(("drop-failing-branch", branch(taken)));
        }
        let is_same = self.settings.uses("merge-equal-branches")
            && same_branches(listing, node, self.constants);
        is_same.then(|| ("merge-equal-branches", branch(true)))
    }

    /// Gives an If a constant condition if a branch fails in every run. The next walk
    /// replaces the If by the remaining branch.
    fn without_failing_branch(&mut self, old: &Ref<Call>, new: Ref<Call>) -> Ref<Call> {
        let identity = old.identity();
        let taken = self.ranks.decide(&mut self.analysis, old, identity, &new);
        let Some(taken) = taken else {
            return new;
        };
        let Ok(condition) = Tensor::new(DType::BOOL, Vec::new(), vec![u8::from(taken)]) else {
            return new;
        };
        let condition = self.new_constant(condition.into());
        let decided = Ref::new(Call {
            inputs: Array::from(vec![condition]),
            ..new.clone_fields()
        });
        self.origin.insert(decided.identity(), identity);
        self.log.event("drop-failing-branch", old, Some(identity));
        decided
    }

    /// New attributes of a call with bodies, or with values in attributes; None if
    /// unchanged.
    fn attributes(
        &mut self,
        listing: &Listing,
        node: &layout::Node,
        inputs: &Array,
    ) -> isoform::Result<Option<Map<Str, Value>>> {
        let old = &node.call;
        let probe = Ref::new(Call {
            inputs: inputs.clone(),
            ..old.clone_fields()
        });
        self.analysis.bind_bodies(&probe);
        let mut bodies: HashMap<&str, (Vec<Value>, bool)> = HashMap::new();
        for (label, body_index) in &node.bodies {
            self.enter_body();
            self.purity.enter();
            self.depth += 1;
            let results = self.body(listing, *body_index);
            self.depth -= 1;
            let is_pure = self.purity.leave();
            self.leave_body();
            bodies.insert(label, (results?, is_pure));
        }
        let mut changed = false;
        let mut attrs = Vec::with_capacity(old.attrs.len());
        for (name, value) in old.attrs.iter() {
            let new = self.attribute(name, value, &mut bodies, &mut changed)?;
            attrs.push((name.clone(), new));
        }
        Ok(changed.then(|| attrs.into_iter().collect()))
    }

    fn attribute(
        &mut self,
        label: &str,
        value: &Value,
        bodies: &mut HashMap<&str, (Vec<Value>, bool)>,
        changed: &mut bool,
    ) -> isoform::Result<Value> {
        if let Some(graph) = graph_in(value) {
            let Some((results, is_pure)) = bodies.remove(label) else {
                return Ok(value.clone());
            };
            let new = with_results(graph, results);
            if is_pure {
                self.purity.note(new.as_object());
            }
            *changed |= !new.same_as(graph);
            return Ok(new.into());
        }
        if let ValueRef::Array(items) = value.view() {
            let mut inner = false;
            let items = items
                .values()
                .iter()
                .enumerate()
                .map(|(index, item)| {
                    let label = format!("{label}[{index}]");
                    self.attribute(&label, item, bodies, &mut inner)
                })
                .collect::<isoform::Result<Vec<Value>>>()?;
            if !inner {
                return Ok(value.clone());
            }
            *changed = true;
            return Ok(Array::from(items).into());
        }
        if made_by(value).is_some() {
            let new = self.value(value)?;
            *changed |= ValueKey::of(&new) != ValueKey::of(value);
            return Ok(new);
        }
        Ok(value.clone())
    }

    /// The values that take the place of the outputs of a call.
    fn simplify(&mut self, call: &Ref<Call>) -> isoform::Result<Vec<Value>> {
        let is_pure = self.purity.is_pure(call);
        if is_pure
            && self.settings.uses("merge-equal-calls")
            && let Some(values) = self.table.find(call).cloned()
            && self.is_copyable(call)
        {
            self.fired("merge-equal-calls", call);
            return Ok(values);
        }
        let mut values = None;
        if is_pure {
            values = self.fold(call)?;
            if values.is_none() {
                values = self.replaced_by_known(call);
            }
        }
        if values.is_none() && self.requests < MAX_REQUESTS {
            values = self.rules(call)?;
        }
        let outputs: Vec<Value> = (0..call.outputs).map(|index| output(call, index)).collect();
        if values.is_none() {
            self.known.learn_element(call, &outputs);
            self.ranks.learn_possible(&mut self.analysis, call);
            if is_pure && call.outputs == 1 {
                values = self.merged_uniform(call);
            }
        }
        let values = values.unwrap_or(outputs);
        if is_pure {
            self.table.insert(call, values.clone());
            for value in &values {
                let fact = self.analysis.fact(value);
                self.known.insert(&fact, value);
            }
        }
        Ok(values)
    }

    fn is_copyable(&mut self, call: &Ref<Call>) -> bool {
        let known = if call.is_standard() {
            Some(&call.version)
        } else {
            self.versions.get(&Str::default())
        };
        let newest = i64::MAX;
        is_copyable(call, known.copied().unwrap_or(newest), &mut self.analysis)
    }

    fn replaced_by_known(&mut self, call: &Ref<Call>) -> Option<Vec<Value>> {
        let outputs: Vec<Value> = (0..call.outputs).map(|index| output(call, index)).collect();
        let mut values = Vec::with_capacity(outputs.len());
        let mut changed = None;
        for value in outputs {
            let fact = self.analysis.fact(&value);
            let replacement = match self.known.constant(&fact) {
                Some(constant) if self.settings.uses("known-values") => {
                    changed = Some("known-values");
                    self.new_constant(constant)
                }
                _ => match self.known.find(&fact) {
                    Some(earlier) if self.settings.uses("merge-known-values") => {
                        changed.get_or_insert("merge-known-values");
                        earlier
                    }
                    _ => value,
                },
            };
            values.push(replacement);
        }
        match changed {
            Some(rule) => {
                self.fired(rule, call);
                Some(values)
            }
            None => None,
        }
    }

    /// An earlier value of the same elements, if all elements of the result are equal.
    fn merged_uniform(&mut self, call: &Ref<Call>) -> Option<Vec<Value>> {
        if !self.settings.uses("merge-known-values") {
            return None;
        }
        let value = output(call, 0);
        let fact = self.analysis.fact(&value);
        let found = self.known.uniform(&value, &fact)?;
        self.fired("merge-known-values", call);
        Some(vec![found])
    }

    fn rules(&mut self, call: &Ref<Call>) -> isoform::Result<Option<Vec<Value>>> {
        let settings = self.settings;
        for rule in settings.rules_for(call) {
            let mark = self.log.mark();
            match rule.apply(self, call)? {
                None => self.log.reset(mark),
                Some(values) => {
                    self.check(rule, call, &values)?;
                    self.log.step(rule.name())?;
                    self.fired(rule.name(), call);
                    return Ok(Some(values));
                }
            }
        }
        Ok(None)
    }

    /// Refuses replacements that cannot be right.
    fn check(&mut self, rule: &Rule, call: &Ref<Call>, values: &[Value]) -> isoform::Result<()> {
        let error = |text: String| {
            Err(Error::value_error(format!(
                "rule '{}' at {} '{}': {text}",
                rule.name(),
                call.op_name,
                call.name
            )))
        };
        if values.len() as i64 != call.outputs {
            return error(format!(
                "expected {} values, one for each output, got {}",
                call.outputs,
                values.len()
            ));
        }
        for (index, new) in values.iter().enumerate() {
            let old = output(call, index as i64);
            let (old, new) = (self.analysis.fact(&old), self.analysis.fact(new));
            if let (Some(old), Some(new)) = (old.elem, new.elem)
                && old != new
            {
                return error(format!(
                    "output {index} has elements of {old}, not of {new}"
                ));
            }
            if let (Some(old), Some(new)) = (&old.shape, &new.shape) {
                let differ = old.len() != new.len()
                    || old
                        .iter()
                        .zip(new)
                        .any(|(old, new)| old.known_eq(new) == Some(false));
                if differ {
                    let text = |shape: &[Size]| {
                        let sizes: Vec<String> = shape.iter().map(ToString::to_string).collect();
                        format!("({})", sizes.join(", "))
                    };
                    return error(format!(
                        "output {index} has shape {}, not {}",
                        text(old),
                        text(new)
                    ));
                }
            }
        }
        Ok(())
    }

    /// Records that a call is replaced.
    pub(super) fn fired(&mut self, rule: &str, call: &Ref<Call>) {
        let source = self.origin.get(&call.identity()).copied();
        self.log.event(rule, call, source);
    }
}

impl Surroundings for Rewriter<'_> {
    fn fact(&mut self, value: &Value) -> Arc<Fact> {
        self.analysis.fact(value)
    }

    fn uses(&self, value: ValueKey) -> usize {
        match value {
            ValueKey::Output(..) => self.uses.get(&value).copied().unwrap_or(1),
            _ => self.source_uses.get(&value).copied().unwrap_or(1),
        }
    }

    fn uses_in_source(&self, call: &Ref<Call>, index: i64) -> usize {
        let Some(&origin) = self.origin.get(&call.identity()) else {
            return 0;
        };
        let key = ValueKey::Output(origin, index);
        self.source_uses.get(&key).copied().unwrap_or(0)
    }

    fn joined_by(&self, call: &Ref<Call>) -> Option<Ref<Call>> {
        let origin = self.origin.get(&call.identity())?;
        self.joined.get(origin).cloned()
    }

    fn element(&self, value: &Value) -> Option<Vec<u8>> {
        self.known.element(value)
    }

    fn new_constant(&mut self, value: Value) -> Value {
        let value = self.constants.intern(value);
        if let ValueKey::Object(identity) = ValueKey::of(&value) {
            self.log.made(identity);
        }
        value
    }

    fn request(
        &mut self,
        root: &Ref<Call>,
        domain: &str,
        op: &str,
        inputs: Vec<Value>,
        attrs: &[(&str, Value)],
        outputs: i64,
        in_place: bool,
    ) -> isoform::Result<Vec<Value>> {
        if !(1..=MAX_OUTPUTS).contains(&outputs) {
            return Err(isoform::Error::value_error(format!(
                "a call of {op} with {outputs} outputs: expected 1 to {MAX_OUTPUTS}"
            )));
        }
        let version = if domain == root.domain.as_str() && root.callee.is_none() {
            root.version
        } else {
            let entry = self.versions.iter().find(|(key, _)| key.as_str() == domain);
            entry.map_or(1, |(_, version)| *version)
        };
        let inputs = inputs
            .into_iter()
            .map(|value| match constant(&value) {
                Some(_) => self.constants.intern(value),
                None => value,
            })
            .collect();
        let op_name = match domain {
            "" => op.to_owned(),
            domain => format!("{domain}::{op}"),
        };
        let attrs = attrs
            .iter()
            .map(|(name, value)| (Str::from(*name), value.clone()));
        let call = Ref::new(Call {
            domain: domain.into(),
            op: op.into(),
            version,
            callee: None,
            attrs: attrs.collect(),
            inputs: trimmed(inputs),
            outputs,
            op_name: op_name.into(),
            name: if in_place {
                root.name.clone()
            } else {
                Str::default()
            },
            output_names: if in_place {
                root.output_names.clone()
            } else {
                Array::new()
            },
            input_names: Array::new(),
            depth: if root.depth >= 0 {
                self.depth
            } else {
                root.depth
            },
            ..root.clone_fields()
        });
        if in_place && let Some(&origin) = self.origin.get(&root.identity()) {
            self.origin.insert(call.identity(), origin);
        }
        self.log.made(call.identity());
        self.requests += 1;
        let values = self.simplify(&call);
        self.requests -= 1;
        values
    }
}

fn with_results(graph: &Ref<Graph>, results: Vec<Value>) -> Ref<Graph> {
    if same_values(&graph.results, &results) {
        return graph.clone();
    }
    Ref::new(Graph {
        results: Array::from(results),
        ..graph.clone_fields()
    })
}

fn same_values(old: &Array, new: &[Value]) -> bool {
    old.len() == new.len()
        && (old.values().iter())
            .zip(new)
            .all(|(old, new)| ValueKey::of(old) == ValueKey::of(new))
}
