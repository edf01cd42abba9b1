//! The search for a match of a [shell]: goals to meet one after the other, and choices
//! for returning after a failed goal.
//!
//! Goals form lists that share their ends: a choice is an earlier list, and a template
//! of any depth needs no native stack.
//!
//! [shell]: super::shell

use hashbrown::{HashMap, HashSet};
use rapidhash::fast::RandomState;
use smallvec::SmallVec;

use super::context::{Context, Inner, NONE, have_allowed_uses, identity};
use super::data::{InteriorUses, NodeNumber, Shape, Skeleton};
use super::hole::misplaced;
use super::scan;
use super::shell::parts_of;
use crate::kernel::container::Array;
use crate::kernel::error::{Error, Result};
use crate::kernel::object::access::Poll;
use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::table::is_a;
use crate::kernel::types::region::RegionKind;
use crate::kernel::value::Value;
use crate::structural::{CompareOptions, Filled, FilledPair, Matching, variable};
use crate::traverse::roles::{Commutes, is_constant};

/// More returns to a choice than this number end a search with an error.
const MAX_RETURNS: u64 = 1_000_000;

#[derive(Clone)]
enum Goal {
    Node {
        node: NodeNumber,
        value: Value,
        /// The inner node that contains the part.
        above: u32,
        order: Order,
    },
    Items {
        node: NodeNumber,
        /// The next item of the template.
        at: usize,
        items: Array,
        /// The next item of the value.
        from: usize,
        /// The items taken by the hole at `at`, or the first item to try.
        take: usize,
        /// The items taken, if the order does not matter.
        taken: Option<u64>,
        above: u32,
    },
    /// Fills a hole for several items.
    Several {
        node: NodeNumber,
        items: Array,
        from: usize,
        count: usize,
        above: u32,
    },
    /// Discards the later choices, above this height.
    Commit(usize),
}

/// The order in which the parts of a node are taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Given,
    Swapped,
    /// The alternative to try.
    Alternative(usize),
}

struct Choice {
    head: u32,
    cells: usize,
    trail: usize,
    pairs: usize,
    inner: usize,
}

enum Undo {
    Part(usize),
    Pair(u64, u64),
}

struct Search<'s, 'c> {
    shell: &'s Skeleton,
    context: Option<&'c mut (dyn Context + 'c)>,
    cells: Vec<(Goal, u32)>,
    head: u32,
    /// By number, with the bindings around the part.
    parts: Vec<Option<PlacedValue>>,
    pairs: Vec<FilledPair>,
    lefts: HashMap<u64, u64, RandomState>,
    rights: HashMap<u64, u64, RandomState>,
    trail: Vec<Undo>,
    choices: Vec<Choice>,
    inner: Vec<Inner>,
    returns: u64,
    /// The number of items of the longest array: the choices of a single hole do not
    /// count as too many.
    longest: u64,
    poll: Poll,
}

struct PlacedValue {
    value: Value,
    /// The bindings around the value, as positions in the pairs.
    around: Vec<usize>,
}

/// Matches a value; None if the value does not match.
///
/// # Errors
///
/// Errors of comparison, guards and functions that decide about purity; `ValueError`
/// for too many ways to try, or for a hole that asks for users without a context.
pub(super) fn search<'c>(
    shell: &Skeleton,
    value: &Value,
    context: Option<&'c mut (dyn Context + 'c)>,
) -> Result<Option<Filled>> {
    let mut search = Search {
        shell,
        context,
        cells: Vec::new(),
        head: NONE,
        parts: (0..shell.parts.len()).map(|_| None).collect(),
        pairs: Vec::new(),
        lefts: HashMap::default(),
        rights: HashMap::default(),
        trail: Vec::new(),
        choices: Vec::new(),
        inner: Vec::new(),
        returns: 0,
        longest: 0,
        poll: Poll::default(),
    };
    search.push(Goal::Node {
        node: shell.root,
        value: value.clone(),
        above: NONE,
        order: Order::Given,
    });
    if !search.run()? {
        return Ok(None);
    }
    let parts = search
        .parts
        .into_iter()
        .map(|part| part.map(|part| (part.value, part.around)));
    Ok(Some(Filled {
        parts: parts.collect(),
        pairs: search.pairs,
    }))
}

impl Search<'_, '_> {
    fn run(&mut self) -> Result<bool> {
        loop {
            self.poll.step_outside()?;
            let met = match self.cells.get(self.head as usize) {
                Some((goal, next)) if self.head != NONE => {
                    let goal = goal.clone();
                    self.head = *next;
                    self.meet(goal)?
                }
                _ => match &self.context {
                    Some(context) if !have_allowed_uses(context.graph(), &self.inner) => false,
                    _ => return Ok(true),
                },
            };
            if !met && !self.return_to_choice()? {
                return Ok(false);
            }
        }
    }

