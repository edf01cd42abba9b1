//! Which variable of the left side stands for which one of the right side.

use super::tables::{NONE, Tables};

/// The bindings in force, and a lasting record of all that were made.
pub(super) struct Bindings {
    /// By number of node; [`NONE`] if it is not bound.
    left: Vec<u32>,
    right: Vec<u32>,
    /// The bindings that others replaced: variable and its former partner, left and right.
    undo: Vec<[(u32, u32); 2]>,
    /// The first partner that each variable had.
    pub(super) labels_left: Vec<u32>,
    pub(super) labels_right: Vec<u32>,
    /// The partners of the round before; empty in the first one.
    hints_left: Vec<u32>,
    hints_right: Vec<u32>,
}

impl Bindings {
    pub(super) fn new(left: &Tables, right: &Tables) -> Self {
        let empty = |tables: &Tables| vec![NONE; tables.nodes.len()];
        Bindings {
            left: empty(left),
            right: empty(right),
            undo: Vec::new(),
            labels_left: empty(left),
            labels_right: empty(right),
            hints_left: Vec::new(),
            hints_right: Vec::new(),
        }
    }

    /// No bindings, with these as hints.
    pub(super) fn next_round(mut self) -> Self {
        self.undo(0);
        let empty = |side: &[u32]| vec![NONE; side.len()];
        let (labels_left, labels_right) = (empty(&self.left), empty(&self.right));
        Bindings {
            labels_left,
            labels_right,
            hints_left: self.labels_left,
            hints_right: self.labels_right,
            ..self
        }
    }

    /// True if this round has paired the same variables as the one before.
    pub(super) fn are_settled(&self) -> bool {
        self.labels_left == self.hints_left
    }

    /// The partner of a right variable as far as it is known.
    pub(super) fn likely_of_right(&self, var: u32) -> u32 {
        let known = [
            self.right[var as usize],
            self.labels_right[var as usize],
            hint(&self.hints_right, var),
        ];
        known
            .into_iter()
            .find(|&partner| partner != NONE)
            .unwrap_or(NONE)
    }

    /// The partner of a left variable as far as it is known.
    pub(super) fn likely_of_left(&self, var: u32) -> u32 {
        let known = [
            self.left[var as usize],
            self.labels_left[var as usize],
            hint(&self.hints_left, var),
        ];
        known
            .into_iter()
            .find(|&partner| partner != NONE)
            .unwrap_or(NONE)
    }

    pub(super) fn of_left(&self, var: u32) -> u32 {
        self.left[var as usize]
    }

    pub(super) fn of_right(&self, var: u32) -> u32 {
        self.right[var as usize]
    }

    /// Binds two variables to each other, until [`undo`](Self::undo).
    pub(super) fn bind(&mut self, left: u32, right: u32) {
        let before = [
            (left, self.left[left as usize]),
            (right, self.right[right as usize]),
        ];
        self.undo.push(before);
        self.left[left as usize] = right;
        self.right[right as usize] = left;
        let labels = (
            &mut self.labels_left[left as usize],
            &mut self.labels_right[right as usize],
        );
        if (*labels.0, *labels.1) == (NONE, NONE) {
            (*labels.0, *labels.1) = (right, left);
        }
    }

    /// True if the variables were once bound to each other, before any others.
    pub(super) fn have_one_label(&self, left: u32, right: u32) -> bool {
        self.likely_of_left(left) == right
    }

    /// True unless the round before has paired one of two variables with another one.
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
        while self.undo.len() > mark {
            let Some([(left, right_before), (right, left_before)]) = self.undo.pop() else {
                return;
            };
            self.left[left as usize] = right_before;
            self.right[right as usize] = left_before;
        }
    }
}

fn hint(hints: &[u32], var: u32) -> u32 {
    hints.get(var as usize).copied().unwrap_or(NONE)
}
