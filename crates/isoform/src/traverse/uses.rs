//! Uses: the places of each object of a value, and replacement at all places.

use hashbrown::{HashMap, HashSet};
use rapidhash::fast::RandomState;

use super::bindings::Bindings;
use super::graph::{Edge, Graph, NodeId, Role};
use super::options::WalkResult;
use super::substitute::substitute;
use super::walk::walk_objects;
use crate::kernel::error::{Error, Result};
use crate::kernel::object::view::PartRef;
use crate::kernel::path::{AccessPath, AccessStep};
use crate::kernel::types::region::RegionKind;
use crate::kernel::value::Value;

/// The users of every object and variable below a root.
///
/// Use the analysis to find out whether a value has other users before a change, to
/// find the definition of a variable, or to replace a value without visiting the rest
/// of the program. The analysis describes the root at the time of the analysis.
///
/// * **A use** is a place: a field, an item or an entry of an object that holds the
///   value. An object holding the value twice counts as two uses. Fields ignored by
///   comparison are not searched.
/// * **Variables** are used at all their occurrences outside of definition fields.
/// * **Containers** are objects: an operand in an argument list is used by the list.
///
/// ```
/// use isoform::traverse::Uses;
/// use isoform_ir::tir;
/// use isoform::values::DType;
///
/// let (a, b) = (tir::Var::new("a", DType::INT32), tir::Var::new("b", DType::INT32));
/// let sum = tir::Add::new(&a, &b)?;
/// let root = tir::Mul::new(&sum, &sum)?;
/// let uses = Uses::of(&root)?;
/// let places: Vec<String> = uses.users(&sum).map(|user| user.path().to_string()).collect();
/// assert_eq!(places, ["<root>.a", "<root>.b"]);
/// assert!(uses.has_one_use(a.clone()) && !uses.has_one_use(&sum));
///
/// let root = uses.replace_all(&sum, a.clone())?;
/// assert!(isoform::structural_equal(root, tir::Mul::new(&a, &a)?)?);
/// # Ok::<(), isoform::Error>(())
/// ```
pub struct Uses {
    graph: Graph,
    root: NodeId,
    bindings: Bindings,
}

/// A place where a value is used.
#[derive(Clone, Copy)]
pub struct User<'u> {
    uses: &'u Uses,
    edge: Edge,
}

/// The statement or expression binding a variable to a value.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Definition {
    /// The object binding the variable; its type has the attribute
    /// [`BINDING`](super::BINDING).
    pub binding: Value,
    /// The value.
    pub value: Value,
    /// The position of the variable if the value has several results.
    pub index: Option<usize>,
}

impl Uses {
    /// Analyses a root, in one pass, linear in the number of its distinct objects.
    ///
    /// # Errors
    ///
    /// `ValueError` with the path for a value that contains itself; `TypeError` or
    /// `ValueError` for an attribute [`BINDING`](super::BINDING) of the wrong form.
    pub fn of(root: impl Into<Value>) -> Result<Uses> {
        Uses::of_value(&root.into())
    }

    fn of_value(root: &Value) -> Result<Uses> {
        let mut graph = Graph::default();
        let node = graph.import(root, RegionKind::Use, false)?;
        graph.pinned = node;
        let mut bindings = Bindings::default();
        for at in 0..graph.nodes.len() as NodeId {
            bindings.note(&graph, at)?;
        }
        Ok(Uses {
            graph,
            root: node,
            bindings,
        })
    }

    /// The root.
    pub fn root(&self) -> &Value {
        &self.graph.node(self.root).value
    }

    /// The places of a value, in no particular order; no places for a value that does
    /// not occur. O(1), plus O(1) for each place.
    pub fn users<V: Into<Value>>(&self, of: V) -> impl Iterator<Item = User<'_>> + use<'_, V> {
        self.users_of(&of.into())
    }

