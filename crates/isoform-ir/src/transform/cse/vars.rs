//! The variables of a program of statements.

use hashbrown::HashSet;
use rapidhash::fast::RandomState;

use super::facts::{Form, TypeFactTable};
use super::operands::Part;
use isoform::plumbing::Poll;
use isoform::traverse::children_of;
use isoform::types::RegionKind;
use isoform::{Result, Value};

/// Identity numbers of objects.
pub(super) type Idents = HashSet<u64, RandomState>;

/// Facts about the variables of an owner.
pub(super) struct Vars {
    /// Variables with several definitions.
    pub(super) reassigned: Idents,
    /// Variables that must stay, because of mentions in definitions, types or other
    /// data.
    pub(super) pinned: Idents,
    /// True if text in another language might mention any variable.
    pub(super) has_text: bool,
}

impl Vars {
    /// Returns None if a statement occurs at several places.
    pub(super) fn of(owner: &Value, facts: &mut TypeFactTable<'_>) -> Result<Option<Vars>> {
        let mut vars = Vars {
            reassigned: Idents::default(),
            pinned: Idents::default(),
            has_text: false,
        };
        let (mut defined, mut seen) = (Idents::default(), Idents::default());
        // All parts except operands of expressions and statements are mentions.
        let mut mentions: Vec<Value> = Vec::new();
        let mut stack = vec![owner.clone()];
        let mut poll = Poll::default();
        while let Some(value) = stack.pop() {
            poll.step_outside()?;
            let Some(object) = value.as_object() else {
                continue;
            };
            let form = facts.form(&value)?;
            if !seen.insert(object.identity()) {
                if form.is_some_and(Form::is_statement) {
                    return Ok(None);
                }
                continue;
            }
            vars.has_text |= form == Some(Form::Text);
            for child in children_of(&value).iter(RegionKind::Use) {
                match Part::of(child, facts)? {
                    Part::Operand(value) | Part::Body(value) => stack.push(value),
                    Part::Operands(items) | Part::Bodies(items) => {
                        stack.extend(items.values().iter().cloned());
                    }
                    Part::Definition(value) => {
                        let items = match value.as_array() {
                            Some(items) => items.values().to_vec(),
                            None => vec![value],
                        };
                        for item in items {
                            let parts = children_of(&item);
                            mentions.extend(parts.iter(RegionKind::Use).map(|part| part.value));
                            if let Some(object) = item.as_object()
                                && !defined.insert(object.identity())
                            {
                                vars.reassigned.insert(object.identity());
                            }
                        }
                    }
                    Part::Data(value) => mentions.push(value),
                }
            }
        }
        let mut seen = Idents::default();
        while let Some(value) = mentions.pop() {
            poll.step_outside()?;
            let Some(object) = value.as_object() else {
                continue;
            };
            if !seen.insert(object.identity()) {
                continue;
            }
            if facts.is_var(&value)? {
                vars.pinned.insert(object.identity());
            }
            let children = children_of(&value);
            mentions.extend(children.iter(RegionKind::Use).map(|child| child.value));
        }
        Ok(Some(vars))
    }
}
