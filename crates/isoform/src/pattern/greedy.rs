//! The greedy driver: rules applied from a worklist until no rule applies.
//!
//! The program is a [graph](crate::traverse::graph) that knows the users of all
//! objects. A replacement changes edges of the graph. Objects are rebuilt where a rule
//! is tried next, and all other objects once at the end. After a replacement, rules are
//! tried on the new objects, on the users of the replaced object, up to the height of
//! the templates, and on the users of objects with a lost user.

use std::ops::Range;

use hashbrown::{HashMap, HashSet};
use rapidhash::fast::RandomState;

use super::context::{Context, identity};
use super::data::Pattern;
use super::normalize::without_capture;
use super::rule::{Replaced, Rule};
use super::rule_set::{Rewritten, RuleSet, Tally};
use crate::kernel::error::Result;
use crate::kernel::object::access::Poll;
use crate::kernel::object::dynamic::field_value_at;
use crate::kernel::setters::setters;
use crate::kernel::types::region::RegionKind;
use crate::kernel::value::Value;
use crate::traverse::bindings::Bindings;
use crate::traverse::graph::{Edge, Graph, NOTHING, NodeId, Role};

/// Options of [`rewrite_greedily`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct GreedyOptions {
    /// The maximum number of rule applications in all.
    pub max_steps: u64,
    /// True if definitions without effect are dropped when a replacement takes away
    /// their last use.
    pub drop_dead: bool,
}

impl Default for GreedyOptions {
    fn default() -> Self {
        GreedyOptions {
            max_steps: 1_000_000,
            drop_dead: true,
        }
    }
}

/// Applies rules to a value and all objects below until no rule applies, and visits
/// again only the objects that a replacement may have changed: the greedy pattern
/// rewrite driver.
///
/// Use this function instead of [`rewrite`](super::rewrite) for rules that look through
/// definitions, have several results, or enable other rules around them. The same holds
/// for rules that ask for users ([`Hole::one_use`](super::Hole::one_use), the default
/// for inner nodes of kind [`dag`](crate::types::Kind::Dag)).
///
/// * **Order.** Parts come before the objects that hold them. Of several rules, the
///   rule with the highest [benefit](Rule::with_benefit) is used, and among equals the
///   first.
/// * **Visits.** After a replacement, rules are tried on its new objects and on the
///   users of the replaced object, as many levels up as the templates are high. Rules
///   are also tried on the users of operands that lost a user, unless more users are
///   left than a template has nodes. A rule is tried only on objects whose type the
///   rule may match, and whose operator, if the template fixes the operator.
/// * **Rules that see deep**, because a hole occurs several times or a function
///   decides, are tried again on objects that changed further below, once no other rule
///   applies.
/// * **Scope, variables and sharing** are as for `rewrite`: a shared object is replaced
///   at every occurrence, bound variables whose fields change become new variables, and
///   no variable is captured. The value in a field of a plain type, such as an int, is
///   not a candidate.
/// * **Dead definitions.** If the last use of a variable disappears, the binding object
///   is dropped under three conditions. The type of the binding object declares the
///   [binding](crate::traverse::BINDING). The value and all its parts are
///   [pure](crate::traverse::PURE). The binding object is an item of an array, or has a
///   body as a replacement. Definitions that were unused from the start stay.
///
/// Objects without any replacement inside stay the same objects in the result, the root
/// included. Linear in the number of distinct objects, of attempts and of users of
/// replaced objects. Depth is limited by memory only.
///
/// # Errors
///
/// `ValueError` if rules were applied more than `max_steps` times, naming the rules,
/// and for a replacement that contains an object around its place; as [`Rule::apply`].
/// `TypeError` with the path if a replacement does not fit its field, and for an
/// attribute of the wrong form.
///
/// ```
/// use isoform::pattern::{Pattern, Rule, rewrite_greedily};
/// use isoform_ir::tir;
/// use isoform::values::DType;
///
/// let int = |name| tir::Var::new(name, DType::INT32);
/// let (x, a) = (int("x"), int("a"));
/// let one = tir::constant(DType::INT32, 1)?;
/// let times_one = Rule::new(Pattern::new(tir::Mul::new(&x, &one)?, [&x])?, &x)?;
/// let root = tir::Mul::new(&tir::Mul::new(&a, &one)?, &one)?;
/// let done = rewrite_greedily(root, &[times_one])?;
/// assert_eq!((done.value, done.applied), (a.into(), vec![2]));
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn rewrite_greedily(root: impl Into<Value>, rules: &[Rule]) -> Result<Rewritten> {
    GreedyOptions::default().rewrite_greedily(root, rules)
}