    fn users_of<'u>(&'u self, of: &Value) -> impl Iterator<Item = User<'u>> + use<'u> {
        let mut seen: HashSet<(u64, u32), RandomState> = HashSet::default();
        self.edges(of)
            .filter(move |edge| {
                // The parts of an object in two kinds of regions are the same places.
                !self.graph.is_doubled || seen.insert(self.place(*edge))
            })
            .map(|edge| User { uses: self, edge })
    }

    /// The number of places where a value is used. O(users).
    pub fn use_count(&self, of: impl Into<Value>) -> usize {
        self.users(of).count()
    }

    /// True if a value is used in exactly one place. O(1).
    pub fn has_one_use(&self, of: impl Into<Value>) -> bool {
        self.users(of).take(2).count() == 1
    }

    /// The definition of a variable: the only place binding the variable, if the type
    /// of the object there declares [`BINDING`](super::BINDING). None for a variable
    /// bound by another kind of object, not at all, or more than once, and for a
    /// variable also used outside of the scope of its definition. O(1), after
    /// O(n log n) for the first call.
    pub fn definition(&self, var: impl Into<Value>) -> Option<Definition> {
        let var = &var.into();
        let bound = self
            .bindings
            .of(&self.graph, PartRef::of(var).variable()?)?;
        Some(Definition {
            binding: self.graph.node(bound.binding).value.clone(),
            value: self.graph.node(bound.value).value.clone(),
            index: bound.index,
        })
    }

    pub(crate) fn graph(&self) -> &Graph {
        &self.graph
    }

    pub(crate) fn bindings(&self) -> &Bindings {
        &self.bindings
    }

    /// The path to a value: to one of its places, or to the root. None for a value that
    /// does not occur. O(depth).
    pub fn path(&self, of: impl Into<Value>) -> Option<AccessPath> {
        let node = self.nodes(&of.into()).next()?;
        Some(self.graph.path(node))
    }

    /// Returns the root with all uses of a value replaced. Objects without a replaced
    /// use stay the same objects; definitions stay.
    ///
    /// * **Time** is proportional to the uses and the objects around them, not to the
    ///   root, unless the old value is a variable bound several times, or also used
    ///   outside of its scope.
    /// * **A free variable** is replaced as by [`substitute`](super::substitute()):
    ///   variables of the replacement are free as well, so a binder of the same
    ///   variable is renamed. If the variable is bound elsewhere, the uses in that
    ///   scope are uses of another variable, and stay.
    /// * **A bound variable** may be replaced by any value visible at its binding.
    /// * **Another object** is replaced in place: variables of the replacement refer to
    ///   the bindings at that place.
    /// * A bound variable with changed fields becomes a new variable, at all its
    ///   occurrences.
    ///
    /// # Errors
    ///
    /// `ValueError` if a variable of the replacement is bound where the old value is used but
    /// not where it is bound; `TypeError` with the path if the replacement does not fit a
    /// field.
    pub fn replace_all(&self, old: impl Into<Value>, new: impl Into<Value>) -> Result<Value> {
        self.replaced(&old.into(), &new.into())
    }

    fn replaced(&self, old: &Value, new: &Value) -> Result<Value> {
        let seeds: Vec<NodeId> = self.nodes(old).collect();
        if seeds.is_empty() || old == new {
            return Ok(self.root().clone());
        }
        let ident = PartRef::of(old).variable();
        let definition = ident.and_then(|ident| self.graph.find(ident, RegionKind::Def, false));
        if definition.is_some_and(|node| !self.bindings.is_settled(&self.graph, node)) {
            let pair = (old.clone(), new.clone());
            let replaced = substitute(self.root(), &[pair])?;
            if replaced != *self.root() {
                return Ok(replaced);
            }
        }
        let affected = self.around(&seeds);
        let caught = self.caught(old, new)?;
        if !caught.is_empty() {
            let Some(definition) = definition else {
                return substitute(self.root(), &[(old.clone(), new.clone())]);
            };
            let visible = self.above(definition);
            for definition in caught {
                let scope = self.scope_of(definition);
                if !visible.contains(&scope) && affected.contains(&scope) {
                    return Err(Error::value_error(format!(
                        "replace_all_uses: {new:?} uses the variable {:?}, which is bound in \
                         {} around a use of {old:?}, but not where that is bound",
                        self.graph.node(definition).value,
                        self.graph.path(scope),
                    )));
                }
            }
        }
        let mut images: HashMap<NodeId, Value, RandomState> = HashMap::default();
        images.extend(seeds.iter().map(|&seed| (seed, new.clone())));
        // Parts come before the objects around them; a use of a variable after its
        // definition.
        let mut stack: Vec<(NodeId, bool)> = vec![(self.root, false)];
        let mut entered: HashSet<NodeId, RandomState> = HashSet::default();
        while let Some((node, left)) = stack.pop() {
            if left {
                let image = |kid: NodeId| images.get(&kid);
                if let Some(value) = self.graph.with_kids(node, image)? {
                    images.insert(node, value);
                }
                continue;
            }
            if images.contains_key(&node) || !affected.contains(&node) || !entered.insert(node) {
                continue;
            }
            stack.push((node, true));
            let kids = self.graph.node(node).kids.iter();
            stack.extend(kids.map(|kid| (kid.node, false)));
        }
        Ok(images
            .remove(&self.root)
            .unwrap_or_else(|| self.root().clone()))
    }

    /// The nodes where a value is used, or stands itself.
    fn nodes<'u>(&'u self, of: &Value) -> impl Iterator<Item = NodeId> + use<'u> {
        let ident = of.as_object().map(|object| object.identity());
        ident
            .into_iter()
            .flat_map(|ident| self.graph.all_of(ident))
            .filter(|&node| self.graph.node(node).role != Role::Definition)
    }

    fn edges<'u>(&'u self, of: &Value) -> impl Iterator<Item = Edge> + use<'u> {
        self.nodes(of).flat_map(|node| self.graph.places(node))
    }

    /// The object and position of a use.
    fn place(&self, edge: Edge) -> (u64, u32) {
        let user = self.graph.node(edge.user);
        let ident = user.value.as_object().map_or(0, |object| object.identity());
        (ident, user.kids[edge.kid as usize].position)
    }

    /// The nodes themselves and all nodes around them, through definitions as well.
    fn around(&self, nodes: &[NodeId]) -> HashSet<NodeId, RandomState> {
        let mut found: HashSet<NodeId, RandomState> = HashSet::default();
        let mut stack = nodes.to_vec();
        while let Some(node) = stack.pop() {
            if found.insert(node) {
                let users = self.graph.node(node).users.iter();
                stack.extend(users.map(|edge| edge.user));
            }
        }
        found
    }

    /// Everything around the places of a node.
    fn above(&self, node: NodeId) -> HashSet<NodeId, RandomState> {
        let mut found: HashSet<NodeId, RandomState> = HashSet::default();
        let mut stack = vec![node];
        while let Some(node) = stack.pop() {
            if found.insert(node) {
                stack.extend(self.graph.places(node).map(|edge| edge.user));
            }
        }
        found
    }

    /// The definitions, in the root, of variables of a replacement for a variable.
    fn caught(&self, old: &Value, new: &Value) -> Result<Vec<NodeId>> {
        let mut found = Vec::new();
        if PartRef::of(old).variable().is_none() {
            return Ok(found);
        }
        walk_objects(new, |object, _| {
            let definition = self.graph.find(object.identity(), RegionKind::Def, false);
            found.extend(definition.filter(|&node| self.graph.node(node).role == Role::Definition));
            Ok(WalkResult::<()>::Advance)
        })?;
        Ok(found)
    }

    /// The innermost scope around the place defining a variable, or the root.
    fn scope_of(&self, definition: NodeId) -> NodeId {
        let mut at = definition;
        while let Some(edge) = self.graph.places(at).next() {
            at = edge.user;
            let object = self.graph.node(at).value.as_object();
            if object.is_some_and(|object| object.type_info().is_scope()) {
                break;
            }
        }
        at
    }
}

