//! Pairs of variables: left variables and their right partners.

use super::tables::{NONE, Tables};

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
