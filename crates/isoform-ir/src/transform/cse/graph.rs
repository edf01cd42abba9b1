//! The values below a root as a graph of expressions, by the declarations of their
//! types.

use hashbrown::{HashMap, HashSet};
use rapidhash::fast::RandomState;

use super::dataflow::{Binding, Dataflow, Id, Merge, ScopeRange, Step};
use super::facts::{Form, TypeFactTable};
use super::numbering::{DATA, ITEMS, Number, Shape};
use super::statements;
use isoform::compare::CompareOptions;
use isoform::plumbing::{Poll, is_constant};
use isoform::traverse::{Children, children_of};
use isoform::types::{Kind, RegionKind};
use isoform::{Error, Result, Value, structural_hash};

/// An operand before its visit.
const PENDING: Id = Id::MAX;

/// The distinct objects below a root; the root has number 0.
pub(super) struct Graph<'f, 'o> {
    facts: &'f mut TypeFactTable<'o>,
    rows: Vec<Row>,
    operands: Vec<Id>,
    /// The positions of the operands among the children.
    places: Vec<u32>,
    steps: Vec<Step>,
    ids: HashMap<u64, Id, RandomState>,
    /// Variables bound several times.
    rebound: HashSet<u64, RandomState>,
    /// True for users of such variables.
    apart: Vec<bool>,
}

struct Row {
    value: Value,
    /// Where its operands begin.
    start: u32,
    end: u32,
    /// The scope of the first visit.
    region: u32,
    role: Role,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Has no part in merging, and is not entered.
    Leaf,
    Var,
    /// Binds variables: the node itself is never merged, unlike its parts.
    Binder,
    Container,
    Node,
}

struct OpenNode {
    id: Id,
    children: Children,
    /// The next operand.
    next: u32,
}

impl<'f, 'o> Graph<'f, 'o> {
    /// The graph of a value. Programs of statements in the value have been processed,
    /// and are leaves.
    ///
    /// # Errors
    ///
    /// `ValueError` for a cycle; errors of processing statements.
    pub(super) fn of(root: &Value, facts: &'f mut TypeFactTable<'o>) -> Result<Graph<'f, 'o>> {
        let mut builder = Builder {
            graph: Graph {
                facts,
                rows: Vec::new(),
                operands: Vec::new(),
                places: Vec::new(),
                steps: Vec::new(),
                ids: HashMap::default(),
                rebound: HashSet::default(),
                apart: Vec::new(),
            },
            done: Vec::new(),
            bound: HashSet::default(),
            regions: 0,
            open: Vec::new(),
        };
        builder.build(root)?;
        Ok(builder.graph)
    }

    fn row(&self, id: Id) -> &Row {
        &self.rows[id as usize]
    }
}

impl Dataflow for Graph<'_, '_> {
    type Expr = Value;

    fn expr_count(&self) -> usize {
        self.rows.len()
    }

    fn steps(&self) -> impl Iterator<Item = Step> {
        self.steps.iter().copied()
    }

    fn operands(&self, id: Id) -> &[Id] {
        let row = self.row(id);
        &self.operands[row.start as usize..row.end as usize]
    }

    fn expr(&self, id: Id) -> Value {
        self.row(id).value.clone()
    }

    fn rebuilt(&self, id: Id, results: &[Value]) -> Result<Value> {
        let row = self.row(id);
        let places = &self.places[row.start as usize..row.end as usize];
        let changed = self.operands(id).iter().zip(places).filter(|(operand, _)| {
            let old = self.row(**operand).value.as_object();
            let new = results[**operand as usize].as_object();
            !matches!((old, new), (Some(old), Some(new)) if old.same_as(new))
                || self.row(**operand).role == Role::Leaf
        });
        let changes: Vec<_> = changed
            .map(|(operand, place)| (*place as usize, results[*operand as usize].clone()))
            .collect();
        if changes.is_empty() {
            return Ok(row.value.clone());
        }
        let children = children_of(&row.value);
        let is_new = |(place, new): &(usize, Value)| {
            let old = children.get(*place, RegionKind::Use);
            old.is_none_or(|old| old.value != *new)
        };
        children.replace(changes.into_iter().filter(is_new).collect())
    }

