//! Queries return the rows of a plain search.

use std::collections::{BTreeMap, BTreeSet};

use isoform::Result;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::rows::written;
use crate::{Block, Column, INDEX_VERSION, Index, Row, RowWriter};

/// Digests of which some agree in their first 8 bytes.
fn digest() -> impl Strategy<Value = String> {
    (0..3_u8, 0..3_u8).prop_map(|(first, last)| format!("{first:063}{last}"))
}

fn block() -> impl Strategy<Value = Block> {
    (digest(), 1..4_u64).prop_map(|(digest, count)| Block {
        digest,
        nodes: 4,
        count,
    })
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let parts = (
        option::of(digest()),
        option::of(digest()),
        vec(block(), 0..2),
    );
    let row = parts.prop_map(|(digest, architecture, blocks)| Row {
        digest,
        architecture,
        blocks,
        ..Row::default()
    });
    vec(row, 0..12).prop_map(|mut rows| {
        for (number, row) in rows.iter_mut().enumerate() {
            row.path = format!("{number:03}");
            row.size = 10;
        }
        rows
    })
}

/// The paths of the groups with more than one member.
fn grouped<'r>(rows: &'r [Row], key: impl Fn(&'r Row) -> Vec<&'r str>) -> BTreeSet<Vec<&'r str>> {
    let mut groups: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for row in rows {
        for key in key(row) {
            groups.entry(key).or_default().insert(&row.path);
        }
    }
    let groups = groups.into_values().filter(|group| group.len() > 1);
    groups.map(|group| group.into_iter().collect()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn groups_are_those_of_a_plain_search(rows in rows()) {
        let index = Index::of_bytes(written(&rows)).unwrap();
        for (column, key) in [
            (Column::Digest, (|row: &Row| row.digest.as_deref()) as fn(&Row) -> Option<&str>),
            (Column::Architecture, |row: &Row| row.architecture.as_deref()),
        ] {
            let groups = index.duplicates(column).unwrap();
            prop_assert!(groups.is_sorted_by_key(|group| std::cmp::Reverse(group.rows.len())));
            let paths = groups.iter().map(|group| {
                group.rows.iter().map(|row| &*row.path).collect::<Vec<_>>()
            });
            let paths: BTreeSet<_> = paths.collect();
            prop_assert_eq!(paths, grouped(&rows, |row| key(row).into_iter().collect()));
        }
        let blocks = index.shared_blocks().unwrap();
        let paths = blocks.iter().map(|block| {
            block.files.iter().map(|(path, _)| &**path).collect::<Vec<_>>()
        });
        let paths: BTreeSet<_> = paths.collect();
        let keys = |row| Row::blocks_of(row);
        prop_assert_eq!(paths, grouped(&rows, keys));

        let numbers = index.statistics().unwrap();
        let distinct: BTreeSet<&String> = rows.iter().flat_map(|row| &row.digest).collect();
        // Digests count as equal if their first 8 bytes are, which chance never does.
        let starts: BTreeSet<&str> = distinct.iter().map(|digest| &digest[..16]).collect();
        prop_assert_eq!(numbers.programs, starts.len() as u64);
        prop_assert_eq!(numbers.bytes, 10 * rows.len() as u64);
    }

    #[test]
    fn a_digest_is_found_by_its_first_digits(rows in rows(), length in 8..=64_usize) {
        let index = Index::of_bytes(written(&rows)).unwrap();
        for digits in [format!("{:064}", 1), format!("{:064}", 2)] {
            let digits = &digits[..length];
            let found = index.find(digits).unwrap();
            let begins = |text: &String| text.starts_with(digits);
            let expected = rows.iter().filter(|row| {
                row.digest.iter().chain(&row.architecture).any(begins)
                    || row.blocks.iter().any(|block| begins(&block.digest))
            });
            prop_assert!(found.iter().eq(expected));
        }
    }
}

impl Row {
    fn blocks_of(row: &Row) -> Vec<&str> {
        row.blocks.iter().map(|block| &*block.digest).collect()
    }
}

#[test]
fn wrong_questions_are_errors() {
    let index = Index::of_bytes(written(&[])).unwrap();
    let message = |result: Result<usize>| result.unwrap_err().message().to_owned();
    let text = message(index.find("123").map(|rows| rows.len()));
    assert!(
        text.contains("the first 8 to 64 hexadecimal digits"),
        "{text}"
    );
    let text = message(index.find("12345678x").map(|rows| rows.len()));
    assert!(text.contains("got \"12345678x\""), "{text}");
    let text = message(index.duplicates(Column::Size).map(|groups| groups.len()));
    assert!(text.contains("Digest or Architecture, got Size"), "{text}");
}

#[test]
fn sums_do_not_overflow() {
    let rows: Vec<Row> = ["a", "b"]
        .map(|path| Row {
            path: path.to_owned(),
            size: u64::MAX,
            digest: Some("00".to_owned()),
            blocks: vec![Block {
                digest: "01".to_owned(),
                nodes: u64::MAX,
                count: u64::MAX,
            }],
            operators: vec![("Add".to_owned(), u64::MAX)],
            elements: vec![("int8".to_owned(), u64::MAX)],
            ..Row::default()
        })
        .to_vec();
    let index = Index::of_bytes(written(&rows)).unwrap();
    assert_eq!(index.statistics().unwrap().bytes, u64::MAX);
    assert_eq!(index.shared_blocks().unwrap().len(), 1);
    assert_eq!(index.duplicates(Column::Digest).unwrap().len(), 1);
}

#[test]
fn digests_of_another_version_are_not_looked_up() {
    let mut bytes = Vec::new();
    let place = "memory".to_owned();
    let writer = RowWriter::with_versions(&mut bytes, place, &[], [INDEX_VERSION, 9]).unwrap();
    writer.finish().unwrap();
    let error = Index::of_bytes(bytes)
        .unwrap()
        .find("12345678")
        .unwrap_err();
    assert!(error.message().contains("have another version"), "{error}");
}
