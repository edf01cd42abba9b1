//! The part of a template that comparison alone cannot match: commutative operands,
//! alternatives, holes for any number of items, definitions that are looked through.
//!
//! A template is divided into a *shell*, the nodes on the way from the root to all
//! special forms, and *cores*, the parts below without special forms. The [search]
//! matches the shell node by node, with choices that can be undone, and leaves the
//! cores to the comparison that matches whole templates elsewhere.
//!
//! [search]: super::search

use std::sync::Arc;

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use super::data::{
    Core, Hole, InteriorUses, NodeNumber, PartNumber, Pattern, PatternOptions, Root, Shape,
    ShellHole, ShellNode, Skeleton,
};
use super::demands::has_roles;
use super::hole::{misplaced, parse};
use super::scan::Variables;
use crate::kernel::error::{Error, Result};
use crate::kernel::object::access;
use crate::kernel::object::header::TypeIndex;
use crate::kernel::types::{FieldFlag, Kind, RegionKind};
use crate::kernel::value::Value;
use crate::structural::{CompareOptions, HoleTable, variable};
use crate::traverse::children_of;
use crate::traverse::roles::{Commutes, commutes};

/// True if the parts of an object can be matched one by one: the object binds no
/// variable, and its type compares fields in the usual way.
fn is_divisible(value: &Value) -> bool {
    let Some(object) = value.as_object() else {
        return false;
    };
    let info = object.type_info();
    if info.is_builtin() {
        return value.container().is_some_and(|row| !row.is_mapping());
    }
    matches!(info.kind(), Kind::Tree | Kind::Dag)
        && !info.is_scope()
        && info.hooks.are_structural_defaults()
        && info
            .visited
            .iter()
            .all(|slot| matches!(slot.flag, FieldFlag::None | FieldFlag::Use))
}

/// The demands of parts of a template.
#[derive(Clone, Copy, Default)]
struct PartRequirement {
    /// Must be in the shell.
    hard: bool,
    /// Is in the shell if possible.
    soft: bool,
    /// Contains a node with an identity of its own.
    dag: bool,
    height: u32,
}

/// The facts about a template that decide about the way of matching.
pub(super) struct TemplateInfo {
    demands: HashMap<u64, PartRequirement, RandomState>,
    commutes: HashMap<u64, Commutes, RandomState>,
    /// True if comparison alone cannot match the template.
    pub(super) is_special: bool,
    /// True if a node below the root has an identity of its own.
    pub(super) has_inner_dag: bool,
    /// The number of levels of objects.
    pub(super) height: u32,
    /// True if a hole may have several places.
    pub(super) repeats: bool,
    /// The declared types of the nodes outside of variables, each once.
    pub(super) types: Vec<TypeIndex>,
}

