//! Patterns, rules and rewriting for Python.
//!
//! Guards and replacements can be functions of users.

use isoform::Value;
use isoform::pattern::{
    GreedyOptions, Hole, InteriorUses, Match, Pattern, PatternMatch, PatternOptions,
    RewriteOptions, Rewritten, Rule,
};
use isoform::types::TypeIndex;
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

use crate::convert::{to_python, untyped};
use crate::error::{IntoPyResult, from_python};
use crate::object::gil::{Owned, under_gil};
use crate::object::{class, gil, wrapper};
use crate::path::PathHandle;
use crate::structural::MismatchHandle;
use crate::uses::UsesHandle;

/// Adds the classes and functions of this module.
pub(crate) fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<HoleHandle>()?;
    module.add_class::<PatternHandle>()?;
    module.add_class::<MatchHandle>()?;
    module.add_class::<RuleHandle>()?;
    module.add_class::<RewrittenHandle>()?;
    module.add_function(wrap_pyfunction!(rewrite_by_rules, module)?)?;
    module.add_function(wrap_pyfunction!(rewrite_from_worklist, module)?)
}

fn type_error(place: &str, expected: &str, got: &Bound<'_, PyAny>) -> PyErr {
    let name = got.get_type().name();
    let name = name.map_or_else(|_| "an object".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!("{place}: expected {expected}, got {name}"))
}

/// The truth value of a user's function.
fn ask(
    function: &Owned,
    argument: impl FnOnce(Python<'_>) -> PyResult<Py<PyAny>>,
) -> isoform::Result<bool> {
    Python::attach(|py| {
        let answer = gil::call(&function.get(py), &[argument(py)?.bind(py)])?;
        answer.is_truthy()
    })
    .map_err(from_python)
}

/// A variable of a template that matches any part of a value.
///
/// `cls` requires objects of a class or one that extends it. `guard` is called with the
/// part and returns whether the hole matches it; its result must be the same for equal
/// parts. `fields` maps paths below the part, such as `"checked_type_.dtype"`, to values or
/// patterns that must be there, and `attrs` the names of attributes of its class, or of the
/// operator if it is one, to their values; no Python runs for these. A value of a field has
/// any form that the field takes, such as `"float32"` for a data type, and a number, string
/// or bool also stands for a literal of the IR.
///
/// `items=True` lets the hole, an item of an array, match any number of items, as few as
/// possible for the first of several; its part is their array. `anything=True` matches any
/// value, `constant=True` only constants: objects of classes with the attribute
/// `rewrite.constant`, tensors, numbers, strings and bytes. `one_use=True` requires that only the
/// match uses the part, which `rewrite_greedily`, `find_all` and `match(value, uses)` know.
/// `matching` is a pattern that the part matches; its holes are part of the match.
///
/// Raises TypeError for arguments of other types. A path that no registered class allows,
/// starting from `cls` if given, and a value that no field takes, are errors of the pattern
/// that gets the hole.
#[pyclass(frozen, name = "Hole", module = "isoform.pattern")]
#[derive(Clone)]
pub(crate) struct HoleHandle(Hole);

#[pymethods]
impl HoleHandle {
    #[new]
    #[pyo3(signature = (var, cls=None, guard=None, *, items=false, anything=false, constant=false, one_use=false, matching=None, fields=None, attrs=None))]
    #[allow(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        var: &Bound<'_, PyAny>,
        cls: Option<&Bound<'_, PyAny>>,
        guard: Option<&Bound<'_, PyAny>>,
        items: bool,
        anything: bool,
        constant: bool,
        one_use: bool,
        matching: Option<&Bound<'_, PyAny>>,
        fields: Option<&Bound<'_, PyDict>>,
        attrs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let mut hole = Hole::new(untyped(var)?);
        if let Some(cls) = cls {
            hole = hole.class_index(class_index(cls)?);
        }
        if let Some(guard) = guard {
            hole = guarded(hole, guard)?;
        }
        if items {
            hole = hole.items();
        }
        if anything {
            hole = hole.anything();
        }
        if constant {
            hole = hole.constant();
        }
        if one_use {
            hole = hole.one_use();
        }
        if let Some(pattern) = matching {
            hole = hole.matching(pattern_of("Hole.matching", pattern)?);
        }
        for (path, wanted) in fields.into_iter().flatten() {
            let path: String = path.extract()?;
            hole = match wanted.cast::<PatternHandle>() {
                Ok(pattern) => hole.field_matching(&path, pattern.get().0.clone()),
                Err(_) => hole.field(&path, untyped(&wanted)?),
            };
        }
        for (name, wanted) in attrs.into_iter().flatten() {
            hole = hole.attr(&name.extract::<String>()?, untyped(&wanted)?);
        }
        Ok(HoleHandle(hole))
    }

    /// The variable.
    #[getter]
    fn var<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, self.0.var())
    }
}

