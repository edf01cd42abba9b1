//! Lookups of type attributes, each timed in turn with a virtual call, and
//! what the general tier saves in memory.
//!
//! A lookup is a load from a table by type index; so is a virtual call, but for
//! the jump. The ratio to it is what carries over to other machines. Nodes are
//! of sixteen types in a fixed turn, which the branch predictor learns.
#![expect(
    clippy::disallowed_macros,
    reason = "a benchmark is a program and prints its result"
)]

#[path = "ratios/timing.rs"]
#[allow(dead_code, reason = "the table of all figures uses more of it")]
mod timing;

use std::any::TypeId;
use std::collections::HashMap;
use std::error::Error;
use std::hint::black_box;

use isoform::attrs::{self, AttrDef, Column, Lookup};
use isoform::objects::construct;
use isoform::types::{FieldDef, Schema, TypeDef, TypeIndex, register_type};
use isoform::{Obj, Ref, Value};
use timing::{Times, alone, pair};

const NODES: u64 = 1024;
const TYPES: usize = 500;
const ATTRIBUTES: usize = 100;
const TYPES_PER_ATTRIBUTE: usize = 10;

trait Cost {
    fn cost(&self) -> i64;
}

macro_rules! costs {
    ($($name:ident = $cost:literal),*) => {
        $(struct $name(i64);
        impl Cost for $name {
            #[inline(never)]
            fn cost(&self) -> i64 {
                self.0 + $cost
            }
        })*

        /// An object of each type, with the key of the type in a map.
        fn virtual_objects() -> Vec<(Box<dyn Cost>, TypeId)> {
            vec![$((Box::new($name(0)) as Box<dyn Cost>, TypeId::of::<$name>())),*]
        }
    };
}

costs! {
    C0 = 0, C1 = 1, C2 = 2, C3 = 3, C4 = 4, C5 = 5, C6 = 6, C7 = 7,
    C8 = 8, C9 = 9, C10 = 10, C11 = 11, C12 = 12, C13 = 13, C14 = 14, C15 = 15
}

fn main() -> Result<(), Box<dyn Error>> {
    let types = register_types()?;
    sparse_attributes(&types)?;
    let (name, dense_name) = ("bench.cost.of.a.node", "bench.cost.of.a.node.dense");
    attrs::declare(AttrDef::new(dense_name).dense())?;
    let column = Column::<i64>::open(name)?;
    let dense = Column::<i64>::open(dense_name)?;
    for (cost, ty) in types.iter().step_by(31).take(16).enumerate() {
        column.set(*ty, cost as i64)?;
        dense.set(*ty, cost as i64)?;
    }
    let nodes = nodes(&types)?;
    let expected: i64 = (0..NODES as i64).map(|n| n % 16).sum();

    let objects = virtual_objects();
    let calls: Vec<&dyn Cost> = (0..NODES as usize).map(|n| &*objects[n % 16].0).collect();
    let virtual_calls = || {
        let total: i64 = black_box(&calls).iter().map(|object| object.cost()).sum();
        assert_eq!(total, expected);
    };
    let by_type_and_name: HashMap<(TypeId, &str), i64> = (0..)
        .zip(&objects)
        .map(|(cost, (_, id))| ((*id, name), cost))
        .collect();
    let ids: Vec<TypeId> = (0..NODES as usize).map(|n| objects[n % 16].1).collect();

    let through = |column: Column<i64>| {
        let nodes = &nodes;
        move || {
            let costs = black_box(nodes).iter().map(|node| node.attr(&column));
            let total: i64 = costs.flatten().sum();
            assert_eq!(total, expected);
        }
    };
    let by_name = |lookup: Lookup| {
        let nodes = &nodes;
        move || {
            let values = black_box(nodes)
                .iter()
                .map(|node| attrs::get(node.type_index(), name, lookup));
            let total: i64 = values.flatten().filter_map(Value::as_int).sum();
            assert_eq!(total, expected);
        }
    };
    let map = || {
        let costs = black_box(&ids)
            .iter()
            .map(|id| by_type_and_name.get(&(*id, name)));
        let total: i64 = costs.flatten().sum();
        assert_eq!(total, expected);
    };

    println!("| lookup (ns) | time | virtual call | ratio | reach | reached |");
    println!("|---|---:|---:|---:|---|---|");
    row(
        "dense column",
        pair(NODES, through(dense), virtual_calls),
        2.0,
        1.5,
    );
    row(
        "general column",
        pair(NODES, through(column), virtual_calls),
        6.0,
        4.0,
    );
    row(
        "general, by name",
        pair(NODES, by_name(Lookup::Exact), virtual_calls),
        25.0,
        15.0,
    );
    row(
        "general, by name, nearest ancestor",
        pair(NODES, by_name(Lookup::Nearest), virtual_calls),
        f64::NAN,
        f64::NAN,
    );
    row(
        "HashMap<(TypeId, &str), i64>",
        pair(NODES, map, virtual_calls),
        f64::NAN,
        f64::NAN,
    );
    let absent = Column::<bool>::open("bench.sparse.0")?;
    let misses = alone(NODES, || {
        let values = black_box(&nodes)
            .iter()
            .filter_map(|node| node.attr(&absent));
        black_box(values.count());
    });
    row("general column, mostly absent", misses, 6.0, f64::NAN);
    memory();
    Ok(())
}

