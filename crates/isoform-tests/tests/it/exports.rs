//! The functions exported by the library, according to its sources: the tests and pages
//! that list functions are checked against this list.

/// The modules with functions for users, and the sources of the modules. The functions
/// of a few modules are known without their path.
pub(crate) const MODULES: [(&str, &str); 12] = [
    ("", include_str!("../../../isoform/src/lib.rs")),
    ("", include_str!("../../../isoform/src/files/mod.rs")),
    ("", include_str!("../../../isoform/src/text/mod.rs")),
    ("", include_str!("../../../isoform/src/traverse/mod.rs")),
    (
        "pattern::",
        include_str!("../../../isoform/src/pattern/mod.rs"),
    ),
    ("attrs::", include_str!("../../../isoform/src/attrs/mod.rs")),
    (
        "isoform_ir::ir::",
        include_str!("../../../isoform-ir/src/ir/mod.rs"),
    ),
    (
        "isoform_ir::tir::",
        include_str!("../../../isoform-ir/src/tir/mod.rs"),
    ),
    (
        "isoform_relay::",
        include_str!("../../../isoform-relay/src/lib.rs"),
    ),
    (
        "isoform_relay::analysis::",
        include_str!("../../../isoform-relay/src/analysis/mod.rs"),
    ),
    (
        "isoform_pto::",
        include_str!("../../../isoform-pto/src/lib.rs"),
    ),
    (
        "isoform_testing::",
        include_str!("../../../isoform-testing/src/lib.rs"),
    ),
];

/// The exported functions that neither take nor read a value: they report or change
/// registrations, or count.
pub(crate) const WITHOUT_VALUE: [&str; 36] = [
    "isoform_pto::field_kinds",
    "isoform_pto::field_kinds_of",
    "isoform_pto::peephole_rules",
    "isoform_pto::register",
    "isoform_relay::register",
    "find_type",
    "global_function",
    "isoform_ir::ir::register",
    "last_visit_count",
    "list_functions",
    "register",
    "register_enum",
    "register_function",
    "register_functions",
    "register_method",
    "register_type",
    "registered_types",
    "remove_function",
    "isoform_ir::tir::constant",
    "isoform_ir::tir::register",
    "tracked_count",
    "visiting_everything",
    "attrs::attrs_of",
    "attrs::declare",
    "attrs::declare_dense",
    "attrs::declare_trait",
    "attrs::get",
    "attrs::has",
    "attrs::implement",
    "attrs::implements",
    "attrs::info",
    "attrs::list",
    "attrs::owner",
    "attrs::remove",
    "attrs::set_hook",
    "attrs::types_with",
];

/// The functions exported by a source: the lower-case names of `pub use`, and every
/// `pub fn` at the left margin.
pub(crate) fn functions_in(source: &str) -> Vec<String> {
    // What only bindings use is documented there.
    let source = source.split("\npub mod host {").next().unwrap_or(source);
    let mut functions = Vec::new();
    let mut lines = source.lines();
    while let Some(line) = lines.next() {
        if let Some(rest) = line.strip_prefix("pub fn ") {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
            functions.push(rest[..end.unwrap_or(rest.len())].to_owned());
        }
        let Some(first) = line.trim_start().strip_prefix("pub use ") else {
            continue;
        };
        let mut path = first.to_owned();
        while !path.contains(';')
            && let Some(next) = lines.next()
        {
            path.push_str(next);
        }
        let path = path.trim_end_matches(';');
        if path.starts_with("isoform_macros::") {
            continue;
        }
        let names = match path.split_once('{') {
            Some((_, names)) => names.trim_end_matches('}'),
            None => path.rsplit("::").next().unwrap_or(path),
        };
        let names = names.split(',').map(str::trim);
        let is_function = |name: &&str| name.starts_with(|c: char| c.is_ascii_lowercase());
        functions.extend(names.filter(is_function).map(str::to_owned));
    }
    functions
}

/// The exported functions that take a value, with their modules.
pub(crate) fn functions_of_values() -> Vec<String> {
    let all = MODULES.iter().flat_map(|(module, source)| {
        let functions = functions_in(source).into_iter();
        functions.map(move |name| format!("{module}{name}"))
    });
    all.filter(|name| !WITHOUT_VALUE.contains(&name.as_str()))
        .collect()
}