fn class_index(cls: &Bound<'_, PyAny>) -> PyResult<TypeIndex> {
    let ty = cls.cast::<PyType>().ok();
    let found = ty.and_then(|ty| class::of_class(ty.py(), ty.as_type_ptr()));
    match found {
        Some(data) => Ok(data.info.index()),
        None => Err(type_error("Hole.cls", "a class of nodes", cls)),
    }
}

fn pattern_of(place: &str, given: &Bound<'_, PyAny>) -> PyResult<Pattern> {
    match given.cast::<PatternHandle>() {
        Ok(pattern) => Ok(pattern.get().0.clone()),
        Err(_) => Err(type_error(place, "a Pattern", given)),
    }
}

fn guarded(hole: Hole, guard: &Bound<'_, PyAny>) -> PyResult<Hole> {
    if !guard.is_callable() {
        return Err(type_error("Hole.guard", "a callable", guard));
    }
    let guard = Owned::new(guard);
    Ok(hole.guard(move |part| ask(&guard, |py| Ok(to_python(py, part)?.unbind()))))
}

fn hole_of(given: &Bound<'_, PyAny>) -> PyResult<Hole> {
    match given.cast::<HoleHandle>() {
        Ok(hole) => Ok(hole.get().0.clone()),
        Err(_) => Ok(Hole::new(untyped(given)?)),
    }
}

/// The holes given as variables, `Hole`s, or a dict from variables to requirements:
/// None, a class or a guard.
fn holes_of(holes: &Bound<'_, PyAny>) -> PyResult<Vec<Hole>> {
    if let Ok(dict) = holes.cast::<PyDict>() {
        return dict
            .iter()
            .map(|(var, demand)| {
                let hole = hole_of(&var)?;
                if demand.is_none() {
                    Ok(hole)
                } else if demand.is_instance_of::<PyType>() {
                    Ok(hole.class_index(class_index(&demand)?))
                } else {
                    guarded(hole, &demand)
                }
            })
            .collect();
    }
    if holes.is_instance_of::<HoleHandle>()
        || wrapper::core_of(holes).is_some_and(|object| !object.type_info().is_builtin())
    {
        return Ok(vec![hole_of(holes)?]);
    }
    holes.try_iter()?.map(|hole| hole_of(&hole?)).collect()
}

/// A template with holes.
///
/// `template` is any value. `holes` are variables in it that match any part: one of
/// them, several, `Hole`s, or a dict from variables to requirements on the part (None,
/// a class, or a function that returns whether it fits). With `enable_auto_mapping`,
/// the other free variables map to those of the value one to one, otherwise each to
/// itself; bound ones always map.
///
/// With `commutative`, operands match in any order where the class of the template's node has
/// the attribute `rewrite.commutative`. With `identity`, what occurs several times in the template
/// matches one and the same object, not equal ones. With `definitions`, a node of the template
/// also matches a variable that is bound to a value which matches it and has no effect.
/// `interior_uses` says which users the nodes between the root of a match and the parts of its
/// holes may have: `"inside"` only the match, `"anywhere"` any, `"auto"` only the match for
/// nodes of kind dag, for definitions that were looked through, and for what leads to them.
/// Users and definitions are known to `rewrite_greedily`, `find_all` and `match(value, uses)`.
///
/// `p | q` matches what `p` or else `q` matches.
///
/// Raises TypeError if a hole is not a variable; ValueError if a hole is given twice,
/// does not occur in the template, or occurs in a definition field or in the key of a
/// map. ValueError also for an option or a hole without any effect: neither the classes of
/// the template nor others of their dialects declare the attribute on which it relies, or no
/// class has the field.
#[pyclass(frozen, generic, name = "Pattern", module = "isoform.pattern")]
#[derive(Clone)]
pub(crate) struct PatternHandle(Pattern);