fn row(figure: &str, times: Times, nanoseconds: f64, ratio: f64) {
    let base = times.base.map_or(f64::NAN, |base| base.best);
    let measured = times.base.map_or(f64::NAN, |base| base.ratio);
    let number = |number: f64| {
        if number.is_nan() {
            String::new()
        } else {
            format!("{number:.1}")
        }
    };
    let reach = match (nanoseconds.is_nan(), ratio.is_nan()) {
        (true, _) => String::new(),
        (false, true) => format!("≤ {nanoseconds} ns"),
        (false, false) => format!("≤ {nanoseconds} ns or ≤ {ratio}×"),
    };
    let reached = if reach.is_empty() {
        ""
    } else if times.ours <= nanoseconds || measured <= ratio {
        "yes"
    } else {
        "no"
    };
    println!(
        "| {figure} | {} | {} | {} | {reach} | {reached} |",
        number(times.ours),
        number(base),
        number(measured)
    );
}

fn register_types() -> isoform::Result<Vec<TypeIndex>> {
    let register = |n| {
        let definition = TypeDef::new(&format!("bench.attrs.T{n}"));
        register_type(definition.field(FieldDef::new("a", Schema::Any)))
    };
    (0..TYPES).map(register).collect()
}

/// The attributes of many traits, each of which few types have.
fn sparse_attributes(types: &[TypeIndex]) -> isoform::Result<()> {
    for attribute in 0..ATTRIBUTES {
        let name = format!("bench.sparse.{attribute}");
        for n in 0..TYPES_PER_ATTRIBUTE {
            attrs::set(types[(attribute * 37 + n * 41) % TYPES], &name, true)?;
        }
    }
    Ok(())
}

fn nodes(types: &[TypeIndex]) -> isoform::Result<Vec<Ref<Obj>>> {
    (0..NODES as usize)
        .map(|n| construct(types[n % 16 * 31], vec![Value::NONE]))
        .collect()
}

/// The memory of the sparse attributes, beside an array by type index.
fn memory() {
    let sparse = attrs::list();
    let sparse = sparse
        .iter()
        .filter(|info| info.name.starts_with("bench.sparse."));
    let bytes: usize = sparse.map(|info| info.bytes).sum();
    println!(
        "\nMemory of {ATTRIBUTES} attributes, each on {TYPES_PER_ATTRIBUTE} of {TYPES} types:"
    );
    println!("general tier {bytes} bytes;");
    for (what, size) in [
        ("values", size_of::<Value>()),
        ("pointers", size_of::<usize>()),
    ] {
        let dense = ATTRIBUTES * TYPES * size;
        let ratio = dense as f64 / bytes as f64;
        println!("an array of {what} by type index {dense} bytes, {ratio:.1} times as much.");
    }
}
