//! Patterns and their matches.

use std::fmt;
use std::sync::Arc;

use super::context::Context;
use super::data::{Hole, InteriorUses, Pattern, PatternFacts, PatternOptions, Root, Skeleton};
use super::demands::check_options;
use super::field_test::path_below;
use super::scan::Variables;
use super::search::search;
use super::shell::TemplateInfo;
use crate::kernel::error::{Error, Result};
use crate::kernel::object::access;
use crate::kernel::object::header::TypeIndex;
use crate::kernel::path::{AccessPath, AccessStep};
use crate::kernel::types::Kind;
use crate::kernel::value::Value;
use crate::structural::{
    CompareOptions, Filled, HoleTable, Matching, Mismatch, MismatchReason, variable,
};
use crate::traverse::Uses;

impl PatternFacts {
    /// Takes over the roots and holes of the shell, which may come from several
    /// patterns.
    fn describe_shell(&mut self) {
        let Some(shell) = self.shell.clone() else {
            return;
        };
        self.roots = shell.roots();
        // The type tests assume an unchanged template.
        self.parts.clear();
        let mut holes = Vec::with_capacity(shell.parts.len());
        let mut compared = Vec::with_capacity(shell.parts.len());
        for (part, var) in shell.parts.iter().enumerate() {
            let declared = shell.holes.iter().find(|hole| hole.part == part);
            let hole = declared.map_or_else(|| Hole::new(var.clone()), |hole| hole.hole.clone());
            compared.push(crate::structural::Hole::new(var.clone()));
            holes.push(hole);
        }
        // The variables are known to be different.
        if let Ok(table) = HoleTable::new(compared)
            && self.holes.len() < holes.len()
        {
            self.holes = holes;
            self.table = Arc::new(table);
        }
    }
}

impl Pattern {
    /// Makes a pattern from a template and the variables that are holes. Free variables
    /// of the template map one to one to variables of the value.
    ///
    /// O(template).
    ///
    /// # Errors
    ///
    /// `TypeError` if a hole is not a variable; `ValueError` if a hole is given twice,
    /// does not occur in the template, or is in a definition field or in the key of a
    /// map. `ValueError` also for an option or a hole without any effect, because types
    /// lack the role on which the option or hole relies, or no type has the field.
    pub fn new<H: Into<Hole>>(
        template: impl Into<Value>,
        holes: impl IntoIterator<Item = H>,
    ) -> Result<Pattern> {
        PatternOptions::default().pattern(template, holes)
    }

    pub(super) fn make(
        template: Value,
        holes: Vec<Hole>,
        options: PatternOptions,
    ) -> Result<Pattern> {
        let compared = holes.iter().map(Hole::compared);
        let table = HoleTable::new(compared.collect::<Result<Vec<_>>>()?)?;
        let mut variables = Variables::of(&template)?;
        for hole in &holes {
            let ident = variable(hole.var()).unwrap_or_default();
            let problem = if !variables.has(ident) {
                "does not occur in the template"
            } else if variables.defined.contains(&ident) {
                "is bound by the template; variables that are bound map by themselves"
            } else if variables.keys.contains(&ident) {
                "stands in the key of a map, and keys are no holes"
            } else {
                continue;
            };
            return Err(Error::value_error(format!(
                "Pattern.holes: the variable {:?} {problem}",
                hole.var()
            )));
        }
        let table = Arc::new(table);
        let survey = TemplateInfo::of(&template, &holes, options)?;
        check_options(&survey.types, &holes, options)?;
        let mut height = survey.height;
        for hole in &holes {
            for pattern in &hole.form.patterns {
                height = height.max(survey.height + pattern.height());
                variables.extend(&pattern.facts.variables);
            }
            for (path, pattern) in &hole.form.fields {
                let (path, _) = path_below(hole.class, path)?;
                let steps = path.depth() as u32;
                height = height.max(survey.height + steps + pattern.height());
                variables.extend(&pattern.facts.variables);
            }
        }
        let mut deep = survey.repeats || holes.iter().any(Hole::is_guarded);
        for hole in &holes {
            deep |= hole.inner_patterns().any(Pattern::sees_deep);
        }
        let wants_tracking =
            survey.has_inner_dag && options.interior_uses != InteriorUses::Anywhere;
        let mut shell = None;
        if survey.is_special || wants_tracking {
            let compare = compare_options(options);
            let divided = Skeleton::divide(&template, &holes, &table, &survey, options, compare)?;
            shell = Some(Arc::new(divided));
        }
        let (shell, tracked) = if survey.is_special {
            (shell.clone(), shell)
        } else {
            (None, shell)
        };
        let mut facts = PatternFacts {
            roots: vec![Root::of(&template, &table)],
            parts: parts_of(&template, &table),
            holes,
            table,
            shell,
            tracked,
            height,
            deep,
            variables,
        };
        facts.describe_shell();
        Ok(Pattern {
            template,
            options,
            facts: Arc::new(facts),
        })
    }

