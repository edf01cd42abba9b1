//! A server that speaks as much of the S3 protocol as a store needs, and fails on demand.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// How the server treats requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Behaviour {
    Right,
    /// The first requests, as many as this, fail with status 503.
    Busy(usize),
    /// Every request fails with status 403.
    Forbidden,
    /// The server accepts requests and never replies.
    Silent,
    /// The server closes the connection in the middle of the reply.
    Cut,
    /// Writing on the condition that there is no object is not implemented.
    Unconditional,
}

type Objects = BTreeMap<String, Vec<u8>>;

pub(crate) struct Server {
    address: String,
    pub(crate) requests: Arc<AtomicUsize>,
    pub(crate) objects: Arc<Mutex<Objects>>,
}

impl Server {
    pub(crate) fn start(behaviour: Behaviour) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Server {
            address: listener.local_addr().unwrap().to_string(),
            requests: Arc::default(),
            objects: Arc::default(),
        };
        let (requests, objects) = (server.requests.clone(), server.objects.clone());
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (requests, objects) = (requests.clone(), objects.clone());
                thread::spawn(move || serve(stream, behaviour, &requests, &objects));
            }
        });
        server
    }

    pub(crate) fn url(&self) -> String {
        let address = &self.address;
        format!("s3:bucket/prefix?endpoint=http://{address}&region=us-east-1&no_credentials=true")
    }
}

struct Request {
    method: String,
    /// The key of the object, without the bucket.
    key: String,
    query: BTreeMap<String, String>,
    if_none_match: bool,
    /// The first and the last byte of the part that is asked for.
    range: Option<(usize, usize)>,
    body: Vec<u8>,
}

fn serve(
    stream: TcpStream,
    behaviour: Behaviour,
    requests: &AtomicUsize,
    objects: &Mutex<Objects>,
) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut stream = stream;
    loop {
        let request = read_request(&mut reader)?;
        let number = requests.fetch_add(1, Ordering::SeqCst);
        let (status, mut body) = match behaviour {
            Behaviour::Silent => {
                thread::sleep(Duration::from_secs(600));
                return None;
            }
            Behaviour::Busy(count) if number < count => ("503 Slow Down", error("SlowDown")),
            Behaviour::Forbidden => ("403 Forbidden", error("AccessDenied")),
            Behaviour::Unconditional if request.if_none_match => {
                ("501 Not Implemented", error("NotImplemented"))
            }
            _ => reply(&request, &mut objects.lock().unwrap()),
        };
        let (tag, mut status, mut range) = (tag(&body), status, String::new());
        if let (Some((first, last)), "200 OK") = (request.range, status) {
            let size = body.len();
            let last = last.min(size - 1);
            body = body[first..=last].to_vec();
            range = format!("Content-Range: bytes {first}-{last}/{size}\r\n");
            status = "206 Partial Content";
        }
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Length: {}\r\n{range}ETag: {tag}\r\n\
             Last-Modified: Sun, 29 Nov 2026 10:00:00 GMT\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).ok()?;
        if behaviour == Behaviour::Cut {
            stream.write_all(&body[..body.len() / 2]).ok()?;
            return None;
        }
        if request.method != "HEAD" {
            stream.write_all(&body).ok()?;
        }
    }
}

fn read_request(reader: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let (mut length, mut if_none_match, mut range) = (0, false, None);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let line = line.trim().to_ascii_lowercase();
        match line.split_once(": ") {
            Some(("content-length", number)) => length = number.parse().ok()?,
            Some(("if-none-match", "*")) => if_none_match = true,
            Some(("range", bytes)) => {
                let (first, last) = bytes.strip_prefix("bytes=")?.split_once('-')?;
                range = Some((first.parse().ok()?, last.parse().ok()?));
            }
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let query = query.split('&').filter_map(|pair| pair.split_once('='));
    Some(Request {
        method,
        key: path
            .strip_prefix("/bucket")?
            .trim_start_matches('/')
            .to_owned(),
        query: query
            .map(|(name, value)| (name.to_owned(), value.replace("%2F", "/")))
            .collect(),
        if_none_match,
        range,
        body,
    })
}

/// A text that depends on the bytes.
fn tag(bytes: &[u8]) -> String {
    let sum: u64 = bytes.iter().map(|byte| u64::from(*byte)).sum();
    format!("\"{}-{sum}\"", bytes.len())
}

fn reply(request: &Request, objects: &mut Objects) -> (&'static str, Vec<u8>) {
    let key = &request.key;
    match request.method.as_str() {
        "GET" if request.query.contains_key("list-type") => ("200 OK", list(request, objects)),
        "GET" | "HEAD" => match objects.get(key) {
            Some(bytes) => ("200 OK", bytes.clone()),
            None => ("404 Not Found", error("NoSuchKey")),
        },
        "PUT" if request.if_none_match && objects.contains_key(key) => {
            ("412 Precondition Failed", error("PreconditionFailed"))
        }
        "PUT" => {
            objects.insert(key.clone(), request.body.clone());
            ("200 OK", Vec::new())
        }
        "DELETE" => {
            objects.remove(key);
            ("204 No Content", Vec::new())
        }
        _ => ("400 Bad Request", error("InvalidRequest")),
    }
}

fn list(request: &Request, objects: &Objects) -> Vec<u8> {
    let prefix = request.query.get("prefix").map_or("", String::as_str);
    let found = objects.iter().filter(|(key, _)| key.starts_with(prefix));
    let is_flat = !request.query.contains_key("delimiter");
    let (mut contents, mut folders) = (String::new(), BTreeSet::new());
    for (key, bytes) in found {
        if let Some((folder, _)) = key[prefix.len()..].split_once('/')
            && !is_flat
        {
            folders.insert(format!("{prefix}{folder}/"));
            continue;
        }
        contents += &format!(
            "<Contents><Key>{key}</Key><LastModified>2026-11-29T10:00:00.000Z</LastModified>\
             <ETag>{}</ETag><Size>{}</Size></Contents>",
            tag(bytes).replace('"', "&quot;"),
            bytes.len()
        );
    }
    for folder in folders {
        contents += &format!("<CommonPrefixes><Prefix>{folder}</Prefix></CommonPrefixes>");
    }
    format!(
        "<?xml version=\"1.0\"?><ListBucketResult><Name>bucket</Name><Prefix>{prefix}</Prefix>\
         <IsTruncated>false</IsTruncated>{contents}</ListBucketResult>"
    )
    .into_bytes()
}

fn error(code: &str) -> Vec<u8> {
    format!(
        "<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>the {code} of the test\
         </Message></Error>"
    )
    .into_bytes()
}
