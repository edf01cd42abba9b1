//! The integration tests: one binary, one module per feature.

mod binary;
#[cfg(feature = "testing")]
mod build;
#[cfg(feature = "testing")]
mod collect;
mod containers;
mod copies;
mod cycles;
mod digest;
#[cfg(feature = "testing")]
mod explained;
mod first_use;
#[cfg(feature = "testing")]
mod four_traits;
mod functions;
#[cfg(feature = "testing")]
mod hash_laws;
#[cfg(feature = "testing")]
mod hook_rules;
#[cfg(feature = "testing")]
mod ir;
#[cfg(feature = "testing")]
mod ir_properties;
mod json;
mod keys;
mod known_defects;
mod known_defects_files;
mod known_defects_limits;
mod known_defects_values;
mod known_prelude;
mod layout;
mod linear;
mod map;
mod mutable;
mod mutation;
mod node_traits;
mod object_model;
#[cfg(feature = "testing")]
mod oracle_self;
mod paths;
#[cfg(feature = "testing")]
mod pattern;
#[cfg(feature = "testing")]
mod pattern_properties;
#[cfg(feature = "testing")]
mod properties;
mod pto;
#[cfg(feature = "testing")]
mod pto_passes;
mod pto_print;
#[cfg(feature = "testing")]
mod pto_properties;
#[cfg(feature = "testing")]
mod pto_semantics;
mod pto_substitute;
mod pto_verify;
mod pto_visit;
mod recursive;
mod registry;
mod repr;
mod rewrite;
#[cfg(feature = "testing")]
mod scope_levels;
#[cfg(feature = "testing")]
mod semantics_table;
mod shared_rebinding;
mod substitute;
mod support;
mod text;
mod threads;
mod tir;
mod type_attrs;
mod type_hooks;
mod type_hooks_keys;
mod type_hooks_traverse;
mod values;
#[cfg(feature = "testing")]
mod values_table;
mod verify;
mod visit_order;
#[cfg(feature = "testing")]
mod visits;
mod walk;