    /// Makes a pattern that matches every value matched by any of several patterns; the
    /// first matching pattern decides about the match. A hole that occurs in several
    /// patterns is one hole.
    ///
    /// Use alternatives for several spellings of the same construct, at the root of a
    /// rule or, with [`Hole::matching`], below the root. A replacement must use only
    /// holes filled by the matching pattern.
    ///
    /// # Errors
    ///
    /// `ValueError` if the list of patterns is empty.
    ///
    /// ```
    /// use isoform::pattern::Pattern;
    /// use isoform_ir::tir;
    /// use isoform::values::DType;
    ///
    /// let int = |name| tir::Var::new(name, DType::INT32);
    /// let (x, y, a, b) = (int("x"), int("y"), int("a"), int("b"));
    /// let smaller = Pattern::new(tir::LT::new(&x, &y)?, [&x, &y])?;
    /// let greater = Pattern::new(tir::GT::new(&y, &x)?, [&x, &y])?;
    /// let either = Pattern::any_of([smaller, greater])?;
    /// let found = either.match_value(tir::GT::new(&a, &b)?)?.expect("b < a");
    /// assert_eq!(found.get(x), Some(&b.into()));
    /// # Ok::<(), isoform::Error>(())
    /// ```
    pub fn any_of(patterns: impl IntoIterator<Item = Pattern>) -> Result<Pattern> {
        let patterns: Vec<Pattern> = patterns.into_iter().collect();
        let Some(first) = patterns.first() else {
            return Err(Error::value_error(
                "Pattern.any_of: expected at least one pattern, got none",
            ));
        };
        let mut variables = Variables::default();
        for pattern in &patterns {
            variables.extend(&pattern.facts.variables);
        }
        let shell = Arc::new(Skeleton::any_of(&patterns));
        let mut facts = PatternFacts {
            holes: Vec::new(),
            table: Arc::new(HoleTable::new(Vec::new())?),
            roots: Vec::new(),
            shell: Some(shell.clone()),
            tracked: Some(shell),
            height: patterns.iter().map(Pattern::height).max().unwrap_or(0),
            deep: patterns.iter().any(Pattern::sees_deep),
            parts: Vec::new(),
            variables,
        };
        facts.describe_shell();
        Ok(Pattern {
            template: first.template.clone(),
            options: first.options,
            facts: Arc::new(facts),
        })
    }

    /// The pattern with an alternative for an optional part: the template wrapped by
    /// `wrap`, with the same holes.
    ///
    /// # Errors
    ///
    /// As [`Pattern::new`]; errors of `wrap`.
    pub fn optional(&self, wrap: impl FnOnce(&Value) -> Result<Value>) -> Result<Pattern> {
        let wrapped = wrap(&self.template)?;
        let wrapped = Pattern::make(wrapped, self.holes().to_vec(), self.options)?;
        Pattern::any_of([self.clone(), wrapped])
    }

    /// Sets whether the free variables of the template, except for holes, map to
    /// variables of the value one to one, or only to themselves.
    #[must_use]
    pub fn map_free_vars(mut self, map: bool) -> Pattern {
        self.options.map_free_vars = map;
        if self.facts.tracked.is_some() {
            let facts = Arc::make_mut(&mut self.facts);
            let shells = [&mut facts.shell, &mut facts.tracked];
            for shell in shells.into_iter().flatten() {
                for core in &mut Arc::make_mut(shell).cores {
                    core.options.map_free_vars = map;
                }
            }
        }
        self
    }

    /// True if free variables map (also known as `enable_auto_mapping`).
    pub fn maps_free_vars(&self) -> bool {
        self.options.map_free_vars
    }

    /// The template.
    pub fn template(&self) -> &Value {
        &self.template
    }

    /// The holes, in the order in which they were given.
    pub fn holes(&self) -> &[Hole] {
        &self.facts.holes
    }

    /// The options used to make the pattern.
    pub fn options(&self) -> PatternOptions {
        self.options
    }

    /// True if the pattern may match a value of this type.
    pub(super) fn admits(&self, ty: Option<TypeIndex>) -> bool {
        self.facts.roots.iter().any(|root| root.admits(ty))
    }

    /// True if the pattern has one template, rather than alternatives.
    pub(super) fn has_one_root(&self) -> bool {
        matches!(self.facts.roots[..], [Root::Exactly(_)])
            && self.shell().is_none_or(Skeleton::has_one_root)
    }