    fn shape(&mut self, id: Id, numbers: &[Number]) -> Result<Option<Shape>> {
        let row = &self.rows[id as usize];
        let operands = &self.operands[row.start as usize..row.end as usize];
        let mut apart = operands.iter().any(|operand| self.apart[*operand as usize]);
        let value = row.value.clone();
        if let (Role::Var, Some(object)) = (row.role, value.as_object()) {
            apart |= self.rebound.contains(&object.identity());
        }
        self.apart[id as usize] = apart;
        let role = row.role;
        if apart || matches!(role, Role::Var | Role::Binder) {
            return Ok(None);
        }
        let children = children_of(&value);
        if role == Role::Leaf {
            // An unhashable value equals no other value.
            let is_data = match self.facts.form(&value)? {
                Some(form) => form == Form::Data,
                None => children.is_empty(),
            };
            let is_data = is_data && structural_hash(&value).is_ok();
            return Ok(is_data.then(|| Shape {
                data: [value].into_iter().collect(),
                ..Shape::default()
            }));
        }
        if role == Role::Node && !self.facts.is_repeatable(&value)? {
            return Ok(None);
        }
        let mut shape = Shape {
            head: value
                .as_object()
                .map_or(0, |object| u64::from(object.type_info().index().get())),
            ..Shape::default()
        };
        let (mut next, end) = (row.start as usize, row.end as usize);
        let region = row.region;
        for (place, child) in children.iter(RegionKind::Use).enumerate() {
            if next < end && self.places[next] as usize == place {
                shape.operands.push(numbers[self.operands[next] as usize]);
                next += 1;
            } else {
                shape.operands.push(DATA);
                shape.data.push(child.value);
            }
        }
        if role == Role::Node && self.facts.may_fail(&value)? {
            shape.operands.extend([ITEMS, region]);
        }
        Ok(Some(shape))
    }

    fn merges(&mut self, id: Id, _: &Value) -> Result<Merge> {
        Ok(match self.row(id).role {
            Role::Node => Merge::Yes,
            _ => Merge::No,
        })
    }

    fn binding(&mut self, id: Id) -> Result<Option<Binding<Value>>> {
        let row = self.row(id);
        let value = row.value.clone();
        let Some((binding, body)) = self.facts.binding_around(&value)? else {
            return Ok(None);
        };
        let operand = |field: u32| {
            let places = &self.places[row.start as usize..row.end as usize];
            let position = places.iter().position(|place| *place == field)?;
            Some(self.operands[row.start as usize + position])
        };
        let parts = (
            operand(binding.value),
            operand(body),
            self.operands(id).last().copied(),
        );
        let (Some(bound), Some(body), Some(last)) = parts else {
            return Ok(None);
        };
        let var = children_of(&value).get(binding.var as usize, RegionKind::Use);
        let Some(var) = var.map(|child| child.value) else {
            return Ok(None);
        };
        let ident = var.as_object().map_or(0, |object| object.identity());
        let is_exact = self.facts.is_var(&var)?
            && body == last
            && !self.rebound.contains(&ident)
            && self.facts.holds(&value)?;
        Ok(is_exact.then(|| Binding {
            var: self.ids.get(&ident).copied(),
            expr: var,
            value: bound,
            body,
        }))
    }

    fn is_same_type(&self, left: &Value, right: &Value) -> Result<bool> {
        let options = CompareOptions {
            map_free_vars: true,
            ..CompareOptions::default()
        };
        options.equal(left, right)
    }

    fn is_worth_variable(&mut self, id: Id) -> Result<bool> {
        let value = self.row(id).value.clone();
        let form = self.facts.form(&value)?;
        Ok(form.is_none_or(|form| form == Form::Computation) && !is_constant(&value))
    }

    // Failing expressions carry their region in their shape instead.
    fn may_fail(&mut self, _: Id) -> Result<bool> {
        Ok(false)
    }

    fn scopes(&self) -> Result<Vec<ScopeRange>> {
        Ok(Vec::new())
    }
}

struct Builder<'f, 'o> {
    graph: Graph<'f, 'o>,
    done: Vec<bool>,
    bound: HashSet<u64, RandomState>,
    regions: u32,
    open: Vec<OpenNode>,
}