    fn push(&mut self, goal: Goal) {
        self.cells.push((goal, self.head));
        self.head = self.cells.len() as u32 - 1;
    }

    /// Makes `goal` the alternative to the current goal, to be tried if later goals
    /// fail.
    fn choose(&mut self, goal: Goal) {
        self.cells.push((goal, self.head));
        self.choices.push(Choice {
            head: self.cells.len() as u32 - 1,
            cells: self.cells.len(),
            trail: self.trail.len(),
            pairs: self.pairs.len(),
            inner: self.inner.len(),
        });
    }

    fn return_to_choice(&mut self) -> Result<bool> {
        let Some(choice) = self.choices.pop() else {
            return Ok(false);
        };
        self.returns += 1;
        if self.returns > MAX_RETURNS + self.longest {
            return Err(Error::value_error(format!(
                "Pattern: no match after {MAX_RETURNS} attempts to arrange the operands and items \
                 of one value; repeat fewer holes, or use fewer holes for several items"
            )));
        }
        self.head = choice.head;
        self.cells.truncate(choice.cells);
        for undo in self.trail.drain(choice.trail..) {
            match undo {
                Undo::Part(part) => self.parts[part] = None,
                Undo::Pair(left, right) => {
                    self.lefts.remove(&left);
                    self.rights.remove(&right);
                }
            }
        }
        self.pairs.truncate(choice.pairs);
        self.inner.truncate(choice.inner);
        Ok(true)
    }

    fn meet(&mut self, goal: Goal) -> Result<bool> {
        match goal {
            Goal::Commit(height) => {
                self.choices.truncate(height);
                Ok(true)
            }
            Goal::Items { .. } => self.items(goal),
            Goal::Several {
                node,
                items,
                from,
                count,
                above,
            } => {
                let some = items.values()[from..from + count].to_vec();
                match self.shell.nodes[node].shape {
                    Shape::Hole(hole) => self.take(hole, node, &Array::from(some).into(), above),
                    _ => Ok(false),
                }
            }
            Goal::Node {
                node,
                value,
                above,
                order,
            } => self.node(node, value, above, order),
        }
    }

    fn node(&mut self, node: NodeNumber, value: Value, above: u32, order: Order) -> Result<bool> {
        let shell = self.shell;
        let this = &shell.nodes[node];
        match &this.shape {
            Shape::Plain => Ok(this.template == value),
            Shape::Hole(hole) => self.hole(*hole, node, &value, above),
            Shape::AnyOf(roots) => {
                let choice = match order {
                    Order::Alternative(choice) => choice,
                    _ => 0,
                };
                let Some(&root) = roots.get(choice) else {
                    return Ok(false);
                };
                if choice + 1 < roots.len() {
                    self.choose(Goal::Node {
                        node,
                        value: value.clone(),
                        above,
                        order: Order::Alternative(choice + 1),
                    });
                }
                self.push(Goal::Node {
                    node: root,
                    value,
                    above,
                    order: Order::Given,
                });
                Ok(true)
            }
            Shape::Core(core) => {
                let root = shell.cores[*core].root;
                let admits = |value: &Value| root.admits(object_type(value));
                match self.through_definitions(node, &value, admits)? {
                    Some((value, None)) => self.core(*core, &value, true),
                    Some((value, Some(var))) => {
                        self.note(node, &value, Some(var), above);
                        self.core(*core, &value, true)
                    }
                    None => Ok(false),
                }
            }
            Shape::Items { ty, .. } => {
                let ty = *ty;
                match (object_type(&value) == Some(ty), value.items()) {
                    (true, Some(items)) => {
                        let above = self.note(node, &value, None, above);
                        self.push(start_of_items(node, items, above, false));
                        Ok(true)
                    }
                    _ => Ok(false),
                }
            }
            Shape::Node {
                ty,
                is_dag,
                kids,
                commutes,
            } => {
                let is_it = |value: &Value| object_type(value) == Some(*ty);
                let Some((value, via)) = self.through_definitions(node, &value, is_it)? else {
                    return Ok(false);
                };
                let idents = (identity(&this.template), identity(&value));
                if (*is_dag || this.options.identity) && !self.pair(idents.0, idents.1) {
                    return Ok(false);
                }
                self.parts_of_node(node, value, via, above, (kids, *commutes, order))
            }
        }
    }

