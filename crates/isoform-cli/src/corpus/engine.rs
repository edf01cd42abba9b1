//! The engines that read the files of a collection: threads, or a Ray cluster.
//!
//! This crate runs no Python. Whoever embeds the command says how Ray makes an index.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use isoform_corpus::UpdateReport;

/// A function that is told the numbers of an update so far.
pub(crate) type Progress = Arc<dyn Fn(&UpdateReport) + Send + Sync>;

/// The value of `--engine`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Engine {
    /// The threads of this process.
    Local,
    /// A Ray cluster: that of the address, or else of the environment, or else a new one.
    Ray(Option<String>),
}

pub(crate) fn parse_engine(text: &str) -> Result<Engine, String> {
    match text {
        "local" => Ok(Engine::Local),
        "ray" => Ok(Engine::Ray(None)),
        address if is_address(address) => Ok(Engine::Ray(Some(address.to_owned()))),
        _ => Err("expected 'local', 'ray' or 'ray://HOST:PORT'".to_owned()),
    }
}

fn is_address(text: &str) -> bool {
    let place = text.strip_prefix("ray://");
    let parts = place.and_then(|place| place.rsplit_once(':'));
    parts.is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
}

/// An index that `isoform index --engine ray` asks of the program that embeds the command.
#[derive(Clone)]
#[non_exhaustive]
pub struct IndexRequest {
    /// The roots of the collection; none for those of an index that exists.
    pub roots: Vec<String>,
    /// The file of the index.
    pub output: PathBuf,
    /// The number of files read at the same time; None for one per core of the cluster.
    pub jobs: Option<usize>,
    /// True if external data may be a link that leads out of the folder of its model.
    pub follow_links: bool,
    /// The address of the cluster; None for that of the environment, or a new one.
    pub address: Option<String>,
    progress: Progress,
}

impl IndexRequest {
    pub(crate) fn new(output: PathBuf, progress: Progress) -> IndexRequest {
        IndexRequest {
            roots: Vec::new(),
            output,
            jobs: None,
            follow_links: false,
            address: None,
            progress,
        }
    }

    /// Shows the numbers of the update so far, on a terminal. Cheap enough for every batch.
    pub fn show(&self, report: &UpdateReport) {
        (self.progress)(report);
    }
}

impl fmt::Debug for IndexRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IndexRequest")
            .field("roots", &self.roots)
            .field("output", &self.output)
            .field("jobs", &self.jobs)
            .field("follow_links", &self.follow_links)
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::{RunOptions, Streams};

    /// The status, standard output and standard error of a command line.
    fn run(options: &RunOptions<'_>, line: &str) -> (u8, String, String) {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut streams = Streams::plain(&mut out, &mut err);
        let status = options.run(line.split(' '), &mut streams);
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        (status, text(out), text(err))
    }

    #[test]
    fn engines_have_names_and_addresses() {
        assert_eq!(parse_engine("local"), Ok(Engine::Local));
        assert_eq!(parse_engine("ray"), Ok(Engine::Ray(None)));
        for address in ["ray://head:10001", "ray://[::1]:10001"] {
            let engine = Engine::Ray(Some(address.to_owned()));
            assert_eq!(parse_engine(address), Ok(engine));
        }
        for text in [
            "",
            "Ray",
            "ray:",
            "ray://",
            "ray://head",
            "ray://:1",
            "ray://head:port",
            "dask",
        ] {
            assert!(parse_engine(text).is_err(), "{text}");
        }
    }

    #[test]
    fn ray_needs_a_host() {
        let line = "isoform index models -o i.parquet --engine ray";
        let (status, out, err) = run(&RunOptions::default(), line);
        assert_eq!((status, &*out), (2, ""));
        assert_eq!(
            err,
            "isoform: i.parquet: this program runs no Python, which Ray needs; use the command of \
             the Python package, `python -m isoform index --engine ray`\n"
        );
        let line = line.replace("--engine ray", "--engine dask");
        let (status, _, err) = run(&RunOptions::default(), &line);
        assert_eq!(status, 2);
        assert!(
            err.contains("expected 'local', 'ray' or 'ray://HOST:PORT'"),
            "{err}"
        );
    }

    #[test]
    fn the_host_gets_the_request_and_the_command_prints_its_report() {
        let requests = RefCell::new(Vec::new());
        let options = RunOptions::default().ray(|request| {
            let mut report = UpdateReport::default();
            (report.rows, report.read, report.failed) = (3, 2, 1);
            (report.kept, report.bytes) = (1, 2048);
            request.show(&report);
            requests.borrow_mut().push(request.clone());
            Ok(report)
        });
        let line = "isoform index a b -o i.parquet --jobs 7 --engine ray://head:10001";
        let ran = run(&options, line);
        let text = "i.parquet: 3 rows, 2 read (2.00 KiB), 1 kept, 1 failed (the column `error` has the reasons)\n";
        assert_eq!(ran, (0, text.to_owned(), String::new()));
        let (status, out, _) = run(&options, "isoform index -o i.parquet --engine ray --json");
        let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
        assert_eq!((status, json["read"].as_u64()), (0, Some(2)));
        let requests = requests.borrow();
        assert_eq!(requests[0].roots, ["a", "b"]);
        assert_eq!(requests[0].output, PathBuf::from("i.parquet"));
        assert_eq!((requests[0].jobs, requests[1].jobs), (Some(7), None));
        assert_eq!(requests[0].address.as_deref(), Some("ray://head:10001"));
        assert_eq!(requests[1].address, None);
    }

    #[test]
    fn a_failure_of_the_host_is_that_of_the_command() {
        let options = RunOptions::default().ray(|_| Err("no cluster".to_owned()));
        let ran = run(&options, "isoform index a -o i.parquet --engine ray");
        let text = "isoform: i.parquet: no cluster\n";
        assert_eq!(ran, (2, String::new(), text.to_owned()));
    }
}
