//! Pairs of variables: the bindings in force, the variables that a walk binds and looks
//! up, and objects with custom comparisons, which require names for variables.

use hashbrown::HashSet;
use rapidhash::fast::RandomState;

use super::align::Step;
use super::change::ChangeKind;
use super::options::names_globals;
use super::tables::{Cell, HAS_DEFS, HAS_VARS, IS_DEFINED, NONE, Tables};
use super::walk::Walk;
use crate::kernel::container::Array;
use crate::kernel::error::{ErrorKind, Result};
use crate::kernel::types::region::RegionKind;
use crate::kernel::value::Value;
use crate::structural::CompareOptions;

/// The partner of a variable bound on one side only.
const ALONE: u32 = NONE - 1;

/// The bindings in force, and a lasting record of all earlier bindings.
pub(super) struct Bindings {
    /// By number of node; [`NONE`] for an unbound variable, [`ALONE`] for a variable
    /// bound without a partner.
    bound: [Vec<u32>; 2],
    /// The replaced partners: side, variable and former partner.
    undo: Vec<(usize, u32, u32)>,
    /// The last partners of variables.
    last: [Vec<u32>; 2],
    /// The number of times that a variable changed its partner.
    pub(super) epoch: u32,
    /// The first partner of a variable.
    pub(super) labels_left: Vec<u32>,
    pub(super) labels_right: Vec<u32>,
    /// The partners of the previous round; empty in the first round.
    hints_left: Vec<u32>,
    hints_right: Vec<u32>,
}

impl Bindings {
    pub(super) fn new(left: &Tables, right: &Tables) -> Self {
        let empty = |tables: &Tables| vec![NONE; tables.nodes.len()];
        Bindings {
            bound: [empty(left), empty(right)],
            undo: Vec::new(),
            last: [empty(left), empty(right)],
            epoch: 0,
            labels_left: empty(left),
            labels_right: empty(right),
            hints_left: Vec::new(),
            hints_right: Vec::new(),
        }
    }

    /// Empty bindings, with these bindings as hints.
    pub(super) fn next_round(mut self) -> Self {
        self.undo(0);
        let empty = |side: &[u32]| vec![NONE; side.len()];
        let (labels_left, labels_right) = (empty(&self.bound[0]), empty(&self.bound[1]));
        Bindings {
            last: [labels_left.clone(), labels_right.clone()],
            epoch: 0,
            labels_left,
            labels_right,
            hints_left: self.labels_left,
            hints_right: self.labels_right,
            ..self
        }
    }

    /// True if this round has paired the same variables as the previous round.
    pub(super) fn are_settled(&self) -> bool {
        self.labels_left == self.hints_left
    }

    /// The partner of a right variable as far as known.
    pub(super) fn likely_of_right(&self, var: u32) -> u32 {
        let known = [
            self.bound[1][var as usize],
            self.labels_right[var as usize],
            hint(&self.hints_right, var),
        ];
        known
            .into_iter()
            .find(|&partner| partner < ALONE)
            .unwrap_or(NONE)
    }

    /// The partner of a left variable as far as known.
    pub(super) fn likely_of_left(&self, var: u32) -> u32 {
        let known = [
            self.bound[0][var as usize],
            self.labels_left[var as usize],
            hint(&self.hints_left, var),
        ];
        known
            .into_iter()
            .find(|&partner| partner < ALONE)
            .unwrap_or(NONE)
    }

    pub(super) fn of_left(&self, var: u32) -> u32 {
        self.bound[0][var as usize]
    }

    pub(super) fn of_right(&self, var: u32) -> u32 {
        self.bound[1][var as usize]
    }

    /// True if both variables lack a partner on the other side.
    pub(super) fn have_no_partners(&self, left: u32, right: u32) -> bool {
        self.bound[0][left as usize] >= ALONE && self.bound[1][right as usize] >= ALONE
    }

    /// Binds two variables as partners, until [`undo`](Self::undo).
    pub(super) fn bind(&mut self, left: u32, right: u32) {
        self.set(0, left, right);
        self.set(1, right, left);
        let labels = (
            &mut self.labels_left[left as usize],
            &mut self.labels_right[right as usize],
        );
        if (*labels.0, *labels.1) == (NONE, NONE) {
            (*labels.0, *labels.1) = (right, left);
        }
    }

    /// Binds an unbound variable without a partner, until [`undo`](Self::undo).
    pub(super) fn bind_alone(&mut self, side: usize, var: u32) {
        if self.bound[side][var as usize] == NONE {
            self.set(side, var, ALONE);
        }
    }

    fn set(&mut self, side: usize, var: u32, partner: u32) {
        let before = std::mem::replace(&mut self.bound[side][var as usize], partner);
        self.undo.push((side, var, before));
        self.note(side, var, partner);
    }

    fn note(&mut self, side: usize, var: u32, partner: u32) {
        let last = std::mem::replace(&mut self.last[side][var as usize], partner);
        self.epoch += u32::from(last != NONE && last != partner);
    }

    /// True if the variables were once partners, before any other binding.
    pub(super) fn have_one_label(&self, left: u32, right: u32) -> bool {
        self.likely_of_left(left) == right
    }

    /// True unless the previous round has paired one of the variables with a third
    /// variable.
    pub(super) fn may_be_partners(&self, left: u32, right: u32) -> bool {
        let hints = (hint(&self.hints_left, left), hint(&self.hints_right, right));
        hints == (NONE, NONE) || hints.0 == right
    }

    /// A place to return to.
    pub(super) fn mark(&self) -> usize {
        self.undo.len()
    }

