//! Rewriting to a normal form: rules applied bottom-up until none applies.

use std::rc::Rc;

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use super::rule::Rule;
use super::scan::{self, Idents};
use crate::kernel::error::{Error, ErrorKind, Result};
use crate::kernel::object::access::Poll;
use crate::kernel::object::build;
use crate::kernel::object::header::TypeIndex;
use crate::kernel::path::AccessPath;
use crate::kernel::types::RegionKind;
use crate::kernel::value::Value;
use crate::structural::variable;
use crate::traverse::{ChildOptions, Children, children_of, cyclic, substitute};

/// How to rewrite.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct RewriteOptions {
    /// How many times rules may be applied in all.
    pub max_steps: u64,
}

impl Default for RewriteOptions {
    fn default() -> Self {
        RewriteOptions {
            max_steps: 1_000_000,
        }
    }
}

impl RewriteOptions {
    /// Sets how many times rules may be applied in all.
    #[must_use]
    pub fn max_steps(mut self, max_steps: u64) -> Self {
        self.max_steps = max_steps;
        self
    }
}

/// What became of a value.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Rewritten {
    /// The value to which no rule applies any more.
    pub value: Value,
    /// How many times each rule was applied, in the order of the rules.
    pub applied: Vec<u64>,
}

/// Applies rules to a value and everything below it until none applies.
///
/// The parts of an object come before the object itself, and what a rule puts
/// in its place is rewritten in turn; of several rules that apply the first one
/// is taken. Everything in which nothing was replaced is the same object in the
/// result, the root included, and sharing is kept: a shared object is rewritten
/// once.
///
/// * **What is rewritten.** Everything but the variables that definition
///   fields bind, and keys of maps. A variable that is bound in the value becomes a new one, wherever it
///   occurs, when something in its own fields is replaced; one that is not
///   bound keeps its identity, and with it its fields.
/// * **No capture.** Where a binder of the value binds a variable that the
///   template of a replacement brings with it, the binder gets a new variable.
///
/// Linear in the number of distinct objects, before and after, and in the
/// number of attempts: each object is compared with the rules whose template
/// has its type. Depth is limited by memory only.
///
/// # Errors
///
/// `ValueError` when rules were applied more than `max_steps` times, which
/// names the rules, and for a cyclic value; as [`Rule::apply`]. `TypeError`
/// with the path when a replacement does not fit its field.
pub fn rewrite(root: &Value, rules: &[Rule], options: &RewriteOptions) -> Result<Rewritten> {
    let mut applied = vec![0; rules.len()];
    let defined = scan::definitions(root)?;
    // Variables that come with replacements and that a binder around them
    // would capture are stood in for until the end.
    let mut stand_ins: HashMap<u64, (Value, Value), RandomState> = HashMap::default();
    for (ident, var) in rules.iter().flat_map(Rule::own_variables) {
        if let Some(object) = var.as_object()
            && defined.contains(&ident)
        {
            let stand_in = Value::from(build::shallow_copy(object));
            stand_ins.insert(ident, (var, stand_in));
        }
    }
    if stand_ins.is_empty() {
        let value = Rewriter::new(rules, options, &mut applied, defined).run(root)?;
        return Ok(Rewritten { value, applied });
    }
    let pairs: Vec<(Value, Value)> = stand_ins.into_values().collect();
    let renamed = rules.iter().map(|rule| rule.renamed(&pairs));
    let renamed = renamed.collect::<Result<Vec<Rule>>>()?;
    let back: Vec<(Value, Value)> = pairs.into_iter().map(|(var, new)| (new, var)).collect();
    let mut value = root.clone();
    loop {
        let defined = scan::definitions(&value)?;
        let next = Rewriter::new(&renamed, options, &mut applied, defined).run(&value)?;
        let next = substitute(&next, &back)?;
        // With the variables themselves back in place, more rules may apply.
        if next == value {
            return Ok(Rewritten { value, applied });
        }
        value = next;
    }
}