impl GreedyOptions {
    setters! {
        /// Sets the maximum number of rule applications in all.
        max_steps: u64,
        /// Sets whether definitions are dropped when they lose their last use.
        drop_dead: bool,
    }

    /// [`rewrite_greedily`] with these options.
    ///
    /// # Errors
    ///
    /// As [`rewrite_greedily`].
    pub fn rewrite_greedily(self, root: impl Into<Value>, rules: &[Rule]) -> Result<Rewritten> {
        let mut tally = Tally::new(rules.len(), self.max_steps);
        let value = without_capture(&root.into(), rules, |value, rules| {
            Driver::new(value, rules, self)?.run(&mut tally)
        })?;
        Ok(tally.rewritten(value))
    }
}

/// The program as seen by matches.
struct Program {
    graph: Graph,
    bindings: Bindings,
    /// For variables bound to other variables, a definition further along. Valid while
    /// the bindings of the variables on the way stay the same.
    copies: HashMap<NodeId, NodeId, RandomState>,
}

impl Program {
    /// Adds the bindings of nodes.
    fn note(&mut self, added: Range<NodeId>) -> Result<()> {
        for at in added {
            if self.bindings.note(&self.graph, at)? {
                self.copies.clear();
            }
        }
        Ok(())
    }

    /// The end of a chain of variables of one type, where every variable is bound to
    /// the next. Shortens the way for all variables in the chain.
    fn end_of_copies(&mut self, definition: NodeId) -> NodeId {
        let (mut at, mut passed) = (definition, Vec::new());
        while let Some(next) = match self.copies.get(&at) {
            Some(&next) => Some(next),
            None => self.bindings.copied(&self.graph, at),
        } {
            passed.push(at);
            at = next;
            if passed.len() > self.graph.nodes.len() {
                return definition;
            }
        }
        for passed in passed {
            self.copies.insert(passed, at);
        }
        at
    }
}

impl Context for Program {
    fn graph(&self) -> &Graph {
        &self.graph
    }

    fn definition(&mut self, var: u64) -> Result<Option<Value>> {
        if let Some(definition) = self.graph.find(var, RegionKind::Def, false) {
            let end = self.end_of_copies(definition);
            if end != definition {
                self.graph.refresh(end)?;
                return Ok(Some(self.graph.node(end).value.clone()));
            }
        }
        let bound = self.bindings.of(&self.graph, var);
        let Some(bound) = bound.filter(|bound| bound.index.is_none()) else {
            return Ok(None);
        };
        self.graph.refresh(bound.value)?;
        let is_movable = self.bindings.is_movable(&self.graph, bound.value)?;
        Ok(is_movable.then(|| self.graph.node(bound.value).value.clone()))
    }
}

/// The state of a node on the worklist.
#[derive(Clone, Copy, Default)]
struct State {
    queued: bool,
    visited: bool,
    /// The object at the last visit.
    seen: u64,
}

struct Driver<'r> {
    program: Program,
    root: NodeId,
    rules: RuleSet<'r>,
    options: GreedyOptions,
    /// The last node is visited next.
    queue: Vec<NodeId>,
    states: Vec<State>,
    /// The number of levels above a change that a template may reach.
    reach: u32,
    /// The number of users of one node that a match may contain.
    most_users: usize,
    looks_through: bool,
    has_deep_rules: bool,
    poll: Poll,
}

