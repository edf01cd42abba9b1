//! The table of figures: Isoform and a plain enum, timed alternately in one
//! process, with what each figure is to reach.
//!
//! Times of different machines or hours compare the machines, so the ratio is
//! what counts: it is the median over pairs of neighbouring samples. The times
//! beside it are the best of all samples. What depends on the order in which a
//! program was built has a table of its own. Both are printed, and written to
//! `bench-ratios.md` in cargo's target folder.
#![expect(
    clippy::disallowed_macros,
    reason = "a benchmark is a program and prints its result"
)]

mod common;
mod ratios {
    pub(crate) mod again;
    pub(crate) mod differences;
    pub(crate) mod memory;
    pub(crate) mod orders;
    pub(crate) mod relay;
    pub(crate) mod table;
    pub(crate) mod timing;
}

use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::path::Path;

use common::orders::Order;
use common::shapes::{Inner, Note};
use common::{plain, positions, shapes, statements};
use isoform::compare::StructuralKey;
use isoform::files::{from_bytes, from_json_graph, to_bytes, to_json_graph};
use isoform::text::{TextOptions, from_text};
use isoform::traverse::{WalkResult, structural_walk, walk_objects};
use isoform::{Value, explain_mismatch, structural_digest, structural_equal, structural_hash};
use ratios::again::{classes, incremental};
use ratios::differences::differences;
use ratios::memory::peak_growth;
use ratios::orders::orders;
use ratios::relay::{passes, relay};
use ratios::table::{Limit, Table};
use ratios::timing::{alone, kept, once, pair};

type Group = (&'static str, fn(&mut Table));

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(figure) = ratios::orders::asked(&arguments) {
        println!("{figure}");
        return Ok(());
    }
    let mut table = Table::default();
    // Cargo's own arguments are of no interest; a name runs one group.
    let wanted = arguments.into_iter().find(|arg| !arg.starts_with('-'));
    let groups: [Group; 19] = [
        ("lambda", lambda),
        ("orders", orders),
        ("sharing", sharing),
        ("edited", edited),
        ("binders", binders),
        ("containers", containers),
        ("walk", walk),
        ("wide", wide),
        ("files", files),
        ("text", text),
        ("memory", construct_and_drop),
        ("pto", pto),
        ("relay", relay),
        ("passes", passes),
        ("classes", classes),
        ("incremental", incremental),
        ("differences", differences),
        ("deep", deep),
        // Last, because it makes the process one in which fields change.
        ("mutable", mutable),
    ];
    for (name, group) in groups {
        if wanted.as_deref().is_none_or(|wanted| wanted == name) {
            group(&mut table);
        }
    }
    println!("{table}");
    if wanted.is_none() {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let folder = folder.parent().unwrap_or(folder);
        fs::write(folder.join("bench-ratios.md"), table.to_string())?;
    }
    Ok(())
}

fn equal(left: &Value, right: &Value) {
    assert!(structural_equal(left, right).expect("the workload is comparable"));
}

fn hash(value: &Value) {
    black_box(structural_hash(value)).expect("the workload can be hashed");
}

/// The workload W, against the enum.
fn lambda(table: &mut Table) {
    for (depth, ratio) in [(10, 3.0), (16, 2.0)] {
        let count = positions(depth);
        let (left, right) = (shapes::lambda(depth).into(), shapes::lambda(depth).into());
        let (plain_left, plain_right) = (plain::lambda(depth), plain::lambda(depth));
        let other = Value::from(shapes::lambda_with_other_end(depth));
        let name = |what: &str| format!("{what}, d={depth}");

        let compare = || equal(&left, &right);
        let derived = || assert!(black_box(&plain_left) == black_box(&plain_right));
        let times = pair(count, compare, derived);
        table.row(name("equal"), times, Limit::Ratio(ratio));

        let renamed = || assert!(plain::equal_renamed(&plain_left, black_box(&plain_right)));
        let times = pair(count, compare, renamed);
        table.row(
            name("equal, against renaming by hand"),
            times,
            Limit::Ratio(ratio),
        );

        let derived = || {
            black_box(plain::hash(black_box(&plain_left)));
        };
        table.row(
            name("hash"),
            pair(count, || hash(&left), derived),
            Limit::None,
        );

        let digest = || {
            black_box(structural_digest(&left)).expect("the workload has a digest");
        };
        table.row(name("digest"), alone(count, digest), Limit::None);

        let explain = || {
            let mismatch = explain_mismatch(&left, &other);
            assert!(black_box(mismatch).expect("comparable").is_some());
        };
        table.row(
            name("explained mismatch at the end"),
            alone(count, explain),
            Limit::None,
        );
    }
}

