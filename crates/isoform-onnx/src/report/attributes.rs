//! Sentences about attributes and versions of nodes.

use std::collections::BTreeSet;

use isoform::{Ref, Value, structural_equal};

use super::groups::Writer;
use super::sentence::{Item, Rank};
use super::values::{both, tensors, text};
use crate::ir::Call;
use crate::schema;
use crate::summary::{Role, domain_text};
use crate::values::tensor;

impl Writer<'_> {
    /// None if the files have the same version, and another change of the node decides
    /// which later versions have the same meaning.
    pub(super) fn version(&self, left: &Ref<Call>, right: &Ref<Call>) -> Option<Item> {
        if self.options.levels.same_opset_meaning {
            let versions = [0, 1].map(|side| self.version_in_file([left, right][side], side));
            if versions[0] == versions[1] {
                return None;
            }
            let change = format!(": {} -> {}", versions[0], versions[1]);
            let before = "version of ".to_owned();
            let item = Item::new(Rank::Opsets, "opset", before, change);
            return Some(item.of_call(right, self.main));
        }
        // All nodes of a domain have the same operator set, so no node is named.
        let domain = domain_text(&right.domain);
        let before = format!("opset {domain}: {} -> {}", left.version, right.version);
        let mut item = Item::new(Rank::Opsets, "opset", before, String::new());
        item = item.of_call(right, self.main);
        item.op = String::new();
        Some(item)
    }

    /// The version of an operator in the operator set of the file. Where a file has
    /// several ones, the version that is compared.
    fn version_in_file(&self, call: &Call, side: usize) -> i64 {
        let versions = self.opsets[side].get(call.domain.as_str());
        let Some(&opset) = versions
            .filter(|it| it.len() == 1)
            .and_then(BTreeSet::first)
        else {
            return call.version;
        };
        let schema = schema::lookup(&call.domain, &call.op, opset);
        schema.map_or(opset, |schema| schema.since)
    }

    /// An attribute as a whole, however many of its parts differ.
    pub(super) fn attribute(
        &mut self,
        [left, right]: [&Ref<Call>; 2],
        [left_key, right_key]: [Option<String>; 2],
    ) -> Option<Item> {
        let name = right_key.clone().or(left_key.clone())?;
        if !self
            .told
            .insert((right.identity(), format!("attribute {name}")))
        {
            return None;
        }
        let value = |call: &Ref<Call>, key: &Option<String>| {
            let key = key.as_deref().unwrap_or(&name);
            let mut entries = call.attrs.iter();
            let entry = entries.find(|(label, _)| label.as_str() == key);
            entry.map(|(_, value)| value.clone())
        };
        let sides = [(left, &left_key), (right, &right_key)];
        let written = sides.map(|(call, key)| value(call, key));
        let defaults = [0, 1].map(|side| self.defaults.as_ref()?[side].value(sides[side].0, &name));
        let texts = |[left, right]: [&Value; 2]| match (tensor(left), tensor(right)) {
            (Some(left), Some(right)) => tensors(left, right, self.options.tolerance),
            _ => {
                let mut texts = both(left, right);
                for (side, value) in [left, right].into_iter().enumerate() {
                    let default = defaults[side].as_ref();
                    if default.is_some_and(|it| structural_equal(value, it).unwrap_or(false)) {
                        texts[side].push_str(" (default)");
                    }
                }
                texts.join(" -> ")
            }
        };
        let values = [0, 1].map(|side| written[side].as_ref().or(defaults[side].as_ref()));
        let (after, role) = match (values, &written) {
            ([Some(left), Some(right)], _) => {
                (format!(": {}", texts([left, right])), Role::Changed)
            }
            (_, [None, Some(right)]) => (format!(" added: {}", text(right)), Role::Right),
            (_, [Some(left), None]) => (format!(" removed: {}", text(left)), Role::Left),
            _ => return None,
        };
        let named = match (&left_key, &right_key) {
            (Some(left), Some(right)) if left != right => format!("'{left}' -> '{right}'"),
            _ => format!("'{name}'"),
        };
        let item = Item::new(
            Rank::Attributes,
            "attribute",
            format!("attribute {named} of "),
            after,
        );
        Some(item.of_call(right, self.main).role(role))
    }
}
