//! Indexes of collections, for `isoform.corpus`.
//!
//! | file | subject |
//! |---|---|
//! | `rows.rs` | rows, groups and numbers of an index |
//! | `index.rs` | reading an index |
//! | `update.rs` | making an index, on this machine or with others |

mod index;
mod rows;
mod update;

use pyo3::prelude::*;

pub(crate) use update::{CorpusReport, progress_function};

/// Adds the names of this folder.
pub(crate) fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<index::CorpusIndexHandle>()?;
    module.add_class::<index::RowIterator>()?;
    module.add_class::<rows::CorpusRow>()?;
    module.add_class::<rows::CorpusBlock>()?;
    module.add_class::<rows::CorpusGroup>()?;
    module.add_class::<rows::SharedCorpusBlock>()?;
    module.add_class::<rows::CorpusStatistics>()?;
    module.add_class::<update::CorpusReport>()?;
    module.add_class::<update::CorpusUpdate>()?;
    module.add_function(wrap_pyfunction!(update::update_corpus, module)?)?;
    module.add_function(wrap_pyfunction!(update::read_corpus_files, module)?)
}
