//! Smaller programs: operations that go, with something in place of their results.

use hashbrown::{HashMap, HashSet};
use isoform::traverse::{WalkResult, walk_objects};
use isoform::{Array, Error, Node, Obj, Ref, Result, Str, structural_equal};
use rapidhash::fast::RandomState;

use crate::extract::symbol_name;
use crate::nodes::{
    Block, Operation, Program, Region, Symbol, SymbolRefAttr, Value, with_bindings,
};

/// The operation of the builtin dialect that makes values of any type from none.
const PLACEHOLDER: &str = "builtin.unrealized_conversion_cast";

type ByIdentity<T> = HashMap<u64, T, RandomState>;

/// The value in place of the result of an operation that goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Replacement {
    /// The first operand of the type of the result; without one, a placeholder.
    First,
    /// The last operand of the type of the result; without one, a placeholder.
    Last,
    /// A placeholder: an `unrealized_conversion_cast` without operands.
    Placeholder,
}

/// A program of which operations can go: all except terminators, symbols that something else
/// refers to, and the module.
///
/// ```
/// use isoform_mlir::{ReducibleProgram, Replacement, read, write};
///
/// let program = ReducibleProgram::new(&read(r#"
///     func.func @f(%x: i32) -> i32 {
///       %y = "x.a"(%x) : (i32) -> i32
///       %z = "x.b"(%y) : (i32) -> i32
///       return %z : i32
///     }"#)?)?;
/// assert_eq!(program.len(), 3);
/// let smaller = program.without(&[false, true, false], Replacement::First)?.expect("it can go");
/// assert!(!write(smaller.program())?.contains("x.a"));
/// # Ok::<(), isoform::Error>(())
/// ```
pub struct ReducibleProgram {
    program: Ref<Program>,
    /// The operations that can go, in the order of the text.
    parts: Vec<Part>,
    /// The position of each of them.
    positions: ByIdentity<usize>,
}

struct Part {
    operation: Ref<Operation>,
    /// The part around it.
    parent: Option<usize>,
    /// The parts whose results the operation uses, or an operation inside of it.
    uses: Vec<usize>,
    symbol: Option<Str>,
    /// The names that its own attributes refer to.
    references: Vec<Str>,
}

impl ReducibleProgram {
    /// Finds the operations that can go. Linear in the operands, times the depth of regions.
    ///
    /// # Errors
    ///
    /// `ValueError` if the program contains itself.
    pub fn new(program: &Ref<Program>) -> Result<ReducibleProgram> {
        let mut made = ReducibleProgram {
            program: program.clone(),
            parts: Vec::new(),
            positions: HashMap::default(),
        };
        // The part that defines a value, and the parts around each operation.
        let mut definers: ByIdentity<usize> = HashMap::default();
        let mut users: Vec<(Ref<Value>, Option<usize>)> = Vec::new();
        let mut open: Vec<(&Ref<Operation>, Option<usize>)> = vec![(&program.module, None)];
        while let Some((operation, around)) = open.pop() {
            let is_part = around.is_some() || !operation.same_as(&program.module);
            let mut here = around;
            if is_part && !made.is_fixed(operation) {
                let position = made.parts.len();
                made.positions.insert(operation.identity(), position);
                made.parts.push(Part {
                    operation: operation.clone(),
                    parent: around,
                    uses: Vec::new(),
                    symbol: symbol_name(operation),
                    references: references_of(operation)?,
                });
                for value in &operation.results {
                    definers.insert(value.identity(), position);
                }
                here = Some(position);
            }
            users.extend(operation.operands.iter().map(|value| (value.clone(), here)));
            let blocks = operation
                .regions
                .iter()
                .flat_map(|region| region.blocks.iter());
            let start = open.len();
            // Blocks of the builtin module have no terminator.
            let has_terminators = operation.name != "builtin.module";
            for block in blocks {
                let last = block.operations.len().saturating_sub(1);
                for (position, inner) in block.operations.iter().enumerate() {
                    if position == last && has_terminators && is_terminator(inner) {
                        made.positions.insert(inner.identity(), usize::MAX);
                    }
                    open.push((inner, here));
                }
            }
            open[start..].reverse();
        }
        made.positions.retain(|_, position| *position != usize::MAX);
        for (value, user) in users {
            let Some(&definer) = definers.get(&value.identity()) else {
                continue;
            };
            let outer = made.parts[definer].parent;
            let mut around = user;
            while let Some(part) = around.filter(|_| around != outer) {
                let uses = &mut made.parts[part].uses;
                if uses.last() != Some(&definer) {
                    uses.push(definer);
                }
                around = made.parts[part].parent;
            }
        }
        Ok(made)
    }

