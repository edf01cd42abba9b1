//! Pairs of values that combine all the difficulties of scopes.
//!
//! A remembered result is wrong only if a shared part occurs among variables that are
//! bound, rebound, or no longer bound. Values drawn separately rarely do that, and a
//! right side made by renaming never differs in a shared part alone. Both sides
//! therefore grow here at the same time, part by part, over a handful of variables:
//! most parts are built the same way on both sides, and occasionally one side takes a
//! different part, or a copy of a part shared on the other side.

use super::family::{Family, Role};
use super::generate::{children, literal, weight};
use super::source::Source;
use isoform::objects::construct;
use isoform::values::{Dict, List, ValueRef};
use isoform::{Map, Result, Value};

/// Parts with more places than this are not built upon: the oracle visits
/// shared parts every time.
const LIMIT: usize = 80;

/// A part of the left value and its counterpart on the right.
type Twin = [Value; 2];

/// Draws the left and the right value of a comparison. With `alternatives`, there are
/// nodes with operands in either order, and their contents may bind; equality of these
/// values is well defined, but they need not have the same hash.
///
/// # Errors
///
/// None for a consistent family; construction is fallible in general.
pub fn tangle(
    family: &Family,
    source: &mut Source<'_>,
    alternatives: bool,
) -> Result<(Value, Value)> {
    let mut tangle = SharedGraph::new(family, source, alternatives)?;
    let [left, right] = tangle.draw()?;
    Ok((left, right))
}

/// Draws values with nearly all parts shared: rows of a few parts, and copies of these
/// rows with another part, or a copy of the same part, in one place.
///
/// # Errors
///
/// As [`tangle`].
pub fn relatives(family: &Family, source: &mut Source<'_>) -> Result<Vec<Value>> {
    let mut tangle = SharedGraph::new(family, source, false)?;
    tangle.grow(10)?;
    let mut rows: Vec<Vec<Value>> = Vec::new();
    for _ in 0..3 + tangle.source.below(6) {
        let mut row = if rows.is_empty() || tangle.source.chance(30) {
            Vec::new()
        } else {
            tangle.source.pick(&rows).clone()
        };
        match row.len() {
            0 => {
                for _ in 0..1 + tangle.source.below(3) {
                    row.push(tangle.side());
                }
            }
            length => {
                let index = tangle.source.below(length);
                row[index] = if tangle.source.chance(20) {
                    copy(&row[index])
                } else {
                    tangle.side()
                };
            }
        }
        rows.push(row);
    }
    Ok(rows.into_iter().map(Value::from).collect())
}

struct SharedGraph<'g, 's, 'b> {
    family: &'g Family,
    source: &'s mut Source<'b>,
    alternatives: bool,
    vars: Vec<Twin>,
    parts: Vec<Twin>,
}

impl<'g, 's, 'b> SharedGraph<'g, 's, 'b> {
    /// A few variables.
    fn new(family: &'g Family, source: &'s mut Source<'b>, alternatives: bool) -> Result<Self> {
        let mut graph = SharedGraph {
            family,
            source,
            alternatives,
            vars: Vec::new(),
            parts: Vec::new(),
        };
        for _ in 0..2 + graph.source.below(3) {
            graph.var()?;
        }
        Ok(graph)
    }

    fn draw(&mut self) -> Result<Twin> {
        self.grow(12)?;
        let body = self.row()?;
        match self.source.below(4) {
            0 => Ok(body),
            1 => {
                let params = self.all_vars();
                self.node(Role::Lambda, vec![none(), body, params])
            }
            2 => {
                let params = [self.defined(), self.defined()];
                let params = array(params);
                self.node(Role::Lambda, vec![none(), body, params])
            }
            _ => {
                let params = array([self.defined()]);
                self.node(Role::LateLambda, vec![body, params])
            }
        }
    }