    /// Ends all bindings made since the mark.
    pub(super) fn undo(&mut self, mark: usize) {
        for at in (mark..self.undo.len()).rev() {
            let (side, var, before) = self.undo[at];
            self.bound[side][var as usize] = before;
            if before != NONE {
                self.note(side, var, before);
            }
        }
        self.undo.truncate(mark);
    }
}

fn hint(hints: &[u32], var: u32) -> u32 {
    hints.get(var as usize).copied().unwrap_or(NONE)
}

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

    /// Binds or looks up two variables; false if no part is left to compare.
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
        let (l, r) = (self.left.node(left), self.right.node(right));
        let are_defined = l.has(IS_DEFINED) && r.has(IS_DEFINED);
        let same_object = l.object.same_as(&r.object);
        if bound == (NONE, NONE) && self.is_apart && are_defined {
            // A separate visit of a place does not reopen the enclosing scopes, and the
            // variables keep the pairing recorded in them. The identity of the objects
            // is not evidence.
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
            let are_new = labels == (NONE, NONE) || labels == (right, left);
            let may_bind = self.options.compare.map_free_vars && are_new;
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
            Some(spots.0),
            Some(spots.1),
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

    /// Marks the variables defined in a part of one side as bound without a partner:
    /// the identity of such a variable is not evidence for a pair.
    pub(super) fn define_alone(&mut self, side: usize, cell: &Cell, region: RegionKind) {
        let tables = self.tables(side);
        let mut seen = HashSet::<(u32, RegionKind), RandomState>::default();
        let mut stack: Vec<(u32, RegionKind)> = Vec::new();
        stack.extend(cell.node_number().map(|node| (node, region)));
        while let Some((open, region)) = stack.pop() {
            let node = tables.node(open);
            let defines = node.has(HAS_DEFS) || (region != RegionKind::Use && node.has(HAS_VARS));
            if !defines || !seen.insert((open, region)) || !self.spend(1) {
                continue;
            }
            if node.is_var() && region != RegionKind::Use {
                self.bindings.bind_alone(side, open);
            }
            if node.info().is_scope() {
                // Definitions inside a scope end with the scope.
                continue;
            }
            let parts = tables.cells(open).iter().zip(0..);
            stack.extend(parts.filter_map(|(part, position)| {
                let part = part.node_number()?;
                Some((part, Tables::region_of(node, position, region)))
            }));
        }
    }

    /// The variables below a node, in the order of a visit.
    fn variables_below(&self, side: usize, node: u32) -> Vec<u32> {
        let tables = self.tables(side);
        let mut seen = HashSet::<u32, RandomState>::default();
        let mut stack = vec![node];
        let mut vars = Vec::new();
        while let Some(open) = stack.pop() {
            if !tables.node(open).has(HAS_VARS) || !seen.insert(open) {
                continue;
            }
            if tables.node(open).is_var() {
                vars.push(open);
            }
            let parts = tables.cells(open).iter().rev();
            stack.extend(parts.filter_map(Cell::node_number));
        }
        vars
    }

    /// Objects with a comparison of their own are equal or replaced.
    pub(super) fn hooked(
        &mut self,
        left: u32,
        right: u32,
        pair: u32,
        place: u32,
        region: RegionKind,
    ) -> Result<()> {
        let vars = [
            self.variables_below(0, left),
            self.variables_below(1, right),
        ];
        let mut bound: Vec<(u32, u32)> = Vec::new();
        // Variables bound in an object are bound at the same place of an equal object.
        if region != RegionKind::Use && vars[0].len() == vars[1].len() {
            let both = vars[0].iter().copied().zip(vars[1].iter().copied());
            bound.extend(both.filter(|&(l, r)| self.bindings.have_no_partners(l, r)));
        }
        let open: HashSet<u32, RandomState> = bound.iter().map(|&(var, _)| var).collect();
        let outer_pairs = vars[0]
            .iter()
            .filter(|var| !open.contains(*var))
            .map(|&var| (var, self.bindings.likely_of_left(var)))
            .filter(|&(_, partner)| partner != NONE);
        let mut pairs: Vec<(u32, u32)> = outer_pairs.chain(bound.iter().copied()).collect();
        // One object may be a different variable on the other side.
        let paired: HashSet<u32, RandomState> = pairs.iter().map(|&(_, var)| var).collect();
        let rest = vars[1]
            .iter()
            .filter(|var| !paired.contains(*var))
            .map(|&var| (self.bindings.likely_of_right(var), var));
        pairs.extend(rest.filter(|&(partner, _)| partner != NONE));
        let object = |side: usize, node: u32| Value::from(&self.tables(side).node(node).object);
        let mut sides = [
            pairs.iter().map(|&(l, _)| object(0, l)).collect(),
            pairs.iter().map(|&(_, r)| object(1, r)).collect::<Vec<_>>(),
        ];
        sides[0].push(object(0, left));
        sides[1].push(object(1, right));
        let [l, r] = sides.map(Array::<Value>::from);
        let options = CompareOptions {
            // The leading variables bind each other.
            map_free_vars: l.len() > 1 || self.options.compare.map_free_vars,
            ..self.options.compare
        };
        let equal = match options.equal(l, r) {
            Err(error) if error.kind() == ErrorKind::Type => false,
            equal => equal?,
        };
        if !equal {
            let cells = (Cell::node(left), Cell::node(right));
            self.replaced(&cells.0, &cells.1, pair, place, region);
            return Ok(());
        }
        for (left, right) in bound {
            self.bindings.bind(left, right);
            self.pair_up(left, right);
        }
        Ok(())
    }
}
