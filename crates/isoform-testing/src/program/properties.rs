//! Properties of programs, as functions of bytes.

use super::super::generate::weight;
use super::super::oracle;
use super::super::properties::same_place;
use super::super::serial::same_graph;
use super::super::source::{Source, random_bytes};
use super::super::transform::{rename, reorder, unshare};
use super::edit::{Edit, edits, is_below, swaps};
use super::{Drawing, DrawnProgram, Streams};
use isoform::compare::CompareOptions;
use isoform::errors::ErrorKind;
use isoform::files::{from_bytes, from_json_graph, to_bytes, to_json_graph};
use isoform::paths::{AccessPath, AccessStep};
use isoform::text::{TensorText, TextOptions, from_text};
use isoform::traverse::deep_copy;
use isoform::values::ValueRef;
use isoform::{Obj, Ref, Result, Value};

/// The oracle visits shared parts at every occurrence, so programs with more visits are
/// left out.
const ORACLE_LIMIT: usize = 20_000;

/// The bytes for drawing a program.
pub(crate) struct Case {
    pub(crate) main: Vec<u8>,
    hints: Vec<u8>,
    pub(crate) ignored: Vec<u8>,
}

impl Case {
    pub(crate) fn of(bytes: &[u8]) -> Case {
        let seed = Source::new(bytes).byte();
        Case {
            main: bytes.to_vec(),
            hints: random_bytes(u64::from(seed), bytes.len() / 2),
            ignored: random_bytes(u64::from(seed) + 256, bytes.len() / 2),
        }
    }

    pub(crate) fn streams(&self) -> Streams<'_> {
        Streams {
            main: &self.main,
            hints: &self.hints,
            ignored: &self.ignored,
        }
    }

    pub(crate) fn draw<D: Drawing>(&self, edit: Option<&Edit>) -> Result<DrawnProgram, String> {
        D::draw(self.streams(), self.main.len() / 6, edit).map_err(setup)
    }

    /// The program with other names of variables.
    pub(crate) fn rename(&mut self) {
        let bytes = self.hints.iter_mut();
        bytes.for_each(|byte| *byte = byte.wrapping_add(1));
    }
}

pub(crate) fn setup(error: isoform::Error) -> String {
    format!("the case could not be drawn: {error}")
}

pub(crate) fn account(what: &str, left: &Value, right: &Value) -> String {
    format!(
        "{what}\n  left  = {}\n  right = {}",
        shown(left),
        shown(right)
    )
}

pub(crate) fn shown(value: &Value) -> String {
    let options = TextOptions::default().tensors(TensorText::Inline);
    options
        .to_text(value)
        .unwrap_or_else(|error| format!("{error}: {value:?}"))
}

/// Both programs are equal, have the same hash and the same digest.
fn alike<D: Drawing>(left: &Value, right: &Value) -> Result<(), String> {
    for &way in D::WAYS {
        match way.equal(left, right) {
            Ok(true) => {}
            other => {
                let place = way.first_mismatch(left, right);
                let what = format!("comparison says {other:?} with {way:?}, at {place:?}");
                return Err(account(&what, left, right));
            }
        }
        if names(left, way)? != names(right, way)? {
            let what = format!("hash or digest differ with {way:?}");
            return Err(account(&what, left, right));
        }
    }
    Ok(())
}

/// The hash and the digest of a value.
fn names(value: &Value, way: CompareOptions) -> Result<(u64, String), String> {
    let hash = way.hash(value);
    let digest = way.digest(value);
    match (hash, digest) {
        (Ok(hash), Ok(digest)) => Ok((hash, digest.to_string())),
        (Err(error), _) | (_, Err(error)) => {
            Err(format!("{error}, with {way:?}\n{}", shown(value)))
        }
    }
}

/// Both programs are the same graph, and are equal.
fn same<D: Drawing>(left: &Value, right: &Value) -> Result<(), String> {
    same_graph(left, right).map_err(|difference| account(&difference, left, right))?;
    alike::<D>(left, right)
}

