//! Instantiation: fills in a template with the values of a match.

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use super::data::Pattern;
use super::matching::Match;
use super::scan::{self, Idents, Variables};
use crate::kernel::container::Array;
use crate::kernel::error::{Error, Result};
use crate::kernel::object::access::{self, Section};
use crate::kernel::object::arena::Arena;
use crate::kernel::object::build;
use crate::kernel::object::view::PartRef;
use crate::kernel::types::RegionKind;
use crate::kernel::value::Value;
use crate::structural::variable;
use crate::traverse::cursor::{Cursor, Part, View, cyclic};
use crate::traverse::rewrite::{Outcome, Policy, Progress, Rewriter};

type Images = HashMap<u64, Value, RandomState>;

/// A template to be filled in by matches of one pattern.
#[derive(Clone)]
pub(super) struct Plan {
    template: Value,
    variables: std::sync::Arc<Variables>,
    /// For each hole, the variables bound around all of its places.
    scopes: HashMap<u64, Idents, RandomState>,
}

impl Plan {
    /// # Errors
    ///
    /// `ValueError` if the template binds a hole or a free variable of the pattern, or
    /// uses a variable that only the pattern binds.
    pub(super) fn new(pattern: &Pattern, template: &Value) -> Result<Plan> {
        let variables = Variables::of_replacement(template)?;
        let of_pattern = pattern.variables();
        let is_hole = |ident: u64| pattern.hole_table().find(ident).is_some();
        for (ident, var) in &of_pattern.used {
            if variables.defined.contains(ident) && !of_pattern.defined.contains(ident) {
                let what = if is_hole(*ident) {
                    "a hole"
                } else {
                    "a free variable"
                };
                return Err(Error::value_error(format!(
                    "Rule.replacement: binds the variable {var:?}, which is {what} of the pattern"
                )));
            }
        }
        for (ident, var) in &variables.used {
            if of_pattern.defined.contains(ident) && !variables.defined.contains(ident) {
                return Err(Error::value_error(format!(
                    "Rule.replacement: uses the variable {var:?}, which the pattern binds and the \
                     replacement does not"
                )));
            }
        }
        let scopes = if variables.defined.is_empty() {
            HashMap::default()
        } else {
            let holes = pattern
                .holes()
                .iter()
                .filter_map(|hole| variable(hole.var()));
            scan::scopes(template, &holes.collect())?
        };
        Ok(Plan {
            template: template.clone(),
            variables: std::sync::Arc::new(variables),
            scopes,
        })
    }

    pub(super) fn template(&self) -> &Value {
        &self.template
    }

