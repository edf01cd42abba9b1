//! The walk over pairs: from both roots down, the walk pairs corresponding nodes, binds
//! variables as comparison does, and notes the differences.

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use super::align::{Aligner, Step};
use super::bindings::Bindings;
use super::change::ChangeKind;
use super::findings::Finding;
use super::flow::Flow;
use super::options::DiffOptions;
use super::pairs::{Mode, Pairs, TOP, take_steps};
use super::places::{Link, Places, ROOT};
use super::tables::{Cell, HAS_DEFS, HAS_IDENTITY, HAS_VARS, IS_HOOKED, IS_IGNORED, NONE, Tables};
use super::tokens::Tokens;
use super::tree_edit::Savings;
use crate::kernel::error::Result;
use crate::kernel::types::region::RegionKind;
use crate::kernel::value::Value;

/// The steps for the cheapest edits of small trees: this many, and `EACH` more for each
/// node.
const SMALL_TREES: u64 = 1 << 18;
const EACH: u64 = 64;
/// The steps for pairs of nodes that both have that many partners: this many, and
/// `FURTHER` more for each node.
const FURTHER_PAIRS: u64 = 1 << 20;
const FURTHER: u64 = 4;
/// The steps for second visits of pairs whose variables have got other partners: this
/// many, and `AGAIN` more for each node.
const VISITS_AGAIN: u64 = 1 << 22;
const AGAIN: u64 = 8;
/// The share of common parts from which only a node was replaced, and not the parts
/// below.
const KEPT_BELOW: f64 = 0.25;

struct Frame {
    pair: u32,
    left: u32,
    right: u32,
    place: u32,
    region: RegionKind,
    steps: Steps,
    next: u32,
    /// The bindings that end with the object.
    mark: Option<usize>,
    mode: Mode,
}

/// The parts of a pair that are still to be compared.
enum Steps {
    /// Parts at the same positions.
    Straight(u32),
    Listed(Vec<Step>),
}

/// The results of a walk.
pub(super) struct Walk<'t> {
    pub(super) left: &'t Tables,
    pub(super) right: &'t Tables,
    pub(super) options: &'t DiffOptions,
    pub(super) aligner: Aligner<'t>,
    pub(super) bindings: Bindings,
    /// The first partner of each node.
    pub(super) partners: [Vec<u32>; 2],
    /// The alignment of the dag nodes, if made before the walk. A dag node without a
    /// partner in the alignment then stays without a partner.
    pub(super) flow: Option<Flow>,
    /// Pairs of a dag node and its replacement, with true once the replacement was
    /// noted.
    pub(super) replaced_dags: HashMap<(u32, u32), bool, RandomState>,
    pub(super) mode: Mode,
    /// True during the visit of a pair that was not met at its place.
    pub(super) is_apart: bool,
    /// The right nodes that were met together with their partners.
    pub(super) is_met: Vec<bool>,
    pub(super) partner_counts: [Vec<u8>; 2],
    pub(super) pairs: Pairs,
    pub(super) edges: Vec<(u32, u32)>,
    /// Pairs around separately visited pairs, with their occurrences: the occurrences
    /// of moved nodes, and none for nodes that the walk may also meet elsewhere.
    pub(super) times_apart: Vec<(u32, Option<u64>)>,
    /// Pairs of dag nodes, which occur once however often they are used.
    pub(super) dag_pairs: Vec<u32>,
    /// Pairs in the order in which they were left.
    pub(super) left_pairs: Vec<u32>,
    pub(super) pair_count: u32,
    pub(super) places: Places,
    pub(super) findings: Vec<Finding>,
    frames: Vec<Frame>,
    /// Dag nodes of either side that have been reported.
    pub(super) reported: [Vec<bool>; 2],
    /// The remaining steps for the cheapest edits of small trees.
    budget: u64,
    /// The remaining steps for nodes with many partners.
    pub(super) further_budget: u64,
    /// The remaining steps for pairs whose variables have got other partners.
    pub(super) again_budget: u64,
    /// The number of pairs and parts visited.
    pub(super) visits: u64,
    pub(super) savings: Savings,
}