#[pymethods]
impl PatternHandle {
    #[new]
    #[pyo3(signature = (template, holes=None, enable_auto_mapping=true, *, commutative=false, identity=false, definitions=false, interior_uses="auto"))]
    #[allow(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        template: &Bound<'_, PyAny>,
        holes: Option<&Bound<'_, PyAny>>,
        enable_auto_mapping: bool,
        commutative: bool,
        identity: bool,
        definitions: bool,
        interior_uses: &str,
    ) -> PyResult<Self> {
        let value = untyped(template)?;
        let holes = holes.map_or_else(|| Ok(Vec::new()), holes_of)?;
        let uses = match interior_uses {
            "auto" => InteriorUses::Auto,
            "inside" => InteriorUses::Inside,
            "anywhere" => InteriorUses::Anywhere,
            other => {
                return Err(PyValueError::new_err(format!(
                    "Pattern.interior_uses: expected 'auto', 'inside' or 'anywhere', got {other:?}"
                )));
            }
        };
        let options = PatternOptions::default()
            .map_free_vars(enable_auto_mapping)
            .commutative(commutative)
            .identity(identity)
            .definitions(definitions)
            .interior_uses(uses);
        let compiled = under_gil(template.py(), || options.pattern(value, holes)).into_py()?;
        Ok(PatternHandle(compiled))
    }

    /// A pattern that matches what one of several patterns matches; the first that does decides.
    ///
    /// A hole that occurs in several of them is one hole. Raises ValueError without patterns.
    #[staticmethod]
    #[pyo3(signature = (*patterns))]
    fn any_of(patterns: &Bound<'_, PyTuple>) -> PyResult<Self> {
        let all = patterns
            .iter()
            .map(|pattern| pattern_of("Pattern.any_of", &pattern))
            .collect::<PyResult<Vec<_>>>()?;
        Ok(PatternHandle(Pattern::any_of(all).into_py()?))
    }

    fn __or__(&self, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        let other = pattern_of("Pattern | other", other)?;
        Ok(PatternHandle(
            Pattern::any_of([self.0.clone(), other]).into_py()?,
        ))
    }

    /// The pattern, or what a function makes of its template, with the same holes: for a part
    /// that may be there or not.
    fn optional(&self, wrap: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = wrap.py();
        let wrapped = wrap.call1((to_python(py, self.0.template())?,))?;
        let wrapped = untyped(&wrapped)?;
        let made = under_gil(py, || self.0.optional(|_| Ok(wrapped))).into_py()?;
        Ok(PatternHandle(made))
    }

    /// The template.
    #[getter]
    fn template<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, self.0.template())
    }

    /// The variables that are holes.
    #[getter]
    fn holes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let holes = self.0.holes().iter().map(|hole| to_python(py, hole.var()));
        PyTuple::new(py, holes.collect::<PyResult<Vec<_>>>()?)
    }

    /// True if free variables map.
    #[getter]
    fn enable_auto_mapping(&self) -> bool {
        self.0.maps_free_vars()
    }

    /// Matches the whole value; None if it does not match the template.
    ///
    /// Raises exceptions of the comparison and of guards. O(template), except for holes
    /// that occur several times, whose parts are compared.
    ///
    /// With `uses`, an `isoform.uses.Uses` of the program that contains the value, definitions
    /// and users of its parts count as well.
    #[pyo3(name = "match", signature = (value, uses=None))]
    fn match_value(
        &self,
        value: &Bound<'_, PyAny>,
        uses: Option<&Bound<'_, UsesHandle>>,
    ) -> PyResult<Option<MatchHandle>> {
        let given = untyped(value)?;
        let uses = uses.map(|uses| &uses.get().0);
        let found = under_gil(value.py(), || match uses {
            Some(uses) => self.0.match_in(&given, uses),
            None => self.0.match_value(&given),
        })
        .into_py()?;
        Ok(found.map(|found| MatchHandle { found, place: None }))
    }

    /// The reason why a value does not match, with the template on the left; None if it
    /// matches.
    fn explain(&self, value: &Bound<'_, PyAny>) -> PyResult<Option<MismatchHandle>> {
        let given = untyped(value)?;
        let found = under_gil(value.py(), || self.0.explain(&given)).into_py()?;
        let sides = [self.0.template().clone(), given];
        Ok(found.map(|found| MismatchHandle::new(found, sides)))
    }

    /// Every match below `root`, the root included, each with its `path`;
    /// outermost first, shared objects once.
    ///
    /// Keys of maps, and the variables that definition fields bind, are not searched.
    /// Costs as much as a walk, plus one match for each object of the template's type;
    /// a path is made on demand.
    fn find_all(&self, root: &Bound<'_, PyAny>) -> PyResult<Vec<MatchHandle>> {
        let given = untyped(root)?;
        let found = under_gil(root.py(), || self.0.find_all(&given)).into_py()?;
        let handle = |found: PatternMatch| MatchHandle {
            found: found.found.clone(),
            place: Some(found),
        };
        Ok(found.into_iter().map(handle).collect())
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}