impl Builder<'_, '_> {
    fn build(&mut self, root: &Value) -> Result<()> {
        self.arrive(root.clone(), 0)?;
        let mut poll = Poll::default();
        while let Some(open) = self.open.last_mut() {
            poll.step_outside()?;
            let (id, edge) = (open.id, open.next);
            if edge == self.graph.row(id).end {
                self.open.pop();
                self.done[id as usize] = true;
                self.graph.steps.push(Step::Done(id));
                continue;
            }
            open.next += 1;
            let place = self.graph.places[edge as usize] as usize;
            let Some(child) = open.children.get(place, RegionKind::Use) else {
                return Err(Error::value_error(
                    "cse: expected a program that stays as it is, but a field changed meanwhile",
                ));
            };
            let row = &self.graph.rows[id as usize];
            let (role, around) = (row.role, row.region);
            let value = row.value.clone();
            let facts = self.graph.facts.of(&value)?;
            let conditional = facts.is_some_and(|facts| facts.is_conditional(Some(place)));
            let mut is_scope = role == Role::Binder;
            if is_scope && let Some((_, body)) = self.graph.facts.binding_around(&value)? {
                // The value and the body of a binding are evaluated wherever the binding is.
                is_scope = false;
                if body as usize == place {
                    self.graph.steps.push(Step::Bind(id));
                }
            }
            let region = if conditional || is_scope {
                self.regions += 1;
                self.regions
            } else {
                around
            };
            let operand = self.arrive(child.value, region)?;
            self.graph.operands[edge as usize] = operand;
        }
        Ok(())
    }

    /// Numbers a value on the first visit, and opens the value.
    fn arrive(&mut self, value: Value, region: u32) -> Result<Id> {
        let id = self.graph.rows.len() as Id;
        let Some(object) = value.as_object() else {
            return Ok(PENDING);
        };
        if let Some(&known_id) = self.graph.ids.get(&object.identity()) {
            if !self.done[known_id as usize] {
                return Err(Error::value_error(format!(
                    "cse: expected a program without cycles, but an object of type {} contains \
                     itself",
                    value.type_name()
                )));
            }
            return Ok(known_id);
        }
        self.graph.ids.insert(object.identity(), id);
        let kind = object.type_info().kind();
        let is_builtin = object.type_info().is_builtin();
        let children = children_of(&value);
        let start = self.graph.operands.len() as u32;
        let facts = self.graph.facts.of(&value)?;
        let form = facts.as_ref().and_then(|facts| facts.form);
        let mut owns = form.is_some_and(Form::is_statement);
        let mut binds = false;
        let mut role = match () {
            () if !is_builtin && kind == Kind::Var => Role::Var,
            () if form == Some(Form::Data)
                || form.is_some_and(Form::is_statement)
                || kind == Kind::Singleton
                || self.graph.facts.is_opaque(&value)?
                || children.is_empty() && is_builtin =>
            {
                Role::Leaf
            }
            () if is_builtin => Role::Container,
            () => Role::Node,
        };
        if matches!(role, Role::Container | Role::Node) {
            for (place, child) in children.iter(RegionKind::Use).enumerate() {
                if child.region != RegionKind::Use {
                    binds = true;
                    self.bind(&child.value);
                } else if !child.is_key && child.value.as_object().is_some() {
                    owns |= role == Role::Node && self.holds_statement(&child.value)?;
                    self.graph.operands.push(PENDING);
                    self.graph.places.push(place as u32);
                }
            }
        }
        let mut value = value;
        if owns {
            value = statements::in_owner(&value, self.graph.facts)?;
            role = Role::Leaf;
        } else if binds && role == Role::Node {
            role = Role::Binder;
        }
        if role == Role::Leaf {
            self.graph.operands.truncate(start as usize);
            self.graph.places.truncate(start as usize);
        }
        let end = self.graph.operands.len() as u32;
        self.graph.rows.push(Row {
            value,
            start,
            end,
            region,
            role,
        });
        self.graph.apart.push(false);
        self.done.push(false);
        self.open.push(OpenNode {
            id,
            children,
            next: start,
        });
        Ok(id)
    }

    fn holds_statement(&mut self, value: &Value) -> Result<bool> {
        let facts = &mut *self.graph.facts;
        let is_statement = |facts: &mut TypeFactTable<'_>, value: &Value| {
            let form = facts.form(value)?;
            Result::Ok(form.is_some_and(Form::is_statement))
        };
        match value.as_array() {
            Some(items) => match items.values().first() {
                Some(first) => is_statement(facts, first),
                None => Ok(false),
            },
            None => is_statement(facts, value),
        }
    }

    /// Notes the variables of a definition.
    fn bind(&mut self, value: &Value) {
        let mut stack = vec![value.clone()];
        while let Some(value) = stack.pop() {
            let Some(object) = value.as_object() else {
                continue;
            };
            if object.type_info().kind() == Kind::Var && !object.type_info().is_builtin() {
                if !self.bound.insert(object.identity()) {
                    self.graph.rebound.insert(object.identity());
                }
                continue;
            }
            let children = children_of(&value);
            stack.extend(children.iter(RegionKind::Use).map(|child| child.value));
        }
    }
}
