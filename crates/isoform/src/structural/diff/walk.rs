//! The walk over pairs: from both roots down, it pairs what stands for each other, binds
//! variables as comparison does, and notes what differs.

use hashbrown::{HashMap, HashSet};
use rapidhash::fast::RandomState;

use super::align::{Aligner, Step};
use super::bindings::Bindings;
use super::change::ChangeKind;
use super::flow::Flow;
use super::options::DiffOptions;
use super::places::{Link, Places, ROOT};
use super::tables::{
    Cell, HAS_DEFS, HAS_IDENTITY, HAS_VARS, IS_DEFINED, IS_HOOKED, IS_IGNORED, NONE, Tables,
};
use super::tokens::Tokens;
use crate::kernel::error::{ErrorKind, Result};
use crate::kernel::types::FieldFlag;
use crate::kernel::types::region::RegionKind;
use crate::kernel::value::Value;
use crate::structural::CompareOptions;

/// A node is paired with at most this many nodes of the other side, so that graphs in
/// which everything is shared cost no more than their size.
const PARTNERS: u8 = 8;
/// The number of nodes in which a part is searched that may have been wrapped.
const WRAPPED_IN: usize = 32;
/// The number of parts of each of these that are looked at: one long list may be a part of
/// everything.
const WRAPPED_PARTS: usize = 256;
/// The similarity from which a part of another type counts as the one that was wrapped.
const WRAPPED: f64 = 0.6;
/// The share of common parts from which only a node, and not what is below, was replaced.
const KEPT_BELOW: f64 = 0.25;

/// The pair around the roots, which occurs once.
const TOP: u32 = 0;

/// Something that differs.
pub(super) struct Finding {
    pub(super) kind: ChangeKind,
    pub(super) place: u32,
    /// The pair whose occurrences count.
    pub(super) pair: u32,
    pub(super) left: Option<Spot>,
    pub(super) right: Option<Spot>,
    pub(super) sizes: (u64, u64),
}

/// A value of one side.
#[derive(Clone)]
pub(super) struct Spot {
    pub(super) value: Value,
    /// Equal for values that are the same but for the names of variables.
    pub(super) class: u64,
    /// Its number, if it is a node.
    pub(super) node: u32,
}

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

/// How a pair came about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    /// The nodes stand for each other.
    Partners,
    /// One is a copy of the other, which has a partner of its own.
    Copy,
    /// One took the place of the other, so nothing about the nodes themselves counts.
    Replaced,
}

/// The parts of a pair that are still to be compared.
enum Steps {
    /// Each part with the one at the same position.
    Straight(u32),
    Listed(Vec<Step>),
}