    /// True for terminators, which were noted when their block was opened, and for placeholders.
    fn is_fixed(&self, operation: &Ref<Operation>) -> bool {
        self.positions.get(&operation.identity()) == Some(&usize::MAX) || is_placeholder(operation)
    }

    /// The program.
    pub fn program(&self) -> &Ref<Program> {
        &self.program
    }

    /// The number of operations that can go.
    pub fn len(&self) -> usize {
        self.parts.len()
    }

    /// True if no operation can go.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The program without these operations; None if none of them can go. Linear in the program.
    ///
    /// With placeholders, an operation stays if one inside of it does; otherwise everything
    /// inside goes with it.
    ///
    /// # Errors
    ///
    /// As [`ReducibleProgram::new`], and `ValueError` if the number of entries is not that of the
    /// operations.
    pub fn without(&self, lost: &[bool], replacement: Replacement) -> Result<Option<Self>> {
        if lost.len() != self.parts.len() {
            return Err(Error::value_error(format!(
                "lost: expected an entry for each of the {} operations, got {}",
                self.parts.len(),
                lost.len()
            )));
        }
        let mut lost = lost.to_vec();
        if replacement == Replacement::Placeholder {
            // An operation comes before those inside, of which one may stay.
            for at in (0..lost.len()).rev() {
                if let (false, Some(parent)) = (lost[at], self.parts[at].parent) {
                    lost[parent] = false;
                }
            }
        }
        let lost = self.closed(lost);
        if !lost.contains(&true) {
            return Ok(None);
        }
        let program = self.rebuilt(&lost, replacement)?;
        ReducibleProgram::new(&program).map(Some)
    }

    /// The operations that go if these shall: everything inside goes, too, and the operations of
    /// symbols stay to which something that stays refers. Linear in the program.
    fn closed(&self, mut wanted: Vec<bool>) -> Vec<bool> {
        let mut by_name: HashMap<&Str, Vec<usize>, RandomState> = HashMap::default();
        let mut inner: Vec<Vec<usize>> = vec![Vec::new(); self.parts.len()];
        for (at, part) in self.parts.iter().enumerate() {
            if let Some(symbol) = &part.symbol {
                by_name.entry(symbol).or_default().push(at);
            }
            if let Some(parent) = part.parent {
                inner[parent].push(at);
            }
        }
        let mut lost = vec![true; self.parts.len()];
        let is_root = |at: &usize| self.parts[*at].parent.is_none() && !wanted[*at];
        let mut open: Vec<usize> = (0..self.parts.len()).filter(is_root).collect();
        // The operations around one that stays are in the list before it.
        while let Some(at) = open.pop() {
            if !std::mem::replace(&mut lost[at], false) {
                continue;
            }
            open.extend(inner[at].iter().copied().filter(|&part| !wanted[part]));
            let names = self.parts[at].references.iter();
            for &symbol in names.flat_map(|name| by_name.get(name).into_iter().flatten()) {
                let mut around = Some(symbol);
                while let Some(part) = around.filter(|&part| lost[part]) {
                    wanted[part] = false;
                    open.push(part);
                    around = self.parts[part].parent;
                }
            }
        }
        lost
    }