/// Programs whose nodes have several owners.
/// A program and its edited copy, per comparison. It is known from an earlier comparison.
fn edited(table: &mut Table) {
    for depth in [10, 16] {
        for (same, verdict) in [(true, "equal"), (false, "different")] {
            let (left, right) = shapes::lambda_and_edit(depth, same);
            let (left, right): (Value, Value) = (left.into(), right.into());
            let times = alone(1, || {
                assert_eq!(structural_equal(&left, &right).ok(), Some(same));
            });
            let figure = format!("W and its edited copy, {verdict}, per comparison, d={depth}");
            table.row(figure, times, Limit::Ns(2_000.0));
        }
    }
    let (left, right) = shapes::lambda_and_edit(16, true);
    let (left, right): (Value, Value) = (left.into(), right.into());
    let times = once(positions(16), || equal(&left, &right));
    table.row(
        "W and its edited copy, the first time, d=16",
        times,
        Limit::None,
    );
}

fn sharing(table: &mut Table) {
    for levels in [22, 100_000] {
        let (left, right) = (shapes::dag(levels), shapes::dag(levels));
        let times = alone(u64::from(levels), || equal(&left, &right));
        table.row(
            format!("equal, x = Add(x, x), {levels} levels"),
            times,
            Limit::Ns(40.0),
        );
        let times = alone(u64::from(levels), || hash(&left));
        table.row(
            format!("hash, x = Add(x, x), {levels} levels"),
            times,
            Limit::None,
        );
    }
    for width in [64, 256] {
        const LAYERS: usize = 64;
        let count = (width * (LAYERS + 1)) as u64;
        let left = shapes::butterfly(width, LAYERS, 1);
        let right = shapes::butterfly(width, LAYERS, 2);
        let times = alone(count, || equal(&left, &right));
        table.row(
            format!("equal, butterfly {width} wide"),
            times,
            Limit::Ns(200.0),
        );
        let times = alone(count, || hash(&left));
        table.row(format!("hash, butterfly {width} wide"), times, Limit::None);
    }
    for depth in [10, 16] {
        let held = || shapes::held(Order::ChildrenFirst, depth);
        let ((left, _owners), (right, _others)) = (held(), held());
        let (left, right) = (left.into(), right.into());
        let times = alone(positions(depth), || equal(&left, &right));
        table.row(
            format!("equal, every node held, d={depth}"),
            times,
            Limit::Ns(20.0),
        );
        let times = alone(positions(depth), || hash(&left));
        table.row(
            format!("hash, every node held, d={depth}"),
            times,
            Limit::None,
        );
    }
    for (depth, limits) in [
        (10, [Limit::None, Limit::None]),
        (16, [Limit::Ns(30.0), Limit::Ns(25.0)]),
    ] {
        let left = shapes::lambda_of(Inner::Dag, depth).into();
        let right = shapes::lambda_of(Inner::Dag, depth).into();
        let times = alone(positions(depth), || equal(&left, &right));
        table.row(format!("equal, kind dag, d={depth}"), times, limits[0]);
        let times = alone(positions(depth), || hash(&left));
        table.row(format!("hash, kind dag, d={depth}"), times, limits[1]);
    }
}

/// Nodes with a list or dict each, against nodes with a number in its place.
fn containers(table: &mut Table) {
    for depth in [10, 16] {
        let count = positions(depth);
        let noted = |note| (shapes::noted(note, depth), shapes::noted(note, depth));
        let (plain_left, plain_right) = noted(Note::Number);
        for (note, name) in Note::ALL {
            let (left, right) = noted(note);
            let times = pair(
                count,
                || equal(&left, &right),
                || equal(&plain_left, &plain_right),
            );
            table.row(
                format!("equal, {name}, d={depth}"),
                times,
                Limit::Ratio(4.0),
            );
            let times = pair(count, || hash(&left), || hash(&plain_left));
            table.row(format!("hash, {name}, d={depth}"), times, Limit::Ratio(4.0));
        }
    }
}