pub(crate) fn read<T: std::fmt::Debug>(
    written: Result<T>,
    read: impl FnOnce(&T) -> Result<Value>,
) -> Result<(T, Value), String> {
    let written = written.map_err(|error| format!("not written: {error}"))?;
    let again = read(&written).map_err(|error| format!("not read: {error}\n{written:?}"))?;
    Ok((written, again))
}

pub(crate) fn through_json(value: &Value) -> Result<(String, Value), String> {
    read(to_json_graph(value), |text| from_json_graph(text))
}

pub(crate) fn through_binary(value: &Value) -> Result<(Vec<u8>, Value), String> {
    read(to_bytes(value), |bytes| from_bytes(bytes))
}

pub(crate) fn through_text(
    value: &Value,
    options: &TextOptions,
) -> Result<(String, Value), String> {
    read(options.to_text(value), |text| from_text(text))
}

pub(crate) fn json_round_trips<D: Drawing>(bytes: &[u8]) -> Result<(), String> {
    let program = Case::of(bytes).draw::<D>(None)?.root;
    let (text, again) = through_json(&program)?;
    same::<D>(&program, &again)?;
    if through_json(&again)?.0 == text {
        Ok(())
    } else {
        Err(account(
            "JSON differs when it is written again",
            &program,
            &again,
        ))
    }
}

pub(crate) fn binary_round_trips<D: Drawing>(bytes: &[u8]) -> Result<(), String> {
    let program = Case::of(bytes).draw::<D>(None)?.root;
    let (form, again) = through_binary(&program)?;
    same::<D>(&program, &again)?;
    if through_binary(&again)?.0 == form {
        Ok(())
    } else {
        Err(account(
            "bytes differ when they are written again",
            &program,
            &again,
        ))
    }
}

pub(crate) fn text_round_trips<D: Drawing>(bytes: &[u8]) -> Result<(), String> {
    let program = Case::of(bytes).draw::<D>(None)?.root;
    let mut source = Source::new(bytes);
    let width = *source.pick(&[1, 20, 80, 100, 1000]);
    let options = TextOptions::default()
        .width(width)
        .depth(2 + source.below(20))
        .defaults(source.chance(50))
        .structural_names(source.chance(50));
    for tensors in [TensorText::Inline, TensorText::Section] {
        let options = options.clone().tensors(tensors);
        let (text, again) = through_text(&program, &options)?;
        same::<D>(&program, &again)?;
        for (value, what) in [
            (&program, "the text differs the second time"),
            (&again, "the text differs when it is written again"),
        ] {
            let other = options.to_text(value).map_err(|error| error.to_string())?;
            if other != text {
                return Err(format!("{what}\n{text}\n{other}"));
            }
        }
    }
    Ok(())
}

pub(crate) fn deep_copies_are_equal<D: Drawing>(bytes: &[u8]) -> Result<(), String> {
    let program = Case::of(bytes).draw::<D>(None)?.root;
    let copy = deep_copy(&program).map_err(|error| format!("not copied: {error}"))?;
    same::<D>(&program, &copy)
}

/// Fresh variables with other names change nothing.
pub(crate) fn hints_are_invisible<D: Drawing>(bytes: &[u8]) -> Result<(), String> {
    let mut case = Case::of(bytes);
    let program = case.draw::<D>(None)?.root;
    case.rename();
    alike::<D>(&program, &case.draw::<D>(None)?.root)
}

pub(crate) fn ignored_fields_are_invisible<D: Drawing>(bytes: &[u8]) -> Result<(), String> {
    let mut case = Case::of(bytes);
    let program = case.draw::<D>(None)?.root;
    case.ignored = random_bytes(1 << 40, case.ignored.len());
    alike::<D>(&program, &case.draw::<D>(None)?.root)
}