    /// The free variables of the template that are kept.
    pub(super) fn own_variables<'p>(
        &'p self,
        pattern: &'p Pattern,
    ) -> impl Iterator<Item = (u64, &'p Value)> {
        let used = self.variables.used.iter();
        used.filter(|(ident, _)| {
            !pattern.variables().has(**ident) && !self.variables.defined.contains(*ident)
        })
        .map(|(ident, var)| (*ident, var))
    }

    /// # Errors
    ///
    /// `ValueError` for a free variable of the template that is kept and not `named`;
    /// `place` says where to name it.
    pub(super) fn check_own(&self, pattern: &Pattern, named: &[u64], place: &str) -> Result<()> {
        let mut own = self.own_variables(pattern);
        match own.find(|(ident, _)| !named.contains(ident)) {
            Some((_, var)) => Err(Error::value_error(format!(
                "Rule.replacement: uses the variable {var:?}, which is neither a hole nor another \
                 variable of the pattern; make it a hole, or, for a variable that the program has \
                 elsewhere, name it in {place}"
            ))),
            None => Ok(()),
        }
    }

    /// Fills in the template; None if a variable would be captured or escape.
    pub(super) fn instantiate(&self, found: &Match) -> Result<Option<Value>> {
        let images = self.images(found)?;
        if !self.is_sound(found, &images)? {
            return Ok(None);
        }
        let several = found
            .pattern()
            .holes()
            .iter()
            .filter(|hole| hole.takes_items())
            .filter_map(|hole| variable(hole.var()))
            .collect();
        fill(&self.template, images, &self.variables.defined, several).map(Some)
    }

    /// The images of the pattern's variables.
    ///
    /// # Errors
    ///
    /// `ValueError` for a hole that the template uses and the match lacks.
    fn images(&self, pattern_match: &Match) -> Result<Images> {
        let mut images = Images::default();
        for pair in &pattern_match.filled().pairs {
            if let Some(ident) = variable(&pair.left) {
                images.entry(ident).or_insert_with(|| pair.right.clone());
            }
        }
        for (hole, part) in pattern_match.holes() {
            if let Some(ident) = variable(hole) {
                images.insert(ident, part.clone());
            }
        }
        for hole in pattern_match.pattern().holes() {
            let ident = variable(hole.var()).unwrap_or_default();
            if self.variables.used.contains_key(&ident) && !images.contains_key(&ident) {
                return Err(Error::value_error(format!(
                    "Rule.replacement: uses the hole {:?}, which the alternative that matched \
                     does not have; write a rule for each alternative",
                    hole.var()
                )));
            }
        }
        Ok(images)
    }

    /// True if every variable of a part has the same meaning in the
    /// replacement.
    fn is_sound(&self, pattern_match: &Match, images: &Images) -> Result<bool> {
        let pairs = &pattern_match.filled().pairs;
        let bound: Idents = pairs
            .iter()
            .filter(|pair| pair.defined)
            .filter_map(|pair| variable(&pair.right))
            .collect();
        if bound.is_empty() {
            return Ok(true);
        }
        // True if the replacement binds the partner of a variable.
        let binds = |left: u64, right: u64| {
            let image = images.get(&left).and_then(variable);
            self.variables.defined.contains(&left) && image == Some(right)
        };
        for (number, hole) in pattern_match.pattern().holes().iter().enumerate() {
            let Some(ident) = variable(hole.var()) else {
                continue;
            };
            let Some((part, around)) = pattern_match.part(number) else {
                continue;
            };
            if !self.variables.has(ident) {
                continue;
            }
            let mentioned = scan::mentions(part, &bound)?;
            for (index, pair) in pairs.iter().enumerate() {
                let idents = (variable(&pair.left), variable(&pair.right));
                let (Some(left), Some(right)) = idents else {
                    continue;
                };
                if !pair.defined || !mentioned.contains(&right) {
                    continue;
                }
                let in_scope = self
                    .scopes
                    .get(&ident)
                    .is_some_and(|bound| bound.contains(&left));
                let sound = if around.contains(&index) {
                    in_scope && binds(left, right)
                } else {
                    !binds(left, right)
                };
                if !sound {
                    return Ok(false);
                }
            }
        }
        let own = self.own_variables(pattern_match.pattern());
        let captured = own.filter(|(ident, _)| bound.contains(ident));
        Ok(captured.count() == 0)
    }
}

/// The template with variables replaced by their images, and with new variables for
/// defined variables without an image.
fn fill(template: &Value, images: Images, defined: &Idents, several: Idents) -> Result<Value> {
    let parts = Arena::default();
    let mut filler = Filler {
        rewriter: Rewriter::new(&parts),
        images,
        defined,
        several,
        done: HashMap::default(),
    };
    access::traversing(|section| {
        let part = Part::alone(template, RegionKind::Use);
        Ok(filler.run(section, part)?.into_value(part.met))
    })
}

/// An array of the template with the items of holes inside.
struct Spliced {
    /// The array of the template.
    origin: u64,
    /// True for the items of holes, which are not filled in.
    given: Vec<bool>,
}

struct Filler<'a, 'd> {
    rewriter: Rewriter<'a, Option<Spliced>>,
    images: Images,
    defined: &'d Idents,
    /// The holes that stand for any number of items.
    several: Idents,
    /// The results of objects; None while an object is being filled in.
    done: HashMap<u64, Option<Outcome>, RandomState>,
}

impl<'a> Policy<'a> for Filler<'a, '_> {
    type Extra = Option<Spliced>;