    /// Adds at least two parts, and occasionally variables with earlier parts in their
    /// fields.
    fn grow(&mut self, limit: usize) -> Result<()> {
        for _ in 0..2 + self.source.below(limit) {
            if self.source.chance(12) {
                self.var()?;
                continue;
            }
            let part = self.part()?;
            self.parts.push(part);
        }
        Ok(())
    }

    /// Two variables, or one variable free on both sides. The type may be any part,
    /// with variables, dag nodes and binders in it.
    fn var(&mut self) -> Result<()> {
        let ty = if self
            .source
            .chance(if self.parts.is_empty() { 25 } else { 80 })
        {
            self.any()
        } else {
            same("i32")
        };
        let binds = self.source.chance(15);
        let is_bare = self.source.chance(20);
        let make = |ty: Value| -> Result<Value> {
            let (role, values) = if binds {
                (Role::ShapedVar, vec![ty])
            } else if is_bare {
                (Role::Name, vec![Value::NONE, Value::from("v")])
            } else {
                (Role::Var, vec![Value::NONE, Value::from("v"), ty])
            };
            Ok(self.family.make(role, values)?.into())
        };
        let [left, right] = ty;
        let left = make(left)?;
        let right = if self.source.chance(30) {
            left.clone()
        } else {
            make(right)?
        };
        self.vars.push([left, right]);
        Ok(())
    }

    fn all_vars(&self) -> Twin {
        array(self.vars.clone())
    }

    /// An existing part, mostly a late part or a variable, and mostly its partner on
    /// the right.
    fn any(&mut self) -> Twin {
        let left = self.index();
        let right = if self.source.chance(5) {
            self.index()
        } else {
            left
        };
        let [mut left, mut right] = [self.at(left)[0].clone(), self.at(right)[1].clone()];
        match self.source.below(16) {
            14 => left = copy(&left),
            15 => right = copy(&right),
            _ => {}
        }
        [left, right]
    }

    /// A part or variable, mostly of the left.
    fn side(&mut self) -> Value {
        let [left, right] = self.any();
        if self.source.chance(20) { right } else { left }
    }

    /// The place of a part among variables and parts.
    fn index(&mut self) -> usize {
        let count = self.vars.len() + self.parts.len();
        if count == 0 {
            return 0;
        }
        if self.parts.is_empty() || self.source.chance(35) {
            return self.source.below(self.vars.len());
        }
        let back = self
            .source
            .below(self.parts.len())
            .min(self.source.below(4));
        count - 1 - back
    }

    fn at(&self, index: usize) -> Twin {
        let part = match index.checked_sub(self.vars.len()) {
            None => self.vars.get(index),
            Some(index) => self.parts.get(index),
        };
        match part {
            Some(part) if part.iter().all(|side| weight(side, LIMIT) < LIMIT) => part.clone(),
            Some(_) => self.vars[0].clone(),
            None => same(0),
        }
    }

    /// A variable with its partner, or rarely with another variable.
    fn a_var(&mut self) -> Twin {
        let left = self.source.below(self.vars.len());
        let right = if self.source.chance(6) {
            self.source.below(self.vars.len())
        } else {
            left
        };
        [self.vars[left][0].clone(), self.vars[right][1].clone()]
    }

    /// The value of a definition field: usually a variable.
    fn defined(&mut self) -> Twin {
        match self.source.below(6) {
            4 => array([self.a_var(), self.a_var()]),
            5 => self.any(),
            _ => self.a_var(),
        }
    }

