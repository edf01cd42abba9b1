//! Names for the values of a main graph or function.
//!
//! Values keep their names from the file, unless another value visible from the same
//! place has the name. The names of the main graph's inputs and outputs belong to the
//! interface of a model, and never change; other values give way. Outer bodies choose
//! first, and inner bodies never hide an outer name.

use std::collections::{HashMap, HashSet};

use isoform::{Str, Value};

use super::values::{Key, Values, body_place, is_repeated};
use crate::{
    error::{OnnxError, Result, ResultExt},
    layout::Node,
};

/// The names in one body.
#[derive(Default)]
pub(super) struct BodyNames {
    taken: HashSet<Str>,
    /// Names wanted by two values: a description in the file could be attributed to the
    /// wrong value.
    contested: HashSet<Str>,
    pub(super) params: Vec<Str>,
    pub(super) results: Vec<Str>,
    /// Names of the outputs of each node; empty for unnamed outputs.
    pub(super) outputs: Vec<Vec<Str>>,
    /// Results that are values with another name or of an outer graph, and therefore need
    /// an Identity: the value and the name of the result.
    pub(super) copies: Vec<(Key, Str)>,
    /// The constants that the body defines.
    pub(super) constants: Vec<(Str, Value)>,
}

impl BodyNames {
    /// True if the file's description under this name is about the value that has the
    /// name here.
    pub(super) fn still_has(&self, name: &str) -> bool {
        let name = Str::from(name);
        self.taken.contains(&name) && !self.contested.contains(&name)
    }
}

/// The names of all bodies of a main graph or function.
pub(super) struct Names {
    root: usize,
    of: HashMap<Key, Str>,
    bodies: Vec<BodyNames>,
    counters: HashMap<String, usize>,
}

impl Names {
    /// Names all values. O(values × depth of bodies).
    pub(super) fn choose(values: &Values<'_>, is_main: bool) -> Result<Self> {
        let mut bodies = Vec::new();
        bodies.resize_with(values.end - values.root, BodyNames::default);
        let mut names = Names {
            root: values.root,
            of: HashMap::new(),
            bodies,
            counters: HashMap::new(),
        };
        let mut constants: Vec<Vec<usize>> = vec![Vec::new(); values.end - values.root];
        for (index, constant) in values.constants.iter().enumerate() {
            constants[constant.home - values.root].push(index);
        }
        for body in values.root..values.end {
            let place = || body_place(&values.listing.bodies[body]);
            let is_fixed = is_main && body == values.root;
            names.params(values, body, is_fixed).within(place)?;
            names.results(values, body, is_fixed).within(place)?;
            let nodes = &values.listing.bodies[body].nodes;
            for node in nodes {
                let outputs = names.outputs(values, body, node);
                names.body_mut(body).outputs.push(outputs);
            }
            for &index in &constants[body - values.root] {
                let constant = &values.constants[index];
                if !names.of.contains_key(&constant.key) {
                    let name = names.claim(values, body, &constant.wanted, "constant");
                    names.of.insert(constant.key.clone(), name.clone());
                    let entry = (name, constant.value.clone());
                    names.body_mut(body).constants.push(entry);
                }
            }
        }
        Ok(names)
    }

    /// The names in a body.
    pub(super) fn body(&self, body: usize) -> &BodyNames {
        &self.bodies[body - self.root]
    }

    fn body_mut(&mut self, body: usize) -> &mut BodyNames {
        &mut self.bodies[body - self.root]
    }

    /// The name of a used value.
    pub(super) fn of(&self, key: &Key) -> Result<&Str> {
        let name = self.of.get(key);
        name.ok_or_else(|| OnnxError::value("the value is not defined around its use"))
    }

    fn params(&mut self, values: &Values<'_>, body: usize, is_fixed: bool) -> Result<()> {
        let params = values.listing.bodies[body].kind.params().clone();
        for param in params.iter() {
            if is_fixed && self.body(body).taken.contains(&param.name) {
                return Err(OnnxError::value(format!(
                    "two inputs are named '{}', expected a different name for each",
                    param.name
                )));
            }
            let name = self.claim(values, body, &param.name, "input");
            self.of.insert(Key::Input(param.identity()), name.clone());
            self.body_mut(body).params.push(name);
        }
        Ok(())
    }