pub(crate) fn edits_are_found<D: Drawing>(bytes: &[u8]) -> Result<(), String> {
    let case = Case::of(bytes);
    let DrawnProgram {
        root,
        made: objects,
    } = case.draw::<D>(None)?;
    let edits = edits(&root, &objects).map_err(setup)?;
    if edits.is_empty() {
        return Ok(());
    }
    let edit = one_of(&edits, bytes);
    let edited = case.draw::<D>(Some(edit))?;
    let (left, right) = (&objects[edit.number], &edited.made[edit.number]);
    let fail = |what: String| {
        let what = format!("{what}, after {}", described(edit, left));
        Err(account(&what, &root, &edited.root))
    };
    for &way in D::WAYS {
        let answer = way.equal(&root, &edited.root);
        if !matches!(answer, Ok(false)) {
            return fail(format!("comparison says {answer:?} with {way:?}"));
        }
        if let Err(what) = differ(&root, &edited.root, way) {
            return fail(what);
        }
        match way.first_mismatch(&root, &edited.root) {
            Ok(Some((path, other)))
                if leads_to(&root, &path, left) || leads_to(&edited.root, &other, right) => {}
            other => return fail(format!("the mismatch is {other:?} with {way:?}")),
        }
    }
    Ok(())
}

/// One of the possible changes.
pub(crate) fn one_of<'e>(edits: &'e [Edit], bytes: &[u8]) -> &'e Edit {
    let mut source = Source::new(bytes);
    let choice = source.below(256) << 8 | source.below(256);
    &edits[choice % edits.len()]
}

/// Different programs have different hashes and digests. Editing a program may have
/// introduced free variables; then it has no digest.
fn differ(left: &Value, right: &Value, way: CompareOptions) -> Result<(), String> {
    let hash = |value| way.hash(value).map_err(|error| error.to_string());
    if hash(left)? == hash(right)? {
        return Err(format!("the hash stays the same with {way:?}"));
    }
    let digest = |value| way.digest(value);
    match (digest(left), digest(right)) {
        (Ok(one), Ok(other)) if one == other => {
            Err(format!("the digest stays the same with {way:?}"))
        }
        (Ok(_), Err(error)) if way.map_free_vars || error.kind() != ErrorKind::Value => {
            Err(format!("no digest with {way:?}: {error}"))
        }
        (Err(error), _) => Err(format!("no digest with {way:?}: {error}")),
        _ => Ok(()),
    }
}

/// The engine returns the oracle's results, at the same place, on a program and a
/// derived program: with other names, with one change, with other variables at one
/// place, or a different program altogether.
pub(crate) fn engine_is_the_oracle<D: Drawing>(bytes: &[u8]) -> Result<(), String> {
    let mut case = Case::of(bytes);
    let DrawnProgram {
        root: left,
        made: objects,
    } = case.draw::<D>(None)?;
    let mut source = Source::new(bytes);
    let changes = match source.below(4) {
        0 => Vec::new(),
        1 => edits(&left, &objects).map_err(setup)?,
        _ => swaps(&left, &objects),
    };
    let change = (!changes.is_empty()).then(|| one_of(&changes, bytes));
    case.rename();
    if change.is_none() && source.chance(50) {
        case.main.reverse();
    }
    let right = case.draw::<D>(change)?.root;
    if weight(&left, ORACLE_LIMIT) == ORACLE_LIMIT || weight(&right, ORACLE_LIMIT) == ORACLE_LIMIT {
        return Ok(());
    }
    for &way in D::WAYS {
        let judge = match oracle::first_mismatch(&left, &right, way) {
            Err(error) if error.kind() == ErrorKind::Recursion => return Ok(()),
            judge => judge.map_err(setup)?,
        };
        let mismatch = way.first_mismatch(&left, &right);
        let agree = match (&judge, &mismatch) {
            (None, Ok(None)) => true,
            (Some(expected), Ok(Some(paths))) => same_place(paths, expected),
            _ => false,
        };
        if !agree {
            let what = format!("the oracle says {judge:?}, the engine {mismatch:?}, with {way:?}");
            return Err(account(&what, &left, &right));
        }
        match judge {
            None => alike::<D>(&left, &right)?,
            Some(_) => differ(&left, &right, way).map_err(|what| account(&what, &left, &right))?,
        }
    }
    Ok(())
}