/// The assignment of a template's variables in one value.
///
/// `match[var]` is the part that a hole matches, or the partner of another variable.
#[pyclass(frozen, generic, name = "Match", module = "isoform.pattern")]
pub(crate) struct MatchHandle {
    found: Match,
    /// The place below the searched root.
    place: Option<PatternMatch>,
}

fn pairs<'py, 'v>(
    py: Python<'py>,
    pairs: impl Iterator<Item = (&'v Value, &'v Value)>,
) -> PyResult<Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>> {
    pairs
        .map(|(var, part)| Ok((to_python(py, var)?, to_python(py, part)?)))
        .collect()
}

#[pymethods]
impl MatchHandle {
    /// The value that matches.
    #[getter]
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, self.found.value())
    }

    /// The path below the searched root; None for a match that was not searched for.
    ///
    /// O(depth) each time.
    #[getter]
    fn path(&self) -> Option<PathHandle> {
        self.place.as_ref().map(|found| found.path().into())
    }

    /// The holes and the matching parts, as pairs.
    #[getter]
    fn holes<'py>(&self, py: Python<'py>) -> PyResult<Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>> {
        pairs(py, self.found.holes())
    }

    /// The other variables of the template and their partners, as pairs.
    #[getter]
    fn vars<'py>(&self, py: Python<'py>) -> PyResult<Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>> {
        pairs(py, self.found.vars())
    }

    /// The part or partner of a variable, or a default.
    #[pyo3(signature = (var, default=None))]
    fn get<'py>(
        &self,
        var: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.found.get(&untyped(var)?) {
            Some(part) => to_python(var.py(), part).map(Some),
            None => Ok(default),
        }
    }

    fn __getitem__<'py>(&self, var: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        match self.found.get(&untyped(var)?) {
            Some(part) => to_python(var.py(), part),
            None => Err(PyKeyError::new_err((var.clone().unbind(),))),
        }
    }

    fn __contains__(&self, var: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.found.get(&untyped(var)?).is_some())
    }

    /// Replaces the holes and variables of a template by their parts and partners; None
    /// if a variable would leave the scope that binds it, or be captured by another
    /// binder.
    ///
    /// Variables that `template` binds but the pattern does not are new ones.
    fn instantiate<'py>(
        &self,
        template: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (py, given) = (template.py(), untyped(template)?);
        let made = under_gil(py, || self.found.instantiate(&given)).into_py()?;
        made.map(|made| to_python(py, &made)).transpose()
    }

    fn __repr__(&self) -> String {
        format!("Match({:?})", self.found)
    }
}

/// A pattern and the replacement for its matches.
///
/// `replacement` is a template over the variables of the pattern, or a function of the
/// `Match` that returns the new value, or None if the rule does not apply. `guard` is a
/// function of the `Match` that returns whether it applies. Of several rules that apply, the one
/// with the highest `benefit` is used.
///
/// `introduces` names the free variables of a template that the pattern lacks, such as global
/// variables.
///
/// Raises ValueError if a template binds a hole or a free variable of the pattern, uses a
/// variable that only the pattern binds, or has another free variable.
#[pyclass(frozen, name = "Rule", module = "isoform.pattern")]
#[derive(Clone)]
pub(crate) struct RuleHandle {
    rule: Rule,
    pattern: PatternHandle,
}

fn match_to_python(py: Python<'_>, found: &Match) -> PyResult<Py<PyAny>> {
    let (found, place) = (found.clone(), None);
    Ok(Bound::new(py, MatchHandle { found, place })?
        .into_any()
        .unbind())
}

