//! Summaries for pull requests.

use isoform_page::page::{Page, Section, Table, TableRow, Verdict};
use proptest::prelude::*;

use crate::samples::{card, page_of};

const LIMIT: usize = 60_000;

fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

#[test]
fn a_summary_has_the_verdict_the_facts_and_the_changes() {
    let mut page = page_of("text", 2, 3);
    page.sections.truncate(1);
    insta::assert_snapshot!(page.markdown(Some("https://example.org/a b")));
}

#[test]
fn a_long_summary_stays_below_the_limit_and_counts_the_rest() {
    for (text, changes) in [
        ("conv", 5_000),
        ("👩\u{200d}🚀|`@", 3_000),
        ("\u{202e}\n", 4_000),
    ] {
        let page = page_of(&text.repeat(200), changes, 10);
        let summary = page.markdown(Some(&"https://example.org/".repeat(500)));
        assert!(units(&summary) < LIMIT, "{}", units(&summary));
        assert!(units(&summary) > LIMIT / 2, "{}", units(&summary));
        let rows = summary.matches("\n| \\~ |").count();
        let rest = page_rest(&summary);
        assert_eq!(rows + rest, changes, "{text}");
        assert_eq!(
            summary.matches("<details>").count(),
            summary.matches("</details>").count()
        );
    }
}

/// The number in `4,000 more changes left out here.`
fn page_rest(summary: &str) -> usize {
    let Some((before, _)) = summary.split_once(" more changes left out here.") else {
        return 0;
    };
    let number = before.rsplit('\n').next().unwrap_or_default();
    number.replace(',', "").parse().expect("a number")
}

#[test]
fn a_page_without_facts_and_changes_is_its_sentence() {
    let page = Page {
        sentence: "x".to_owned(),
        ..Page::default()
    };
    assert_eq!(page.markdown(None), "x\n\n");
}

#[test]
fn a_table_stays_below_the_limit() {
    let row = TableRow {
        cells: vec!["a|b".to_owned(); 3],
        ..TableRow::default()
    };
    let table = Table {
        title: "<b>".to_owned(),
        columns: vec!["c".to_owned(), "d".to_owned()],
        rows: vec![row; 50_000],
    };
    let page = Page {
        sections: vec![Section::Table(table)],
        ..Page::default()
    };
    let summary = page.markdown(None);
    assert!(units(&summary) < LIMIT && units(&summary) > LIMIT / 2);
    assert!(
        summary.contains("| a\\|b | a\\|b |\n") && summary.contains("more rows left out here.")
    );
    assert!(summary.contains("<summary>&lt;b&gt; (50,000 rows)</summary>"));
}

proptest! {
    #[test]
    fn any_text_keeps_lines_and_cells(text in any::<String>(), count in 0usize..4) {
        let page = Page {
            verdict: Verdict::Different,
            sentence: text.clone(),
            sections: vec![Section::Changes((0..count).map(|number| card(&text, number)).collect())],
            ..Page::default()
        };
        let summary = page.markdown(None);
        prop_assert!(units(&summary) < LIMIT);
        // Outside of blocks of code, no name adds a cell, a tag or a mention.
        let mut is_code = false;
        for line in summary.lines() {
            if line.starts_with("```") {
                is_code = !is_code;
            }
            if is_code {
                continue;
            }
            let cells = line.replace("\\\\", "").replace("\\|", "").matches('|').count();
            prop_assert!(cells == 0 || cells == 5, "{line}");
            let tags = line.replace("<!-- -->", "").replace("<span>$</span>", "");
            let rest = ["<details>", "</details>", "<summary>", "</summary>"]
                .iter()
                .fold(tags, |line, tag| line.replace(tag, ""));
            prop_assert!(!rest.contains(['<', '>']), "{line}");
            prop_assert!(!line.replace("@<!-- -->", "").contains('@'), "{line}");
        }
        prop_assert!(!is_code);
    }
}