impl User<'_> {
    /// The object or container holding the value.
    pub fn owner(&self) -> &Value {
        &self.uses.graph.node(self.edge.user).value
    }

    /// The step from the owner to the value. The step to a key is the step to the key's
    /// value.
    pub fn step(&self) -> Option<AccessStep> {
        self.uses.graph.step(self.edge)
    }

    /// The region of the owner: tells whether the owner is in a definition.
    pub fn region(&self) -> RegionKind {
        self.uses.graph.node(self.edge.user).region
    }

    /// A path from the root to the place; for a shared owner, the path through one of
    /// the owner's places. O(depth).
    pub fn path(&self) -> AccessPath {
        let path = self.uses.graph.path(self.edge.user);
        match self.step() {
            Some(step) => path.join(step),
            None => path,
        }
    }
}

impl std::fmt::Debug for User<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("User").field(&self.path()).finish()
    }
}

impl std::fmt::Debug for Uses {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Uses")
            .field("objects", &self.graph.nodes.len())
            .finish_non_exhaustive()
    }
}

/// Returns `root` with all uses of `old` replaced by `new`: [`Uses::replace_all`] for a root
/// whose uses are not known yet. Linear in the number of distinct objects of the root.
///
/// # Errors
///
/// As [`Uses::of`] and [`Uses::replace_all`].
///
/// ```
/// use isoform::traverse::replace_all_uses;
/// use isoform_ir::tir;
/// use isoform::values::DType;
///
/// let (a, b) = (tir::Var::new("a", DType::INT32), tir::Var::new("b", DType::INT32));
/// let root = tir::Add::new(&a, &b)?;
/// let root = replace_all_uses(&root, a, b.clone())?;
/// assert!(isoform::structural_equal(root, tir::Add::new(&b, &b)?)?);
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn replace_all_uses(
    root: impl Into<Value>,
    old: impl Into<Value>,
    new: impl Into<Value>,
) -> Result<Value> {
    Uses::of(root)?.replace_all(old, new)
}