    /// Adds the parts of a node as goals.
    fn parts_of_node(
        &mut self,
        node: NodeNumber,
        value: Value,
        via: Option<u64>,
        above: u32,
        (kids, commutes, order): (&[NodeNumber], Option<Commutes>, Order),
    ) -> Result<bool> {
        let shell = self.shell;
        let parts = parts_of(&value);
        if parts.len() != kids.len() {
            return Ok(false);
        }
        let height = self.choices.len();
        let has_choice = commutes.is_some() && shell.linear && order == Order::Given;
        if has_choice {
            self.push(Goal::Commit(height));
        }
        let mut sources: SmallVec<[usize; 8]> = (0..parts.len()).collect();
        if let Some(Commutes::Fields(first, second)) = commutes {
            let (first, second) = (first as usize, second as usize);
            let crossed = self.may_match(kids[first], &parts[second])
                && self.may_match(kids[second], &parts[first]);
            if order == Order::Swapped {
                sources.swap(first, second);
            } else if crossed {
                self.choose(Goal::Node {
                    node,
                    value: value.clone(),
                    above,
                    order: Order::Swapped,
                });
            }
        }
        let above = self.note(node, &value, via, above);
        for (position, &kid) in kids.iter().enumerate().rev() {
            let part = parts[sources[position]].clone();
            let is_free = commutes == Some(Commutes::Items(position as u32));
            if is_free && let Some(goal) = self.any_order(kid, &part, above) {
                self.push(goal);
                continue;
            }
            self.push(Goal::Node {
                node: kid,
                value: part,
                above,
                order: Order::Given,
            });
        }
        // Cheap parts first: most attempts fail on a type.
        let quick = |position: usize| self.may_match(kids[position], &parts[sources[position]]);
        Ok((0..kids.len()).all(quick))
    }

    /// The goal for the items of an array in any order, if the array has few items and
    /// no hole for several.
    fn any_order(&mut self, node: NodeNumber, value: &Value, above: u32) -> Option<Goal> {
        let Shape::Items { ty, items } = &self.shell.nodes[node].shape else {
            return None;
        };
        let given = value.items()?;
        let several = items.iter().any(|&item| takes_items(self.shell, item));
        if several || given.len() > 64 || object_type(value) != Some(*ty) {
            return None;
        }
        let above = self.note(node, value, None, above);
        Some(start_of_items(node, given, above, true))
    }

    /// False if the type of a part rules out a match.
    fn may_match(&self, node: NodeNumber, value: &Value) -> bool {
        let node = &self.shell.nodes[node];
        if node.options.definitions && variable(value).is_some() {
            return true;
        }
        match &node.shape {
            Shape::Plain => node.template == *value,
            Shape::Core(core) => self.shell.cores[*core].root.admits(object_type(value)),
            Shape::Node { ty, .. } | Shape::Items { ty, .. } => object_type(value) == Some(*ty),
            Shape::Hole(hole) => match self.shell.holes[*hole].hole.required_class() {
                Some(class) => object_type(value).is_some_and(|ty| is_a(ty, class)),
                None => true,
            },
            Shape::AnyOf(_) => true,
        }
    }

    fn items(&mut self, goal: Goal) -> Result<bool> {
        let Goal::Items {
            node,
            at: position,
            items,
            from,
            take,
            taken,
            above,
        } = goal
        else {
            return Ok(false);
        };
        let shell = self.shell;
        let Shape::Items { items: wanted, .. } = &shell.nodes[node].shape else {
            return Ok(false);
        };
        let rest = |position, from, take, taken| Goal::Items {
            node,
            at: position,
            items: items.clone(),
            from,
            take,
            taken,
            above,
        };
        let Some(&kid) = wanted.get(position) else {
            return Ok(from == items.len());
        };
        let several = |kid: &NodeNumber| takes_items(shell, *kid);
        let fixed = wanted[position..]
            .iter()
            .filter(|kid| !several(kid))
            .count();
        let holes = wanted.len() - position - fixed;
        let left = items.len() - from;
        self.longest = self.longest.max(left as u64);
        if left < fixed || holes == 0 && left != fixed {
            return Ok(false);
        }
        if let Some(taken) = taken {
            let is_free = |index: &usize| {
                taken & 1 << index == 0 && self.may_match(kid, &items.values()[*index])
            };
            let Some(next) = (take..items.len()).find(is_free) else {
                return Ok(false);
            };
            self.choose(rest(position, from, next + 1, Some(taken)));
            self.push(rest(position + 1, from + 1, 0, Some(taken | 1 << next)));
            self.push_node(kid, items.values()[next].clone(), above);
            return Ok(true);
        }
        if !several(&kid) {
            self.push(rest(position + 1, from + 1, 0, None));
            self.push_node(kid, items.values()[from].clone(), above);
            return Ok(true);
        }
        let most = left - fixed;
        // The last hole takes all remaining items.
        let mut take = if holes == 1 { most } else { take };
        // The items after the hole decide first, which saves a copy of the items before
        // a position.
        let next = wanted[position + 1..]
            .iter()
            .take_while(|kid| !several(kid));
        let next: SmallVec<[NodeNumber; 4]> = next.copied().collect();
        let item_values = items.values();
        let fits = |first: usize| {
            let mut pairs = next.iter().zip(&item_values[first..]);
            pairs.all(|(&kid, item)| self.may_match(kid, item))
        };
        while !fits(from + take) {
            if take == most {
                return Ok(false);
            }
            take += 1;
        }
        if take < most {
            self.choose(rest(position, from, take + 1, None));
        }
        let after = from + take;
        self.push(rest(position + 1 + next.len(), after + next.len(), 0, None));
        self.push(Goal::Several {
            node: kid,
            items: items.clone(),
            from,
            count: take,
            above,
        });
        for (&kid, item) in next.iter().zip(&item_values[after..]).rev() {
            self.push_node(kid, item.clone(), above);
        }
        Ok(true)
    }