    fn results(&mut self, values: &Values<'_>, body: usize, is_fixed: bool) -> Result<()> {
        let kind = &values.listing.bodies[body].kind;
        let results = kind.results().values().iter().enumerate();
        let mut named: HashMap<Str, Key> = HashMap::new();
        for (index, value) in results {
            let wanted = kind.result_names().get(index).cloned().unwrap_or_default();
            let key = Key::of(value)?;
            // A constant defined by a sibling body is not visible in this body.
            let home = values.home(&key);
            let home = home.filter(|home| values.listing.common(*home, body) == *home);
            let own_name = self.of.get(&key);
            // A repeated result, or a result that is an input or a constant of this
            // body.
            let is_same = named.get(&wanted) == Some(&key)
                || (own_name == Some(&wanted) && home == Some(body));
            if is_same && !wanted.is_empty() {
                self.body_mut(body).results.push(wanted);
                continue;
            }
            if is_fixed && self.body(body).taken.contains(&wanted) {
                return Err(OnnxError::value(format!(
                    "result #{index} '{wanted}' has the name of another input or result, expected a different name for each"
                )));
            }
            let is_free = own_name.is_none();
            // A small constant is repeated rather than copied by a node.
            let home = if is_repeated(&key, value) {
                home.filter(|&home| home == body && is_free)
            } else {
                home
            };
            let name = self.claim(values, body, &wanted, "output");
            match home {
                Some(home) if home == body && is_free => {
                    self.of.insert(key.clone(), name.clone());
                    if !matches!(key, Key::Output(..)) {
                        let entry = (name.clone(), value.clone());
                        self.body_mut(body).constants.push(entry);
                    }
                }
                None => {
                    let entry = (name.clone(), value.clone());
                    self.body_mut(body).constants.push(entry);
                }
                Some(_) => {
                    let copy = (key.clone(), name.clone());
                    self.body_mut(body).copies.push(copy);
                }
            }
            named.insert(name.clone(), key);
            self.body_mut(body).results.push(name);
        }
        Ok(())
    }

    /// The names of a node's outputs; outputs that are results are already named.
    fn outputs(&mut self, values: &Values<'_>, body: usize, node: &Node) -> Vec<Str> {
        let call = &node.call;
        let mut outputs = Vec::new();
        for index in 0..call.outputs {
            let key = Key::Output(call.identity(), index);
            if let Some(name) = self.of.get(&key) {
                outputs.push(name.clone());
                continue;
            }
            let is_used = values.used.contains(&(call.identity(), index));
            let wanted = usize::try_from(index)
                .ok()
                .and_then(|index| call.output_names.get(index));
            // The last output determines the number of outputs, and operators depend on
            // the number.
            let is_last = call.callee.is_none() && index + 1 == call.outputs;
            let is_omitted = match wanted {
                Some(name) => name.is_empty(),
                None => call.callee.is_some(),
            };
            if is_omitted && !is_used && !is_last {
                outputs.push(Str::default());
                continue;
            }
            let base = match &call.callee {
                Some(callee) => callee.name.as_str(),
                None => call.op.as_str(),
            };
            let wanted = wanted.cloned().unwrap_or_default();
            let name = self.claim(values, body, &wanted, base);
            self.of.insert(key, name.clone());
            outputs.push(name);
        }
        while call.callee.is_some() && outputs.last().is_some_and(|name| name.is_empty()) {
            outputs.pop();
        }
        outputs
    }

    /// Takes a name in a body: the wanted name if free, or else a fresh name.
    fn claim(&mut self, values: &Values<'_>, body: usize, wanted: &Str, base: &str) -> Str {
        let name = match wanted.as_str() {
            "" => self.fresh(values, body, base),
            _ if self.is_taken(values, body, wanted) => {
                self.body_mut(body).contested.insert(wanted.clone());
                self.fresh(values, body, wanted)
            }
            _ => wanted.clone(),
        };
        self.body_mut(body).taken.insert(name.clone());
        name
    }

    /// A name that no value has or had.
    fn fresh(&mut self, values: &Values<'_>, body: usize, base: &str) -> Str {
        let counter = self.counters.get(base).copied().unwrap_or(0);
        let mut number = counter;
        loop {
            number += 1;
            let name = Str::from(format!("{base}_{number}"));
            if !values.wanted.contains(&name) && !self.is_taken(values, body, &name) {
                self.counters.insert(base.to_owned(), number);
                return name;
            }
        }
    }

    fn is_taken(&self, values: &Values<'_>, mut body: usize, name: &Str) -> bool {
        loop {
            if self.body(body).taken.contains(name) {
                return true;
            }
            if body == self.root {
                return false;
            }
            body = values.listing.bodies[body].parent;
        }
    }
}