impl<'t> Walk<'t> {
    pub(super) fn new(
        [left, right]: [&'t Tables; 2],
        options: &'t DiffOptions,
        tokens: [Tokens; 2],
        bindings: Bindings,
        places: Places,
        flow: Option<Flow>,
    ) -> Self {
        let counts = [left.nodes.len(), right.nodes.len()];
        let nodes = (counts[0] + counts[1]) as u64;
        let mut walk = Walk {
            left,
            right,
            options,
            aligner: Aligner::new(left, right, tokens),
            bindings,
            partners: counts.map(|count| vec![NONE; count]),
            flow: None,
            replaced_dags: HashMap::default(),
            mode: Mode::Partners,
            is_apart: false,
            is_met: vec![false; right.nodes.len()],
            partner_counts: counts.map(|count| vec![0; count]),
            pairs: Pairs::new(left.nodes.len()),
            edges: Vec::new(),
            times_apart: Vec::new(),
            dag_pairs: Vec::new(),
            left_pairs: Vec::new(),
            pair_count: 0,
            places,
            findings: Vec::new(),
            frames: Vec::new(),
            reported: counts.map(|count| vec![false; count]),
            budget: SMALL_TREES + EACH * nodes,
            further_budget: FURTHER_PAIRS + FURTHER * nodes,
            again_budget: VISITS_AGAIN + AGAIN * nodes,
            visits: 0,
            savings: Savings::default(),
        };
        if let Some(flow) = &flow {
            for (left, right) in flow.pairs().chain(flow.replaced()) {
                walk.pair_up(left, right);
            }
            walk.replaced_dags = flow.replaced().map(|pair| (pair, false)).collect();
        }
        walk.flow = flow;
        walk
    }

    pub(super) fn is_aligned(&self) -> bool {
        self.flow.is_some()
    }

    pub(super) fn tables(&self, side: usize) -> &'t Tables {
        [self.left, self.right][side]
    }

    /// Walks over both roots.
    ///
    /// # Errors
    ///
    /// Errors of custom comparisons.
    pub(super) fn roots(&mut self) -> Result<()> {
        let top = self.new_pair();
        debug_assert_eq!(top, TOP);
        self.mode = Mode::Partners;
        self.cells(
            &self.left.root,
            &self.right.root,
            top,
            ROOT,
            RegionKind::Use,
        )?;
        self.run()?;
        self.left_pairs.push(top);
        Ok(())
    }

    /// Walks over a pair of nodes that the walk has not met at its place.
    ///
    /// # Errors
    ///
    /// Errors of custom comparisons.
    pub(super) fn apart(&mut self, left: u32, right: u32, top: u32, place: u32) -> Result<()> {
        self.mode = Mode::Partners;
        self.is_apart = true;
        let mark = self.bindings.mark();
        self.nodes(left, right, top, place, RegionKind::Use)?;
        self.run()?;
        self.bindings.undo(mark);
        self.is_apart = false;
        self.left_pairs.push(top);
        Ok(())
    }

    fn run(&mut self) -> Result<()> {
        while let Some(frame) = self.frames.last_mut() {
            let step = match &frame.steps {
                Steps::Straight(count) => {
                    (frame.next < *count).then_some(Step::Both(frame.next, frame.next))
                }
                Steps::Listed(steps) => steps.get(frame.next as usize).copied(),
            };
            frame.next += 1;
            self.visits += 1;
            match step {
                None => self.leave(),
                Some(step) => self.step(step)?,
            }
        }
        Ok(())
    }

    fn leave(&mut self) {
        let Some(frame) = self.frames.pop() else {
            return;
        };
        if let Some(mark) = frame.mark {
            self.bindings.undo(mark);
        }
        self.left_pairs.push(frame.pair);
    }

    fn step(&mut self, step: Step) -> Result<()> {
        let Some(frame) = self.frames.last() else {
            return Ok(());
        };
        let (left, right, pair, around, region) = (
            frame.left,
            frame.right,
            frame.pair,
            frame.place,
            frame.region,
        );
        self.mode = frame.mode;
        let is_map = self.right.node(right).is_mapping() && self.left.node(left).is_mapping();
        let part = u32::from(is_map);
        match step {
            Step::Both(l, r) => {
                let left_cell = self.left.cell(left, l + part);
                let right_cell = self.right.cell(right, r + part);
                let region = Tables::region_of(self.right.node(right), r + part, region);
                if self.are_same(left_cell, right_cell, region) {
                    return Ok(());
                }
                let links = (Link::Part(left, l + part), Link::Part(right, r + part));
                let place = self.places.add(around, links.0, links.1);
                self.cells(left_cell, right_cell, pair, place, region)
            }
            Step::Renamed(l, r) => {
                let links = (Link::Part(left, l + 1), Link::Part(right, r + 1));
                let place = self.places.add(around, links.0, links.1);
                let spots = (
                    self.spot(0, self.left.cell(left, l)),
                    self.spot(1, self.right.cell(right, r)),
                );
                self.note(
                    ChangeKind::KeyRenamed,
                    place,
                    pair,
                    Some(spots.0),
                    Some(spots.1),
                    (1, 1),
                );
                let left_cell = self.left.cell(left, l + 1);
                let right_cell = self.right.cell(right, r + 1);
                self.cells(left_cell, right_cell, pair, place, region)
            }
            Step::Left(l) => {
                let place = self
                    .places
                    .add(around, Link::Part(left, l + part), Link::Same);
                let cell = self.left.cell(left, l + part);
                let region = Tables::region_of(self.left.node(left), l + part, region);
                self.define_alone(0, cell, region);
                self.deleted(cell, place, pair);
                Ok(())
            }
            Step::Right(r) => {
                let place = self
                    .places
                    .add(around, Link::Same, Link::Part(right, r + part));
                let cell = self.right.cell(right, r + part);
                let region = Tables::region_of(self.right.node(right), r + part, region);
                self.define_alone(1, cell, region);
                self.inserted(cell, place, pair);
                Ok(())
            }
        }
    }