struct Frame {
    children: Children,
    region: RegionKind,
    is_key: bool,
    next: usize,
    pending: Value,
    first_change: usize,
    /// The object that was met first in this place.
    origin: (u64, bool),
    own: (u64, bool),
}

/// What became of a value that was met.
enum Entered {
    /// Its result is known.
    Done(Value),
    /// It has no parts to rewrite; rules may apply to it.
    Leaf(Value),
    /// It is on the stack.
    Open,
}

struct Rewriter<'r> {
    rules: &'r [Rule],
    options: &'r RewriteOptions,
    applied: &'r mut [u64],
    steps: u64,
    /// The variables that are bound in the value.
    defined: Idents,
    stack: Vec<Frame>,
    changes: Vec<(usize, Value)>,
    /// Per object, and whether rules apply to it there, what became of it; None
    /// while it is being rewritten.
    results: HashMap<(u64, bool), Option<Value>, RandomState>,
    /// Bound variables whose fields were rewritten.
    variables: HashMap<u64, Value, RandomState>,
    /// Per type, the rules that may apply.
    by_type: HashMap<Option<TypeIndex>, Rc<[usize]>, RandomState>,
}

impl<'r> Rewriter<'r> {
    fn new(
        rules: &'r [Rule],
        options: &'r RewriteOptions,
        applied: &'r mut [u64],
        defined: Idents,
    ) -> Self {
        Rewriter {
            rules,
            options,
            steps: applied.iter().sum(),
            applied,
            defined,
            stack: Vec::new(),
            changes: Vec::new(),
            results: HashMap::default(),
            variables: HashMap::default(),
            by_type: HashMap::default(),
        }
    }

    fn run(&mut self, root: &Value) -> Result<Value> {
        let mut poll = Poll::default();
        let mut finished = self.meet(root.clone(), RegionKind::Use, false, None)?;
        loop {
            poll.step_outside()?;
            let Some(frame) = self.stack.last_mut() else {
                return Ok(finished.unwrap_or_default());
            };
            if let Some(result) = finished.take()
                && result != frame.pending
            {
                self.changes.push((frame.next - 1, result));
            }
            finished = match frame.children.get(frame.next, frame.region) {
                Some(child) => {
                    frame.next += 1;
                    frame.pending = child.value.clone();
                    self.meet(child.value, child.region, child.is_key, None)?
                }
                None => self.close()?,
            };
        }
    }

    /// The result for a value, or None when it was put on the stack.
    /// `origin` is what it came in the place of.
    fn meet(
        &mut self,
        mut value: Value,
        region: RegionKind,
        is_key: bool,
        mut origin: Option<(u64, bool)>,
    ) -> Result<Option<Value>> {
        loop {
            let used = !is_key && (region == RegionKind::Use || variable(&value).is_none());
            let ident = value.as_object().map(|object| (object.identity(), used));
            origin = origin.or(ident);
            value = match self.enter(value, region, is_key, used, origin)? {
                Entered::Open => return Ok(None),
                Entered::Done(result) => {
                    self.remember(origin, &result);
                    return Ok(Some(result));
                }
                Entered::Leaf(leaf) => leaf,
            };
            match self.apply(&value, used)? {
                Some(next) => value = next,
                None => {
                    self.finish(origin, &value, used);
                    return Ok(Some(value));
                }
            }
        }
    }

