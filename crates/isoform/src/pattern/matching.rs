//! Patterns and their matches.

use std::fmt;
use std::sync::Arc;

use super::hole::Hole;
use super::options::{InteriorUses, PatternOptions};
use super::scan::{Idents, Variables};
use super::search::{Context, search};
use super::shell::{Shell, Survey};
use crate::kernel::error::{Error, Result};
use crate::kernel::object::access;
use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::table::is_a;
use crate::kernel::path::AccessPath;
use crate::kernel::path::places::{self, Places, Step};
use crate::kernel::types::Kind;
use crate::kernel::types::RegionKind;
use crate::kernel::value::Value;
use crate::structural::HoleTable;
use crate::structural::variable;
use crate::structural::{CompareOptions, Filled, Matching, Mismatch};
use crate::traverse::{
    ChildOptions, InterruptCodec, Uses, Visit, WalkOptions, WalkOrder, WalkResult,
};

/// A template with holes; see the [module](crate::pattern).
///
/// ```
/// use isoform::pattern::Pattern;
/// use isoform::{Value, tir};
/// use isoform::values::DType;
///
/// let int = |name| tir::Var::new(name, DType::INT32);
/// let (x, a, b) = (int("x"), int("a"), int("b"));
/// // min(x, x) for any x.
/// let same = Pattern::new(tir::Min::new(&x, &x)?, [&x])?;
/// let sum = tir::Add::new(&a, &b)?;
/// let found = same.match_value(&tir::Min::new(&sum, &sum)?.into())?.expect("it matches");
/// assert_eq!(found.get(&x.into()), Some(&Value::from(&sum)));
/// assert!(same.match_value(&tir::Min::new(&a, &b)?.into())?.is_none());
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(Clone)]
pub struct Pattern {
    template: Value,
    holes: Arc<[Hole]>,
    table: Arc<HoleTable>,
    options: PatternOptions,
    /// Those it may match; one, unless there are alternatives.
    roots: Arc<[Root]>,
    /// Set if comparison alone cannot match the template.
    shell: Option<Arc<Shell>>,
    /// The shell for matches in a program whose users are known, where inner nodes must not
    /// have others.
    tracked: Option<Arc<Shell>>,
    /// The number of levels of objects that a match sees.
    height: u32,
    /// True if a match depends on more than these levels.
    deep: bool,
    /// The types of the template's own parts that are not holes, by the order
    /// of visit: most attempts fail on them, without any comparison.
    parts: Arc<[(usize, TypeIndex)]>,
    /// The variables of the template.
    pub(super) variables: Arc<Variables>,
}

/// The objects that a pattern may match.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Root {
    /// Objects of exactly this type.
    Exactly(TypeIndex),
    /// Objects of this class: the template is a hole.
    Class(TypeIndex),
    /// Declared objects of any type.
    Anything,
    /// A plain value.
    Plain,
    /// Any value.
    Everything,
}

impl Root {
    /// The objects that a template may match by comparison.
    pub(super) fn of(template: &Value, table: &HoleTable) -> Root {
        let hole = variable(template).and_then(|ident| table.find(ident));
        match (hole, template.as_object()) {
            (Some(hole), _) => table.class(hole).map_or(Root::Anything, Root::Class),
            (None, Some(object)) => Root::Exactly(object.type_info().index()),
            (None, None) => Root::Plain,
        }
    }

    pub(super) fn admits(self, ty: Option<TypeIndex>) -> bool {
        match (self, ty) {
            (Root::Everything, _) => true,
            (Root::Exactly(wanted), Some(ty)) => wanted == ty,
            (Root::Class(wanted), Some(ty)) => is_a(ty, wanted),
            (Root::Anything, Some(ty)) => !crate::kernel::object::table::info(ty).is_builtin(),
            // A long string or a large integer is an object, too.
            (Root::Plain, ty) => {
                ty.is_none_or(|ty| crate::kernel::object::table::info(ty).is_builtin())
            }
            (_, None) => false,
        }
    }
}