impl<'r> Driver<'r> {
    fn new(root: &Value, rules: &'r [Rule], options: GreedyOptions) -> Result<Self> {
        let mut program = Program {
            graph: Graph::default(),
            bindings: Bindings::default(),
            copies: HashMap::default(),
        };
        let node = program.graph.import(root, RegionKind::Use, false)?;
        program.graph.pinned = node;
        program.note(0..program.graph.nodes.len() as NodeId)?;
        let patterns = || rules.iter().map(Rule::pattern);
        let height = patterns().map(|pattern| pattern.height()).max();
        Ok(Driver {
            states: vec![State::default(); program.graph.nodes.len()],
            program,
            root: node,
            rules: RuleSet::new(rules),
            options,
            queue: Vec::new(),
            reach: height.unwrap_or(0).saturating_sub(1),
            most_users: patterns().map(Pattern::most_users).max().unwrap_or(0),
            looks_through: patterns().any(|pattern| pattern.asks_for_definitions()),
            has_deep_rules: rules.iter().any(Rule::sees_deep),
            poll: Poll::default(),
        })
    }

    fn run(mut self, tally: &mut Tally) -> Result<Value> {
        // Numbers ascend from parts to the objects that hold them.
        let first_count = self.states.len() as NodeId;
        let mut swept = 0;
        loop {
            self.poll.step_outside()?;
            if let Some(node) = self.queue.pop() {
                self.states[node as usize].queued = false;
                self.visit(node, tally)?;
            } else if swept < first_count {
                let node = swept;
                swept += 1;
                if !self.states[node as usize].visited {
                    self.visit(node, tally)?;
                }
            } else if !self.queue_changed()? {
                break;
            }
        }
        let graph = &mut self.program.graph;
        graph.refresh(self.root)?;
        Ok(graph.node(self.root).value.clone())
    }

    /// Tries the rules on a node.
    fn visit(&mut self, node: NodeId, tally: &mut Tally) -> Result<()> {
        self.states[node as usize].visited = true;
        let graph = &mut self.program.graph;
        let this = graph.node(node);
        let is_candidate = this.role != Role::Definition && !this.is_key && !this.dead;
        if !is_candidate || !self.rules.may_match(&this.value) {
            return Ok(());
        }
        graph.refresh(node)?;
        let value = graph.node(node).value.clone();
        self.states[node as usize].seen = identity(&value);
        let program: &mut dyn Context = &mut self.program;
        let tried = self.rules.try_all(&value, tally, Some(program));
        let tried = tried.map_err(|error| {
            if tally.is_exhausted() {
                error.at(self.program.graph.path(node))
            } else {
                error
            }
        });
        match tried? {
            None => Ok(()),
            Some((rule, Replaced::Value(next))) => {
                self.replace(node, &next, self.rules.is_computed(rule))
            }
            Some((rule, Replaced::Results(results))) => {
                if !self.replace_results(node, &results, self.rules.is_computed(rule))? {
                    tally.uncount(rule);
                }
                Ok(())
            }
        }
    }

    /// Puts a value in the place of a node. A template moves no part out of its scope;
    /// a function may use and bind any variable.
    fn replace(&mut self, node: NodeId, next: &Value, is_computed: bool) -> Result<()> {
        let graph = &mut self.program.graph;
        let (region, is_key) = (graph.node(node).region, graph.node(node).is_key);
        // The replacement may contain the replaced object.
        graph.forget(node);
        let before = graph.nodes.len() as NodeId;
        let new = graph.import(next, region, is_key)?;
        let after = graph.nodes.len() as NodeId;
        self.program.note(before..after)?;
        self.states.resize(after as usize, State::default());
        if new == node {
            return Ok(());
        }
        let Program {
            graph,
            bindings,
            copies,
        } = &mut self.program;
        if is_computed {
            bindings.unsettle(graph, new, before..after);
        }
        if is_computed || graph.node(node).role == Role::Use {
            copies.clear();
        }
        let graph = &mut self.program.graph;
        let moved = graph.redirect(node, new);
        if self.root == node {
            (self.root, graph.pinned) = (new, new);
        }
        self.bury(node)?;
        self.queue_users(moved);
        for new_node in (before..after).rev() {
            self.enqueue(new_node);
        }
        Ok(())
    }

