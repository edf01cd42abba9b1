//! The second opinion: bound variables renamed, then plain text.
//!
//! This walks a single value and never sees a pair. A bound variable becomes the number
//! of its binding, counted from the start of the walk, so two values are equal exactly
//! if their texts are equal.

use std::cmp::Ordering;

use super::{DEPTH_LIMIT, Region, change_of, incomparable, plain, visited};
use isoform::compare::CompareOptions;
use isoform::errors::ErrorKind;
use isoform::objects::field_value_at;
use isoform::types::Kind;
use isoform::values::ValueRef;
use isoform::{Error, Map, Obj, Ref, Result, Value};

/// The text of a value after renaming its bound variables: two values have the same
/// text exactly if they are equal.
///
/// Free variables and singletons are named by identity, so the text is meaningful in
/// one process only.
///
/// # Errors
///
/// `TypeError` for values that cannot be compared and for types with hooks,
/// whose code compares pairs; `ValueError` for cycles; `RecursionError` below
/// [`DEPTH_LIMIT`](super::DEPTH_LIMIT).
pub fn canonical(value: &Value, options: CompareOptions) -> Result<String> {
    let mut printer = Printer {
        skip_tensor_content: options.skip_tensor_content,
        outermost: Region::outermost(options),
        bound: Vec::new(),
        made: 0,
        level: 0,
        depth: 0,
        open: Vec::new(),
        text: String::new(),
    };
    let region = printer.outermost;
    printer.value(value, region)?;
    Ok(printer.text)
}

struct BoundVar {
    object: u64,
    level: usize,
    number: u64,
}

struct Printer {
    skip_tensor_content: bool,
    outermost: Region,
    bound: Vec<BoundVar>,
    made: u64,
    level: usize,
    depth: usize,
    open: Vec<u64>,
    text: String,
}

impl Printer {
    fn newest(&self, object: u64) -> Option<&BoundVar> {
        self.bound.iter().rev().find(|bound| bound.object == object)
    }

    fn bind(&mut self, object: u64, level: usize) {
        self.bound.push(BoundVar {
            object,
            level,
            number: self.made,
        });
        self.made += 1;
    }

    fn put(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn value(&mut self, value: &Value, region: Region) -> Result<()> {
        if let Some(reason) = incomparable(value) {
            return Err(Error::type_error(reason));
        }
        if self.depth > DEPTH_LIMIT {
            return Err(Error::new(
                ErrorKind::Recursion,
                "too deep for the slow oracle",
            ));
        }
        self.depth += 1;
        match value.view() {
            ValueRef::Array(array) => self.items("array", array.values(), region)?,
            ValueRef::Map(map) => self.entries("map", map, region)?,
            ValueRef::List(list) => {
                self.open(value)?;
                self.items("list", list.snapshot().values(), region)?;
                self.open.pop();
            }
            ValueRef::Dict(dict) => {
                self.open(value)?;
                self.entries("dict", &dict.snapshot(), region)?;
                self.open.pop();
            }
            ValueRef::Tensor(tensor) => {
                let text = plain::tensor_text(tensor, self.skip_tensor_content);
                self.put(&text);
            }
            ValueRef::Object(object) => self.object(object, region)?,
            _ => {
                let text = plain::text(value).unwrap_or_default();
                self.put(&text);
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn open(&mut self, value: &Value) -> Result<()> {
        let ident = value.as_object().map_or(0, Ref::identity);
        if self.open.contains(&ident) {
            return Err(Error::value_error("cyclic value"));
        }
        self.open.push(ident);
        Ok(())
    }

    fn items(&mut self, name: &str, items: &[Value], region: Region) -> Result<()> {
        self.put(name);
        self.put("[");
        for item in items {
            self.value(item, region)?;
            self.put(";");
        }
        self.put("]");
        Ok(())
    }

    fn entries(&mut self, name: &str, map: &Map, region: Region) -> Result<()> {
        // The key's class, the number within the class, and the text.
        let key = |key: &Value| match key.as_object() {
            Some(object) if !plain::is_plain(key) => {
                let ident = object.identity();
                match self.newest(ident) {
                    Some(bound) => (1, bound.number, format!("${}", bound.number)),
                    None => (2, ident, format!("#{ident}")),
                }
            }
            _ => (0, 0, plain::text(key).unwrap_or_default()),
        };
        let mut all: Vec<_> = map.iter().map(|(k, v)| (key(k), k, v)).collect();
        all.sort_by(|(left, left_key, _), (right, right_key, _)| {
            (left.0, left.1)
                .cmp(&(right.0, right.1))
                .then_with(|| match left.0 {
                    0 => plain::order(left_key, right_key),
                    _ => Ordering::Equal,
                })
        });
        let keys: Vec<&str> = all.iter().map(|((_, _, text), ..)| text.as_str()).collect();
        let keys = keys.join(",");
        self.put(&format!("{name}{{{keys}|"));
        for (_, _, value) in all {
            self.value(value, region)?;
            self.put(";");
        }
        self.put("}");
        Ok(())
    }

    fn object(&mut self, object: &Ref<Obj>, region: Region) -> Result<()> {
        let info = object.type_info();
        let ident = object.identity();
        match info.kind() {
            Kind::None => {}
            Kind::Singleton => self.put(&format!("@{ident}")),
            Kind::Tree | Kind::ConstTree => self.scoped(object, region)?,
            Kind::Dag => match self.newest(ident).map(|bound| bound.number) {
                Some(number) => self.put(&format!("${number}")),
                None => {
                    self.put("dag ");
                    self.scoped(object, region)?;
                    self.bind(ident, 0);
                }
            },
            Kind::Var => {
                let binding = self.newest(ident).map(|bound| (bound.level, bound.number));
                match (binding, region.binds_at()) {
                    (Some((_, number)), None) => self.put(&format!("${number}")),
                    (Some((bound, number)), Some(level)) if bound >= level => {
                        self.put(&format!("${number}"));
                    }
                    (_, Some(level)) => {
                        self.put("bind ");
                        self.fields(object, region.inside_var())?;
                        self.bind(ident, level);
                    }
                    (None, None) => {
                        self.put("free ");
                        self.fields(object, Region::Use)?;
                        self.put(&format!("#{ident}"));
                        self.bind(ident, 0);
                    }
                }
            }
        }
        Ok(())
    }

    fn scoped(&mut self, object: &Ref<Obj>, region: Region) -> Result<()> {
        if !object.type_info().is_scope() {
            return self.fields(object, region);
        }
        self.level += 1;
        self.fields(object, region)?;
        let ended = self.level;
        self.bound.retain(|bound| bound.level != ended);
        self.level -= 1;
        Ok(())
    }

    fn fields(&mut self, object: &Ref<Obj>, region: Region) -> Result<()> {
        let info = object.type_info();
        if info.has_structural_hooks() {
            return Err(Error::type_error(format!("type {} has hooks", info.key())));
        }
        self.put(info.key());
        self.put("(");
        for position in visited(info) {
            let flag = info.fields()[position].field_flag();
            let inside = region.change(change_of(flag), self.level, self.outermost);
            if let Some(value) = field_value_at(object, position) {
                self.value(&value, inside)?;
            }
            self.put(";");
        }
        self.put(")");
        Ok(())
    }
}
