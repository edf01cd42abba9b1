//! Changes of a diff as sentences: those of nodes here, others in `interface.rs`.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use isoform::compare::{self, Change, ChangeKind, Difference};
use isoform::paths::AccessStep;
use isoform::values::ValueRef;
use isoform::{Ref, Str, Value};

use super::coverage::{UntoldChange, assign, parts_of, whole_parts};
use super::hunks;
use super::options::{ChangeGroup, ReportOptions};
use super::place::{self, Around, Part, call_identity, field, index, key};
use super::rewired::{Wiring, bodies};
use super::sentence::{Item, Rank, alone, became, grouped, used_by, weight_name};
use super::values::{
    kind_of_operand, label, node, operand, operands, step, tensors, text, weights,
};
use super::weights::{Measured, apart};
use crate::ir::{Call, Input, Program};
use crate::levels::Defaults;
use crate::summary::{Role, WeightsDifference};
use crate::values::tensor;

/// Both sides of a change at one place.
pub(super) struct ChangeSite<'a> {
    pub(super) change: &'a Change,
    pub(super) sides: [Around; 2],
}

/// Nodes that correspond.
pub(super) type CallPair = (Ref<Call>, Ref<Call>);

/// The versions of each domain.
pub(super) type Opsets = BTreeMap<String, BTreeSet<i64>>;