    fn part(&mut self) -> Result<Twin> {
        if self.alternatives && self.source.chance(35) {
            let (mut lhs, mut rhs) = (self.any(), self.any());
            if self.source.chance(50) {
                // The right side in the other order.
                std::mem::swap(&mut lhs[1], &mut rhs[1]);
            }
            return self.node(Role::Comm, vec![lhs, rhs]);
        }
        let (role, fields) = match self.source.below(22) {
            0..=2 => (Role::Add, vec![none(), self.any(), self.any()]),
            3 | 4 => (Role::Let, vec![self.any(), self.defined()]),
            5 | 6 => (Role::Function, vec![self.defined(), self.any()]),
            7 | 8 => (Role::Lambda, vec![none(), self.any(), self.defined()]),
            9 => (Role::LateLambda, vec![self.any(), self.defined()]),
            10 => (Role::SharedLambda, vec![self.defined(), self.any()]),
            11 => (Role::Shared, vec![none(), self.any(), self.any()]),
            12 => (Role::Sized, vec![self.any(), self.defined()]),
            13 => (Role::Binder, vec![self.defined(), self.any()]),
            14 | 15 => return self.map(),
            16 => {
                let left = literal(self.family, self.source)?;
                // The two sides mostly have equal literals, in one object or in two.
                let right = match self.source.below(4) {
                    0 => literal(self.family, self.source)?,
                    1 => left.clone(),
                    _ => copy(&left),
                };
                return Ok([left, right]);
            }
            19 | 20 => (Role::Wrap, vec![self.any()]),
            21 => (Role::Define, vec![same(1), self.defined()]),
            _ => return self.row(),
        };
        self.node(role, fields)
    }

    /// A few parts in a row; the same one may occur many times.
    fn row(&mut self) -> Result<Twin> {
        let mut items: Vec<Twin> = Vec::new();
        for _ in 0..1 + self.source.below(3) {
            let item = match items.last() {
                Some(last) if self.source.chance(50) => last.clone(),
                _ => self.any(),
            };
            items.push(item);
        }
        let row = array(items);
        if self.source.chance(25) {
            return Ok(row.map(|side| match side.view() {
                ValueRef::Array(items) => Value::from(List::from(items.values().to_vec())),
                _ => side,
            }));
        }
        Ok(row)
    }

    /// A map or dict with plain keys, variables, and other parts as keys.
    fn map(&mut self) -> Result<Twin> {
        let mut entries: [Vec<(Value, Value)>; 2] = [Vec::new(), Vec::new()];
        for _ in 0..1 + self.source.below(3) {
            let [left_key, right_key] = match self.source.below(6) {
                0 => same("key"),
                1 => same(i64::from(self.source.byte() % 3)),
                2 => self.any(),
                _ => self.a_var(),
            };
            let [left, right] = self.any();
            entries[0].push((left_key, left));
            entries[1].push((right_key, right));
        }
        if self.source.chance(50) {
            entries[1].reverse();
        }
        let dict = self.source.chance(40);
        Ok(entries.map(|entries| {
            if dict {
                Value::from(entries.into_iter().collect::<Dict>())
            } else {
                Value::from(entries.into_iter().collect::<Map>())
            }
        }))
    }

    fn node(&mut self, role: Role, fields: Vec<Twin>) -> Result<Twin> {
        let (left, right) = fields
            .into_iter()
            .map(|[left, right]| (left, right))
            .unzip();
        Ok([
            self.family.make(role, left)?.into(),
            self.family.make(role, right)?.into(),
        ])
    }
}

fn same(value: impl Into<Value>) -> Twin {
    let value = value.into();
    [value.clone(), value]
}

fn none() -> Twin {
    same(Value::NONE)
}

fn array(items: impl IntoIterator<Item = Twin>) -> Twin {
    let (left, right): (Vec<_>, Vec<_>) =
        items.into_iter().map(|[left, right]| (left, right)).unzip();
    [left.into(), right.into()]
}

/// Another object with the same parts; the value itself if it has no parts.
fn copy(value: &Value) -> Value {
    match value.view() {
        ValueRef::Object(object) if !object.type_info().is_builtin() => {
            construct(object.type_info().index(), children(value))
                .map_or_else(|_| value.clone(), Into::into)
        }
        ValueRef::Array(_) => children(value).into(),
        _ => value.clone(),
    }
}
