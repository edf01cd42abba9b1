//! The matches of a pattern below a root, and their places.

use std::fmt;
use std::sync::Arc;

use super::data::Pattern;
use super::matching::Match;
use super::scan::Idents;
use crate::kernel::error::Result;
use crate::kernel::object::header::TypeIndex;
use crate::kernel::path::AccessPath;
use crate::kernel::path::places::{self, Places, Step};
use crate::kernel::types::RegionKind;
use crate::kernel::value::Value;
use crate::structural::variable;
use crate::traverse::{
    ChildOptions, InterruptCodec, Uses, Visit, WalkOptions, WalkOrder, WalkResult,
};

/// The place of a match, below a value visited by a walk.
pub struct Place<'a> {
    visit: &'a Visit<'a>,
    /// The step from the visited value to the match, if the match is a part of the
    /// value.
    step: Option<Step>,
    /// The number of steps that the path shares with the previous match.
    shared: usize,
}

impl Place<'_> {
    /// The steps from the root to the match. O(depth).
    pub fn path(&self) -> AccessPath {
        let path = self.visit.path();
        match &self.step {
            Some(step) => path.join(step.clone().into()),
            None => path,
        }
    }

    /// The number of steps from the root to the match. O(1).
    pub fn depth(&self) -> usize {
        self.visit.depth() + usize::from(self.step.is_some())
    }
}

impl fmt::Debug for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Place").field(&self.path()).finish()
    }
}

impl Pattern {
    /// Calls back for every match below `root`, the root included, outermost
    /// first and shared objects once.
    ///
    /// Objects of other types than the template's are only walked through: the cost is
    /// the cost of a walk plus one [match](Self::match_value) for each object of the
    /// template's type. Keys of maps, and the variables bound by definition fields, are
    /// not candidates.
    ///
    /// # Errors
    ///
    /// As [`match_value`](Self::match_value) and
    /// [`structural_walk`](crate::traverse::structural_walk); errors of the callback.
    pub fn for_each_match<B>(
        &self,
        root: impl Into<Value>,
        mut callback: impl FnMut(&Place<'_>, Match) -> Result<WalkResult<B>>,
    ) -> Result<Option<B>> {
        let root = &root.into();
        let options = WalkOptions::default().order(WalkOrder::Pre);
        let uses = if self.asks_for_uses() {
            Some(Uses::of(root)?)
        } else {
            None
        };
        let find = |value: &Value| match &uses {
            Some(uses) => self.match_with(value, &mut &*uses),
            None => self.match_alone(value),
        };
        let variables = self.admits_variables();
        // All objects are visited, because every object changes the path.
        let wanted = |ty: Option<TypeIndex>| ty.is_some() || self.admits(ty);
        let mut seen = Idents::default();
        let mut shared = 0;
        options.walk_selected(root, wanted, InterruptCodec::default(), |visit| {
            shared = shared.min(visit.depth().saturating_sub(1));
            let ty = visit.object().map(|object| object.type_info().index());
            let admitted = self.admits(ty);
            if visit.is_key() || !admitted && !variables {
                return Ok(WalkResult::Advance);
            }
            let value = visit.value();
            let of_variable = variable(&value);
            // The first occurrence of a variable may be in a definition field. The
            // search therefore looks for the variable among the parts of the objects
            // that use it.
            if admitted
                && of_variable.is_none_or(|_| visit.depth() == 0)
                && let Some(pattern_match) = find(&value)?
            {
                let place = Place {
                    visit,
                    step: None,
                    shared: std::mem::replace(&mut shared, visit.depth()),
                };
                match callback(&place, pattern_match)? {
                    WalkResult::Advance => {}
                    other => return Ok(other),
                }
            }
            if !variables {
                return Ok(WalkResult::Advance);
            }
            let children = ChildOptions::default().keys(false).children_of(&value);
            for (position, child) in children.iter(visit.region()).enumerate() {
                let Some(ident) = variable(&child.value) else {
                    continue;
                };
                if child.region != RegionKind::Use || !seen.insert(ident) {
                    continue;
                }
                if let Some(pattern_match) = find(&child.value)? {
                    let place = Place {
                        visit,
                        step: children.place_step(position),
                        shared: std::mem::replace(&mut shared, visit.depth()),
                    };
                    if let WalkResult::Interrupt(result) = callback(&place, pattern_match)? {
                        return Ok(WalkResult::Interrupt(result));
                    }
                }
            }
            Ok(WalkResult::Advance)
        })
    }

    /// Returns every match below `root` with its place; see
    /// [`for_each_match`](Self::for_each_match). Places share their prefixes, and take
    /// no more memory together than the walk has visits.
    ///
    /// # Errors
    ///
    /// The errors of [`for_each_match`](Self::for_each_match).
    ///
    /// ```
    /// use isoform::pattern::Pattern;
    /// use isoform_ir::tir;
    /// use isoform::values::DType;
    ///
    /// let int = |name| tir::Var::new(name, DType::INT32);
    /// let (x, a, b) = (int("x"), int("a"), int("b"));
    /// let same = Pattern::new(tir::Min::new(&x, &x)?, [&x])?;
    /// let root = tir::Add::new(&tir::Min::new(&b, &b)?.upcast(), &a)?;
    /// let found = same.find_all(root)?;
    /// assert_eq!(found.len(), 1);
    /// assert_eq!(found[0].path().to_string(), "<root>.a");
    /// # Ok::<(), isoform::Error>(())
    /// ```
    pub fn find_all(&self, root: impl Into<Value>) -> Result<Vec<PatternMatch>> {
        let mut places = Places::default();
        // The places above the last match, and the match.
        let mut line = vec![Places::ROOT];
        let mut all = Vec::new();
        self.for_each_match(root, |place, pattern_match| {
            line.truncate(place.shared + 1);
            let count = place.visit.depth() - place.shared;
            let mut steps: Vec<Step> = place.visit.steps_upwards().take(count).collect();
            steps.reverse();
            for step in steps.into_iter().chain(place.step.clone()) {
                let above = line.last().copied().unwrap_or(Places::ROOT);
                line.push(places.below(above, step));
            }
            let place = line.last().copied().unwrap_or(Places::ROOT);
            all.push((place, pattern_match));
            Ok(WalkResult::<()>::Advance)
        })?;
        let places = Arc::new(places);
        let located = |(place, pattern_match)| PatternMatch {
            places: Arc::clone(&places),
            place,
            found: pattern_match,
        };
        Ok(all.into_iter().map(located).collect())
    }
}

/// A match and its place.
#[derive(Clone)]
#[non_exhaustive]
pub struct PatternMatch {
    /// Shared by all matches of one search.
    places: Arc<Places>,
    place: places::Place,
    /// The match.
    pub found: Match,
}

impl PatternMatch {
    /// The steps from the root of the search to the match. O(depth).
    pub fn path(&self) -> AccessPath {
        self.places.path(self.place)
    }
}

impl fmt::Debug for PatternMatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PatternMatch")
            .field("path", &self.path())
            .field("found", &self.found)
            .finish()
    }
}