/// Nodes with mutable fields, each held from outside: every one is remembered
/// and watched for cycles.
fn mutable(table: &mut Table) {
    for depth in [10, 16] {
        let held = || shapes::held_mutable(depth).expect("the workload is well-formed");
        let ((left, _owners), (right, _others)) = (held(), held());
        let (left, right) = (left.into(), right.into());
        let times = alone(positions(depth), || equal(&left, &right));
        table.row(
            format!("equal, every mutable node held, d={depth}"),
            times,
            Limit::Ns(25.0),
        );
        let times = alone(positions(depth), || hash(&left));
        table.row(
            format!("hash, every mutable node held, d={depth}"),
            times,
            Limit::None,
        );
    }
    let (root, _owners) = shapes::held_mutable(10).expect("the workload is well-formed");
    let root = Value::from(root);
    let make_key = || drop(black_box(StructuralKey::new(&root)).expect("it can be hashed"));
    let times = pair(positions(10), make_key, || hash(&root));
    let name = "StructuralKey of mutable nodes, against hash, d=10";
    table.row(name.to_string(), times, Limit::Ratio(3.0));
    let (left, right) = (shapes::lambda(10).into(), shapes::lambda(10).into());
    let times = alone(positions(10), || equal(&left, &right));
    table.row("equal beside them, d=10".to_string(), times, Limit::None);
    let walk_all = || {
        let walked = walk_objects(&left, |object, _| {
            black_box(object);
            Ok(WalkResult::<()>::Advance)
        });
        walked.expect("no cycle");
    };
    let times = alone(positions(10), walk_all);
    table.row("walk beside them, d=10".to_string(), times, Limit::None);
}

/// Many variables, scopes, and comparison in the type's own code.
fn binders(table: &mut Table) {
    for count in [1_000, 100_000] {
        let (left, right) = (shapes::vars(count).into(), shapes::vars(count).into());
        // Each variable occurs as a parameter and in the body.
        let occurrences = 2 * count as u64;
        let times = alone(occurrences, || equal(&left, &right));
        table.row(format!("equal, {count} variables"), times, Limit::None);
        let times = alone(occurrences, || hash(&left));
        table.row(format!("hash, {count} variables"), times, Limit::None);
    }
    for depth in [10, 16] {
        let (left, right) = (shapes::scoped(depth).into(), shapes::scoped(depth).into());
        let times = alone(positions(depth), || equal(&left, &right));
        table.row(format!("equal, in a scope, d={depth}"), times, Limit::None);
        let times = alone(positions(depth), || hash(&left));
        table.row(format!("hash, in a scope, d={depth}"), times, Limit::None);
    }
    let left = shapes::lambda_of(Inner::AnyOrder, 10).into();
    let right = shapes::lambda_of(Inner::AnyOrder, 10).into();
    let times = alone(positions(10), || equal(&left, &right));
    table.row("equal, custom comparison, d=10", times, Limit::None);
    let times = alone(positions(10), || hash(&left));
    table.row("hash, custom comparison, d=10", times, Limit::None);
}

fn walk(table: &mut Table) {
    for depth in [10, 16] {
        let count = positions(depth);
        let root = Value::from(shapes::lambda(depth));
        let plain_root = plain::lambda(depth);
        let by_hand = || {
            let mut visited = 0u64;
            plain::walk(&plain_root, &mut |expr| {
                visited += u64::from(black_box(expr) as *const _ as usize & 1 == 0);
            });
            black_box(visited);
        };
        let values = || {
            let mut visited = 0u64;
            let outcome = structural_walk(&root, |visit| {
                visited += u64::from(visit.object().is_some());
                Ok(WalkResult::<()>::Advance)
            });
            assert!(matches!(outcome, Ok(None)));
            black_box(visited);
        };
        table.row(
            format!("walk, all values, d={depth}"),
            pair(count, values, by_hand),
            Limit::Ns(12.0),
        );
        let objects = || {
            let mut visited = 0u64;
            let outcome = walk_objects(&root, |object, _| {
                visited += u64::from(object.owners() > 0);
                Ok(WalkResult::<()>::Advance)
            });
            assert!(matches!(outcome, Ok(None)));
            black_box(visited);
        };
        table.row(
            format!("walk, objects, d={depth}"),
            pair(count, objects, by_hand),
            Limit::Ns(12.0),
        );
    }
}