    fn push_node(&mut self, node: NodeNumber, value: Value, above: u32) {
        self.push(Goal::Node {
            node,
            value,
            above,
            order: Order::Given,
        });
    }

    /// The value itself if it fits, or the first fitting definition of a variable.
    fn through_definitions(
        &mut self,
        node: NodeNumber,
        value: &Value,
        fits: impl Fn(&Value) -> bool,
    ) -> Result<Option<(Value, Option<u64>)>> {
        let mut value = value.clone();
        let mut via = None;
        let mut seen: HashSet<u64, RandomState> = HashSet::default();
        loop {
            if fits(&value) {
                return Ok(Some((value, via)));
            }
            if !self.shell.nodes[node].options.definitions {
                return Ok(None);
            }
            let (Some(var), Some(context)) = (variable(&value), &mut self.context) else {
                return Ok(None);
            };
            if !seen.insert(var) {
                return Ok(None);
            }
            let Some(defined) = context.definition(var)? else {
                return Ok(None);
            };
            via = via.or(Some(var));
            value = defined;
        }
    }

    fn hole(&mut self, hole: usize, node: NodeNumber, value: &Value, above: u32) -> Result<bool> {
        let shell = self.shell;
        let declared = &shell.holes[hole].hole;
        if declared.form.items {
            return Ok(false);
        }
        let class = declared.required_class();
        let is_constant_hole = declared.form.constant;
        if class.is_none() && !is_constant_hole {
            return self.take(hole, node, value, above);
        }
        let fits = |value: &Value| {
            let is_class = |ty| class.is_none_or(|class| is_a(ty, class));
            object_type(value).map_or(class.is_none(), is_class)
                && (!is_constant_hole || is_constant(value))
        };
        match self.through_definitions(node, value, fits)? {
            Some((value, _)) => self.take(hole, node, &value, above),
            None => Ok(false),
        }
    }

    /// Fills a hole with a part, and adds the patterns of the part as goals.
    fn take(&mut self, hole: usize, node: NodeNumber, value: &Value, above: u32) -> Result<bool> {
        let shell = self.shell;
        let this = &shell.holes[hole];
        let form = &this.hole.form;
        let is_declared = value
            .as_object()
            .is_some_and(|object| !object.type_info().is_builtin());
        let is_compared = is_declared && !form.anything && !form.items;
        if is_compared {
            if !self.core(this.core, value, false)? {
                return Ok(false);
            }
        } else {
            let allowed = form.anything || form.items || form.constant;
            if !allowed || !this.guard.as_ref().map_or(Ok(true), |guard| guard(value))? {
                return Ok(false);
            }
        }
        if form.one_use && !self.has_one_use(hole, value)? {
            return Ok(false);
        }
        let identity = shell.nodes[node].options.identity;
        if !self.fill(this.part, value, Vec::new(), identity)? {
            return Ok(false);
        }
        for (path, root) in &this.fields {
            match path.get(value) {
                Ok(field) => self.push_node(*root, field, above),
                Err(_) => return Ok(false),
            }
        }
        for &root in &this.patterns {
            self.push_node(root, value.clone(), above);
        }
        Ok(true)
    }