impl TemplateInfo {
    /// Linear in the number of distinct objects of the template.
    pub(super) fn of(
        template: &Value,
        holes: &[Hole],
        options: PatternOptions,
    ) -> Result<TemplateInfo> {
        let special: HashMap<u64, bool, RandomState> = holes
            .iter()
            .filter_map(|hole| Some((variable(hole.var())?, !hole.form.is_plain())))
            .collect();
        let mut survey = TemplateInfo {
            demands: HashMap::default(),
            commutes: HashMap::default(),
            is_special: false,
            has_inner_dag: false,
            height: 0,
            repeats: false,
            types: Vec::new(),
        };
        let whole = options.definitions
            || options.identity
            || options.interior_uses == InteriorUses::Inside;
        let mut stack = vec![(template.clone(), false)];
        let mut open_variables = 0_usize;
        while let Some((value, left)) = stack.pop() {
            let Some(object) = value.as_object() else {
                continue;
            };
            let ident = object.identity();
            let info = object.type_info();
            let is_variable = !info.is_builtin() && info.kind() == Kind::Var;
            if !left {
                if survey.demands.contains_key(&ident) {
                    survey.repeats |= !holes.is_empty()
                        && (special.contains_key(&ident) || variable(&value).is_none());
                    continue;
                }
                survey.demands.insert(ident, PartRequirement::default());
                if open_variables == 0 && has_roles(info) && !survey.types.contains(&info.index()) {
                    survey.types.push(info.index());
                }
                open_variables += usize::from(is_variable);
                stack.push((value.clone(), true));
                let children = children_of(&value);
                let children = children.iter(RegionKind::Use);
                stack.extend(children.map(|child| (child.value, false)));
                continue;
            }
            open_variables -= usize::from(is_variable);
            let mut demand = PartRequirement::default();
            for child in children_of(&value).iter(RegionKind::Use) {
                let child = child.value.as_object().map(|child| child.identity());
                let child = child
                    .and_then(|child| survey.demands.get(&child))
                    .copied()
                    .unwrap_or_default();
                demand.hard |= child.hard;
                demand.soft |= child.soft;
                demand.dag |= child.dag;
                demand.height = demand.height.max(child.height);
            }
            demand.height += 1;
            demand.hard |= special.get(&ident) == Some(&true);
            if is_divisible(&value) {
                demand.soft |= whole;
                if options.commutative
                    && let Some(order) = commutes(object)?
                {
                    demand.soft = true;
                    survey.commutes.insert(ident, order);
                }
            }
            let is_root = template
                .as_object()
                .is_some_and(|root| root.same_as(object));
            let is_dag = object.type_info().kind() == Kind::Dag && !object.type_info().is_builtin();
            survey.has_inner_dag |= is_dag && !is_root;
            demand.dag |= is_dag;
            survey.demands.insert(ident, demand);
        }
        let root = survey.demand(template);
        survey.height = root.height;
        survey.is_special = root.hard || root.soft;
        Ok(survey)
    }

    fn demand(&self, value: &Value) -> PartRequirement {
        let ident = value.as_object().map_or(0, |object| object.identity());
        self.demands.get(&ident).copied().unwrap_or_default()
    }
}

/// A node whose parts are being divided.
struct Frame {
    value: Value,
    parts: Vec<Value>,
    done: Vec<NodeNumber>,
}

/// The place of a part of a template.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Field,
    /// A field whose items may be in any order.
    AnyOrder,
    Item,
}

struct TemplateSplitter<'p> {
    shell: Skeleton,
    survey: &'p TemplateInfo,
    holes: &'p [Hole],
    numbers: HashMap<u64, PartNumber, RandomState>,
    table: Arc<HoleTable>,
    parts: Arc<[PartNumber]>,
    compare: CompareOptions,
    options: PatternOptions,
    known: HashMap<u64, NodeNumber, RandomState>,
    /// The positions of the holes among the holes of the shell.
    declared: Vec<usize>,
    /// The number of places, by part.
    places: Vec<usize>,
}

impl Skeleton {
    /// Divides a template.
    ///
    /// # Errors
    ///
    /// `ValueError` for a special form in a place where parts cannot be matched one by
    /// one.
    pub(super) fn divide(
        template: &Value,
        holes: &[Hole],
        table: &Arc<HoleTable>,
        survey: &TemplateInfo,
        options: PatternOptions,
        compare: CompareOptions,
    ) -> Result<Skeleton> {
        let mut divider = TemplateSplitter {
            shell: Skeleton {
                linear: true,
                ..Skeleton::default()
            },
            survey,
            holes,
            numbers: HashMap::default(),
            table: table.clone(),
            parts: (0..holes.len()).collect(),
            compare,
            options,
            known: HashMap::default(),
            declared: Vec::new(),
            places: Vec::new(),
        };
        for hole in holes {
            divider.part_of(hole.var());
        }
        for hole in holes {
            divider.add_hole(hole)?;
        }
        let root = divider.run(template)?;
        divider.shell.root = root;
        // Users may exclude one of several ways, and then the next way has to be tried.
        divider.shell.linear &=
            !options.definitions && options.interior_uses != InteriorUses::Inside;
        divider.shell.linear &= divider.places.iter().all(|&places| places <= 1);
        Ok(divider.shell)
    }