fn wide(table: &mut Table) {
    const COUNT: usize = 1_000_000;
    let (left, right) = (shapes::wide(COUNT), shapes::wide(COUNT));
    let (plain_left, plain_right) = (plain::wide(COUNT), plain::wide(COUNT));
    let derived = || assert!(black_box(&plain_left) == black_box(&plain_right));
    let times = pair(COUNT as u64, || equal(&left, &right), derived);
    table.row("equal, array of 1,000,000 numbers", times, Limit::None);
    let derived = || {
        black_box(plain::hash(black_box(&plain_left)));
    };
    let times = pair(COUNT as u64, || hash(&left), derived);
    table.row("hash, array of 1,000,000 numbers", times, Limit::None);
}

/// Files, against the enum as JSON by serde, which keeps no sharing.
fn files(table: &mut Table) {
    for depth in [10, 16] {
        let count = positions(depth);
        let value = Value::from(shapes::lambda(depth));
        let plain_value = plain::lambda(depth);
        let name = |what: &str| format!("{what}, d={depth}");

        let text = json(&value);
        let plain_text = serde_json::to_string(&plain_value).expect("the enum is data");
        let write = || drop(black_box(json(&value)));
        let plain_write = || drop(black_box(serde_json::to_string(black_box(&plain_value))));
        let times = pair(count, write, plain_write);
        table.row(name("JSON write"), times, Limit::Ns(100.0));
        let read = || drop(black_box(from_json(&text)));
        let plain_read = || {
            let read: Result<std::sync::Arc<plain::Expr>, _> = serde_json::from_str(&plain_text);
            drop(black_box(read));
        };
        let times = pair(count, read, plain_read);
        table.row(name("JSON read and drop"), times, Limit::Ns(150.0));

        let bytes = to_bytes(&value).expect("the workload can be written");
        let write = || drop(black_box(to_bytes(&value)));
        table.row(name("binary write"), alone(count, write), Limit::Ns(30.0));
        let read = || drop(black_box(from_bytes(&bytes)));
        let times = alone(count, read);
        table.row(name("binary read and drop"), times, Limit::Ns(60.0));
    }
}

/// Text for people, against the JSON graph of the same value.
fn text(table: &mut Table) {
    for depth in [10, 16] {
        let count = positions(depth);
        let value = Value::from(shapes::lambda(depth));
        let options = TextOptions::default();
        let print = |value: &Value| options.to_text(value).expect("the workload has a text");
        let (text, graph) = (print(&value), json(&value));
        let times = pair(
            count,
            || drop(black_box(print(&value))),
            || drop(black_box(json(&value))),
        );
        table.row(format!("text print, d={depth}"), times, Limit::Ns(300.0));
        let times = pair(
            count,
            || drop(black_box(from_text(&text))),
            || drop(black_box(from_json(&graph))),
        );
        let name = format!("text parse and drop, d={depth}");
        table.row(name, times, Limit::Ns(200.0));
    }
}

fn json(value: &Value) -> String {
    to_json_graph(value).expect("the workload can be written")
}

fn from_json(text: &str) -> Value {
    from_json_graph(text).expect("the text can be read")
}

fn construct_and_drop(table: &mut Table) {
    for depth in [10, 16] {
        let count = positions(depth);
        // What is built last keeps the allocator from giving the memory of
        // the rest back, so that the samples reuse pages.
        let first = (shapes::lambda(depth), plain::lambda(depth));
        let _last = (shapes::lambda(1), plain::lambda(1));
        drop(first);
        let (build, build_plain) = (|| shapes::lambda(depth), || plain::lambda(depth));
        let (construct, release) = kept(count, build, build_plain);
        table.row(format!("construct, d={depth}"), construct, Limit::Ns(15.0));
        table.row(format!("drop, d={depth}"), release, Limit::Ns(20.0));
    }
}

