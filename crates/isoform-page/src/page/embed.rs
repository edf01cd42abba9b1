//! Data, scripts and styles inside of HTML, and the policy that lets no other ones run.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

/// The value as JSON that can stand inside a `script` element: without `<`, and without the
/// two characters that end a line in scripts alone.
pub(super) fn json(value: &(impl Serialize + ?Sized)) -> String {
    // Texts, numbers and sequences of them cannot fail to become JSON.
    let text = serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned());
    text.replace('<', "\\u003c")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

/// The policy of a page with one style sheet and one script: no request, no other code.
pub(super) fn policy(style: &str, script: &str) -> String {
    format!(
        "default-src 'none'; style-src '{}'; script-src '{}'; img-src data:; \
         base-uri 'none'; form-action 'none'",
        source_hash(style),
        source_hash(script)
    )
}

fn source_hash(source: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(source)))
}