    /// The variables of the template.
    pub(super) fn variables(&self) -> &Variables {
        &self.facts.variables
    }

    pub(super) fn hole_table(&self) -> &Arc<HoleTable> {
        &self.facts.table
    }

    /// True if the pattern may match a variable.
    pub(super) fn admits_variables(&self) -> bool {
        self.facts.roots.iter().any(|root| root.admits_variables())
    }

    pub(super) fn compare_options(&self) -> CompareOptions {
        compare_options(self.options)
    }

    pub(super) fn shell(&self) -> Option<&Skeleton> {
        self.facts.shell.as_deref()
    }

    /// The number of levels of objects that a match sees.
    pub(super) fn height(&self) -> u32 {
        self.facts.height
    }

    /// True if a match depends on more than these levels: on equal parts, or on functions.
    pub(super) fn sees_deep(&self) -> bool {
        self.facts.deep
    }

    /// The number of users that a node may have for a match that has to contain all of
    /// them; zero if users do not decide.
    pub(super) fn most_users(&self) -> usize {
        let tracked = self.facts.tracked.as_ref();
        tracked.map_or(0, |shell| shell.nodes.len().max(1))
    }

    /// True if definitions may decide about a match.
    pub(super) fn asks_for_definitions(&self) -> bool {
        self.options.definitions || self.shell().is_some_and(Skeleton::looks_through)
    }

    /// True if users or definitions decide about a match.
    pub(super) fn asks_for_uses(&self) -> bool {
        self.options.definitions
            || self.options.interior_uses == InteriorUses::Inside
            || self.shell().is_some_and(Skeleton::asks_for_uses)
    }

    /// Matches the whole value; None if the value is not an instance of the template.
    ///
    /// O(template), except for holes that occur several times, whose parts are compared
    /// with one another.
    ///
    /// # Errors
    ///
    /// As [`structural_equal`](crate::structural_equal), and errors of guards.
    pub fn match_value(&self, value: impl Into<Value>) -> Result<Option<Match>> {
        self.match_alone(&value.into())
    }

    pub(super) fn match_alone(&self, value: &Value) -> Result<Option<Match>> {
        if !self.may_match(value) {
            return Ok(None);
        }
        let filled = match &self.facts.shell {
            None => self.matching(value).run()?,
            Some(shell) => search(shell, value, None)?,
        };
        Ok(filled.map(|filled| self.found(value, filled)))
    }

    /// Matches a value in a program with known users and definitions: as
    /// [`match_value`](Self::match_value), and with [`Hole::one_use`]. The
    /// [options](PatternOptions) decide about definitions and about users of inner
    /// nodes.
    ///
    /// # Errors
    ///
    /// As [`match_value`](Self::match_value), and errors of functions that decide about
    /// [purity](crate::traverse::PURE).
    pub fn match_in(&self, value: impl Into<Value>, uses: &Uses) -> Result<Option<Match>> {
        let mut context = uses;
        self.match_with(&value.into(), &mut context)
    }

    pub(super) fn match_with(
        &self,
        value: &Value,
        context: &mut dyn Context,
    ) -> Result<Option<Match>> {
        let Some(shell) = &self.facts.tracked else {
            return self.match_alone(value);
        };
        let filled = search(shell, value, Some(context))?;
        Ok(filled.map(|filled| self.found(value, filled)))
    }

    fn found(&self, value: &Value, filled: Filled) -> Match {
        Match {
            pattern: self.clone(),
            value: value.clone(),
            filled: Arc::new(filled),
        }
    }

    /// Explains why a value does not match: returns the first difference, with the
    /// template on the left, or None for a match.
    ///
    /// With several ways to match, such as alternatives or operands in any order, the
    /// explanation is for the template as written.
    ///
    /// # Errors
    ///
    /// As [`match_value`](Self::match_value).
    pub fn explain(&self, value: impl Into<Value>) -> Result<Option<Mismatch>> {
        self.explained(&value.into())
    }

    fn explained(&self, value: &Value) -> Result<Option<Mismatch>> {
        if self.facts.shell.is_none() {
            let mismatch = self.matching(value).explain()?;
            return Ok(mismatch.map(|mismatch| self.with_hole(mismatch)));
        }
        if self.match_alone(value)?.is_some() {
            return Ok(None);
        }
        let literally = self.matching(value).explain()?;
        let mismatch = literally.unwrap_or_else(|| Mismatch::of_values(&self.template, value));
        Ok(Some(self.with_hole(mismatch)))
    }

