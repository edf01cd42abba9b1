//! Rules: the pattern to look for, the condition, and the replacement.

use std::borrow::Cow;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

use isoform::values::Tensor;
use isoform::{Ref, Value};

use super::pattern::{Match, Pattern};
use crate::facts::{Fact, Size};
use crate::ir::Call;
use crate::values::{self, ValueKey};

/// When a rule is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RuleGroup {
    /// Always: results keep every bit.
    Exact,
    /// With [`OptimizeOptions::fuse`](super::OptimizeOptions::fuse): the last bits of
    /// results may change.
    Fuse,
    /// Given by the user.
    User,
}

/// The function of a rule. For a call matched by the pattern, it returns a value for
/// each output of the call, or None to leave the call alone.
pub type Rewrite =
    Arc<dyn Fn(&mut Site<'_, '_>) -> isoform::Result<Option<Vec<Value>>> + Send + Sync>;

#[derive(Clone)]
enum Action {
    Builtin(fn(&mut Site<'_, '_>) -> Option<Vec<Value>>),
    User(Rewrite),
}

/// A rewrite rule.
///
/// The rules of the library are listed by [`rules`](super::rules()). Your own are a name, a
/// pattern and a function:
///
/// ```
/// use isoform_onnx::optimize::{OptimizeOptions, Rule};
///
/// // HardSwish for x * HardSigmoid(x), as this hardware wants it.
/// let rule = Rule::new("to-hard-swish", "Mul(x, HardSigmoid(x))", |site| {
///     let x = site.get("x")?.clone();
///     Ok(site.replace("HardSwish", vec![x], &[]))
/// })?;
/// let options = OptimizeOptions::default().rules([rule]);
/// # let _ = options;
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(Clone)]
pub struct Rule {
    name: Cow<'static, str>,
    group: RuleGroup,
    versions: RangeInclusive<i64>,
    pub(super) patterns: Vec<Pattern>,
    replacement: Cow<'static, str>,
    reason: Cow<'static, str>,
    action: Action,
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rule({})", self.name)
    }
}

/// A row of a table of rules.
pub(super) struct Row {
    pub(super) name: &'static str,
    /// Versions of `ai.onnx` for which the rule is right.
    pub(super) versions: RangeInclusive<i64>,
    pub(super) patterns: &'static [&'static str],
    /// The replacement, for people.
    pub(super) replacement: &'static str,
    /// Why the result is the same, and under which conditions.
    pub(super) reason: &'static str,
    pub(super) rewrite: fn(&mut Site<'_, '_>) -> Option<Vec<Value>>,
}

impl Row {
    pub(super) fn rule(&self, group: RuleGroup) -> isoform::Result<Rule> {
        let patterns = self.patterns.iter().map(|text| Pattern::parse(text));
        Ok(Rule {
            name: self.name.into(),
            group,
            versions: self.versions.clone(),
            patterns: patterns.collect::<isoform::Result<_>>()?,
            replacement: self.replacement.into(),
            reason: self.reason.into(),
            action: Action::Builtin(self.rewrite),
        })
    }
}

impl Rule {
    /// A custom rule. The [pattern](Pattern) is matched against each call with
    /// simplified inputs; `rewrite` returns the replacements of the call's outputs.
    ///
    /// # Errors
    ///
    /// `ValueError` for an empty name and for an invalid pattern.
    pub fn new<F>(name: &str, pattern: &str, rewrite: F) -> isoform::Result<Rule>
    where
        F: Fn(&mut Site<'_, '_>) -> isoform::Result<Option<Vec<Value>>> + Send + Sync + 'static,
    {
        if name.is_empty() {
            return Err(isoform::Error::value_error("a rule needs a name"));
        }
        Ok(Rule {
            name: name.to_owned().into(),
            group: RuleGroup::User,
            versions: 1..=i64::MAX,
            patterns: vec![Pattern::parse(pattern)?],
            replacement: "".into(),
            reason: "".into(),
            action: Action::User(Arc::new(rewrite)),
        })
    }