    /// Looks a value up, or opens it if it has parts.
    fn enter(
        &mut self,
        value: Value,
        region: RegionKind,
        is_key: bool,
        used: bool,
        origin: Option<(u64, bool)>,
    ) -> Result<Entered> {
        let Some(object) = value.as_object() else {
            return Ok(Entered::Leaf(value));
        };
        let own = (object.identity(), used);
        match self.results.get(&own) {
            Some(Some(result)) => return Ok(Entered::Done(result.clone())),
            Some(None) => return Err(cyclic(&value).at(self.path())),
            None => {}
        }
        if let Some(ident) = variable(&value) {
            if region != RegionKind::Use {
                self.defined.insert(ident);
            }
            if !self.defined.contains(&ident) {
                return Ok(Entered::Leaf(value));
            }
            if let Some(known) = self.variables.get(&ident) {
                return Ok(Entered::Leaf(known.clone()));
            }
        }
        let children = children_of(&value, ChildOptions::default());
        if children.is_empty() {
            return Ok(Entered::Leaf(value));
        }
        self.results.insert(own, None);
        self.stack.push(Frame {
            children,
            region,
            is_key,
            next: 0,
            pending: Value::NONE,
            first_change: self.changes.len(),
            origin: origin.unwrap_or(own),
            own,
        });
        Ok(Entered::Open)
    }

    /// Leaves the value on top of the stack.
    fn close(&mut self) -> Result<Option<Value>> {
        let Some(frame) = self.stack.pop() else {
            return Ok(Some(Value::NONE));
        };
        let changes = self.changes.drain(frame.first_change..).collect();
        let made = frame.children.replace(changes);
        let made = made.map_err(|error| error.at(self.path()))?;
        self.results.remove(&frame.own);
        if let Some(ident) = variable(frame.children.source()) {
            self.variables.insert(ident, made.clone());
            if let Some(new) = variable(&made) {
                self.defined.insert(new);
                self.variables.insert(new, made.clone());
            }
        }
        let (_, used) = frame.own;
        if let Some(next) = self.apply(&made, used)? {
            return self.meet(next, frame.region, frame.is_key, Some(frame.origin));
        }
        self.finish(Some(frame.origin), &made, used);
        Ok(Some(made))
    }

    fn remember(&mut self, origin: Option<(u64, bool)>, result: &Value) {
        if let Some(origin) = origin {
            self.results.insert(origin, Some(result.clone()));
        }
    }

    /// No rule applies to a value, nor to its parts.
    fn finish(&mut self, origin: Option<(u64, bool)>, value: &Value, used: bool) {
        let own = value.as_object().map(|object| (object.identity(), used));
        self.remember(own, value);
        self.remember(origin, value);
    }

    /// What the first rule that applies puts in the place of a value.
    fn apply(&mut self, value: &Value, used: bool) -> Result<Option<Value>> {
        if !used {
            return Ok(None);
        }
        let ty = value.as_object().map(|object| object.type_info().index());
        let rules = self.rules;
        let candidates = self.by_type.entry(ty);
        let candidates = candidates.or_insert_with(|| {
            let admits = |number: &usize| rules[*number].pattern().root().admits(ty);
            (0..rules.len()).filter(admits).collect()
        });
        let candidates = candidates.clone();
        for &number in candidates.iter() {
            let next = rules[number].apply(value)?;
            let Some(next) = next.filter(|next| next != value) else {
                continue;
            };
            if self.steps >= self.options.max_steps {
                self.applied[number] += 1;
                return Err(self.exhausted());
            }
            self.steps += 1;
            self.applied[number] += 1;
            return Ok(Some(next));
        }
        Ok(None)
    }

    fn exhausted(&self) -> Error {
        let mut busy: Vec<usize> = (0..self.rules.len()).collect();
        busy.sort_by_key(|&number| std::cmp::Reverse(self.applied[number]));
        let busy: Vec<String> = busy
            .into_iter()
            .filter(|&number| self.applied[number] > 0)
            .take(3)
            .map(|number| format!("rule {number} {} times", self.applied[number]))
            .collect();
        let text = format!(
            "rewrite: rules still apply after max_steps={} steps ({}); do they undo each other?",
            self.options.max_steps,
            busy.join(", ")
        );
        Error::new(ErrorKind::Value, text).at(self.path())
    }

    fn path(&self) -> AccessPath {
        let step = |frame: &Frame| frame.children.step(frame.next.checked_sub(1)?);
        AccessPath::from_steps(self.stack.iter().filter_map(step).collect())
    }
}