    /// The program with other values in place of the results of lost operations.
    fn rebuilt(&self, lost: &[bool], replacement: Replacement) -> Result<Ref<Program>> {
        let mut values: ByIdentity<Ref<Value>> = HashMap::default();
        let mut placeholders: ByIdentity<Vec<Ref<Value>>> = HashMap::default();
        for (at, part) in self.parts.iter().enumerate() {
            let operation = &part.operation;
            // Nothing outside uses a value of an operation inside.
            let is_inside = part.parent.is_some_and(|parent| lost[parent]);
            if !lost[at] || is_inside {
                continue;
            }
            let operands = operation.operands.iter().map(|value| {
                let replaced = values.get(&value.identity());
                replaced.unwrap_or(value).clone()
            });
            let mut operands: Vec<Ref<Value>> = operands.collect();
            if replacement == Replacement::Last {
                operands.reverse();
            }
            for value in &operation.results {
                let mut found = None;
                if replacement != Replacement::Placeholder {
                    for operand in &operands {
                        if operand.ty.same_as(&value.ty)
                            || structural_equal(&operand.ty, &value.ty)?
                        {
                            found = Some(operand.clone());
                            break;
                        }
                    }
                }
                let found = found.unwrap_or_else(|| {
                    let made = Value::new(value.ty.clone());
                    let of_part = placeholders.entry(operation.identity()).or_default();
                    of_part.push(made.clone());
                    made
                });
                values.insert(value.identity(), found);
            }
        }
        Rebuild {
            parts: self,
            lost,
            values,
            placeholders,
        }
        .program()
    }

    /// For each part, true if the given part needs it, or is the part itself: everything that
    /// its operands come from, and the operations around it.
    pub fn needed_by(&self, part: usize) -> Vec<bool> {
        let mut needed = vec![false; self.parts.len()];
        let mut open = vec![part];
        while let Some(at) = open.pop() {
            if std::mem::replace(&mut needed[at], true) {
                continue;
            }
            open.extend(&self.parts[at].uses);
            open.extend(self.parts[at].parent);
        }
        // The operations inside of the part itself stay; each one follows the one around it.
        let mut inside = vec![false; self.parts.len()];
        inside[part] = true;
        for at in part + 1..self.parts.len() {
            inside[at] = self.parts[at].parent.is_some_and(|parent| inside[parent]);
            needed[at] |= inside[at];
        }
        needed
    }

    /// For each part, true if it needs the given part, or is the part itself.
    pub fn users_of(&self, part: usize) -> Vec<bool> {
        let mut users = vec![false; self.parts.len()];
        users[part] = true;
        for at in part + 1..self.parts.len() {
            let inside = self.parts[at].parent.is_some_and(|parent| users[parent]);
            users[at] = inside || self.parts[at].uses.iter().any(|&used| users[used]);
        }
        for at in (0..users.len()).rev() {
            if let (true, Some(parent)) = (users[at], self.parts[at].parent) {
                users[parent] = true;
            }
        }
        users
    }
}

/// A program that is being built without some operations.
struct Rebuild<'r> {
    parts: &'r ReducibleProgram,
    lost: &'r [bool],
    values: ByIdentity<Ref<Value>>,
    placeholders: ByIdentity<Vec<Ref<Value>>>,
}