    /// Limits the rule to calls of some versions of `ai.onnx`.
    #[must_use]
    pub fn versions(mut self, versions: RangeInclusive<i64>) -> Self {
        self.versions = versions;
        self
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// When the rule is used.
    #[must_use]
    pub fn group(&self) -> RuleGroup {
        self.group
    }

    /// The alternative patterns of the rule.
    pub fn patterns(&self) -> impl Iterator<Item = &Pattern> {
        self.patterns.iter()
    }

    /// The replacement, for people; empty for your own rules.
    #[must_use]
    pub fn replacement(&self) -> &str {
        &self.replacement
    }

    /// Why the result is the same; empty for your own rules.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// The versions of `ai.onnx` to which the rule applies.
    #[must_use]
    pub fn since_until(&self) -> RangeInclusive<i64> {
        self.versions.clone()
    }

    /// Tries the rule on a call.
    pub(super) fn apply(
        &self,
        around: &mut dyn Surroundings,
        call: &Ref<Call>,
    ) -> isoform::Result<Option<Vec<Value>>> {
        if !self.versions.contains(&call.version) {
            return Ok(None);
        }
        for pattern in &self.patterns {
            let Some(rule_match) = pattern.match_call(call) else {
                continue;
            };
            let mut site = Site {
                around,
                root: call,
                found: rule_match,
                rule: &self.name,
                failed: None,
            };
            let values = match &self.action {
                Action::Builtin(rewrite) => Ok(rewrite(&mut site)),
                Action::User(rewrite) => rewrite(&mut site),
            };
            // After a failure to make a call, later errors of the function are only
            // consequences.
            if let Some(error) = site.failed {
                return Err(error);
            }
            let values = values?;
            if values.is_some() {
                return Ok(values);
            }
        }
        Ok(None)
    }
}

/// The program around a place where a rule may apply.
pub(super) trait Surroundings {
    /// Knowledge about a value.
    fn fact(&mut self, value: &Value) -> Arc<Fact>;

    /// The known number of uses of a new value in the program; at least 1 for a value
    /// just made by a rule.
    fn uses(&self, value: ValueKey) -> usize;

    /// The number of uses in the source of an output of the call from which this call
    /// was made.
    fn uses_in_source(&self, call: &Ref<Call>, index: i64) -> usize;

    /// The Concat of the source that uses the origin of this call.
    fn joined_by(&self, call: &Ref<Call>) -> Option<Ref<Call>>;

    /// The bytes of an element of the value, if all elements are known to be equal.
    fn element(&self, value: &Value) -> Option<Vec<u8>>;

    /// A constant that a rule makes.
    fn new_constant(&mut self, value: Value) -> Value;

    /// Makes a call for a rule; see [`Site::make`].
    #[expect(clippy::too_many_arguments, reason = "these are the parts of a call")]
    fn request(
        &mut self,
        root: &Ref<Call>,
        domain: &str,
        op: &str,
        inputs: Vec<Value>,
        attrs: &[(&str, Value)],
        outputs: i64,
        in_place: bool,
    ) -> isoform::Result<Vec<Value>>;
}

/// A place where a rule may apply: the parts matched by the pattern, facts about
/// values, and ways to make new calls.
pub struct Site<'s, 'r> {
    around: &'s mut (dyn Surroundings + 'r),
    root: &'s Ref<Call>,
    found: Match,
    rule: &'s str,
    failed: Option<isoform::Error>,
}

impl Site<'_, '_> {
    /// The call that the pattern matched.
    #[must_use]
    pub fn root(&self) -> &Ref<Call> {
        self.root
    }

    /// The first output of the root before the rule.
    pub(super) fn result(&self) -> Value {
        values::output(self.root, 0)
    }

    /// The version of `ai.onnx` there.
    #[must_use]
    pub fn version(&self) -> i64 {
        self.root.version
    }

    /// The value bound to a name of the pattern.
    ///
    /// # Errors
    ///
    /// `KeyError` for a name missing from the pattern.
    pub fn get(&self, name: &str) -> isoform::Result<&Value> {
        self.found.value(name).ok_or_else(|| {
            let names: Vec<&str> = self.found.names().collect();
            isoform::Error::new(
                isoform::errors::ErrorKind::Key,
                format!(
                    "rule '{}': its pattern has no value '{name}', only {}",
                    self.rule,
                    names.join(", ")
                ),
            )
        })
    }

    /// The match.
    #[must_use]
    pub fn found(&self) -> &Match {
        &self.found
    }

