//! Writes the pages that the browser tests open: `test_pages FOLDER`.
//!
//! | file | contents |
//! |---|---|
//! | `equal.html` | a verdict, and nothing else to say |
//! | `different.html` | every kind of section and of change |
//! | `hostile.html` | texts that try to leave their place |
//! | `pair-1000.html`, `pair-20000.html` | both sides of large models, with pictures |
//! | `rows-100000.html` | one program of 100,000 rows |
//! | `notebook.html` | the output of two cells of a notebook |
//! | `change.svg`, `.dot`, `.mmd`, `hostile.…` | pictures alone |

mod hostile;
mod model;

use std::env;
use std::error::Error;
use std::fs;
use std::path::Path;

use isoform_page::page::{Fact, Listing, Section, Verdict};
use isoform_page::{Mark, Page, Picture};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::args_os().nth(1).ok_or("usage: test_pages FOLDER")?;
    let folder = Path::new(&folder);
    fs::create_dir_all(folder)?;
    for (name, page) in [
        ("equal", equal()),
        ("different", model::pair(48, 4)),
        ("hostile", hostile::page()),
        ("pair-1000", model::pair(1_000, 25)),
        ("pair-20000", model::pair(20_000, 200)),
        ("rows-100000", rows(100_000)),
    ] {
        fs::write(folder.join(name).with_extension("html"), page.html())?;
    }
    fs::write(folder.join("notebook.html"), notebook())?;
    for (name, picture) in [
        ("change", model::change_picture(5)),
        ("hostile", hostile::picture()),
    ] {
        write_picture(&folder.join(name), &picture)?;
    }
    Ok(())
}

fn write_picture(file: &Path, picture: &Picture) -> Result<(), Box<dyn Error>> {
    fs::write(file.with_extension("svg"), picture.svg())?;
    fs::write(file.with_extension("dot"), picture.dot())?;
    fs::write(file.with_extension("mmd"), picture.mermaid())?;
    Ok(())
}

/// A document with the output of two cells of a notebook.
fn notebook() -> String {
    let [first, second] = [4, 6].map(|changes| model::pair(48, changes).notebook_html());
    format!(
        "<!doctype html><html lang=en><meta charset=utf-8><title>Notebook</title>\
         <main><h1>Notebook</h1><h2>Differences</h2>{first}{second}</main></html>"
    )
}

fn equal() -> Page {
    Page {
        title: "left.onnx · right.onnx".to_owned(),
        verdict: Verdict::Equal,
        sentence: "The models are equal.".to_owned(),
        facts: vec![fact("nodes", "48", Mark::Same)],
        sections: Vec::new(),
    }
}

fn rows(count: usize) -> Page {
    Page {
        title: "large.ir".to_owned(),
        verdict: Verdict::Shown,
        sentence: format!("A program of {count} rows."),
        facts: vec![fact("rows", &count.to_string(), Mark::Same)],
        sections: vec![Section::Listing(Listing {
            title: "Program".to_owned(),
            sides: vec!["large.ir".to_owned()],
            rows: (0..count).map(model::shown_row).collect(),
            ..Listing::default()
        })],
    }
}

fn fact(name: &str, value: &str, mark: Mark) -> Fact {
    Fact {
        name: name.to_owned(),
        value: value.to_owned(),
        mark,
    }
}
