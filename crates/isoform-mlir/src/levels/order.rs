//! The order of private symbols.
//!
//! The operations of private symbols fill the places of such operations in their region: in
//! the order of the first reference to them, from the other operations of the region, and
//! then from each other. Those that nothing reaches come last (`unreached.rs`). Only their
//! places change, so programs of different meaning stay different whatever the order is.
//!
//! A region with results of operations is left alone: its operations depend on their order.
//! References to a private symbol are in its own region, outside of nested symbol tables;
//! the reader makes no others. Each object is visited for one region only, hence once.

use hashbrown::{HashMap, HashSet};
use isoform::traverse::{MapOptions, WalkOptions, WalkOrder, WalkResult};
use isoform::{Node, Ref, Result};
use rapidhash::fast::RandomState;

use super::only;
use super::unreached::unreached_order;
use crate::nodes::{Block, Operation, Program, Region, Symbol, private_symbol};

/// The program with its private symbols in the order of references to them.
pub(super) fn ordered(program: &Ref<Program>) -> Result<Ref<Program>> {
    // Inner regions first: the form of an operation includes them.
    let wanted = only([Region::type_index()]);
    let ordered = MapOptions::default().map_selected(program, wanted, |visit| {
        let Some(region) = visit.downcast::<Region>() else {
            return Ok(None);
        };
        Ok(ordered_region(region)?.map(Into::into))
    })?;
    ordered.extract()
}

/// A region with its private symbols in order; None if they are.
fn ordered_region(region: &Ref<Region>) -> Result<Option<Ref<Region>>> {
    if region.symbols.len() < 2 || region.blocks.len() != 1 {
        return Ok(None);
    }
    let block = &region.blocks[0];
    if block.operations.iter().any(|op| !op.results.is_empty()) {
        return Ok(None);
    }
    let Some(table) = SymbolTable::of(region, block) else {
        return Ok(None);
    };
    let order = table.order()?;
    if order == table.places {
        return Ok(None);
    }
    let mut operations: Vec<Ref<Operation>> = block.operations.iter().cloned().collect();
    for (&place, &from) in table.places.iter().zip(&order) {
        operations[place] = block.operations[from].clone();
    }
    let symbols: Vec<_> = operations.iter().filter_map(private_symbol).collect();
    let operations = block.with_operations(operations);
    let labels = region.labels.clone();
    let forward = region.forward.clone();
    Ok(Some(Region::of_parts(
        symbols.into(),
        labels,
        forward,
        [operations].into(),
    )))
}

/// The private symbols of a region.
pub(super) struct SymbolTable<'r> {
    pub(super) block: &'r Ref<Block>,
    /// The places of the operations of private symbols, which these may exchange.
    places: Vec<usize>,
    /// The place of a symbol's operation, by the identity of the symbol.
    homes: HashMap<u64, usize, RandomState>,
}

/// Objects that were visited.
type Seen = HashSet<u64, RandomState>;

impl<'r> SymbolTable<'r> {
    /// The table of a region; None if two operations define one symbol.
    fn of(region: &Region, block: &'r Ref<Block>) -> Option<Self> {
        let mut places = Vec::new();
        let mut homes = HashMap::default();
        for (place, operation) in block.operations.iter().enumerate() {
            if let Some(symbol) = private_symbol(operation) {
                places.push(place);
                homes.insert(symbol.identity(), place);
            }
        }
        let is_sound = homes.len() == places.len() && places.len() == region.symbols.len();
        is_sound.then_some(SymbolTable {
            block,
            places,
            homes,
        })
    }

    /// The old places of the private operations in their new order.
    fn order(&self) -> Result<Vec<usize>> {
        let mut order = Vec::with_capacity(self.places.len());
        let mut is_placed = vec![false; self.block.operations.len()];
        let mut seen = Seen::default();
        let mut found = Vec::new();
        let mut place_all = |found: &mut Vec<usize>, order: &mut Vec<usize>| {
            for place in found.drain(..) {
                if !is_placed[place] {
                    is_placed[place] = true;
                    order.push(place);
                }
            }
        };
        for operation in &self.block.operations {
            if private_symbol(operation).is_none() {
                self.find_references(operation, &mut seen, &mut found)?;
            }
        }
        place_all(&mut found, &mut order);
        let mut next = 0;
        while let Some(&place) = order.get(next) {
            self.find_references(&self.block.operations[place], &mut seen, &mut found)?;
            place_all(&mut found, &mut order);
            next += 1;
        }
        let is_left = |place: &&usize| !is_placed[**place];
        let rest: Vec<usize> = self.places.iter().filter(is_left).copied().collect();
        if !rest.is_empty() {
            let rest = unreached_order(self, &order, &rest)?;
            order.extend(rest);
        }
        Ok(order)
    }

    /// The places of the private operations to which an operation refers, once each, in the
    /// order of the references.
    pub(super) fn references(&self, operation: &Ref<Operation>) -> Result<Vec<usize>> {
        let mut found = Vec::new();
        self.find_references(operation, &mut Seen::default(), &mut found)?;
        Ok(found)
    }

    /// Adds references that are not seen yet. The walk takes the entries of dictionaries in
    /// the order of their keys.
    fn find_references(
        &self,
        operation: &Ref<Operation>,
        seen: &mut Seen,
        found: &mut Vec<usize>,
    ) -> Result<()> {
        let options = WalkOptions::default().order(WalkOrder::Pre);
        let wanted = |ty: Option<_>| ty.is_some();
        let interrupts = Default::default();
        options.walk_selected(operation, wanted, interrupts, |visit| {
            let Some(object) = visit.object() else {
                return Ok(WalkResult::<()>::Advance);
            };
            if !seen.insert(object.identity()) {
                return Ok(WalkResult::Skip);
            }
            if object.isa::<Symbol>() {
                found.extend(self.homes.get(&object.identity()));
            }
            let region = visit.downcast::<Region>();
            Ok(match region {
                Some(region) if is_table(region) => WalkResult::Skip,
                _ => WalkResult::Advance,
            })
        })?;
        Ok(())
    }
}

/// True if references inside of a region name its own symbols.
fn is_table(region: &Region) -> bool {
    let mut operations = region.operations();
    operations.any(|operation| operation.symbol_name().is_some())
}