    /// The value bound to a name; None for an omitted input.
    pub(super) fn value(&self, name: &str) -> Option<Value> {
        let value = self.found.value(name)?;
        (!value.is_none()).then(|| value.clone())
    }

    /// The call that a label stands for.
    pub(super) fn labelled(&self, label: &str) -> Option<Ref<Call>> {
        self.found.call(label).cloned()
    }

    /// Knowledge about a value.
    pub fn fact(&mut self, value: &Value) -> Arc<Fact> {
        self.around.fact(value)
    }

    /// The sizes of a value's axes, if their number is known.
    pub fn shape(&mut self, value: &Value) -> Option<Vec<Size>> {
        self.fact(value).shape.clone()
    }

    /// The sizes of a value's axes, if all are numbers.
    pub(super) fn sizes(&mut self, value: &Value) -> Option<Vec<i64>> {
        let shape = self.shape(value)?;
        shape.iter().map(Size::as_const).collect()
    }

    /// The elements of an integer or bool tensor, if all are known.
    pub fn ints(&mut self, value: &Value) -> Option<Vec<i64>> {
        super::constants::ints(value).or_else(|| {
            let fact = self.around.fact(value);
            fact.elements.as_ref()?.iter().map(Size::as_const).collect()
        })
    }

    /// The elements of a constant tensor of floats, if they fit an `f64`.
    pub fn floats(&self, value: &Value) -> Option<Vec<f64>> {
        super::constants::floats(value)
    }

    /// True if every bit of every element is zero.
    pub(super) fn is_all_zeros(&self, value: &Value) -> bool {
        let element = self.around.element(value);
        element.is_some_and(|bytes| bytes.iter().all(|byte| *byte == 0))
    }

    /// True if nothing else uses the value.
    #[must_use]
    pub fn has_one_use(&self, value: &Value) -> bool {
        self.around.uses(ValueKey::of(value)) <= 1
    }

    /// True if an output of the call is unused.
    pub(super) fn is_unused(&self, call: &Ref<Call>, output: i64) -> bool {
        self.around.uses_in_source(call, output) == 0
    }

    /// The Concat that is the only user of the root, if any.
    pub(super) fn joined_by(&self) -> Option<Ref<Call>> {
        let is_only = self.around.uses_in_source(self.root, 0) == 1;
        self.around.joined_by(self.root).filter(|_| is_only)
    }

    /// A constant list of `int64`.
    pub fn int64s(&mut self, values: &[i64]) -> Value {
        let tensor = super::constants::int64s(values);
        self.around.new_constant(tensor)
    }

    /// A constant, shared with all equal constants.
    pub fn constant(&mut self, tensor: Tensor) -> Value {
        self.around.new_constant(tensor.into())
    }

    /// Makes and simplifies a call of an operator with one output, and returns the
    /// result.
    pub fn make(&mut self, op: &str, inputs: Vec<Value>, attrs: &[(&str, Value)]) -> Option<Value> {
        let values = self.request(op, inputs, attrs, 1, false)?;
        values.into_iter().next()
    }

    /// Like [`make`](Self::make), for the replacement of the root: the new call gets
    /// the root's name and names of outputs.
    pub fn replace(
        &mut self,
        op: &str,
        inputs: Vec<Value>,
        attrs: &[(&str, Value)],
    ) -> Option<Vec<Value>> {
        self.request(op, inputs, attrs, 1, true)
    }

    /// Makes and simplifies a call with any number of outputs, and returns all results;
    /// `in_place` is true for the call that replaces the root.
    pub fn request(
        &mut self,
        op: &str,
        inputs: Vec<Value>,
        attrs: &[(&str, Value)],
        outputs: i64,
        in_place: bool,
    ) -> Option<Vec<Value>> {
        let (domain, op) = op.rsplit_once("::").unwrap_or(("", op));
        match self
            .around
            .request(self.root, domain, op, inputs, attrs, outputs, in_place)
        {
            Ok(values) => Some(values),
            Err(error) => {
                self.failed = Some(error);
                None
            }
        }
    }

    /// All attributes of a call, to be given to another call.
    pub(super) fn attrs(call: &Call) -> Vec<(&str, Value)> {
        let attrs = call.attrs.iter();
        attrs
            .map(|(name, value)| (name.as_str(), value.clone()))
            .collect()
    }
}