    /// True if two parts need no visit.
    #[inline]
    fn are_same(&self, left: &Cell, right: &Cell, region: RegionKind) -> bool {
        match (left.node_number(), right.node_number()) {
            (None, None) => left.word == right.word,
            (Some(l), Some(r)) => {
                self.aligner.tokens[0][l as usize] == self.aligner.tokens[1][r as usize]
                    && !self.needs_visit(l, region)
            }
            _ => false,
        }
    }

    /// True if the walk has to enter a node even if its partner is equal: to bind
    /// variables, and to pair nodes whose identity counts.
    #[inline]
    fn needs_visit(&self, left: u32, region: RegionKind) -> bool {
        let node = self.left.node(left);
        let may_bind = region != RegionKind::Use || self.options.compare.map_free_vars;
        node.has(HAS_DEFS | HAS_IDENTITY) || (node.has(HAS_VARS) && (may_bind || node.is_var()))
    }

    fn cells(
        &mut self,
        left: &'t Cell,
        right: &'t Cell,
        pair: u32,
        place: u32,
        region: RegionKind,
    ) -> Result<()> {
        match (left.node_number(), right.node_number()) {
            (Some(l), Some(r)) => self.nodes(l, r, pair, place, region),
            (None, None) => {
                self.values(left, right, pair, place);
                Ok(())
            }
            _ => {
                if !self.wrapped_plain(left, right, pair, place, region) {
                    self.replaced(left, right, pair, place, region);
                }
                Ok(())
            }
        }
    }

    /// Compares two values without parts.
    pub(super) fn values(&mut self, left: &Cell, right: &Cell, pair: u32, place: u32) {
        if left.word == right.word {
            return;
        }
        let kind = self.kind_of_values(&left.value, &right.value, place);
        let spots = (self.spot(0, left), self.spot(1, right));
        self.note(kind, place, pair, Some(spots.0), Some(spots.1), (1, 1));
    }

    pub(super) fn tokens(&self) -> &[Tokens; 2] {
        &self.aligner.tokens
    }

    /// True if the budget suffices for this many steps.
    pub(super) fn can_spend(&self, steps: u64) -> bool {
        steps <= self.budget
    }

    /// Takes steps off the budget; false if the budget is too small.
    pub(super) fn spend(&mut self, steps: u64) -> bool {
        let can = take_steps(&mut self.budget, steps);
        self.visits += if can { steps / 16 } else { 0 };
        can
    }

    fn kind_of_values(&self, left: &Value, right: &Value, place: u32) -> ChangeKind {
        use crate::kernel::value::ValueRef;
        match (left.view(), right.view()) {
            (ValueRef::Tensor(_), ValueRef::Tensor(_)) => ChangeKind::Tensor,
            _ if self.places.is_under_key(place) => ChangeKind::Attribute,
            _ => ChangeKind::Value,
        }
    }

    fn nodes(
        &mut self,
        left: u32,
        right: u32,
        pair: u32,
        place: u32,
        region: RegionKind,
    ) -> Result<()> {
        let mut next = Some((left, right, place, region));
        while let Some((left, right, place, region)) = next {
            next = self.meet(left, right, pair, place, region)?;
        }
        Ok(())
    }