    /// The shell of alternatives.
    pub(super) fn any_of(patterns: &[Pattern]) -> Skeleton {
        let mut shell = Skeleton::default();
        let mut numbers = HashMap::default();
        let roots = patterns
            .iter()
            .map(|pattern| link(&mut shell, &mut numbers, pattern))
            .collect();
        shell.nodes.push(ShellNode {
            shape: Shape::AnyOf(roots),
            template: Value::NONE,
            options: PatternOptions::default(),
        });
        shell.root = shell.nodes.len() - 1;
        shell
    }
}

/// The number of a variable's part.
fn part_number(
    shell: &mut Skeleton,
    numbers: &mut HashMap<u64, PartNumber, RandomState>,
    var: &Value,
) -> PartNumber {
    let ident = variable(var).unwrap_or_default();
    *numbers.entry(ident).or_insert_with(|| {
        shell.parts.push(var.clone());
        shell.parts.len() - 1
    })
}

/// Adds the nodes of another pattern; returns its root.
fn link(
    shell: &mut Skeleton,
    numbers: &mut HashMap<u64, PartNumber, RandomState>,
    pattern: &Pattern,
) -> NodeNumber {
    shell.linear = false;
    let (nodes, cores, holes) = (shell.nodes.len(), shell.cores.len(), shell.holes.len());
    let Some(other) = pattern.shell() else {
        let parts = pattern
            .holes()
            .iter()
            .map(|hole| part_number(shell, numbers, hole.var()))
            .collect();
        shell.cores.push(Core {
            template: pattern.template().clone(),
            table: pattern.hole_table().clone(),
            parts,
            options: pattern.compare_options(),
            root: Root::of(pattern.template(), pattern.hole_table()),
        });
        shell.nodes.push(ShellNode {
            shape: Shape::Core(cores),
            template: pattern.template().clone(),
            options: pattern.options(),
        });
        return nodes;
    };
    let parts: Vec<PartNumber> = other
        .parts
        .iter()
        .map(|var| part_number(shell, numbers, var))
        .collect();
    let moved = |numbers: &Vec<NodeNumber>| numbers.iter().map(|number| number + nodes).collect();
    shell.nodes.extend(other.nodes.iter().map(|node| ShellNode {
        shape: match &node.shape {
            Shape::Plain => Shape::Plain,
            Shape::Hole(hole) => Shape::Hole(hole + holes),
            Shape::Core(core) => Shape::Core(core + cores),
            Shape::Node {
                ty,
                is_dag,
                kids,
                commutes,
            } => Shape::Node {
                ty: *ty,
                is_dag: *is_dag,
                kids: moved(kids),
                commutes: *commutes,
            },
            Shape::Items { ty, items } => Shape::Items {
                ty: *ty,
                items: moved(items),
            },
            Shape::AnyOf(roots) => Shape::AnyOf(moved(roots)),
        },
        ..node.clone()
    }));
    shell.cores.extend(other.cores.iter().map(|core| Core {
        parts: core.parts.iter().map(|&part| parts[part]).collect(),
        ..core.clone()
    }));
    shell.holes.extend(other.holes.iter().map(|hole| {
        ShellHole {
            part: parts[hole.part],
            hole: hole.hole.clone(),
            guard: hole.guard.clone(),
            core: hole.core + cores,
            patterns: moved(&hole.patterns),
            fields: hole
                .fields
                .iter()
                .map(|(path, root)| (path.clone(), root + nodes))
                .collect(),
        }
    }));
    other.root + nodes
}

