//! Parts of programs: operations with a symbol, and everything that they refer to.

use hashbrown::{HashMap, HashSet};
use isoform::errors::ErrorKind;
use isoform::traverse::{WalkResult, walk_objects};
use isoform::{Error, Ref, Result, Str};
use rapidhash::fast::RandomState;

use crate::nodes::{Block, Operation, Program, Region, StringAttr, Symbol, SymbolRefAttr};

/// The program with the operations of these symbols of the module, and with all operations of
/// the module that they refer to, directly or not. The order stays, and so do operations
/// of the module without a symbol that refer to nothing else. Linear in the program.
///
/// ```
/// let program = isoform_mlir::read(r#"
///     func.func @main() { call @helper() : () -> () return }
///     func.func @other() { return }
///     func.func private @helper() { return }"#)?;
/// let part = isoform_mlir::extract(&program, &["main"])?;
/// assert_eq!(part.module.regions[0].blocks[0].operations.len(), 2);
/// # Ok::<(), isoform::Error>(())
/// ```
///
/// # Errors
///
/// `KeyError` for a symbol that the module does not define.
pub fn extract(program: &Ref<Program>, symbols: &[impl AsRef<str>]) -> Result<Ref<Program>> {
    let module = &program.module;
    let [region] = module.regions.iter().collect::<Vec<_>>()[..] else {
        return Err(Error::value_error(format!(
            "expected a module with one region, got {} with {}",
            module.name,
            module.regions.len()
        )));
    };
    let operations: Vec<&Ref<Operation>> = region.operations().collect();
    let mut by_name: HashMap<Str, usize, RandomState> = HashMap::default();
    for (position, operation) in operations.iter().enumerate() {
        if let Some(name) = symbol_name(operation) {
            by_name.entry(name).or_insert(position);
        }
    }
    let mut wanted: HashSet<usize, RandomState> = HashSet::default();
    let mut open: Vec<usize> = Vec::new();
    for symbol in symbols {
        let symbol = symbol.as_ref().trim_start_matches('@');
        let position = by_name
            .get(&Str::from(symbol))
            .ok_or_else(|| unknown(symbol, &by_name))?;
        open.push(*position);
    }
    // Operations without a symbol may set up what all others need.
    open.extend((0..operations.len()).filter(|&at| symbol_name(operations[at]).is_none()));
    while let Some(position) = open.pop() {
        if !wanted.insert(position) {
            continue;
        }
        for name in references(operations[position])? {
            open.extend(by_name.get(&name));
        }
    }
    if wanted.len() == operations.len() {
        return Ok(program.clone());
    }
    let mut position = 0;
    let mut blocks: Vec<Ref<Block>> = Vec::new();
    for block in &region.blocks {
        let mut kept: Vec<Ref<Operation>> = Vec::new();
        for operation in &block.operations {
            if wanted.contains(&position) {
                kept.push(operation.clone());
            }
            position += 1;
        }
        blocks.push(Block::new(
            block.label.clone(),
            block.arguments.clone(),
            kept,
        ));
    }
    let module = module.clone().with_regions([Region::new(blocks)]);
    Ok(Program::new(module).with_resources(program.resources.clone()))
}

fn unknown(symbol: &str, known: &HashMap<Str, usize, RandomState>) -> Error {
    let mut names: Vec<String> = known.keys().map(|name| format!("@{name}")).collect();
    names.sort_unstable();
    let more = match names.len() {
        0..=10 => String::new(),
        count => format!(" and {} more", count - 10),
    };
    names.truncate(10);
    let names = names.join(", ");
    let message = format!("the module has no symbol @{symbol}; its symbols are {names}{more}");
    Error::new(ErrorKind::Key, message)
}

/// The symbol that an operation defines.
pub fn symbol_name(operation: &Operation) -> Option<Str> {
    let name = operation.symbol_name()?;
    if let Some(symbol) = name.downcast_ref::<Symbol>() {
        return Some(symbol.name.clone());
    }
    Some(name.downcast_ref::<StringAttr>()?.value.as_str()?.into())
}

/// The names that an operation refers to, in itself and inside: a name for each reference,
/// whichever table it belongs to.
fn references(operation: &Ref<Operation>) -> Result<Vec<Str>> {
    let mut names: Vec<Str> = Vec::new();
    walk_objects(operation, |object, _| {
        if let Some(reference) = object.downcast_ref::<SymbolRefAttr>() {
            match reference.root.as_str() {
                Some(name) => names.push(name.into()),
                None => names.extend(
                    reference
                        .root
                        .peek::<Ref<Symbol>>()
                        .map(|it| it.name.clone()),
                ),
            }
        } else if let Some(symbol) = object.downcast_ref::<Symbol>() {
            names.push(symbol.name.clone());
        }
        Ok(WalkResult::<()>::Advance)
    })?;
    Ok(names)
}