    /// Drops a node after its last use, and all nodes that only this node used.
    fn bury(&mut self, node: NodeId) -> Result<()> {
        let mut dead = vec![node];
        while let Some(node) = dead.pop() {
            let mut lost = Vec::new();
            self.program.graph.bury(node, |_, kid| lost.push(kid));
            for kid in lost {
                let this = self.program.graph.node(kid);
                if this.role == Role::Definition {
                    if self.options.drop_dead {
                        self.drop_definition(kid, &mut dead)?;
                    }
                } else if !this.dead {
                    self.queue_users_left(kid);
                }
            }
        }
        Ok(())
    }

    /// Queues the remaining users of a node, if all of them may be in one match.
    fn queue_users_left(&mut self, node: NodeId) {
        let mut users: Vec<NodeId> = Vec::new();
        let mut places: Vec<Edge> = Vec::new();
        for edge in self.program.graph.places(node) {
            if !users.contains(&edge.user) {
                if users.len() == self.most_users {
                    return;
                }
                users.push(edge.user);
                places.push(edge);
            }
        }
        self.queue_users(places);
    }

    /// Drops the binding object of a variable without uses.
    fn drop_definition(&mut self, definition: NodeId, dead: &mut Vec<NodeId>) -> Result<()> {
        let Program {
            graph, bindings, ..
        } = &mut self.program;
        if graph.is_used(definition) {
            return Ok(());
        }
        let bound: Vec<_> = bindings.all_of(graph, definition).collect();
        for bound in bound {
            let roles = bindings.roles.of(&graph.node(bound.binding).value)?;
            let Some(binding) = roles.and_then(|roles| roles.binding) else {
                continue;
            };
            let kid_at = |position: u32| {
                let mut kids = graph.node(bound.binding).kids.iter();
                kids.find(|kid| kid.position == position)
                    .map(|kid| kid.node)
            };
            let others = kid_at(binding.var).map(|var| graph.node(var).kids.iter());
            let is_needed = bound.index.is_some()
                && others
                    .into_iter()
                    .flatten()
                    .any(|kid| graph.is_used(kid.node));
            if is_needed || !bindings.is_pure(graph, bound.value)? {
                continue;
            }
            if let Some(body) = binding.body {
                if let Some(body) = kid_at(body) {
                    let moved = graph.redirect(bound.binding, body);
                    if self.root == bound.binding {
                        (self.root, graph.pinned) = (body, body);
                    }
                    dead.push(bound.binding);
                    self.queue_users(moved);
                }
                return Ok(());
            }
            let places: Vec<Edge> = graph.places(bound.binding).collect();
            let in_array = |edge: &Edge| {
                let holder = graph.node(edge.user).value.container();
                holder.is_some_and(|row| !row.is_mapping())
            };
            if !places.is_empty() && places.iter().all(in_array) {
                for edge in &places {
                    graph.remove_item(*edge);
                }
                dead.push(bound.binding);
                self.queue_users(places);
            }
            return Ok(());
        }
        Ok(())
    }

    /// Replaces the nodes that select the results of a node. Returns false if another
    /// user exists, or no node selects a result.
    fn replace_results(
        &mut self,
        node: NodeId,
        results: &[Value],
        is_computed: bool,
    ) -> Result<bool> {
        let Some(selected) = self.selections(node, results)? else {
            return Ok(false);
        };
        for &(user, result) in &selected {
            self.replace(user, &results[result], is_computed)?;
        }
        Ok(!selected.is_empty())
    }