impl TemplateSplitter<'_> {
    fn part_of(&mut self, var: &Value) -> PartNumber {
        let part = part_number(&mut self.shell, &mut self.numbers, var);
        self.places.resize(self.shell.parts.len(), 0);
        part
    }

    fn add_hole(&mut self, hole: &Hole) -> Result<()> {
        let core = self.add_core(hole.var());
        let mut patterns = Vec::new();
        for pattern in &hole.form.patterns {
            patterns.push(link(&mut self.shell, &mut self.numbers, pattern));
        }
        let mut fields = Vec::new();
        for (path, pattern) in &hole.form.fields {
            let root = link(&mut self.shell, &mut self.numbers, pattern);
            fields.push((parse(path)?, root));
        }
        if hole.form.items && (hole.required_class().is_some() || !hole.form.fields.is_empty()) {
            return Err(misplaced(
                hole,
                "matches any number of items, which have no class and no fields; use a guard, \
                 which is called with the array of items",
            ));
        }
        let part = self.part_of(hole.var());
        self.declared.push(self.shell.holes.len());
        self.shell.holes.push(ShellHole {
            part,
            hole: hole.clone(),
            guard: hole.compared()?.guard,
            core,
            patterns,
            fields,
        });
        Ok(())
    }

    fn add_core(&mut self, template: &Value) -> usize {
        self.shell.cores.push(Core {
            template: template.clone(),
            table: self.table.clone(),
            parts: self.parts.clone(),
            options: self.compare,
            root: Root::of(template, &self.table),
        });
        self.shell.cores.len() - 1
    }

    fn push(&mut self, shape: Shape, template: &Value) -> NodeNumber {
        self.shell.nodes.push(ShellNode {
            shape,
            template: template.clone(),
            options: self.options,
        });
        self.shell.nodes.len() - 1
    }

    fn run(&mut self, template: &Value) -> Result<NodeNumber> {
        let mut stack: Vec<Frame> = Vec::new();
        let mut met = Some((template.clone(), Place::Field));
        loop {
            let mut done = None;
            if let Some((value, place)) = met.take() {
                match self.meet(&value, place)? {
                    Some(number) => done = Some(number),
                    None => stack.push(frame(value)),
                }
            }
            if done.is_none()
                && let Some(frame) = stack.last()
            {
                let next = frame.done.len();
                match frame.parts.get(next) {
                    Some(part) => {
                        met = Some((part.clone(), self.place_in(frame, next)));
                        continue;
                    }
                    None => done = stack.pop().map(|frame| self.close(frame)),
                }
            }
            match (stack.last_mut(), done) {
                (Some(frame), Some(done)) => frame.done.push(done),
                (None, Some(done)) => return Ok(done),
                (_, None) => {}
            }
        }
    }

    /// The place of a part of a node.
    fn place_in(&self, frame: &Frame, part: usize) -> Place {
        let ident = frame
            .value
            .as_object()
            .map_or(0, |object| object.identity());
        let commutes = self.survey.commutes.get(&ident);
        if frame.value.container().is_some() {
            Place::Item
        } else if commutes == Some(&Commutes::Items(part as u32)) {
            Place::AnyOrder
        } else {
            Place::Field
        }
    }

    /// The node for a part of the template, or None if the part has to be divided.
    fn meet(&mut self, value: &Value, place: Place) -> Result<Option<NodeNumber>> {
        let Some(object) = value.as_object() else {
            return Ok(Some(self.push(Shape::Plain, value)));
        };
        let info = object.type_info();
        let ident = object.identity();
        if let Some(number) = self.table.find(ident) {
            let hole = &self.holes[number];
            if hole.form.items && place != Place::Item {
                return Err(misplaced(
                    hole,
                    "matches any number of items, so it must be an item of an array",
                ));
            }
            let part = self.part_of(value);
            self.places[part] += 1;
            return Ok(Some(self.push(Shape::Hole(self.declared[number]), value)));
        }
        if let Some(&node) = self.known.get(&ident) {
            self.shell.linear = false;
            return Ok(Some(node));
        }
        let demand = self.survey.demand(value);
        let is_divisible = is_divisible(value);
        if demand.hard && !is_divisible {
            return Err(Error::value_error(format!(
                "Pattern: a hole of a special form is inside of a {}, whose parts cannot be \
                 matched one by one, because it binds variables, is a map or compares itself; \
                 use a guard instead",
                value.type_name()
            )));
        }
        let is_wanted = demand.hard || demand.soft || demand.dag || place == Place::AnyOrder;
        if is_divisible && is_wanted {
            return Ok(None);
        }
        if info.is_builtin() && !object.borrowed().info().class().has_parts() && !is_tensor(value) {
            return Ok(Some(self.push(Shape::Plain, value)));
        }
        self.note_core(value)?;
        let core = self.add_core(value);
        let number = self.push(Shape::Core(core), value);
        self.known.insert(ident, number);
        Ok(Some(number))
    }

    /// Counts the places of holes in a core.
    fn note_core(&mut self, template: &Value) -> Result<()> {
        let variables = Variables::of(template)?;
        for (ident, var) in &variables.used {
            match self.table.find(*ident) {
                Some(_) => {
                    let part = self.part_of(var);
                    self.places[part] += 1;
                }
                None => self.shell.linear &= variables.defined.contains(ident),
            }
        }
        Ok(())
    }

    fn close(&mut self, frame: Frame) -> NodeNumber {
        let Frame { value, done, .. } = frame;
        let (ty, ident) = match value.as_object() {
            Some(object) => (object.type_info().index(), object.identity()),
            None => return self.push(Shape::Plain, &value),
        };
        let is_dag = value
            .as_object()
            .is_some_and(|object| object.type_info().kind() == Kind::Dag);
        let shape = match value.container() {
            Some(_) => Shape::Items { ty, items: done },
            None => Shape::Node {
                ty,
                is_dag,
                kids: done,
                commutes: self.survey.commutes.get(&ident).copied(),
            },
        };
        self.shell.linear &= !is_dag || value.container().is_some();
        let number = self.push(shape, &value);
        self.known.insert(ident, number);
        number
    }
}