pub(super) struct Writer<'a> {
    pub(super) options: ReportOptions,
    pub(super) main: &'a Str,
    /// The operator sets of the files by domain.
    pub(super) opsets: [&'a Opsets; 2],
    /// None if the levels keep an omitted attribute apart from its default.
    pub(super) defaults: Option<[Defaults<'a>; 2]>,
    pub(super) measured: Measured<'a>,
    pub(super) items: Vec<Item>,
    /// Attributes, inputs and types already reported as a whole.
    pub(super) told: HashSet<(u64, String)>,
    /// The left nodes with a partner on the right.
    partnered: HashSet<u64>,
    /// Pairs of nodes of one operator by their versions, if these differ.
    versions: HashMap<(i64, i64), Vec<CallPair>>,
    /// The left nodes that changed.
    pub(super) changed: HashSet<u64>,
    /// The nodes of hunks, which are already reported.
    in_hunks: HashSet<u64>,
    /// Changes without sentences of their own.
    untold: Vec<UntoldChange>,
    pub(super) wiring: Wiring,
    /// The changes of whole nodes, by the nodes.
    pub(super) of_node: HashMap<u64, usize>,
}

/// All changes in words, and the left nodes that changed.
pub(super) fn groups(
    options: ReportOptions,
    programs: [&Program; 2],
    opsets: [&Opsets; 2],
    difference: &Difference,
    weights: &WeightsDifference,
) -> (Vec<ChangeGroup>, HashSet<u64>) {
    let main = &programs[1].graph.name;
    let pairs = difference.node_pairs();
    let pairs = pairs.filter_map(|(l, r)| {
        let call = |value: Value| value.peek::<Ref<Call>>().cloned();
        Some((call(l)?, call(r)?))
    });
    let pairs: Vec<CallPair> = pairs.collect();
    let found_hunks = difference.hunks();
    let mut writer = Writer {
        options,
        main,
        opsets,
        defaults: options.levels.defaults.then(|| programs.map(Defaults::of)),
        measured: Measured::new(weights),
        items: Vec::new(),
        told: HashSet::new(),
        partnered: HashSet::new(),
        versions: HashMap::new(),
        changed: HashSet::new(),
        in_hunks: HashSet::new(),
        untold: Vec::new(),
        wiring: Wiring::new(pairs.clone(), bodies(programs), &found_hunks),
        of_node: HashMap::new(),
    };
    for (left, right) in pairs {
        writer.partnered.insert(left.identity());
        if left.version != right.version && left.shown_op() == right.shown_op() {
            let versions = (left.version, right.version);
            let version_pairs = writer.versions.entry(versions).or_default();
            version_pairs.push((left, right));
        }
    }
    let in_hunks = hunks::add(main, &found_hunks, &writer.wiring, &mut writer.items);
    let changed = in_hunks
        .iter()
        .filter(|ident| writer.partnered.contains(ident));
    writer.changed.extend(changed);
    writer.in_hunks.clone_from(&in_hunks);
    for (number, change) in difference.changes().iter().enumerate() {
        let is_told = [change.left(), change.right()]
            .into_iter()
            .filter_map(call_identity)
            .any(|call| in_hunks.contains(&call));
        let is_node = matches!(
            change.kind(),
            ChangeKind::Inserted | ChangeKind::Deleted | ChangeKind::Replaced
        );
        if is_node {
            let sides = [change.left(), change.right()];
            let nodes = sides.into_iter().filter_map(call_identity);
            writer.of_node.extend(nodes.map(|node| (node, number)));
        }
        if is_told && is_node {
            let untold = UntoldChange::new(number, change, whole_parts(change), String::new());
            writer.untold.push(untold);
            continue;
        }
        if writer.only_versions(number, change) {
            continue;
        }
        for (left, right) in change.places() {
            writer.place(number, change, left, right);
        }
    }
    writer.rewired();
    writer.decoded_weights(weights);
    assign(&mut writer.items, writer.untold);
    (grouped(writer.items), writer.changed)
}

impl Writer<'_> {
    /// Reports one change of versions for many nodes, if nothing else changed.
    fn only_versions(&mut self, number: usize, change: &Change) -> bool {
        let version = |value: Option<&Value>| match value?.view() {
            ValueRef::Int(version) => Some(version),
            _ => None,
        };
        let Some(versions) = version(change.left()).zip(version(change.right())) else {
            return false;
        };
        let Some(pairs) = self.versions.get(&versions) else {
            return false;
        };
        if change.kind() != ChangeKind::Value || change.places().len() != pairs.len() {
            return false;
        }
        let is_version = |(_, right): (compare::Place, compare::Place)| {
            let around = right.around().next();
            around.is_some_and(|(_, step)| field(Some(&step)) == "version")
        };
        if !change.places().next().is_some_and(is_version) {
            return false;
        }
        let pairs = pairs.clone();
        for (left, right) in pairs {
            let Some(mut item) = self.version(&left, &right) else {
                continue;
            };
            self.changed.insert(left.identity());
            item.place = place::head_of_node(&right) + ".version";
            item.changes.push(number);
            item.parts = [left, right].map(|call| vec![call.into()]);
            self.items.push(item);
        }
        true
    }

    fn place(
        &mut self,
        number: usize,
        change: &Change,
        left: compare::Place,
        right: compare::Place,
    ) {
        let place = match change.kind() {
            ChangeKind::Deleted => place::text(change, &left),
            _ => place::text(change, &right),
        };
        let site = ChangeSite {
            change,
            sides: [left, right].map(Around::new),
        };
        let changed = changed_node(&site);
        let mut parts = parts_of(change, &site.sides);
        if change.kind() == ChangeKind::Sharing && parts.iter().all(|side| side.len() == 1) {
            // The original has a partner; only the copy is added or removed.
            let is_added = call_identity(change.left())
                .is_some_and(|original| self.partnered.contains(&original));
            parts[usize::from(!is_added)].clear();
        }
        let before = self.items.len();
        let item = self.item(number, &site);
        // A node with another weight is the same node.
        let is_weight = item.as_ref().is_some_and(|item| item.rank == Rank::Weights);
        if !is_weight {
            self.changed.extend(changed);
        }
        for told in &mut self.items[before..] {
            told.changes.push(number);
            told.parts.clone_from(&parts);
        }
        let Some(mut item) = item else {
            let untold = UntoldChange::new(number, change, parts, place);
            self.untold.push(untold);
            return;
        };
        if item.before.is_empty() && item.after.is_empty() {
            let whole = format!("{} at {place}", change.kind());
            item.before = match (change.left(), change.right()) {
                (Some(left), Some(right)) => format!("{whole}: {}", step(left, right)),
                (Some(alone), None) | (None, Some(alone)) => format!("{whole}: {}", text(alone)),
                (None, None) => whole,
            };
        }
        item.place = place;
        item.changes.push(number);
        item.parts = parts;
        self.items.push(item);
    }

    /// None if it was told already.
    fn item(&mut self, number: usize, site: &ChangeSite<'_>) -> Option<Item> {
        let kind = site.change.kind();
        if let Some(item) = self.whole_node(site) {
            return Some(item);
        }
        // For a one-sided part, the place on the opposite side is the place of the
        // container.
        let side = usize::from(kind != ChangeKind::Deleted);
        let around = site.sides[side].around();
        let other = site.sides[1 - side].around();
        match (around, other) {
            (Some((Part::Call(call), steps)), Some((Part::Call(other), others))) => {
                let calls = match side {
                    1 => [(other, others), (call, steps)],
                    _ => [(call, steps), (other, others)],
                };
                self.in_call(number, site, calls)
            }
            (Some((Part::Input(_), _)), Some((Part::Input(_), _))) => self.input_type(site),
            (Some((Part::Graph(_) | Part::Function(_), _)), _) => self.in_graph(number, site, side),
            (None, _) => Some(self.in_program(site)),
            _ => Some(self.other(site)),
        }
    }

    /// An added, removed or replaced node.
    fn whole_node(&self, site: &ChangeSite<'_>) -> Option<Item> {
        let call = |value: Option<&Value>| value?.peek::<Ref<Call>>().cloned();
        let (left, right) = (call(site.change.left()), call(site.change.right()));
        let kind = site.change.kind();
        match (kind, left, right) {
            (ChangeKind::Inserted, None, Some(call)) => {
                let mut item = alone("added ", Role::Right, &call, self.main, &site.sides[1]);
                item.once
                    .insert_str(0, &self.wiring.sources(call.identity()));
                Some(item)
            }
            (ChangeKind::Deleted, Some(call), None) => Some(alone(
                "removed ",
                Role::Left,
                &call,
                self.main,
                &site.sides[0],
            )),
            (ChangeKind::Replaced, Some(left), Some(right)) => {
                let mut item = became(&left, &right, self.main);
                item.once.push_str(&self.wiring.sources(right.identity()));
                Some(item)
            }
            (ChangeKind::Sharing, Some(left), Some(right)) => {
                // The copy is the node without a partner.
                let is_added = self.partnered.contains(&left.identity());
                let (verb, role, call) = if is_added {
                    ("added", Role::Right, right)
                } else {
                    ("removed", Role::Left, left)
                };
                let before = format!("{verb} a copy of ");
                let mut item = Item::new(Rank::Nodes, kind.name(), before, String::new());
                item.once = used_by(&site.sides[1]);
                Some(item.of_call(&call, self.main).role(role))
            }
            _ => None,
        }
    }

    fn in_call(
        &mut self,
        number: usize,
        site: &ChangeSite<'_>,
        [(left, left_steps), (right, right_steps)]: [(&Ref<Call>, &[AccessStep]); 2],
    ) -> Option<Item> {
        if [left, right]
            .iter()
            .all(|call| self.in_hunks.contains(&call.identity()))
        {
            return None;
        }
        let kind = site.change.kind().name();
        let name = field(right_steps.first().or(left_steps.first()));
        match name {
            // Another operator says more than its version.
            "version" if left.shown_op() != right.shown_op() => None,
            "version" => self.version(left, right),
            "op" | "domain" | "callee" if left_steps.len().max(right_steps.len()) == 1 => {
                let was = format!("{} ", left.shown_op());
                let item = Item::new(Rank::Nodes, kind, was, String::new());
                let mut item = item.became_call(right, self.main);
                if label(left) != label(right) {
                    item.once = format!(", in place of {}", node(left));
                }
                if left.inputs.len() != right.inputs.len() {
                    let operands = right.inputs.values().iter().zip(&right.input_names);
                    let operands = operands.map(|(value, name)| operand(value, Some(name)));
                    item.once += &Wiring::sources_text(operands.collect());
                }
                Some(item)
            }
            "outputs" => {
                let after = format!(": {} -> {}", left.outputs, right.outputs);
                let before = "number of outputs of ".to_owned();
                Some(Item::new(Rank::Operands, kind, before, after).of_call(right, self.main))
            }
            "attrs" => {
                let keys = [key(left_steps.get(1)), key(right_steps.get(1))];
                self.attribute([left, right], keys)
            }
            "inputs" => {
                let positions = [index(left_steps.get(1)), index(right_steps.get(1))];
                self.operand(number, site, [left, right], positions)
            }
            _ => Some(self.other(site)),
        }
    }

    fn operand(
        &mut self,
        number: usize,
        site: &ChangeSite<'_>,
        [left, right]: [&Ref<Call>; 2],
        positions: [Option<usize>; 2],
    ) -> Option<Item> {
        let kind = site.change.kind();
        let input = |call: &Ref<Call>, position: Option<usize>| -> Option<(Value, Option<Str>)> {
            let position = position?;
            let value = call.inputs.values().get(position)?.clone();
            Some((value, call.input_names.get(position).cloned()))
        };
        // In lists of equal length, positions have a meaning, even if operands were
        // moved between positions.
        if left.inputs.len() == right.inputs.len() && positions[0] != positions[1] {
            let mut positions: Vec<usize> = positions.into_iter().flatten().collect();
            positions.sort_unstable();
            let mut last = None;
            for position in positions {
                let sides = [input(left, Some(position)), input(right, Some(position))];
                let item = self.input_item(number, position, [left, right], sides);
                self.items.extend(std::mem::replace(&mut last, item));
            }
            return last;
        }
        let sides = match kind {
            ChangeKind::Inserted => [None, input(right, positions[1])],
            ChangeKind::Deleted => [input(left, positions[0]), None],
            _ => [input(left, positions[0]), input(right, positions[1])],
        };
        let position = match kind {
            ChangeKind::Deleted => positions[0],
            _ => positions[1],
        }?;
        self.input_item(number, position, [left, right], sides)
    }

    /// The operands of two nodes at a position; None if already reported, or equal as
    /// text.
    pub(super) fn input_item(
        &mut self,
        number: usize,
        position: usize,
        [left, right]: [&Ref<Call>; 2],
        [l, r]: [Option<(Value, Option<Str>)>; 2],
    ) -> Option<Item> {
        let told = format!("input {position} {}", l.is_some() && r.is_some());
        if !self.told.insert((right.identity(), told)) {
            return None;
        }
        if let (Some(l), Some(r)) = (&l, &r)
            && let Some(item) = self.weight(number, position, [l, r])
        {
            return Some(item.of_call(right, self.main));
        }
        let said = |side: &Option<(Value, Option<Str>)>| {
            let (value, name) = side.as_ref()?;
            Some(operand(value, name.as_ref()))
        };
        let at = |(value, _): &(Value, _)| {
            let input = value.peek::<Ref<Input>>();
            input.map_or_else(String::new, |it| format!(" at position {}", it.position))
        };
        let (after, role) = match (said(&l), said(&r)) {
            // Inputs correspond by their positions, whatever their names.
            (Some(left), Some(right)) if left == right => {
                let positions = [&l, &r].map(|side| side.as_ref().map_or_else(String::new, at));
                let change = match (&l, &r) {
                    (Some((left, name)), Some((right, other))) if positions[0] == positions[1] => {
                        operands([left, right], [name.as_ref(), other.as_ref()])
                    }
                    _ => [left + &positions[0], right + &positions[1]],
                };
                (format!(": {}", change.join(" -> ")), Role::Changed)
            }
            (Some(left), Some(right)) => (format!(": {left} -> {right}"), Role::Changed),
            // Another operator has other inputs.
            _ if left.shown_op() != right.shown_op() => return None,
            (None, Some(right)) => (format!(" added: {right}"), Role::Right),
            (Some(left), None) => (format!(" removed: {left}"), Role::Left),
            (None, None) => return None,
        };
        let before = format!("input {position} of ");
        let mut item = Item::new(Rank::Operands, "rewired", before, after);
        if let (Some((left, _)), Some((right, _))) = (&l, &r) {
            item.many = format!(": {} -> {}", kind_of_operand(left), kind_of_operand(right));
        }
        Some(item.of_call(right, self.main).role(role))
    }

    /// Describes a changed weight at an operand position; None unless both operands are
    /// weights.
    fn weight(
        &self,
        number: usize,
        position: usize,
        [(l, name), (r, other)]: [&(Value, Option<Str>); 2],
    ) -> Option<Item> {
        let (one, two) = (tensor(l)?, tensor(r)?);
        let found = self.measured.get(one, two);
        let change = match found {
            Some(found) => weights(found, self.options.tolerance),
            None => tensors(one, two, self.options.tolerance),
        };
        let name = weight_name(name.as_ref(), other.as_ref());
        let before = format!("weight{name} (input {position} of ");
        let after = format!("): {change}");
        let mut item = Item::new(Rank::Weights, "tensor", before, after);
        item.key = format!("weight {number}");
        item.weight = found.map_or(f64::INFINITY, apart);
        Some(item)
    }

    /// Reports differently stored weights once, wherever they are used. The nodes that
    /// decode them are separate changes.
    fn decoded_weights(&mut self, weights_found: &WeightsDifference) {
        for found in &weights_found.changed {
            let [left, right] = [&found.left, &found.right].map(|it| it.decoding.is_empty());
            if left == right || found.is_of_one_form() {
                continue;
            }
            let name = weight_name(Some(&found.left.name), Some(&found.right.name));
            let change = weights(found, self.options.tolerance);
            let before = format!("weight{name}: {change}");
            let mut item = Item::new(Rank::Weights, "tensor", before, String::new());
            item.weight = apart(found);
            self.items.push(item);
        }
    }

    /// A change that the path describes best.
    pub(super) fn other(&self, at: &ChangeSite<'_>) -> Item {
        let item = Item::new(
            Rank::Others,
            at.change.kind().name(),
            String::new(),
            String::new(),
        );
        let mut item = match at.sides[1].last_call().or_else(|| at.sides[0].last_call()) {
            Some(call) => item.of_call(&call, self.main),
            None => item,
        };
        item.op = String::new();
        item
    }
}

/// The left node affected by a change. Added and removed nodes affect no other nodes.
fn changed_node(at: &ChangeSite<'_>) -> Option<u64> {
    let is_node = |value: Option<&Value>| call_identity(value).is_some();
    let (left, right) = (at.change.left(), at.change.right());
    match at.change.kind() {
        ChangeKind::Replaced if is_node(left) && is_node(right) => {
            let call = at.sides[0].last_call();
            call.map(|call| call.identity()).or(call_identity(left))
        }
        ChangeKind::Sharing => None,
        ChangeKind::Inserted | ChangeKind::Deleted if is_node(left.or(right)) => None,
        _ => at.sides[0].user().map(|call| call.identity()),
    }
}
