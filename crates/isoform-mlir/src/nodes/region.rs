//! Regions from their blocks.

use hashbrown::HashSet;
use isoform::traverse::MapOptions;
use isoform::types::IntoField;
use isoform::{Array, Node, Obj, Ref, Result};
use rapidhash::fast::RandomState;

use super::{Block, Label, Operation, Program, Region, Symbol, Value};

impl Region {
    /// A region of these blocks. Linear in the number of operations inside, nested ones
    /// included.
    ///
    /// ```
    /// use isoform_mlir::{Block, IndexType, Label, Operation, Region, Value};
    ///
    /// let value = Value::new(IndexType::new());
    /// let user = Operation::new("demo.use", [value.clone()]);
    /// let maker = Operation::new("demo.make", []).with_results([value]);
    /// let region = Region::new([Block::new(Label::new(), [], [user, maker])]);
    /// assert_eq!(region.forward.len(), 1);
    /// ```
    pub fn new(blocks: impl IntoField<Array<Ref<Block>>>) -> Ref<Region> {
        let blocks = blocks.into_field();
        let labels: Array<Ref<Label>> = blocks.iter().map(|block| block.label.clone()).collect();
        let operations = || blocks.iter().flat_map(|block| block.operations.iter());
        let symbols: Array<Ref<Symbol>> = operations().filter_map(private_symbol).collect();
        let forward = forward_values(&blocks);
        Region::of_parts(symbols, labels, forward, blocks)
    }

    /// A region whose parts are known.
    pub(crate) fn of_parts(
        symbols: Array<Ref<Symbol>>,
        labels: Array<Ref<Label>>,
        forward: Array<Ref<Value>>,
        blocks: Array<Ref<Block>>,
    ) -> Ref<Region> {
        Ref::new(Region {
            symbols,
            labels,
            forward,
            blocks,
        })
    }
}

impl Region {
    /// The operations directly in the region.
    pub(crate) fn operations(&self) -> impl DoubleEndedIterator<Item = &Ref<Operation>> {
        self.blocks.iter().flat_map(|block| block.operations.iter())
    }
}

impl Operation {
    /// The operations directly in the regions.
    pub(crate) fn inner(&self) -> impl DoubleEndedIterator<Item = &Ref<Operation>> {
        self.regions.iter().flat_map(|region| region.operations())
    }

    /// The name of the symbol that the operation defines: a string, or a private symbol.
    pub(crate) fn symbol_name(&self) -> Option<&Ref<Obj>> {
        let name = self.properties.get("sym_name");
        name.or_else(|| self.attributes.get("sym_name"))
    }
}

/// The program with regions that bind what their blocks define now, for passes that changed blocks,
/// private symbols or the order of uses and definitions. Linear in the program, at any depth.
///
/// ```
/// use isoform_mlir::{read, with_bindings};
///
/// let program = read(r#""x.use"(%a) : (i1) -> () %a = "x.make"() : () -> i1"#)?;
/// let again = with_bindings(&program)?;
/// assert_eq!(again.module.regions[0].forward.len(), 1);
/// # Ok::<(), isoform::Error>(())
/// ```
///
/// # Errors
///
/// `ValueError` if the program contains itself.
pub fn with_bindings(program: &Ref<Program>) -> Result<Ref<Program>> {
    let early = early_values(&program.module);
    let wanted = Region::type_index();
    let bound = MapOptions::default().map_selected(
        program,
        |ty| ty == Some(wanted),
        |visit| {
            let Some(region) = visit.downcast::<Region>() else {
                return Ok(None);
            };
            let blocks = &region.blocks;
            let operations = || blocks.iter().flat_map(|block| block.operations.iter());
            let symbols = operations().filter_map(private_symbol).collect();
            let labels = blocks.iter().map(|block| block.label.clone()).collect();
            let values = defined_values(blocks);
            let forward = values.filter(|value| early.contains(&value.identity()));
            let forward = forward.cloned().collect();
            Ok(Some(
                Region::of_parts(symbols, labels, forward, blocks.clone()).into(),
            ))
        },
    )?;
    bound.extract()
}

/// The values of a program that a use precedes in the text.
fn early_values(module: &Ref<Operation>) -> HashSet<u64, RandomState> {
    let mut early: HashSet<u64, RandomState> = HashSet::default();
    let mut defined: HashSet<u64, RandomState> = HashSet::default();
    // Operations, and the blocks whose arguments come before their operations.
    enum Next<'m> {
        Operation(&'m Ref<Operation>),
        Block(&'m Ref<Block>),
    }
    let mut open = vec![Next::Operation(module)];
    while let Some(next) = open.pop() {
        let start = open.len();
        match next {
            Next::Operation(operation) => {
                let uses = operation.operands.iter().map(Ref::identity);
                early.extend(uses.filter(|value| !defined.contains(value)));
                defined.extend(operation.results.iter().map(Ref::identity));
                let blocks = operation
                    .regions
                    .iter()
                    .flat_map(|region| region.blocks.iter());
                open.extend(blocks.map(Next::Block));
            }
            Next::Block(block) => {
                defined.extend(block.arguments.iter().map(Ref::identity));
                open.extend(block.operations.iter().map(Next::Operation));
            }
        }
        open[start..].reverse();
    }
    early
}

/// The values that blocks define directly, in their order.
fn defined_values(blocks: &Array<Ref<Block>>) -> impl Iterator<Item = &Ref<Value>> {
    blocks.iter().flat_map(|block| {
        let operations = block.operations.iter();
        let results = operations.flat_map(|operation| operation.results.iter());
        block.arguments.iter().chain(results)
    })
}

/// The private symbol that an operation defines.
pub(crate) fn private_symbol(operation: &Ref<Operation>) -> Option<Ref<Symbol>> {
    operation.symbol_name()?.downcast_ref::<Symbol>().cloned()
}

/// The values of these blocks that are used before their definitions.
fn forward_values(blocks: &Array<Ref<Block>>) -> Array<Ref<Value>> {
    let mut early: HashSet<u64, RandomState> = HashSet::default();
    let mut defined: HashSet<u64, RandomState> = HashSet::default();
    for block in blocks {
        defined.extend(block.arguments.iter().map(Ref::identity));
        for operation in &block.operations {
            // Values of nested regions are never asked for, so all uses count.
            let mut open: Vec<&Ref<Operation>> = vec![operation];
            while let Some(user) = open.pop() {
                let uses = user.operands.iter().map(Ref::identity);
                early.extend(uses.filter(|value| !defined.contains(value)));
                if user.same_as(operation) {
                    defined.extend(operation.results.iter().map(Ref::identity));
                }
                open.extend(user.inner());
            }
        }
    }
    defined_values(blocks)
        .filter(|value| early.contains(&value.identity()))
        .cloned()
        .collect()
}
