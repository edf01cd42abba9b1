//! Rows survive the file, and a damaged file is an error.

use std::panic::catch_unwind;

use isoform::Result;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use crate::row::{Block, Counts};
use crate::{Column, Index, Row, RowWriter};

fn text() -> impl Strategy<Value = String> {
    "[a-c/é\u{0}]{0,4}"
}

fn counts() -> impl Strategy<Value = Counts> {
    vec((text(), any::<u64>()), 0..3)
}

fn block() -> impl Strategy<Value = Block> {
    let parts = (text(), any::<u64>(), any::<u64>());
    parts.prop_map(|(digest, nodes, count)| Block {
        digest,
        nodes,
        count,
    })
}

fn row() -> impl Strategy<Value = Row> {
    let names = (text(), any::<u64>(), any::<u64>(), vec(text(), 0..3));
    let digests = (
        option::of(text()),
        option::of(text()),
        option::of(text()),
        option::of(any::<u64>()),
        option::of(any::<u64>()),
    );
    let lists = (
        counts(),
        counts(),
        counts(),
        vec(text(), 0..3),
        vec(text(), 0..3),
    );
    let rest = (vec(block(), 0..3), option::of(text()));
    (names, digests, lists, rest).prop_map(|(names, digests, lists, rest)| Row {
        path: names.0,
        size: names.1,
        stamp: names.2,
        files: names.3,
        kind: digests.0,
        digest: digests.1,
        architecture: digests.2,
        nodes: digests.3,
        parameters: digests.4,
        operators: lists.0,
        opsets: lists.1,
        elements: lists.2,
        inputs: lists.3,
        outputs: lists.4,
        blocks: rest.0,
        error: rest.1,
    })
}

pub(super) fn written(rows: &[Row]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = RowWriter::new(&mut bytes, "memory", &["a".to_owned()]).unwrap();
    for row in rows {
        writer.push(row.clone()).unwrap();
    }
    assert_eq!(writer.finish().unwrap(), rows.len() as u64);
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn rows_survive_a_file(rows in vec(row(), 0..12)) {
        let index = Index::of_bytes(written(&rows)).unwrap();
        let read = index.rows().collect::<Result<Vec<Row>>>().unwrap();
        prop_assert_eq!(&read, &rows);
        prop_assert_eq!(index.count().unwrap(), rows.len() as u64);

        let columns = [Column::Path, Column::Blocks];
        let some = index.columns(&columns).collect::<Result<Vec<Row>>>().unwrap();
        let expected = rows.iter().map(|row| Row {
            path: row.path.clone(),
            blocks: row.blocks.clone(),
            ..Row::default()
        });
        prop_assert!(some.into_iter().eq(expected));
    }
}

#[test]
fn a_file_of_several_groups() {
    let rows: Vec<Row> = (0..70_000)
        .map(|number| Row::failed(format!("{number:06}"), "x"))
        .collect();
    let index = Index::of_bytes(written(&rows)).unwrap();
    assert!(index.rows().map(Result::unwrap).eq(rows));
    assert_eq!(index.roots().unwrap(), ["a"]);
}

#[test]
fn a_cut_file_is_an_error() {
    let bytes = written(&[Row::failed("a", "x"), Row::default()]);
    for length in 0..bytes.len() {
        assert!(
            Index::of_bytes(bytes[..length].to_vec()).is_err(),
            "{length}"
        );
    }
}

/// Damage is an error or shows in a value; it never ends the program.
#[test]
fn a_flipped_bit_is_no_panic() {
    let bytes = written(&[Row::failed("a", "x"), Row::default()]);
    for byte in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[byte] ^= 1 << (byte % 8);
        let read = catch_unwind(|| {
            let index = Index::of_bytes(damaged)?;
            index.rows().collect::<Result<Vec<Row>>>()
        });
        assert!(read.is_ok(), "byte {byte}");
    }
}

#[test]
fn a_foreign_parquet_file_is_refused() {
    let mut bytes = Vec::new();
    let writer = RowWriter::with_versions(&mut bytes, "memory".to_owned(), &[], [2, 3]);
    writer.unwrap().finish().unwrap();
    let error = Index::of_bytes(bytes).err().unwrap();
    assert!(
        error.message().contains("version 1, got version 2"),
        "{error}"
    );
}