fn frame(value: Value) -> Frame {
    let parts = parts_of(&value);
    Frame {
        value,
        done: Vec::with_capacity(parts.len()),
        parts,
    }
}

fn is_tensor(value: &Value) -> bool {
    matches!(value.view(), crate::kernel::value::ValueRef::Tensor(_))
}

/// The compared fields of an object in the order of visit, or the items of an array.
pub(super) fn parts_of(value: &Value) -> Vec<Value> {
    if let Some(items) = value.items() {
        return items.values().to_vec();
    }
    let Some(object) = value.as_object() else {
        return Vec::new();
    };
    access::reading(|section| {
        let fields = object.borrowed().visited();
        let part = |position| Some(fields.get(section, position)?.1.to_value());
        (0..fields.len()).map_while(part).collect()
    })
}

impl Skeleton {
    /// True if definitions may decide about a match.
    pub(super) fn looks_through(&self) -> bool {
        self.nodes.iter().any(|node| node.options.definitions)
    }

    /// True if users or definitions decide about a match.
    pub(super) fn asks_for_uses(&self) -> bool {
        let mut nodes = self.nodes.iter();
        nodes.any(|node| {
            node.options.definitions || node.options.interior_uses == InteriorUses::Inside
        }) || self.holes.iter().any(|hole| hole.hole.form.one_use)
    }

    /// True if the root is a node of a template whose fields keep their places.
    pub(super) fn has_one_root(&self) -> bool {
        match &self.nodes[self.root].shape {
            Shape::Node { commutes, .. } => !matches!(commutes, Some(Commutes::Fields(..))),
            Shape::Core(_) => true,
            _ => false,
        }
    }

    /// The kinds of roots that the shell may match.
    pub(super) fn roots(&self) -> Vec<Root> {
        let mut roots = Vec::new();
        let mut stack = vec![self.root];
        while let Some(node) = stack.pop() {
            match &self.nodes[node].shape {
                Shape::Plain => roots.push(Root::Plain),
                Shape::Node { ty, .. } | Shape::Items { ty, .. } => roots.push(Root::Exactly(*ty)),
                Shape::Core(core) => roots.push(self.cores[*core].root),
                Shape::AnyOf(all) => stack.extend(all),
                Shape::Hole(hole) => {
                    let hole = &self.holes[*hole];
                    match (hole.patterns.first(), hole.hole.required_class()) {
                        (_, Some(class)) => roots.push(Root::Class(class)),
                        (Some(&pattern), None) => stack.push(pattern),
                        (None, None) if hole.hole.form.constant || hole.hole.form.anything => {
                            roots.push(Root::Everything);
                        }
                        (None, None) => roots.push(Root::Anything),
                    }
                }
            }
        }
        roots
    }
}