    /// The mismatch with the field of the hole in which the difference is, if it is in one.
    fn with_hole(&self, mut mismatch: Mismatch) -> Mismatch {
        if matches!(mismatch.reason, MismatchReason::HoleRefuses(_)) {
            // The hole itself has said why.
            return mismatch;
        }
        let mut part = self.template.clone();
        for step in mismatch.left_path.steps() {
            let hole = variable(&part).and_then(|ident| self.facts.table.find(ident));
            if let (Some(_), AccessStep::Attr(field)) = (hole, step) {
                mismatch.reason = MismatchReason::HoleFieldDiffers {
                    field: field.clone(),
                    reason: Box::new(mismatch.reason),
                };
                break;
            }
            let Ok(below) = AccessPath::from_steps(vec![step.clone()]).get(part) else {
                break;
            };
            part = below;
        }
        mismatch
    }

    /// True if a value has the parts that an instance of the template has.
    fn may_match(&self, value: &Value) -> bool {
        let (&[Root::Exactly(ty)], Some(object)) = (&self.facts.roots[..], value.as_object())
        else {
            return true;
        };
        if object.type_info().index() != ty {
            return true;
        }
        access::reading(|section| {
            let fields = object.borrowed().visited();
            self.facts.parts.iter().all(|&(position, ty)| {
                let part = fields
                    .get(section, position)
                    .and_then(|(_, loaded)| loaded.object());
                part.is_some_and(|part| part.type_index() == ty)
            })
        })
    }

    fn matching<'v>(&'v self, value: &'v Value) -> Matching<'v> {
        Matching {
            template: &self.template,
            value,
            holes: &self.facts.table,
            options: self.compare_options(),
        }
    }
}

fn compare_options(options: PatternOptions) -> CompareOptions {
    CompareOptions {
        map_free_vars: options.map_free_vars,
        ..CompareOptions::default()
    }
}

/// The types of the object's own parts that are not holes, by the order of visit.
fn parts_of(template: &Value, holes: &HoleTable) -> Vec<(usize, TypeIndex)> {
    let Some(object) = template.as_object() else {
        return Vec::new();
    };
    let info = object.type_info();
    let compared_by_fields = matches!(info.kind(), Kind::Tree | Kind::Dag)
        && info.hooks.are_structural_defaults()
        && !info.is_builtin();
    if !compared_by_fields {
        return Vec::new();
    }
    access::reading(|section| {
        let fields = object.borrowed().visited();
        let part = |position: usize| {
            let part = fields.get(section, position)?.1.object()?;
            let is_hole = holes.find(part.ident()).is_some();
            (!is_hole).then(|| (position, part.type_index()))
        };
        (0..fields.len()).filter_map(part).collect()
    })
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pattern")
            .field("template", &self.template)
            .field("holes", &self.facts.holes)
            .finish_non_exhaustive()
    }
}

/// The values of a template's variables in one match.
#[derive(Clone)]
pub struct Match {
    pub(super) pattern: Pattern,
    value: Value,
    filled: Arc<Filled>,
}

impl Match {
    /// The value that matches.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The pattern.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// Returns the value of a variable of the template: the part of a hole, or the
    /// partner of another variable, which is the first partner if the template binds
    /// the variable several times. None for any other value.
    ///
    /// O(1) for a hole, O(variables) for another variable.
    pub fn get(&self, var: impl Into<Value>) -> Option<&Value> {
        self.partner(variable(&var.into())?)
    }

    fn partner(&self, ident: u64) -> Option<&Value> {
        if let Some(hole) = self.pattern.facts.table.find(ident) {
            return self.part(hole).map(|(part, _)| part);
        }
        let is_it = |left: &Value| variable(left) == Some(ident);
        let pair = self.filled.pairs.iter().find(|pair| is_it(&pair.left))?;
        Some(&pair.right)
    }

    /// The holes and their parts, in the order of [`Pattern::holes`].
    pub fn holes(&self) -> impl Iterator<Item = (&Value, &Value)> {
        let holes = self.pattern.holes().iter().enumerate();
        holes.filter_map(|(number, hole)| Some((hole.var(), &self.part(number)?.0)))
    }

    /// The other variables of the template and their partners, in the order of their
    /// first occurrence.
    pub fn vars(&self) -> impl Iterator<Item = (&Value, &Value)> {
        let pairs = self.filled.pairs.iter();
        pairs.map(|pair| (&pair.left, &pair.right))
    }

    pub(super) fn part(&self, hole: usize) -> Option<&(Value, Vec<usize>)> {
        self.filled.parts.get(hole)?.as_ref()
    }

    pub(super) fn filled(&self) -> &Filled {
        &self.filled
    }
}

impl fmt::Debug for Match {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(self.holes())
            .entries(self.vars())
            .finish()
    }
}