    /// Compares two nodes, or opens them. If one node was put into a new node, returns
    /// the corresponding nodes instead.
    fn meet(
        &mut self,
        left: u32,
        right: u32,
        pair: u32,
        place: u32,
        region: RegionKind,
    ) -> Result<Option<(u32, u32, u32, RegionKind)>> {
        self.left.prefetch_after(left);
        self.right.prefetch_after(right);
        let (l, r) = (self.left.node(left), self.right.node(right));
        if l.has(IS_IGNORED) && r.has(IS_IGNORED) {
            return Ok(None);
        }
        if l.is_var() && r.is_var() {
            if !self.variables(left, right, pair, place, region) {
                return Ok(None);
            }
        } else if l.is_dag() && r.is_dag() {
            match self.dag_nodes(left, right, pair, place) {
                None => return Ok(None),
                Some(mode) => self.mode = mode,
            }
        }
        let visit = self.visit(left, region);
        let known_pair = self.pairs.get(left, right, visit);
        if let Some(known_pair) = known_pair
            && !self.is_due_again(left, right, known_pair)
        {
            self.edges.push((pair, known_pair));
            return Ok(None);
        }
        let is_same =
            self.aligner.tokens[0][left as usize] == self.aligner.tokens[1][right as usize];
        if (l.is_mutable() || r.is_mutable()) && is_same {
            // The choice among several equal lists decides who sees a later write.
            let (known_left, known_right) = (
                self.partners[0][left as usize],
                self.partners[1][right as usize],
            );
            if (known_left, known_right) != (NONE, NONE) && known_left != right {
                return Ok(None);
            }
        }
        if self.mode != Mode::Copy {
            self.pair_up(left, right);
        }
        if is_same && !self.needs_visit(left, region) {
            return Ok(None);
        }
        if l.is_singleton() || r.is_singleton() {
            if !is_same {
                let cells = (Cell::node(left), Cell::node(right));
                self.replaced(&cells.0, &cells.1, pair, place, region);
            }
            return Ok(None);
        }
        if l.has(IS_HOOKED) || r.has(IS_HOOKED) {
            self.hooked(left, right, pair, place, region)?;
            return Ok(None);
        }
        if !is_same {
            if known_pair.is_none() && !self.may_pair(left, right) {
                self.replaced(&Cell::node(left), &Cell::node(right), pair, place, region);
                return Ok(None);
            }
            if self.small_trees(left, right, pair, place, visit) {
                return Ok(None);
            }
            if let Some(inner) = self.wrapped(left, right, pair, place, region) {
                return Ok(Some(inner));
            }
        }
        let same_type = l.info().index() == r.info().index();
        if !same_type && !self.is_replaced_alone(left, right) {
            let cells = (Cell::node(left), Cell::node(right));
            self.replaced(&cells.0, &cells.1, pair, place, region);
            return Ok(None);
        }
        let number = self.open_pair(left, right, visit, pair);
        let steps = if !same_type {
            self.told([left, right].map(Some));
            let spots = (self.spot_of(0, left), self.spot_of(1, right));
            let sizes = (u64::from(l.counts()), u64::from(r.counts()));
            self.note(
                ChangeKind::Replaced,
                place,
                number,
                Some(spots.0),
                Some(spots.1),
                (sizes.0.max(1), sizes.1.max(1)),
            );
            if l.is_sequence() && r.is_sequence() {
                Steps::Listed(
                    self.aligner
                        .lists(self.left.cells(left), self.right.cells(right)),
                )
            } else {
                Steps::Listed(self.aligner.fields(left, right))
            }
        } else if l.is_sequence() {
            if is_same {
                Steps::Straight(l.count)
            } else {
                let cells = (self.left.cells(left), self.right.cells(right));
                Steps::Listed(self.aligner.lists(cells.0, cells.1))
            }
        } else if l.is_mapping() {
            let steps = self
                .aligner
                .maps(self.left.cells(left), self.right.cells(right), |key| {
                    if self.right.node(key).is_var() {
                        self.bindings.likely_of_right(key)
                    } else {
                        self.partners[1][key as usize]
                    }
                });
            self.bind_keys(left, right, &steps);
            Steps::Listed(steps)
        } else {
            Steps::Straight(l.count)
        };
        let is_scope = l.info().is_scope();
        self.frames.push(Frame {
            pair: number,
            left,
            right,
            place,
            region: region.inside(l.is_var()),
            steps,
            next: 0,
            mark: is_scope.then(|| self.bindings.mark()),
            mode: self.mode,
        });
        Ok(None)
    }

    /// True if nodes of different types have so many common parts below that only the
    /// nodes themselves count as replaced.
    fn is_replaced_alone(&mut self, left: u32, right: u32) -> bool {
        let (l, r) = (self.left.node(left), self.right.node(right));
        if l.is_var() || r.is_var() || l.is_mapping() != r.is_mapping() {
            return false;
        }
        if l.is_sequence() != r.is_sequence() || l.is_mapping() {
            return false;
        }
        self.aligner.dice(left, right) >= KEPT_BELOW
    }
}
