//! Pages, pictures and summaries that people look at: one file of HTML per question, graphs
//! as SVG, dot and mermaid, and Markdown for reviews.
//!
//! This crate knows no engine and no file format. Whoever compares programs fills a [`Page`]
//! or a [`Picture`] with plain text, and this crate lays out, escapes and draws.
//!
//! | folder | job |
//! |---|---|
//! | `page/` | the contents of a page, its HTML, style sheet and script, and Markdown |
//! | `picture/` | graphs, their layered layout, and the formats they are drawn in |

mod mark;
pub mod page;
pub mod picture;

pub use mark::Mark;
pub use page::Page;
pub use picture::Picture;

// The examples of the page about pages run with the other documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/pages.md")]
struct PagesPage;