impl Rebuild<'_> {
    fn program(&self) -> Result<Ref<Program>> {
        // Inner operations are built before those around them.
        let mut order: Vec<Ref<Operation>> = Vec::new();
        let mut open = vec![self.parts.program.module.clone()];
        while let Some(operation) = open.pop() {
            if self.is_lost(&operation) {
                continue;
            }
            let blocks = operation
                .regions
                .iter()
                .flat_map(|region| region.blocks.iter());
            open.extend(blocks.flat_map(|block| block.operations.iter().cloned()));
            order.push(operation);
        }
        let used = self.used(&order);
        let mut built: ByIdentity<Ref<Operation>> = HashMap::default();
        for operation in order.into_iter().rev() {
            let made = self.operation(&operation, &built, &used);
            built.insert(operation.identity(), made);
        }
        let module = built.remove(&self.parts.program.module.identity());
        let module = module.unwrap_or_else(|| self.parts.program.module.clone());
        let resources = self.parts.program.resources.clone();
        with_bindings(&Program::new(module).with_resources(resources))
    }

    fn is_lost(&self, operation: &Ref<Operation>) -> bool {
        let position = self.parts.positions.get(&operation.identity());
        position.is_some_and(|&position| self.lost[position])
    }

    fn value(&self, value: &Ref<Value>) -> Ref<Value> {
        self.values.get(&value.identity()).unwrap_or(value).clone()
    }

    /// The values that the operations which stay use.
    fn used(&self, order: &[Ref<Operation>]) -> HashSet<u64, RandomState> {
        let operands = order.iter().flat_map(|operation| operation.operands.iter());
        operands.map(|value| self.value(value).identity()).collect()
    }

    fn operation(
        &self,
        operation: &Ref<Operation>,
        built: &ByIdentity<Ref<Operation>>,
        used: &HashSet<u64, RandomState>,
    ) -> Ref<Operation> {
        let operands: Array<Ref<Value>> =
            operation.operands.iter().map(|it| self.value(it)).collect();
        let regions = operation.regions.iter().map(|region| {
            let blocks = region.blocks.iter().map(|block| {
                let mut kept: Vec<Ref<Operation>> = Vec::new();
                for inner in &block.operations {
                    match built.get(&inner.identity()) {
                        // A placeholder that nobody uses has no purpose.
                        Some(made) if !is_placeholder(made) || is_used(made, used) => {
                            kept.push(made.clone());
                        }
                        Some(_) => {}
                        None => kept.extend(self.placeholder(inner, used)),
                    }
                }
                Block::new(block.label.clone(), block.arguments.clone(), kept)
            });
            // The bindings follow when all regions are built.
            let none = (Array::new(), Array::new(), Array::new());
            Region::of_parts(none.0, none.1, none.2, blocks.collect())
        });
        let regions: Vec<Ref<Region>> = regions.collect();
        let mut copy = operation.clone_fields();
        copy.operands = operands;
        copy.regions = regions.into();
        Ref::new(copy)
    }

    /// The operation that makes what users of a lost operation need.
    fn placeholder(
        &self,
        lost: &Ref<Operation>,
        used: &HashSet<u64, RandomState>,
    ) -> Option<Ref<Operation>> {
        let values = self.placeholders.get(&lost.identity())?.iter();
        let values = values
            .filter(|value| used.contains(&value.identity()))
            .cloned();
        let values: Vec<Ref<Value>> = values.collect();
        (!values.is_empty()).then(|| Operation::new(PLACEHOLDER, []).with_results(values))
    }
}

fn is_used(operation: &Operation, used: &HashSet<u64, RandomState>) -> bool {
    operation
        .results
        .iter()
        .any(|value| used.contains(&value.identity()))
}

fn is_placeholder(operation: &Operation) -> bool {
    operation.name == PLACEHOLDER && operation.operands.is_empty()
}

/// True for the last operation of a block if it may be a terminator: it has no result, and
/// defines no symbol.
fn is_terminator(operation: &Operation) -> bool {
    operation.results.is_empty() && symbol_name(operation).is_none()
}

/// The names of symbols that the attributes of an operation refer to.
fn references_of(operation: &Ref<Operation>) -> Result<Vec<Str>> {
    let mut names: Vec<Str> = Vec::new();
    let own = operation
        .properties
        .iter()
        .chain(operation.attributes.iter());
    for (_, value) in own.filter(|(key, _)| key.as_str() != "sym_name") {
        walk_objects(value, |object: &Ref<Obj>, _| {
            if let Some(reference) = object.downcast_ref::<SymbolRefAttr>() {
                match reference.root.as_str() {
                    Some(name) => names.push(name.into()),
                    None => names.extend(
                        reference
                            .root
                            .peek::<Ref<Symbol>>()
                            .map(|symbol| symbol.name.clone()),
                    ),
                }
                names.extend(reference.path.iter().cloned());
            }
            Ok(WalkResult::<()>::Advance)
        })?;
    }
    Ok(names)
}
