//! Pairs of values with variables that hold values.
//!
//! A variable with a type, or a variable holding its definition, adds the contents of its
//! fields to every use: other variables, in chains of any length, and definitions, which
//! count at the first visit only. As in [`tangle`](super::tangle::tangle), both sides grow at
//! the same time.

use super::family::{Family, Role};
use super::generate::weight;
use super::source::Source;
use isoform::{Result, Value};

/// Parts with more places than this are not built upon: the oracle visits shared parts
/// every time.
const LIMIT: usize = 160;

/// The longest chain that is drawn at once: more variables than are kept in a list.
const CHAIN: usize = 12;

/// A part of the left value and its counterpart on the right.
type Twin = [Value; 2];

/// Draws two values.
///
/// # Errors
///
/// None for a consistent family; construction is fallible in general.
pub fn holders(family: &Family, source: &mut Source<'_>) -> Result<(Value, Value)> {
    let mut holders = Holders {
        family,
        source,
        vars: Vec::new(),
        parts: Vec::new(),
    };
    let [left, right] = holders.draw()?;
    Ok((left, right))
}

struct Holders<'g, 's, 'b> {
    family: &'g Family,
    source: &'s mut Source<'b>,
    vars: Vec<Twin>,
    /// Including the variables.
    parts: Vec<Twin>,
}

impl Holders<'_, '_, '_> {
    fn draw(&mut self) -> Result<Twin> {
        let many = self.source.chance(30);
        for _ in 0..1 + self.source.below(if many { CHAIN } else { 3 }) {
            self.variable(same("i32"))?;
        }
        for _ in 0..3 + self.source.below(10) {
            self.step()?;
        }
        let body = self.row(4);
        match self.source.below(4) {
            0 => Ok(body),
            1 => self.scope(Role::LateLambda, body),
            _ => self.scope(Role::Lambda, body),
        }
    }

    fn step(&mut self) -> Result<()> {
        let part = match self.source.below(14) {
            0..=2 => {
                let held = self.any();
                return self.variable(held);
            }
            3 => return self.chain(),
            4 | 5 => {
                let fields = vec![same(Value::NONE), self.any(), self.any()];
                self.node(Role::Add, fields)?
            }
            6 | 7 => {
                let fields = vec![self.any(), self.a_var()];
                self.node(Role::Let, fields)?
            }
            8 => {
                let body = self.any();
                self.scope(Role::Lambda, body)?
            }
            9 => {
                let body = self.any();
                self.scope(Role::LateLambda, body)?
            }
            10 => {
                let fields = vec![self.defined(), self.any()];
                self.node(Role::Function, fields)?
            }
            11 => {
                let fields = vec![self.any(), self.defined()];
                self.node(Role::Sized, fields)?
            }
            12 => {
                let fields = vec![same(Value::NONE), self.any(), self.any()];
                self.node(Role::Shared, fields)?
            }
            _ => self.row(3),
        };
        self.parts.push(part);
        Ok(())
    }

    /// A variable that holds a value, mostly a different value on the two sides.
    fn variable(&mut self, held: Twin) -> Result<()> {
        let [left, right] = held;
        let make = |held: Value| -> Result<Value> {
            let fields = vec![Value::NONE, "v".into(), held];
            Ok(self.family.make(Role::Var, fields)?.into())
        };
        let left = make(left)?;
        let right = if self.source.chance(30) {
            left.clone()
        } else {
            make(right)?
        };
        let made = [left, right];
        self.vars.push(made.clone());
        self.parts.push(made);
        Ok(())
    }

    /// Draws a chain of variables, each holding the previous variable, alone or in a sum.
    fn chain(&mut self) -> Result<()> {
        let sums = self.source.chance(50);
        for _ in 0..2 + self.source.below(CHAIN) {
            let mut held = self.vars[self.vars.len() - 1].clone();
            if sums {
                let other = self.a_var();
                held = self.node(Role::Add, vec![same(Value::NONE), held, other])?;
            }
            if held.iter().any(|side| weight(side, LIMIT) >= LIMIT) {
                break;
            }
            self.variable(held)?;
        }
        Ok(())
    }

    fn scope(&mut self, role: Role, body: Twin) -> Result<Twin> {
        let params = self.defined();
        match role {
            Role::Lambda => self.node(role, vec![same(Value::NONE), body, params]),
            _ => self.node(role, vec![body, params]),
        }
    }

    /// The value of a definition field.
    fn defined(&mut self) -> Twin {
        match self.source.below(8) {
            0 => array(self.vars.clone()),
            1 => {
                let mut vars = self.vars.clone();
                vars.reverse();
                array(vars)
            }
            2 => array([self.a_var(), self.a_var()]),
            3 => self.any(),
            _ => self.a_var(),
        }
    }

    /// A few parts, possibly with repetitions.
    fn row(&mut self, most: usize) -> Twin {
        let mut items: Vec<Twin> = Vec::new();
        for _ in 0..1 + self.source.below(most) {
            let again = items.last().filter(|_| self.source.chance(20)).cloned();
            let item = again.unwrap_or_else(|| self.any());
            items.push(item);
        }
        array(items)
    }

    /// A variable with its partner, or rarely with another variable.
    fn a_var(&mut self) -> Twin {
        let left = self.recent(self.vars.len());
        let right = if self.source.chance(4) {
            self.recent(self.vars.len())
        } else {
            left
        };
        [self.vars[left][0].clone(), self.vars[right][1].clone()]
    }

    /// An existing part, mostly with its partner on the right.
    fn any(&mut self) -> Twin {
        let left = self.recent(self.parts.len());
        let right = if self.source.chance(4) {
            self.recent(self.parts.len())
        } else {
            left
        };
        let found = [self.parts[left][0].clone(), self.parts[right][1].clone()];
        if found.iter().all(|side| weight(side, LIMIT) < LIMIT) {
            found
        } else {
            self.vars[0].clone()
        }
    }

    /// An index into a list, mostly a late one.
    fn recent(&mut self, count: usize) -> usize {
        if self.source.chance(60) {
            count - 1 - self.source.below(count.min(3))
        } else {
            self.source.below(count)
        }
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

fn array(items: impl IntoIterator<Item = Twin>) -> Twin {
    let (left, right): (Vec<_>, Vec<_>) =
        items.into_iter().map(|[left, right]| (left, right)).unzip();
    [left.into(), right.into()]
}