    /// The nodes that select results of a node; None if any of them cannot be replaced.
    fn selections(&self, node: NodeId, results: &[Value]) -> Result<Option<Vec<(NodeId, usize)>>> {
        let Program {
            graph, bindings, ..
        } = &self.program;
        let mut selected = Vec::new();
        for edge in graph.places(node) {
            let user = graph.node(edge.user);
            let position = user.kids[edge.kid as usize].position;
            let roles = bindings.roles.of(&user.value)?;
            let projection = roles.as_ref().and_then(|roles| roles.projection);
            let binding = roles.as_ref().and_then(|roles| roles.binding);
            if let (Some(projection), Some(object)) = (projection, user.value.as_object())
                && projection.of == position
            {
                let index = field_value_at(object, projection.index);
                let index = index.and_then(|index| index.as_int());
                match index.and_then(|index| usize::try_from(index).ok()) {
                    Some(index) if index < results.len() => selected.push((edge.user, index)),
                    _ => return Ok(None),
                }
                continue;
            }
            let Some(binding) = binding.filter(|binding| binding.value == position) else {
                return Ok(None);
            };
            let var = user.kids.iter().find(|kid| kid.position == binding.var);
            let Some(vars) = var.map(|kid| graph.node(kid.node)) else {
                return Ok(None);
            };
            if vars.role == Role::Definition {
                return Ok(None);
            }
            if !bindings.is_fixed(graph, node)? {
                return Ok(None);
            }
            for kid in vars.kids.iter().filter(|kid| kid.node != NOTHING) {
                if !bindings.is_settled(graph, kid.node) {
                    return Ok(None);
                }
                for used in graph.uses_of(kid.node) {
                    let index = kid.position as usize;
                    let Some(result) = results.get(index) else {
                        return Ok(None);
                    };
                    let is_atom = crate::traverse::children_of(result).is_empty()
                        || crate::structural::variable(result).is_some();
                    if !is_atom && graph.places(used).take(2).count() > 1 {
                        return Ok(None);
                    }
                    selected.push((used, index));
                }
            }
        }
        Ok(Some(selected))
    }

    /// Queues the users at `places` and their ancestors, as far up as templates reach;
    /// the nearest nodes are visited first.
    fn queue_users(&mut self, places: impl IntoIterator<Item = Edge>) {
        let mut new_users: Vec<NodeId> = Vec::new();
        let mut user_set: HashSet<NodeId, RandomState> = HashSet::default();
        let mut level: Vec<Edge> = places.into_iter().collect();
        let graph = &self.program.graph;
        for _ in 0..self.reach {
            let first = new_users.len();
            while let Some(edge) = level.pop() {
                // A dropped node has handed its users on.
                if !graph.node(edge.user).dead && user_set.insert(edge.user) {
                    new_users.push(edge.user);
                    if self.looks_through {
                        // The users of a variable see the value bound to it.
                        for used in self.program.bindings.variables_of(graph, edge) {
                            level.extend(graph.places(used));
                        }
                    }
                }
            }
            let above = new_users[first..].iter();
            level.extend(above.flat_map(|&user| graph.node(user).users.iter().copied()));
        }
        for node in new_users.into_iter().rev() {
            self.enqueue_visited(node);
        }
    }

    /// Queues a node again, unless its first visit is still to come.
    fn enqueue_visited(&mut self, node: NodeId) {
        if self.states[node as usize].visited {
            self.enqueue(node);
        }
    }

    fn enqueue(&mut self, node: NodeId) {
        let state = &mut self.states[node as usize];
        let this = self.program.graph.node(node);
        if !state.queued && !this.dead && self.rules.may_match(&this.value) {
            state.queued = true;
            self.queue.push(node);
        }
    }

    /// Queues the nodes on which a rule may see, from far above, a change since their
    /// visit; false if no node was queued.
    fn queue_changed(&mut self) -> Result<bool> {
        let Program {
            graph,
            bindings,
            copies,
        } = &mut self.program;
        copies.clear();
        if self.looks_through && bindings.resettle(graph) {
            // A definition may be looked through anywhere in the values of other
            // definitions.
            for node in (0..self.states.len() as NodeId).rev() {
                self.enqueue(node);
            }
        }
        if !self.has_deep_rules {
            return Ok(!self.queue.is_empty());
        }
        let graph = &mut self.program.graph;
        graph.refresh(self.root)?;
        let rebuilt = std::mem::take(&mut graph.rebuilt);
        for &node in rebuilt.iter().rev() {
            let (state, this) = (self.states[node as usize], self.program.graph.node(node));
            let has_changed = state.visited && state.seen != identity(&this.value);
            if has_changed && self.rules.may_match(&this.value) && self.rules.sees_deep(&this.value)
            {
                self.enqueue(node);
            }
        }
        Ok(!self.queue.is_empty())
    }
}