/// A program that is rebuilt with fresh variables, with its maps in another
/// order, or with a copy of every node at every place is the same program.
pub(crate) fn rebuilding_is_invisible<D: Drawing>(bytes: &[u8]) -> Result<(), String> {
    let program = Case::of(bytes).draw::<D>(None)?.root;
    if weight(&program, ORACLE_LIMIT) == ORACLE_LIMIT {
        return Ok(());
    }
    let mut source = Source::new(bytes);
    for &way in D::WAYS {
        let rebuilt = [
            rename(&program, way, &mut source),
            reorder(&program, way, &mut source),
            unshare(&program, way),
        ];
        for other in rebuilt {
            match other {
                Err(error) if error.kind() == ErrorKind::Recursion => return Ok(()),
                other => alike::<D>(&program, &other.map_err(setup)?)?,
            }
        }
    }
    Ok(())
}

/// Two parts of one program have the same hash exactly if they are equal, in either
/// way, whichever variables are free in them.
pub(crate) fn equal_parts_share_hashes<D: Drawing>(bytes: &[u8]) -> Result<(), String> {
    const PARTS: usize = 24;
    let DrawnProgram { made: objects, .. } = Case::of(bytes).draw::<D>(None)?;
    let last = objects.len().saturating_sub(PARTS);
    let parts: Vec<Value> = objects[last..].iter().map(Value::from).collect();
    for map_free_vars in [false, true] {
        let way = CompareOptions {
            map_free_vars,
            ..CompareOptions::default()
        };
        let hashes: Vec<u64> = parts
            .iter()
            .map(|part| way.hash(part))
            .collect::<Result<_>>()
            .map_err(setup)?;
        for (left_index, left) in parts.iter().enumerate() {
            for (right_index, right) in parts.iter().enumerate().skip(left_index) {
                let equal = way.equal(left, right).map_err(setup)?;
                if equal != (hashes[left_index] == hashes[right_index])
                    || (left_index == right_index && !equal)
                {
                    let what = format!("equal is {equal}, the hashes say otherwise, with {way:?}");
                    return Err(account(&what, left, right));
                }
            }
        }
    }
    Ok(())
}

pub(crate) fn described(edit: &Edit, object: &Ref<Obj>) -> String {
    let info = object.type_info();
    let field = info.fields()[edit.field].name();
    format!("setting {}.{field} to {:?}", info.key(), edit.value)
}

/// True if a path goes through an object, or ends earlier: at a key containing the
/// object, or inside a node with a comparison in code, which names parts in its own
/// way.
pub(crate) fn leads_to(root: &Value, path: &AccessPath, object: &Ref<Obj>) -> bool {
    let is_object = |value: &Value| {
        let there = value.as_object().map(Ref::identity);
        there == Some(object.identity())
    };
    let mut value = root.clone();
    for step in path.steps() {
        if is_object(&value) {
            return true;
        }
        if let AccessStep::MapItem(key) | AccessStep::MapItemMissing(key) = step
            && is_below(key, object)
        {
            return true;
        }
        match AccessPath::from_steps(vec![step.clone()]).get(&value) {
            Ok(next) => value = next,
            Err(_) => {
                let is_code = match value.view() {
                    ValueRef::Object(node) => node.type_info().has_structural_hooks(),
                    // The parts of this node, listed in its own order.
                    ValueRef::Map(_) | ValueRef::Dict(_) => true,
                    _ => false,
                };
                return is_code && is_below(&value, object);
            }
        }
    }
    is_object(&value)
        || matches!(value.view(), ValueRef::Map(_) | ValueRef::Dict(_)) && is_below(&value, object)
}