/// A program of the statement dialect, per statement, against an enum of
/// statements.
fn pto(table: &mut Table) {
    const LOOPS: usize = 1_000;
    let count = statements::count(LOOPS);
    let name = |what: &str| format!("{what}, program of {count} statements");
    let (left, right) = (statements::program(LOOPS), statements::program(LOOPS));
    let (plain_left, plain_right) = (
        statements::plain_program(LOOPS),
        statements::plain_program(LOOPS),
    );
    let (left, right) = (Value::from(left), Value::from(right));

    let compare = || equal(&left, &right);
    let renamed = || {
        assert!(statements::equal_renamed(
            &plain_left,
            black_box(&plain_right)
        ))
    };
    let times = pair(count, compare, renamed);
    table.row(
        name("equal, against renaming by hand"),
        times,
        Limit::Ratio(6.0),
    );
    let derived = || {
        black_box(plain::hash(black_box(&plain_left)));
    };
    let times = pair(count, || hash(&left), derived);
    table.row(name("hash"), times, Limit::None);
    let digest = || {
        black_box(structural_digest(&left)).expect("the program has no free variables");
    };
    table.row(name("digest"), alone(count, digest), Limit::None);
    drop((left, right, plain_left, plain_right));
    let (build, build_plain) = (
        || statements::program(LOOPS),
        || statements::plain_program(LOOPS),
    );
    let (construct, release) = kept(count, build, build_plain);
    table.row(name("construct"), construct, Limit::None);
    table.row(name("drop"), release, Limit::None);
}

/// Ten million levels, which recursion does not survive.
fn deep(table: &mut Table) {
    const LEVELS: usize = 10_000_000;
    let count = LEVELS as u64;
    let (left, right) = (shapes::chain(LEVELS), shapes::chain(LEVELS));
    deep_figures(table, "chain of 10,000,000", count, &left, &right);
    deep_files(table, "chain of 10,000,000", count, &left);
    let both = once(2 * count, || drop((left, right)));
    table.row("drop, chain of 10,000,000", both, Limit::Ns(30.0));

    let (left, right) = (shapes::left_chain(LEVELS), shapes::left_chain(LEVELS));
    let what = "chain of 10,000,000 leaning left";
    deep_figures(table, what, 2 * count, &left, &right);
    let both = once(4 * count, || drop((left, right)));
    table.row(format!("drop, {what}"), both, Limit::Ns(30.0));
}

fn deep_files(table: &mut Table, what: &str, count: u64, value: &Value) {
    let mut text = String::new();
    let growth = peak_growth(|| text = json(value));
    table.note_memory(format!("JSON write, {what}"), growth);
    let times = alone(count, || drop(black_box(json(value))));
    table.row(format!("JSON write, {what}"), times, Limit::None);
    let times = alone(count, || drop(black_box(from_json(&text))));
    table.row(format!("JSON read and drop, {what}"), times, Limit::None);
    drop(text);
    let bytes = to_bytes(value).expect("the workload can be written");
    let times = alone(count, || drop(black_box(to_bytes(value))));
    table.row(format!("binary write, {what}"), times, Limit::None);
    let times = alone(count, || drop(black_box(from_bytes(&bytes))));
    table.row(format!("binary read and drop, {what}"), times, Limit::None);
}

fn deep_figures(table: &mut Table, what: &str, count: u64, left: &Value, right: &Value) {
    let growth = peak_growth(|| equal(left, right));
    let times = alone(count, || equal(left, right));
    table.row(format!("equal, {what}"), times, Limit::Ns(20.0));
    table.note_memory(format!("equal, {what}"), growth);
    let growth = peak_growth(|| hash(left));
    let times = alone(count, || hash(left));
    table.row(format!("hash, {what}"), times, Limit::Ns(20.0));
    table.note_memory(format!("hash, {what}"), growth);
}