impl Root {
    fn admits_variables(self) -> bool {
        let is_var = |ty: TypeIndex| crate::kernel::object::table::info(ty).kind() == Kind::Var;
        match self {
            Root::Exactly(ty) => is_var(ty),
            Root::Class(_) | Root::Anything | Root::Everything => true,
            Root::Plain => false,
        }
    }
}

/// The place of a match, below a value that a walk visits.
pub struct Place<'a> {
    visit: &'a Visit<'a>,
    /// The step from the visited value to the match, if the match is a part of
    /// it.
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
    /// Makes a pattern from a template and the variables in it that are holes.
    /// Free variables of the template map one to one to variables of the value.
    ///
    /// O(template).
    ///
    /// # Errors
    ///
    /// `TypeError` if a hole is not a variable; `ValueError` if a hole is given
    /// twice, does not occur in the template, or is in a definition field or in
    /// the key of a map.
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
        let survey = Survey::of(&template, &holes, options)?;
        let mut height = survey.height;
        for hole in &holes {
            for pattern in &hole.form.patterns {
                height = height.max(survey.height + pattern.height);
                variables.extend(&pattern.variables);
            }
            for (path, pattern) in &hole.form.fields {
                let steps = super::hole::parse(path)?.depth() as u32;
                height = height.max(survey.height + steps + pattern.height);
                variables.extend(&pattern.variables);
            }
        }
        let mut deep = survey.repeats || holes.iter().any(Hole::is_guarded);
        for hole in &holes {
            deep |= hole.inner_patterns().any(|pattern| pattern.deep);
        }
        let wants_tracking =
            survey.has_inner_dag && options.interior_uses != InteriorUses::Anywhere;
        let mut shell = None;
        if survey.is_special || wants_tracking {
            let compare = compare_options(options);
            let divided = Shell::divide(&template, &holes, &table, &survey, (options, compare))?;
            shell = Some(Arc::new(divided));
        }
        let (shell, tracked) = match survey.is_special {
            true => (shell.clone(), shell),
            false => (None, shell),
        };
        let mut pattern = Pattern {
            roots: Arc::new([Root::of(&template, &table)]),
            parts: parts_of(&template, &table),
            template,
            holes: holes.into(),
            table,
            options,
            shell,
            tracked,
            height,
            deep,
            variables: Arc::new(variables),
        };
        pattern.describe_shell();
        Ok(pattern)
    }

    /// Takes over the roots and holes of the shell, which may be those of several patterns.
    fn describe_shell(&mut self) {
        let Some(shell) = self.shell.clone() else {
            return;
        };
        self.roots = shell.roots().into();
        // The type tests assume that the template is matched as it is.
        self.parts = Arc::default();
        let mut holes = Vec::with_capacity(shell.parts.len());
        let mut compared = Vec::with_capacity(shell.parts.len());
        for (part, var) in shell.parts.iter().enumerate() {
            let declared = shell.holes.iter().find(|hole| hole.part == part);
            let hole = declared.map_or_else(|| Hole::new(var.clone()), |hole| hole.hole.clone());
            compared.push(crate::structural::Hole::new(var.clone()));
            holes.push(hole);
        }
        // The variables are known to be different ones.
        if let Ok(table) = HoleTable::new(compared)
            && self.holes.len() < holes.len()
        {
            self.holes = holes.into();
            self.table = Arc::new(table);
        }
    }

    /// Makes a pattern that matches what one of several patterns matches; the first of them
    /// that does decides about the match. A hole that occurs in several of them is one hole.
    ///
    /// Use it for the same thing written in several ways, at the root of a rule or, with
    /// [`Hole::matching`], below it. A replacement must use only holes that the pattern that
    /// matched has filled.
    ///
    /// # Errors
    ///
    /// `ValueError` if there is no pattern.
    ///
    /// ```
    /// use isoform::pattern::Pattern;
    /// use isoform::tir;
    /// use isoform::values::DType;
    ///
    /// let int = |name| tir::Var::new(name, DType::INT32);
    /// let (x, y, a, b) = (int("x"), int("y"), int("a"), int("b"));
    /// let smaller = Pattern::new(tir::LT::new(&x, &y)?, [&x, &y])?;
    /// let greater = Pattern::new(tir::GT::new(&y, &x)?, [&x, &y])?;
    /// let either = Pattern::any_of([smaller, greater])?;
    /// let found = either.match_value(&tir::GT::new(&a, &b)?.into())?.expect("b < a");
    /// assert_eq!(found.get(&x.into()), Some(&b.into()));
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
            variables.extend(&pattern.variables);
        }
        let shell = Arc::new(Shell::any_of(&patterns));
        let mut pattern = Pattern {
            template: first.template.clone(),
            holes: Arc::default(),
            table: Arc::new(HoleTable::new(Vec::new())?),
            options: first.options,
            roots: Arc::default(),
            shell: Some(shell.clone()),
            tracked: Some(shell),
            height: patterns.iter().map(|one| one.height).max().unwrap_or(0),
            deep: patterns.iter().any(|one| one.deep),
            parts: Arc::default(),
            variables: Arc::new(variables),
        };
        pattern.describe_shell();
        Ok(pattern)
    }

    /// The pattern with another one as an alternative: what `wrap` makes of the template, with
    /// the same holes. For a part that may be there or not.
    ///
    /// # Errors
    ///
    /// As [`Pattern::new`]; those of `wrap`.
    pub fn optional(&self, wrap: impl FnOnce(&Value) -> Result<Value>) -> Result<Pattern> {
        let wrapped = wrap(&self.template)?;
        let wrapped = Pattern::make(wrapped, self.holes.to_vec(), self.options)?;
        Pattern::any_of([self.clone(), wrapped])
    }

    /// Sets whether the free variables of the template that are not holes map
    /// to variables of the value one to one, or each to itself only.
    #[must_use]
    pub fn map_free_vars(mut self, map: bool) -> Pattern {
        self.options.map_free_vars = map;
        let mapping = |shell: &mut Arc<Shell>| {
            for core in &mut Arc::make_mut(shell).cores {
                core.options.map_free_vars = map;
            }
        };
        self.shell.as_mut().map(mapping);
        self.tracked.as_mut().map(mapping);
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
        &self.holes
    }

    /// The options with which it was made.
    pub fn options(&self) -> PatternOptions {
        self.options
    }

    /// True if it may match a value of this type.
    pub(super) fn admits(&self, ty: Option<TypeIndex>) -> bool {
        self.roots.iter().any(|root| root.admits(ty))
    }

    /// True if it has a template of its own, rather than alternatives.
    pub(super) fn has_one_root(&self) -> bool {
        matches!(*self.roots, [Root::Exactly(_)]) && self.shell().is_none_or(Shell::has_one_root)
    }

    pub(super) fn hole_table(&self) -> &Arc<HoleTable> {
        &self.table
    }

    pub(super) fn compare_options(&self) -> CompareOptions {
        compare_options(self.options)
    }

    pub(super) fn shell(&self) -> Option<&Shell> {
        self.shell.as_deref()
    }

    /// The number of levels of objects that a match sees.
    pub(super) fn height(&self) -> u32 {
        self.height
    }

    /// True if a match depends on more than these levels: on equal parts, or on functions.
    pub(super) fn sees_deep(&self) -> bool {
        self.deep
    }

    /// True if the users of nodes may decide about a match.
    pub(super) fn counts_users(&self) -> bool {
        self.tracked.is_some()
    }

    /// True if definitions may decide about a match.
    pub(super) fn asks_for_definitions(&self) -> bool {
        self.options.definitions || self.shell().is_some_and(Shell::looks_through)
    }

    /// True if users or definitions decide about a match.
    pub(super) fn asks_for_uses(&self) -> bool {
        self.options.definitions
            || self.options.interior_uses == InteriorUses::Inside
            || self.shell().is_some_and(Shell::asks_for_uses)
    }

    /// Matches the whole value; None if it is not an instance of the template.
    ///
    /// O(template), except for holes that occur several times, whose parts are
    /// compared with each other.
    ///
    /// # Errors
    ///
    /// As [`structural_equal`](crate::structural_equal), plus those of guards.
    pub fn match_value(&self, value: &Value) -> Result<Option<Match>> {
        if !self.may_match(value) {
            return Ok(None);
        }
        let filled = match &self.shell {
            None => self.matching(value).run()?,
            Some(shell) => search(shell, value, None)?,
        };
        Ok(filled.map(|filled| self.found(value, filled)))
    }

    /// Matches a value in a program whose users and definitions are known: as
    /// [`match_value`](Self::match_value), with what the [options](PatternOptions) say about
    /// definitions and about users of inner nodes, and with [`Hole::one_use`].
    ///
    /// # Errors
    ///
    /// As [`match_value`](Self::match_value), plus those of functions that decide about
    /// [purity](crate::traverse::PURE).
    pub fn match_in(&self, value: &Value, uses: &Uses) -> Result<Option<Match>> {
        let mut context = uses;
        self.match_with(value, &mut context)
    }

    pub(super) fn match_with(
        &self,
        value: &Value,
        context: &mut dyn Context,
    ) -> Result<Option<Match>> {
        let Some(shell) = &self.tracked else {
            return self.match_value(value);
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

    /// Explains why a value does not match: returns the first difference, with
    /// the template on the left, or None if it matches.
    ///
    /// If there are several ways to match, such as alternatives or operands in any order, it
    /// explains why the template as it is written does not match.
    ///
    /// # Errors
    ///
    /// As [`match_value`](Self::match_value).
    pub fn explain(&self, value: &Value) -> Result<Option<Mismatch>> {
        if self.shell.is_none() {
            return self.matching(value).explain();
        }
        if self.match_value(value)?.is_some() {
            return Ok(None);
        }
        let literally = self.matching(value).explain()?;
        Ok(literally.or_else(|| Some(Mismatch::of_values(&self.template, value))))
    }

    /// True if a value has the parts that an instance of the template has.
    fn may_match(&self, value: &Value) -> bool {
        let (&[Root::Exactly(ty)], Some(object)) = (&*self.roots, value.as_object()) else {
            return true;
        };
        if object.type_info().index() != ty {
            return true;
        }
        access::reading(|section| {
            let fields = object.borrowed().visited();
            self.parts.iter().all(|&(position, ty)| {
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
            holes: &self.table,
            options: self.compare_options(),
        }
    }

    /// Calls back for every match below `root`, the root included, outermost
    /// first and shared objects once.
    ///
    /// Objects of other types than the template's are only walked through, so
    /// the cost is that of a walk plus one [match](Self::match_value) for each
    /// object of that type. Keys of maps, and the variables that definition
    /// fields bind, are not candidates.
    ///
    /// # Errors
    ///
    /// As [`match_value`](Self::match_value) and
    /// [`structural_walk`](crate::traverse::structural_walk); those of the callback.
    pub fn for_each_match<B>(
        &self,
        root: &Value,
        mut callback: impl FnMut(&Place<'_>, Match) -> Result<WalkResult<B>>,
    ) -> Result<Option<B>> {
        let options = WalkOptions::default().order(WalkOrder::Pre);
        let uses = match self.asks_for_uses() {
            true => Some(Uses::of(root)?),
            false => None,
        };
        let find = |value: &Value| match &uses {
            Some(uses) => self.match_in(value, uses),
            None => self.match_value(value),
        };
        let variables = self.roots.iter().any(|root| root.admits_variables());
        // All objects are visited, because the path changes with each of them.
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
            // A variable may be met in a definition field first, so it is
            // searched for among the parts of the objects that use it.
            if admitted
                && of_variable.is_none_or(|_| visit.depth() == 0)
                && let Some(found) = find(&value)?
            {
                let place = Place {
                    visit,
                    step: None,
                    shared: std::mem::replace(&mut shared, visit.depth()),
                };
                match callback(&place, found)? {
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
                if let Some(found) = find(&child.value)? {
                    let place = Place {
                        visit,
                        step: children.place_step(position),
                        shared: std::mem::replace(&mut shared, visit.depth()),
                    };
                    if let WalkResult::Interrupt(result) = callback(&place, found)? {
                        return Ok(WalkResult::Interrupt(result));
                    }
                }
            }
            Ok(WalkResult::Advance)
        })
    }

    /// Returns every match below `root` with its place; see
    /// [`for_each_match`](Self::for_each_match). Places share their prefixes,
    /// so all of them together take no more memory than the walk has visits.
    ///
    /// # Errors
    ///
    /// As [`for_each_match`](Self::for_each_match).
    ///
    /// ```
    /// use isoform::pattern::Pattern;
    /// use isoform::tir;
    /// use isoform::values::DType;
    ///
    /// let int = |name| tir::Var::new(name, DType::INT32);
    /// let (x, a, b) = (int("x"), int("a"), int("b"));
    /// let same = Pattern::new(tir::Min::new(&x, &x)?, [&x])?;
    /// let root = tir::Add::new(&tir::Min::new(&b, &b)?.upcast(), &a)?;
    /// let found = same.find_all(&root.into())?;
    /// assert_eq!(found.len(), 1);
    /// assert_eq!(found[0].path().to_string(), "<root>.a");
    /// # Ok::<(), isoform::Error>(())
    /// ```
    pub fn find_all(&self, root: &Value) -> Result<Vec<Found>> {
        let mut places = Places::default();
        // The places above the last match, and the match.
        let mut line = vec![Places::ROOT];
        let mut all = Vec::new();
        self.for_each_match(root, |place, found| {
            line.truncate(place.shared + 1);
            let count = place.visit.depth() - place.shared;
            let mut steps: Vec<Step> = place.visit.steps_upwards().take(count).collect();
            steps.reverse();
            for step in steps.into_iter().chain(place.step.clone()) {
                let above = line.last().copied().unwrap_or(Places::ROOT);
                line.push(places.below(above, step));
            }
            let place = line.last().copied().unwrap_or(Places::ROOT);
            all.push((place, found));
            Ok(WalkResult::<()>::Advance)
        })?;
        let places = Arc::new(places);
        let found = |(place, found)| Found {
            places: Arc::clone(&places),
            place,
            found,
        };
        Ok(all.into_iter().map(found).collect())
    }
}

fn compare_options(options: PatternOptions) -> CompareOptions {
    CompareOptions {
        map_free_vars: options.map_free_vars,
        ..CompareOptions::default()
    }
}

/// The types of the object's own parts that are not holes, by the order of
/// visit.
fn parts_of(template: &Value, holes: &HoleTable) -> Arc<[(usize, TypeIndex)]> {
    let Some(object) = template.as_object() else {
        return Arc::default();
    };
    let info = object.type_info();
    let compared_by_fields = matches!(info.kind(), Kind::Tree | Kind::Dag)
        && info.hooks.are_structural_defaults()
        && !info.is_builtin();
    if !compared_by_fields {
        return Arc::default();
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
            .field("holes", &self.holes)
            .finish_non_exhaustive()
    }
}

/// A match and its place.
#[derive(Clone)]
#[non_exhaustive]
pub struct Found {
    /// Shared by all matches of one search.
    places: Arc<Places>,
    place: places::Place,
    /// The match.
    pub found: Match,
}

impl Found {
    /// The steps from the root of the search to the match. O(depth).
    pub fn path(&self) -> AccessPath {
        self.places.path(self.place)
    }
}

impl fmt::Debug for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Found")
            .field("path", &self.path())
            .field("found", &self.found)
            .finish()
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

    /// Returns the value of a variable of the template: for a hole its part,
    /// for another variable its partner, or the first one if the template binds
    /// it several times. None for anything else.
    ///
    /// O(1) for a hole, O(variables) for another variable.
    pub fn get(&self, var: &Value) -> Option<&Value> {
        let ident = variable(var)?;
        if let Some(hole) = self.pattern.table.find(ident) {
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

    /// The other variables of the template and their partners, in the order in
    /// which they were met.
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