/// The function that computes a replacement; None for a template.
fn function_of(replacement: &Bound<'_, PyAny>) -> Option<Owned> {
    let is_node = wrapper::core_of(replacement).is_some();
    (replacement.is_callable() && !is_node).then(|| Owned::new(replacement))
}

/// Returns the result of a user's function for a match.
fn answer_of(function: &Owned, found: &Match) -> isoform::Result<Py<PyAny>> {
    Python::attach(|py| {
        let answer = gil::call(&function.get(py), &[match_to_python(py, found)?.bind(py)])?;
        Ok(answer.unbind())
    })
    .map_err(from_python)
}

/// The items of an iterable.
fn values_of(items: &Bound<'_, PyAny>) -> PyResult<Vec<Value>> {
    let items = items.try_iter()?;
    items.map(|item| untyped(&item?)).collect()
}

impl RuleHandle {
    fn finish(
        rule: Rule,
        pattern: PatternHandle,
        guard: Option<&Bound<'_, PyAny>>,
        benefit: u32,
    ) -> PyResult<Self> {
        let mut rule = rule.with_benefit(benefit);
        if let Some(guard) = guard {
            if !guard.is_callable() {
                return Err(type_error("Rule.guard", "a callable", guard));
            }
            let guard = Owned::new(guard);
            rule = rule.guard(move |found| ask(&guard, |py| match_to_python(py, found)));
        }
        Ok(RuleHandle { rule, pattern })
    }
}

#[pymethods]
impl RuleHandle {
    #[new]
    #[pyo3(signature = (pattern, replacement, guard=None, *, benefit=1, introduces=None))]
    fn new(
        pattern: &Bound<'_, PyAny>,
        replacement: &Bound<'_, PyAny>,
        guard: Option<&Bound<'_, PyAny>>,
        benefit: u32,
        introduces: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let py = pattern.py();
        let own = pattern_of("Rule.pattern", pattern)?;
        let pattern = PatternHandle(own.clone());
        let rule = match function_of(replacement) {
            Some(function) => Rule::computed(own, move |rule_match| {
                let answer = answer_of(&function, rule_match)?;
                Python::attach(|py| {
                    if answer.bind(py).is_none() {
                        Ok(None)
                    } else {
                        untyped(answer.bind(py)).map(Some)
                    }
                })
                .map_err(from_python)
            }),
            None => {
                let template = untyped(replacement)?;
                let variables = introduces.map(values_of).transpose()?.unwrap_or_default();
                under_gil(py, || Rule::introducing(own, template, variables)).into_py()?
            }
        };
        RuleHandle::finish(rule, pattern, guard, benefit)
    }

    /// A rule for a node with several results, which `replacements` replace one by one:
    /// templates, or a function of the `Match` that returns the values, or None.
    ///
    /// The class of an object that selects a result declares `rewrite.projection`, and that of a
    /// statement that binds variables to all results `rewrite.binding`. The rule applies if
    /// everything that uses the node selects a result that has a replacement. Only
    /// `rewrite_greedily` takes such rules.
    #[staticmethod]
    #[pyo3(signature = (pattern, replacements, guard=None, *, benefit=1))]
    fn results(
        pattern: &Bound<'_, PyAny>,
        replacements: &Bound<'_, PyAny>,
        guard: Option<&Bound<'_, PyAny>>,
        benefit: u32,
    ) -> PyResult<Self> {
        let py = pattern.py();
        let own = pattern_of("Rule.pattern", pattern)?;
        let pattern = PatternHandle(own.clone());
        let rule = match function_of(replacements) {
            Some(function) => Rule::computed_results(own, move |rule_match| {
                let answer = answer_of(&function, rule_match)?;
                Python::attach(|py| {
                    let answer = answer.bind(py);
                    if answer.is_none() {
                        Ok(None)
                    } else {
                        values_of(answer).map(Some)
                    }
                })
                .map_err(from_python)
            }),
            None => {
                let templates = values_of(replacements)?;
                under_gil(py, || Rule::results(own, templates)).into_py()?
            }
        };
        RuleHandle::finish(rule, pattern, guard, benefit)
    }

    /// The benefit.
    #[getter]
    fn benefit(&self) -> u32 {
        self.rule.benefit()
    }

    /// The pattern.
    #[getter]
    fn pattern(&self) -> PatternHandle {
        self.pattern.clone()
    }

