//! Pairs of variables, and of objects that compare themselves, for which variables have to be
//! named.

use hashbrown::HashSet;
use rapidhash::fast::RandomState;

use super::align::Step;
use super::alignment::names_globals;
use super::change::ChangeKind;
use super::tables::{Cell, HAS_VARS, IS_DEFINED, NONE};
use super::walk::Walk;
use crate::kernel::container::Array;
use crate::kernel::error::{ErrorKind, Result};
use crate::kernel::types::region::RegionKind;
use crate::kernel::value::Value;
use crate::structural::CompareOptions;

impl Walk<'_> {
    /// Binds variables that are the keys of paired entries: values mention them.
    pub(super) fn bind_keys(&mut self, left: u32, right: u32, steps: &[Step]) {
        for step in steps {
            let (Step::Both(l, r) | Step::Renamed(l, r)) = *step else {
                continue;
            };
            let keys = (self.left.cell(left, l), self.right.cell(right, r));
            if let (Some(l), Some(r)) = (keys.0.node_number(), keys.1.node_number())
                && self.left.node(l).is_var()
                && self.right.node(r).is_var()
                && (self.bindings.of_left(l), self.bindings.of_right(r)) == (NONE, NONE)
                && self.may_bind_key(l, r)
            {
                self.bindings.bind(l, r);
                self.pair_up(l, r);
            }
        }
    }

    /// True unless the keys are free and match by identity alone.
    pub(super) fn may_bind_key(&self, left: u32, right: u32) -> bool {
        let (l, r) = (self.left.node(left), self.right.node(right));
        l.object.same_as(&r.object) || self.options.compare.map_free_vars || names_globals(l.info())
    }

    /// Binds or looks up two variables; false if nothing is left to compare.
    pub(super) fn variables(
        &mut self,
        left: u32,
        right: u32,
        pair: u32,
        place: u32,
        region: RegionKind,
    ) -> bool {
        let bound = (self.bindings.of_left(left), self.bindings.of_right(right));
        if bound.0 == right {
            return true;
        }
        if region != RegionKind::Use {
            self.bindings.bind(left, right);
            return true;
        }
        let same_object = self
            .left
            .node(left)
            .object
            .same_as(&self.right.node(right).object);
        let are_defined =
            self.left.node(left).has(IS_DEFINED) && self.right.node(right).has(IS_DEFINED);
        if bound == (NONE, NONE) && self.is_apart && are_defined {
            // The scopes around a place that is visited for itself are not open, so the
            // variables stand for each other as they did there; which objects they are says
            // nothing.
            let likely = (
                self.bindings.likely_of_left(left),
                self.bindings.likely_of_right(right),
            );
            if likely == (NONE, NONE) {
                self.bindings.bind(left, right);
            }
            if likely == (NONE, NONE) || likely.0 == right {
                return true;
            }
        } else if bound == (NONE, NONE) {
            let labels = (
                self.bindings.labels_left[left as usize],
                self.bindings.labels_right[right as usize],
            );
            let may_bind = self.options.compare.map_free_vars && labels == (NONE, NONE);
            let was_bound = self.is_apart && self.bindings.have_one_label(left, right);
            if may_bind && (same_object || self.bindings.may_be_partners(left, right)) {
                self.bindings.bind(left, right);
                return true;
            }
            if same_object || was_bound {
                return true;
            }
        }
        let spots = (self.spot_of(0, left), self.spot_of(1, right));
        self.note(
            ChangeKind::Variable,
            place,
            pair,
            (Some(spots.0), Some(spots.1)),
            (1, 1),
        );
        false
    }

    /// Compares two variables that are used.
    pub(super) fn use_of(&mut self, left: u32, right: u32, pair: u32, place: u32) {
        if self.variables(left, right, pair, place, RegionKind::Use) {
            self.pair_up(left, right);
        }
    }

    /// The variables below a left node, in the order of their numbers.
    pub(super) fn variables_below(&self, node: u32) -> Vec<u32> {
        let mut seen = HashSet::<u32, RandomState>::default();
        let mut stack = vec![node];
        let mut vars = Vec::new();
        while let Some(open) = stack.pop() {
            if !self.left.node(open).has(HAS_VARS) || !seen.insert(open) {
                continue;
            }
            if self.left.node(open).is_var() {
                vars.push(open);
            }
            stack.extend(self.left.cells(open).iter().filter_map(Cell::node_number));
        }
        vars.sort_unstable();
        vars
    }

    /// Objects with a comparison of their own are equal or replaced.
    pub(super) fn hooked(&mut self, left: u32, right: u32, pair: u32, place: u32) -> Result<()> {
        let mut sides = [Vec::new(), Vec::new()];
        let vars = self.variables_below(left);
        for var in vars {
            let partner = self.bindings.likely_of_left(var);
            if partner != NONE {
                sides[0].push(Value::from(&self.left.node(var).object));
                sides[1].push(Value::from(&self.right.node(partner).object));
            }
        }
        sides[0].push(Value::from(&self.left.node(left).object));
        sides[1].push(Value::from(&self.right.node(right).object));
        let [l, r] = sides.map(Array::<Value>::from);
        let options = CompareOptions {
            // The variables in front bind each other.
            map_free_vars: l.len() > 1 || self.options.compare.map_free_vars,
            ..self.options.compare
        };
        let equal = match options.equal(l, r) {
            Err(error) if error.kind() == ErrorKind::Type => false,
            equal => equal?,
        };
        if !equal {
            let cells = (Cell::node(left), Cell::node(right));
            self.replaced((&cells.0, &cells.1), pair, place);
        }
        Ok(())
    }
}