    fn rewriter(&mut self) -> &mut Rewriter<'a, Option<Spliced>> {
        &mut self.rewriter
    }

    fn meet(&mut self, section: &mut Section, part: Part<'a>) -> Result<Progress> {
        let result = self.result_of(section, part)?;
        Ok(self.rewriter.settle(result))
    }

    fn close(&mut self, section: &mut Section) -> Result<Progress> {
        let Some((cursor, spliced, mut outcome)) = self.rewriter.build(section, true)? else {
            return Ok(Progress::Same);
        };
        let object = cursor.object();
        if let Some(spliced) = spliced {
            outcome = Outcome::New(outcome.into_value(PartRef::Object(object)));
            self.done.insert(spliced.origin, Some(outcome.clone()));
            return Ok(self.rewriter.settle(Some(outcome)));
        }
        if let Some(ident) = PartRef::Object(object).variable() {
            if let Outcome::Same = outcome {
                outcome = Outcome::New(build::shallow_copy(object.as_ref()).into());
            }
            let image = outcome.clone().into_value(PartRef::Object(object));
            self.images.insert(ident, image);
        }
        self.done.insert(object.ident(), Some(outcome.clone()));
        Ok(self.rewriter.settle(Some(outcome)))
    }
}

impl<'a> Filler<'a, '_> {
    /// The result for a part, or None if the part was opened.
    fn result_of(&mut self, section: &Section, part: Part<'a>) -> Result<Option<Outcome>> {
        let PartRef::Object(object) = part.met else {
            return Ok(Some(Outcome::Same));
        };
        if let Some((cursor, Some(spliced))) = self.rewriter.innermost()
            && spliced.given.get(cursor.position().wrapping_sub(1)) == Some(&true)
        {
            return Ok(Some(Outcome::Same));
        }
        let var = part.met.variable();
        if let Some(image) = var.and_then(|ident| self.images.get(&ident)) {
            return Ok(Some(Outcome::of(image.clone(), part.met)));
        }
        if var.is_some_and(|ident| !self.defined.contains(&ident)) {
            return Ok(Some(Outcome::Same));
        }
        match self.done.get(&object.ident()) {
            Some(Some(result)) => return Ok(Some(result.clone())),
            Some(None) => return Err(cyclic(object)),
            None => {}
        }
        let cursor = Cursor::open(section, object, part, View::Compared);
        let Some(cursor) = cursor.filter(|cursor| var.is_some() || cursor.len() > 0) else {
            return Ok(Some(Outcome::Same));
        };
        self.done.insert(object.ident(), None);
        if let Some(items) = cursor.items()
            && !self.several.is_empty()
            && let Some((array, spliced)) = self.splice(object.ident(), items)
        {
            let array = self.rewriter.parts.keep_value(&array);
            let part = Part {
                met: PartRef::of(array),
                ..part
            };
            let PartRef::Object(object) = part.met else {
                return Ok(Some(Outcome::Same));
            };
            if let Some(cursor) = Cursor::open(section, object, part, View::Compared) {
                self.rewriter.push(cursor, Some(spliced));
                return Ok(None);
            }
        }
        self.rewriter.push(cursor, None);
        Ok(None)
    }

    /// The items of an array with the items of holes in their places; None without
    /// holes.
    fn splice(&self, origin: u64, items: &[Value]) -> Option<(Value, Spliced)> {
        let hole = |item: &Value| variable(item).filter(|ident| self.several.contains(ident));
        items.iter().find_map(hole)?;
        let (mut all, mut given) = (Vec::new(), Vec::new());
        for item in items {
            let image = hole(item).and_then(|ident| self.images.get(&ident));
            match image.and_then(Value::items) {
                Some(part) => all.extend_from_slice(part.values()),
                None => all.push(item.clone()),
            }
            given.resize(all.len(), image.is_some());
        }
        Some((Array::from(all).into(), Spliced { origin, given }))
    }
}

impl Match {
    /// Returns `template` with the holes and variables of the pattern replaced by their
    /// values; variables that `template` binds and the pattern does not bind become new
    /// variables. Returns None if a variable would leave the scope that binds it, or
    /// enter a scope that binds another variable of the same name.
    ///
    /// O(template), plus O(parts) if `template` or the pattern binds variables.
    ///
    /// # Errors
    ///
    /// `TypeError` if a part does not fit its field; `ValueError` if `template`
    /// has a hole in a definition field.
    pub fn instantiate(&self, template: impl Into<Value>) -> Result<Option<Value>> {
        let plan = Plan::new(&self.pattern, &template.into())?;
        plan.instantiate(self)
    }
}