    /// The replacement of a value; None if the rule does not apply.
    fn apply<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (py, given) = (value.py(), untyped(value)?);
        let made = under_gil(py, || self.rule.apply(&given)).into_py()?;
        made.map(|made| to_python(py, &made)).transpose()
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.rule)
    }
}

/// The result of rewriting a value.
#[pyclass(frozen, generic, name = "Rewritten", module = "isoform.pattern")]
pub(crate) struct RewrittenHandle(Rewritten);

#[pymethods]
impl RewrittenHandle {
    /// The value, to which no rule applies any more.
    #[getter]
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.0.value)
    }

    /// The number of applications of each rule, in the order of the rules.
    #[getter]
    fn applied<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.0.applied)
    }

    /// The number of times a rule was tried on a value, in all.
    #[getter]
    fn attempts(&self) -> u64 {
        self.0.attempts
    }

    fn __repr__(&self) -> String {
        format!("Rewritten(applied={:?})", self.0.applied)
    }
}

/// Applies rules to a value and everything below it, bottom-up, until none applies.
///
/// Replacements are rewritten in turn; if several rules apply, the one with the highest benefit
/// is used, and among equals the first.
/// Parts without replacements are the same objects in the result, and sharing is kept.
/// A binder that would capture a variable of a replacement gets a new variable.
///
/// Raises ValueError if rules were applied more than `max_steps` times; TypeError if a
/// replacement does not fit its field; exceptions of guards and functions. Linear in
/// the number of distinct objects, before and after, and in the number of attempts; in
/// constant native stack.
#[pyfunction]
#[pyo3(name = "rewrite", signature = (root, rules, *, max_steps=1_000_000))]
fn rewrite_by_rules(
    root: &Bound<'_, PyAny>,
    rules: &Bound<'_, PyAny>,
    max_steps: u64,
) -> PyResult<RewrittenHandle> {
    let given = untyped(root)?;
    let rules = rules_of("rewrite.rules", rules)?;
    let options = RewriteOptions::default().max_steps(max_steps);
    let done = under_gil(root.py(), || options.rewrite(&given, &rules)).into_py()?;
    Ok(RewrittenHandle(done))
}

/// One rule, or several.
fn rules_of(place: &str, given: &Bound<'_, PyAny>) -> PyResult<Vec<Rule>> {
    let rule_of = |rule: &Bound<'_, PyAny>| match rule.cast::<RuleHandle>() {
        Ok(rule) => Ok(rule.get().rule.clone()),
        Err(_) => Err(type_error(place, "Rules", rule)),
    };
    if given.is_instance_of::<RuleHandle>() {
        Ok(vec![rule_of(given)?])
    } else {
        given.try_iter()?.map(|rule| rule_of(&rule?)).collect()
    }
}

/// Applies rules to a value and everything below it until none applies, and visits again only
/// what a replacement may have changed: the greedy pattern rewrite driver.
///
/// Parts come before the objects that hold them. After a replacement, rules are tried on its new
/// objects, on the users of what was replaced, as many levels up as the templates are high, and
/// on the users of operands that lost a user. With `drop_dead`, definitions without
/// effect are dropped when a replacement takes away their last use. Otherwise the result is as
/// that of `rewrite`, and rules may also ask for users, look through definitions, and have
/// several results.
///
/// Raises ValueError if rules were applied more than `max_steps` times, or a replacement contains
/// what is around its place; TypeError if a replacement does not fit its field; exceptions of
/// guards and functions. Linear in the number of distinct objects, of attempts, and of users of
/// what is replaced; in constant native stack.
#[pyfunction]
#[pyo3(name = "rewrite_greedily", signature = (root, rules, *, max_steps=1_000_000, drop_dead=true))]
fn rewrite_from_worklist(
    root: &Bound<'_, PyAny>,
    rules: &Bound<'_, PyAny>,
    max_steps: u64,
    drop_dead: bool,
) -> PyResult<RewrittenHandle> {
    let given = untyped(root)?;
    let rules = rules_of("rewrite_greedily.rules", rules)?;
    let options = GreedyOptions::default()
        .max_steps(max_steps)
        .drop_dead(drop_dead);
    let done = under_gil(root.py(), || options.rewrite_greedily(&given, &rules)).into_py()?;
    Ok(RewrittenHandle(done))
}