    /// Fills a hole, or compares the part with the part of another place.
    fn fill(
        &mut self,
        part: usize,
        value: &Value,
        around: Vec<usize>,
        identity: bool,
    ) -> Result<bool> {
        let Some(taken) = &self.parts[part] else {
            self.parts[part] = Some(PlacedValue {
                value: value.clone(),
                around,
            });
            self.trail.push(Undo::Part(part));
            return Ok(true);
        };
        if taken.value == *value && around == taken.around {
            return Ok(true);
        }
        if identity {
            return Ok(false);
        }
        // Variables that are bound around only one of the places are different
        // variables.
        let apart: scan::Idents = around
            .iter()
            .chain(&taken.around)
            .filter_map(|&index| variable(&self.pairs[index].right))
            .collect();
        if !apart.is_empty() && !scan::mentions(value, &apart)?.is_empty() {
            return Ok(false);
        }
        let options = CompareOptions {
            map_free_vars: false,
            ..CompareOptions::default()
        };
        options.equal(&taken.value, value)
    }

    /// Compares a core with a value, and takes over the parts of the core's holes if
    /// `fill` is set.
    fn core(&mut self, core: usize, value: &Value, fill: bool) -> Result<bool> {
        let shell = self.shell;
        let core = &shell.cores[core];
        let matching = Matching {
            template: &core.template,
            value,
            holes: &core.table,
            options: core.options,
        };
        let Some(bindings) = matching.run()? else {
            return Ok(false);
        };
        let mut places = Vec::with_capacity(bindings.pairs.len());
        for pair in bindings.pairs {
            let idents = (variable(&pair.left), variable(&pair.right));
            if let (false, Some(left), Some(right)) = (pair.defined, idents.0, idents.1) {
                let is_paired = self.lefts.contains_key(&left);
                if !self.pair(left, right) {
                    return Ok(false);
                }
                if is_paired {
                    places.push(usize::MAX);
                    continue;
                }
            }
            places.push(self.pairs.len());
            self.pairs.push(pair);
        }
        if !fill {
            return Ok(true);
        }
        for (number, part) in bindings.parts.into_iter().enumerate() {
            let Some((part, around)) = part else { continue };
            let around = around
                .into_iter()
                .map(|index| places[index])
                .filter(|&index| index != usize::MAX)
                .collect();
            if !self.fill(core.parts[number], &part, around, false)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Makes two objects partners; false if either object has another partner.
    fn pair(&mut self, left: u64, right: u64) -> bool {
        match (self.lefts.get(&left), self.rights.get(&right)) {
            (None, None) => {
                self.lefts.insert(left, right);
                self.rights.insert(right, left);
                self.trail.push(Undo::Pair(left, right));
                true
            }
            (Some(&known), _) => known == right,
            (None, Some(_)) => false,
        }
    }

    /// Records a node of the value matched by the shell.
    fn note(&mut self, node: NodeNumber, value: &Value, via: Option<u64>, above: u32) -> u32 {
        if self.context.is_none() {
            return NONE;
        }
        let this = &self.shell.nodes[node];
        let is_dag = matches!(this.shape, Shape::Node { is_dag: true, .. });
        let demanded = match this.options.interior_uses {
            InteriorUses::Anywhere => false,
            InteriorUses::Inside => true,
            InteriorUses::Auto => is_dag || via.is_some(),
        };
        self.inner.push(Inner {
            ident: identity(value),
            via,
            above,
            demanded,
        });
        self.inner.len() as u32 - 1
    }

    fn has_one_use(&self, hole: usize, value: &Value) -> Result<bool> {
        let Some(context) = &self.context else {
            return Err(misplaced(
                &self.shell.holes[hole].hole,
                "asks for the users of its part, which only Pattern.match_in, Pattern.find_all \
                 and rewrite_greedily know",
            ));
        };
        let graph = context.graph();
        let Some(object) = value.as_object() else {
            return Ok(true);
        };
        let Some(node) = graph.find(object.identity(), RegionKind::Use, false) else {
            return Ok(false);
        };
        Ok(graph.places(node).take(2).count() == 1)
    }
}

/// True for a hole that takes any number of items.
fn takes_items(shell: &Skeleton, node: NodeNumber) -> bool {
    match shell.nodes[node].shape {
        Shape::Hole(hole) => shell.holes[hole].hole.form.items,
        _ => false,
    }
}

fn start_of_items(node: NodeNumber, items: Array, above: u32, any_order: bool) -> Goal {
    Goal::Items {
        node,
        at: 0,
        items,
        from: 0,
        take: 0,
        taken: any_order.then_some(0),
        above,
    }
}

fn object_type(value: &Value) -> Option<TypeIndex> {
    value.as_object().map(|object| object.type_info().index())
}
