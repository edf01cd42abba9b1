//! The order of visit, read off the declarations by names; the tables that the
//! engines go by are not looked at.

use isoform::types::{FieldFlag, TypeInfo};

/// The compared fields of a type in the order of visit, as positions among all of its
/// fields.
pub(crate) fn visited(info: &TypeInfo) -> Vec<usize> {
    let (names, is_stated) = declared(info);
    let fields = info.fields();
    let position = |name: String| fields.iter().position(|field| field.name() == name);
    let all: Vec<usize> = names.into_iter().filter_map(position).collect();
    let flag = |position: &usize| fields[*position].field_flag();
    let defines =
        |position: &usize| matches!(flag(position), FieldFlag::Def | FieldFlag::DefSimple);
    let compared = all.into_iter().filter(|it| flag(it) != FieldFlag::Ignore);
    let defs_first = info.definition().declared_defs_first();
    if defs_first.unwrap_or(info.is_scope() && !is_stated) {
        let (first, second): (Vec<usize>, Vec<usize>) = compared.partition(defines);
        [first, second].concat()
    } else {
        compared.collect()
    }
}

/// The names of the fields before `defs_first` takes effect, and whether a type among
/// the ancestors states an order.
fn declared(info: &TypeInfo) -> (Vec<String>, bool) {
    let (mut names, mut is_stated) = info.parent().map_or_else(Default::default, declared);
    let definition = info.definition();
    let own: Vec<String> = definition
        .own_fields()
        .iter()
        .map(|field| field.name().to_string())
        .collect();
    if let Some(stated) = definition.stated_order() {
        is_stated = true;
        names.retain(|name| !stated.iter().any(|other| **other == **name));
        names.extend(stated.iter().map(|name| name.to_string()));
    }
    let rest: Vec<String> = own.into_iter().filter(|it| !names.contains(it)).collect();
    names.extend(rest);
    (names, is_stated)
}