/// The results of a walk.
pub(super) struct Walk<'t> {
    pub(super) left: &'t Tables,
    pub(super) right: &'t Tables,
    options: &'t DiffOptions,
    aligner: Aligner<'t>,
    pub(super) bindings: Bindings,
    /// The first partner of each node.
    pub(super) partners: [Vec<u32>; 2],
    /// The dag nodes, if they were aligned before, so that those without a partner have none.
    pub(super) flow: Option<Flow>,
    replaced_dags: HashSet<(u32, u32), RandomState>,
    mode: Mode,
    /// True while a pair is visited that was not met at its place.
    is_apart: bool,
    partner_counts: [Vec<u8>; 2],
    pairs: HashMap<(u32, u32), u32, RandomState>,
    pub(super) edges: Vec<(u32, u32)>,
    /// Pairs in the order in which they were left.
    pub(super) left_pairs: Vec<u32>,
    pair_count: u32,
    pub(super) places: Places,
    pub(super) findings: Vec<Finding>,
    frames: Vec<Frame>,
    /// Dag nodes of either side that have been reported.
    reported: [Vec<bool>; 2],
    /// The steps that remain for the cheapest edits of small trees.
    budget: u64,
    /// The number of pairs and parts visited.
    pub(super) visits: u64,
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
        let mut made = Walk {
            left,
            right,
            options,
            aligner: Aligner::new(left, right, tokens),
            bindings,
            partners: counts.map(|count| vec![NONE; count]),
            flow: None,
            replaced_dags: HashSet::default(),
            mode: Mode::Partners,
            is_apart: false,
            partner_counts: counts.map(|count| vec![0; count]),
            pairs: HashMap::default(),
            edges: Vec::new(),
            left_pairs: Vec::new(),
            pair_count: 0,
            places,
            findings: Vec::new(),
            frames: Vec::new(),
            reported: counts.map(|count| vec![false; count]),
            budget: (1 << 22) + 32 * (left.nodes.len() + right.nodes.len()) as u64,
            visits: 0,
        };
        if let Some(flow) = &flow {
            for (left, right) in flow.pairs().chain(flow.replaced()) {
                made.pair_up(left, right);
            }
            made.replaced_dags = flow.replaced().collect();
        }
        made.flow = flow;
        made
    }

    fn is_aligned(&self) -> bool {
        self.flow.is_some()
    }

    fn tables(&self, side: usize) -> &'t Tables {
        [self.left, self.right][side]
    }

    /// Walks over both roots.
    ///
    /// # Errors
    ///
    /// Those of custom comparisons.
    pub(super) fn roots(&mut self) -> Result<()> {
        let top = self.new_pair();
        debug_assert_eq!(top, TOP);
        let cells = (&self.left.root, &self.right.root);
        self.mode = Mode::Partners;
        self.cells(cells, top, ROOT, RegionKind::Use)?;
        self.run()?;
        self.left_pairs.push(top);
        Ok(())
    }

    /// Walks over a pair of nodes that the walk has not met at its place.
    ///
    /// # Errors
    ///
    /// Those of custom comparisons.
    pub(super) fn apart(&mut self, left: u32, right: u32) -> Result<u32> {
        let top = self.new_pair();
        self.mode = Mode::Partners;
        let place = self.places.add(ROOT, Link::Node(left), Link::Node(right));
        self.is_apart = true;
        self.nodes(left, right, top, place, RegionKind::Use)?;
        self.run()?;
        self.is_apart = false;
        self.left_pairs.push(top);
        Ok(place)
    }

    fn new_pair(&mut self) -> u32 {
        self.pair_count += 1;
        self.pair_count - 1
    }

    pub(super) fn pair_count(&self) -> usize {
        self.pair_count as usize
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
                let cells = (
                    self.left.cell(left, l + part),
                    self.right.cell(right, r + part),
                );
                let region = self.region_of(right, r + part, region);
                if self.are_same(cells, region) {
                    return Ok(());
                }
                let links = (Link::Part(left, l + part), Link::Part(right, r + part));
                let place = self.places.add(around, links.0, links.1);
                self.cells(cells, pair, place, region)
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
                    (Some(spots.0), Some(spots.1)),
                    (1, 1),
                );
                let cells = (self.left.cell(left, l + 1), self.right.cell(right, r + 1));
                self.cells(cells, pair, place, region)
            }
            Step::Left(l) => {
                let place = self
                    .places
                    .add(around, Link::Part(left, l + part), Link::Same);
                self.deleted(self.left.cell(left, l + part), place, pair);
                Ok(())
            }
            Step::Right(r) => {
                let place = self
                    .places
                    .add(around, Link::Same, Link::Part(right, r + part));
                self.inserted(self.right.cell(right, r + part), place, pair);
                Ok(())
            }
        }
    }

    /// The region of a part of the right node, in the region inside of it.
    fn region_of(&self, node: u32, position: u32, inside: RegionKind) -> RegionKind {
        match self.right.flag(node, position) {
            FieldFlag::None | FieldFlag::Ignore => inside,
            flag => inside.of_field(flag),
        }
    }

    /// True if nothing about two parts needs a visit.
    #[inline]
    fn are_same(&self, (left, right): (&Cell, &Cell), region: RegionKind) -> bool {
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
        (left, right): (&'t Cell, &'t Cell),
        pair: u32,
        place: u32,
        region: RegionKind,
    ) -> Result<()> {
        match (left.node_number(), right.node_number()) {
            (Some(l), Some(r)) => self.nodes(l, r, pair, place, region),
            (None, None) => {
                self.values((left, right), pair, place);
                Ok(())
            }
            _ => {
                if let Some(kind) = self.wrapped_plain(left, right, pair, place) {
                    let _ = kind;
                    return Ok(());
                }
                self.replaced((left, right), pair, place);
                Ok(())
            }
        }
    }

    /// Compares two values without parts.
    pub(super) fn values(&mut self, (left, right): (&Cell, &Cell), pair: u32, place: u32) {
        if left.word == right.word {
            return;
        }
        let kind = self.kind_of_values(&left.value, &right.value, place);
        let spots = (self.spot(0, left), self.spot(1, right));
        self.note(kind, place, pair, (Some(spots.0), Some(spots.1)), (1, 1));
    }

    /// Compares two variables that are used.
    pub(super) fn use_of(&mut self, left: u32, right: u32, pair: u32, place: u32) {
        if self.variables(left, right, pair, place, RegionKind::Use) {
            self.pair_up(left, right);
        }
    }

    /// True if free variables are renamed.
    pub(super) fn renames_free(&self) -> bool {
        self.options.compare.map_free_vars
    }

    pub(super) fn tokens(&self) -> &[Tokens; 2] {
        &self.aligner.tokens
    }

    /// Takes steps off the budget; false if it does not suffice.
    pub(super) fn spend(&mut self, steps: u64) -> bool {
        let rest = self.budget.checked_sub(steps);
        self.budget = rest.unwrap_or(self.budget);
        self.visits += if rest.is_some() { steps / 16 } else { 0 };
        rest.is_some()
    }

    /// Notes a value without parts that was put into a node, or taken out of one.
    fn wrapped_plain(
        &mut self,
        left: &'t Cell,
        right: &'t Cell,
        pair: u32,
        place: u32,
    ) -> Option<ChangeKind> {
        let (side, node, plain, kind) = match (left.node_number(), right.node_number()) {
            (None, Some(node)) => (1, node, left, ChangeKind::Wrapped),
            (Some(node), None) => (0, node, right, ChangeKind::Unwrapped),
            _ => return None,
        };
        let tables = self.tables(side);
        // None, true and small numbers are everywhere.
        if matches!(
            plain.value.view(),
            crate::kernel::value::ValueRef::None | crate::kernel::value::ValueRef::Bool(_)
        ) {
            return None;
        }
        let cells = tables.cells(node);
        let size = tables.node(node).size;
        // A value is among the parts of anything large by chance.
        if size > 4 || cells.len() > WRAPPED_IN {
            return None;
        }
        let is_inside = cells
            .iter()
            .any(|cell| !cell.is_node() && cell.word == plain.word);
        if !is_inside {
            return None;
        }
        let sizes = if side == 1 { (0, size) } else { (size, 0) };
        let spots = (self.spot(0, left), self.spot(1, right));
        self.note(kind, place, pair, (Some(spots.0), Some(spots.1)), sizes);
        Some(kind)
    }

    fn kind_of_values(&self, left: &Value, right: &Value, place: u32) -> ChangeKind {
        use crate::kernel::value::ValueRef;
        match (left.view(), right.view()) {
            (ValueRef::Tensor(_), ValueRef::Tensor(_)) => ChangeKind::Tensor,
            _ if self.places.is_under_key(place) => ChangeKind::Attribute,
            (l, r) if std::mem::discriminant(&l) == std::mem::discriminant(&r) => ChangeKind::Value,
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
        let mut next = Some((left, right, place));
        while let Some((left, right, place)) = next {
            next = self.meet(left, right, pair, place, region)?;
        }
        Ok(())
    }

    /// Compares two nodes, or opens them. If one was put into something new, returns the
    /// nodes that stand for each other instead.
    fn meet(
        &mut self,
        left: u32,
        right: u32,
        pair: u32,
        place: u32,
        region: RegionKind,
    ) -> Result<Option<(u32, u32, u32)>> {
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
        if let Some(&known) = self.pairs.get(&(left, right)) {
            self.edges.push((pair, known));
            return Ok(None);
        }
        let is_same =
            self.aligner.tokens[0][left as usize] == self.aligner.tokens[1][right as usize];
        if (l.is_mutable() || r.is_mutable()) && is_same {
            // Which of several equal lists it is tells who sees a later write.
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
        if l.has(IS_HOOKED) || r.has(IS_HOOKED) {
            self.hooked(left, right, pair, place)?;
            return Ok(None);
        }
        if !is_same {
            let [of_left, of_right] = &mut self.partner_counts;
            let counts = (&mut of_left[left as usize], &mut of_right[right as usize]);
            *counts.0 = counts.0.saturating_add(1);
            *counts.1 = counts.1.saturating_add(1);
            if *counts.0 > PARTNERS && *counts.1 > PARTNERS {
                self.replaced((&Cell::node(left), &Cell::node(right)), pair, place);
                return Ok(None);
            }
            if self.small_trees(left, right, pair, place) {
                return Ok(None);
            }
            if let Some(inner) = self.wrapped(left, right, pair, place) {
                return Ok(Some(inner));
            }
        }
        let same_type = l.info().index() == r.info().index();
        let steps = if !same_type {
            if !self.is_replaced_alone(left, right) {
                let cells = (Cell::node(left), Cell::node(right));
                self.replaced((&cells.0, &cells.1), pair, place);
                return Ok(None);
            }
            let spots = (self.spot_of(0, left), self.spot_of(1, right));
            let sizes = (u64::from(l.counts()), u64::from(r.counts()));
            self.note(
                ChangeKind::Replaced,
                place,
                pair,
                (Some(spots.0), Some(spots.1)),
                (sizes.0.max(1), sizes.1.max(1)),
            );
            match l.is_sequence() && r.is_sequence() {
                true => Steps::Listed(
                    self.aligner
                        .lists(self.left.cells(left), self.right.cells(right)),
                ),
                false => Steps::Listed(self.aligner.fields(left, right)),
            }
        } else if l.is_sequence() {
            match is_same {
                true => Steps::Straight(l.count),
                false => {
                    let cells = (self.left.cells(left), self.right.cells(right));
                    Steps::Listed(self.aligner.lists(cells.0, cells.1))
                }
            }
        } else if l.is_mapping() {
            let steps =
                self.aligner.maps(
                    self.left.cells(left),
                    self.right.cells(right),
                    |key| match self.right.node(key).is_var() {
                        true => self.bindings.likely_of_right(key),
                        false => self.partners[1][key as usize],
                    },
                );
            self.bind_keys(left, right, &steps);
            Steps::Listed(steps)
        } else {
            Steps::Straight(l.count)
        };
        let number = self.new_pair();
        self.pairs.insert((left, right), number);
        self.edges.push((pair, number));
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

    /// Binds variables that are the keys of paired entries: values mention them.
    fn bind_keys(&mut self, left: u32, right: u32, steps: &[Step]) {
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
    fn may_bind_key(&self, left: u32, right: u32) -> bool {
        let (l, r) = (self.left.node(left), self.right.node(right));
        l.object.same_as(&r.object)
            || self.options.compare.map_free_vars
            || super::names_globals(l.info())
    }

    pub(super) fn pair_up(&mut self, left: u32, right: u32) {
        let partners = (
            self.partners[0][left as usize],
            self.partners[1][right as usize],
        );
        if partners == (NONE, NONE) {
            self.partners[0][left as usize] = right;
            self.partners[1][right as usize] = left;
        }
    }

    /// Binds or looks up two variables; false if nothing is left to compare.
    fn variables(
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

    /// Compares two dag nodes as operands. Returns how the parts are to be compared; None if
    /// they are not.
    fn dag_nodes(&mut self, left: u32, right: u32, pair: u32, place: u32) -> Option<Mode> {
        let partners = (
            self.partners[0][left as usize],
            self.partners[1][right as usize],
        );
        let spots = |walk: &Self| (Some(walk.spot_of(0, left)), Some(walk.spot_of(1, right)));
        if partners.0 == right {
            if self.replaced_dags.remove(&(left, right)) {
                let sizes = (self.own_size(0, left), self.own_size(1, right));
                self.mode = Mode::Partners;
                self.note(ChangeKind::Replaced, place, TOP, spots(self), sizes);
                return Some(Mode::Replaced);
            }
            return Some(Mode::Partners);
        }
        let is_alone = (partners.0 == NONE, partners.1 == NONE);
        if is_alone == (true, true) {
            return Some(Mode::Partners);
        }
        if is_alone == (false, false) && self.is_aligned() {
            self.mode = Mode::Partners;
            self.note(ChangeKind::Rewired, place, pair, spots(self), (1, 1));
            return None;
        }
        if self.is_copy(left, right, partners) {
            if self.mode != Mode::Copy {
                self.note(ChangeKind::Sharing, place, pair, spots(self), (1, 1));
            }
            // The copy is neither inserted nor deleted.
            for (side, node) in [left, right].into_iter().enumerate() {
                if self.partners[side][node as usize] == NONE {
                    self.reported[side][node as usize] = true;
                }
            }
            return Some(Mode::Copy);
        }
        // What was inserted or deleted says it all.
        match is_alone {
            (true, _) => self.dag_alone(0, left, place),
            _ => self.dag_alone(1, right, place),
        }
        None
    }

    /// True if one of two dag nodes, of which the other has another partner, is a copy of it.
    fn is_copy(&mut self, left: u32, right: u32, partners: (u32, u32)) -> bool {
        let Some(flow) = &self.flow else {
            return true;
        };
        if !flow.have_one_op(left, right) {
            return false;
        }
        // A node after another one of its kind was put there.
        let follows = match partners {
            (NONE, partner) => flow.takes(0, left, partner),
            (partner, _) => flow.takes(1, right, partner),
        };
        !follows
    }

    /// Notes a dag node that is only on one side, once: it is one node, however often it is
    /// used.
    pub(super) fn dag_alone(&mut self, side: usize, node: u32, place: u32) {
        self.mode = Mode::Partners;
        if std::mem::replace(&mut self.reported[side][node as usize], true) {
            return;
        }
        let spot = self.spot_of(side, node);
        let size = self.own_size(side, node);
        match side {
            0 => self.note(
                ChangeKind::Deleted,
                place,
                TOP,
                (Some(spot), None),
                (size, 0),
            ),
            _ => self.note(
                ChangeKind::Inserted,
                place,
                TOP,
                (None, Some(spot)),
                (0, size),
            ),
        }
    }

    /// The number of nodes of a dag node without those of its operands.
    fn own_size(&self, side: usize, node: u32) -> u64 {
        self.tables(side).node(node).own_size
    }

    /// Dag nodes that are paired but were not met together, and those without a partner.
    ///
    /// # Errors
    ///
    /// Those of custom comparisons.
    pub(super) fn sweep(&mut self) -> Result<()> {
        self.mode = Mode::Partners;
        let is_covered = self.covered();
        for right in 0..self.right.nodes.len() as u32 {
            if !self.right.node(right).is_dag() || is_covered[1][right as usize] {
                continue;
            }
            match self.partners[1][right as usize] {
                NONE if self.is_aligned() => {
                    let place = self.places.add(ROOT, Link::Nowhere, Link::Node(right));
                    self.dag_alone(1, right, place);
                }
                NONE => {}
                left if self.pairs.contains_key(&(left, right)) => {}
                left => {
                    self.apart(left, right)?;
                }
            }
        }
        for left in 0..self.left.nodes.len() as u32 {
            let is_alone = self.left.node(left).is_dag()
                && self.partners[0][left as usize] == NONE
                && !is_covered[0][left as usize];
            if is_alone && self.is_aligned() {
                let place = self.places.add(ROOT, Link::Node(left), Link::Nowhere);
                self.dag_alone(0, left, place);
            }
        }
        Ok(())
    }

    /// The nodes inside of parts that are only on one side.
    fn covered(&self) -> [Vec<bool>; 2] {
        [0, 1].map(|side| {
            let tables = self.tables(side);
            let mut covered = vec![false; tables.nodes.len()];
            let mut stack: Vec<u32> = Vec::new();
            for finding in &self.findings {
                let spot = [&finding.left, &finding.right][side];
                let is_whole = matches!(
                    finding.kind,
                    ChangeKind::Inserted | ChangeKind::Deleted | ChangeKind::Replaced
                );
                if let Some(spot) = spot
                    && is_whole
                    && spot.node != NONE
                    && !tables.node(spot.node).is_dag()
                {
                    stack.push(spot.node);
                }
            }
            while let Some(node) = stack.pop() {
                if std::mem::replace(&mut covered[node as usize], true)
                    || self.partners[side][node as usize] != NONE
                {
                    covered[node as usize] = self.partners[side][node as usize] == NONE;
                    continue;
                }
                stack.extend(tables.cells(node).iter().filter_map(Cell::node_number));
            }
            covered
        })
    }

    /// Objects with a comparison of their own are equal or replaced.
    fn hooked(&mut self, left: u32, right: u32, pair: u32, place: u32) -> Result<()> {
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
        let [l, r] = sides.map(crate::kernel::container::Array::<Value>::from);
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

    /// The variables below a left node, in the order of their numbers.
    fn variables_below(&self, node: u32) -> Vec<u32> {
        let mut seen = hashbrown::HashSet::<u32, RandomState>::default();
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

    /// Notes that one node became a part of the other; and returns
    /// the nodes that then stand for each other; None if neither did.
    fn wrapped(&mut self, left: u32, right: u32, pair: u32, place: u32) -> Option<(u32, u32, u32)> {
        let (l, r) = (self.left.node(left), self.right.node(right));
        if l.info().is_builtin() || r.info().is_builtin() || l.is_var() && r.is_var() {
            return None;
        }
        let both_dag = l.is_dag() && r.is_dag();
        if both_dag && self.is_aligned() {
            return None;
        }
        let found = if r.size > l.size {
            self.inside(1, right, 0, left).map(|inner| (1, inner))
        } else if l.size > r.size {
            self.inside(0, left, 1, right).map(|inner| (0, inner))
        } else {
            None
        };
        let Some((side, (inner, links))) = found else {
            return None;
        };
        let (kind, sizes, spots) = match side {
            1 => (
                ChangeKind::Wrapped,
                (0, r.size - self.right.node(inner).size),
                (self.spot_of(0, left), self.spot_of(1, right)),
            ),
            _ => (
                ChangeKind::Unwrapped,
                (l.size - self.left.node(inner).size, 0),
                (self.spot_of(0, left), self.spot_of(1, right)),
            ),
        };
        self.note(kind, place, pair, (Some(spots.0), Some(spots.1)), sizes);
        let mut inner_place = place;
        for (node, position) in links {
            let part = Link::Part(node, position);
            inner_place = match side {
                1 => self.places.add(inner_place, Link::Same, part),
                _ => self.places.add(inner_place, part, Link::Same),
            };
        }
        Some(match side {
            1 => (left, inner, inner_place),
            _ => (inner, right, inner_place),
        })
    }

    /// A node below `outer` that is the same as `wanted` of the other side, nearest first, or
    /// similar if the types of both differ; with the way to it.
    fn inside(
        &mut self,
        side: usize,
        outer: u32,
        other: usize,
        wanted: u32,
    ) -> Option<(u32, Vec<(u32, u32)>)> {
        let tables = self.tables(side);
        let target = self.tables(other).node(wanted);
        let token = self.aligner.tokens[other][wanted as usize];
        let same_type = tables.node(outer).info().index() == target.info().index();
        // Each with the number of the entry that led to it.
        let mut queue: Vec<(u32, usize, u32)> = vec![(outer, usize::MAX, 0)];
        let mut next = 0;
        let mut similar = None;
        while let Some(&(open, _, _)) = queue.get(next) {
            let cells = tables.cells(open).iter().take(WRAPPED_PARTS);
            for (position, cell) in cells.enumerate() {
                let Some(part) = cell.node_number() else {
                    continue;
                };
                if queue.len() >= WRAPPED_IN {
                    break;
                }
                queue.push((part, next, position as u32));
                self.visits += 1;
                let found = tables.node(part);
                if found.is_dag() && self.is_aligned() {
                    queue.pop();
                    continue;
                }
                let is_same = self.aligner.tokens[side][part as usize] == token;
                if is_same && (target.size > 1 || !same_type) {
                    return Some((part, way(&queue, queue.len() - 1)));
                }
                if similar.is_none()
                    && !same_type
                    && found.info().index() == target.info().index()
                    && !found.info().is_builtin()
                    && !found.is_var()
                {
                    let (l, r) = if side == 1 {
                        (wanted, part)
                    } else {
                        (part, wanted)
                    };
                    if self.aligner.dice(l, r) >= WRAPPED {
                        similar = Some(queue.len() - 1);
                    }
                }
            }
            next += 1;
        }
        similar.map(|entry| (queue[entry].0, way(&queue, entry)))
    }

    /// True if nodes of different types have so much in common below that only the nodes
    /// themselves count as replaced.
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

    pub(super) fn replaced(&mut self, (left, right): (&Cell, &Cell), pair: u32, place: u32) {
        let spots = (self.spot(0, left), self.spot(1, right));
        let sizes = (self.left.size_of(left), self.right.size_of(right));
        let kind = ChangeKind::Replaced;
        self.note(kind, place, pair, (Some(spots.0), Some(spots.1)), sizes);
    }

    fn deleted(&mut self, cell: &Cell, place: u32, pair: u32) {
        if let Some(node) = cell.node_number()
            && self.left.node(node).is_dag()
        {
            // An element that is still used elsewhere was only rewired.
            if self.partners[0][node as usize] == NONE {
                return self.dag_alone(0, node, place);
            }
        }
        let (spot, size) = (self.spot(0, cell), self.size_at(0, cell));
        self.note(
            ChangeKind::Deleted,
            place,
            pair,
            (Some(spot), None),
            (size, 0),
        );
    }

    fn inserted(&mut self, cell: &Cell, place: u32, pair: u32) {
        if let Some(node) = cell.node_number()
            && self.right.node(node).is_dag()
            && self.partners[1][node as usize] == NONE
        {
            return self.dag_alone(1, node, place);
        }
        let (spot, size) = (self.spot(1, cell), self.size_at(1, cell));
        self.note(
            ChangeKind::Inserted,
            place,
            pair,
            (None, Some(spot)),
            (0, size),
        );
    }

    /// The size of a part that is alone; of a dag node that has a partner, only the use.
    fn size_at(&self, side: usize, cell: &Cell) -> u64 {
        match cell.node_number() {
            Some(node) if self.tables(side).node(node).is_dag() => 1,
            _ => self.tables(side).size_of(cell),
        }
    }

    pub(super) fn spot(&self, side: usize, cell: &Cell) -> Spot {
        match cell.node_number() {
            Some(node) => self.spot_of(side, node),
            None => Spot {
                value: cell.value.clone(),
                class: self.aligner.token(side, cell),
                node: NONE,
            },
        }
    }

    pub(super) fn spot_of(&self, side: usize, node: u32) -> Spot {
        let found = self.tables(side).node(node);
        Spot {
            value: Value::from(&found.object),
            class: found.skeleton,
            node,
        }
    }

    pub(super) fn note(
        &mut self,
        kind: ChangeKind,
        place: u32,
        pair: u32,
        (left, right): (Option<Spot>, Option<Spot>),
        sizes: (u64, u64),
    ) {
        let is_told = self.mode == Mode::Replaced && kind != ChangeKind::Rewired;
        if is_told {
            return;
        }
        self.findings.push(Finding {
            kind,
            place,
            pair,
            left,
            right,
            sizes,
        });
    }
}

/// The way from the first entry of a search to another one.
fn way(queue: &[(u32, usize, u32)], entry: usize) -> Vec<(u32, u32)> {
    let mut steps = Vec::new();
    let mut at = entry;
    while let Some(&(_, before, position)) = queue.get(at) {
        if let Some(&(node, _, _)) = queue.get(before) {
            steps.push((node, position));
        }
        at = before;
    }
    steps.reverse();
    steps
}
