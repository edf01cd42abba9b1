//! The printer's view of a value: nodes after their parts, with the text of all values
//! without parts.
//!
//! The JSON graph and the binary form encode the same list.

use hashbrown::HashMap;

use super::options::{TensorText, TextOptions};
use super::{spelling, tensor};
use crate::attrs::{self, Lookup};
use crate::files::json;
use crate::files::linearize::{Sink, linearize};
use crate::kernel::container::{ContainerType, Tensor};
use crate::kernel::error::{Error, Result};
use crate::kernel::object::access::{self, Section};
use crate::kernel::object::table::TypeInfo;
use crate::kernel::object::view::{Loaded, ObjRef};
use crate::kernel::pages::empty;
use crate::kernel::spell;
use crate::kernel::types::names::name_field;
use crate::kernel::types::{FieldFlag, Kind, global_function};
use crate::kernel::value::{Value, ValueRef};

/// The type attribute of members of enums, whose name gives the one member when it is read:
/// true, or a map from the data of members to their names.
const TEXT_MEMBER: &str = "text.member";

/// A value as nodes; the last node is the value itself.
pub(super) struct Graph<'o> {
    options: &'o TextOptions,
    /// The number of parts for which there is room.
    room: usize,
    tables: Tables,
    pub(super) tensors: Vec<Tensor>,
    pub(super) types: Vec<TypeText>,
    /// Positions in `types`, plus one, by type index.
    known_types: Vec<u32>,
    /// The preferred names of nodes.
    pub(super) hints: HashMap<u32, Value, rapidhash::fast::RandomState>,
    /// Texts of comments, by node.
    pub(super) comments: HashMap<u32, u32, rapidhash::fast::RandomState>,
}

/// The nodes, their parts and their texts.
#[derive(Default)]
pub(super) struct Tables {
    nodes: Vec<Node>,
    parts: Vec<Part>,
    /// The concatenated texts, and the end of each text.
    pool: String,
    ends: Vec<usize>,
}

pub(super) struct Node {
    pub(super) what: NodeKind,
    first: usize,
    pub(super) count: u32,
    /// The number of parts before the definitions of a block.
    pub(super) header: u32,
}

/// The kind of a node; numbers are positions in the tables of the graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NodeKind {
    /// The text of a plain value, the same everywhere.
    Leaf(u32),
    /// The text of an object with identity.
    Whole(u32),
    /// A tensor too large for an early copy into a text.
    Tensor(u32),
    /// An array or a list.
    Sequence(&'static str),
    /// A map or a dict: keys and values in turn.
    Mapping(&'static str),
    /// An object of a type.
    Object(u32),
}

/// A part of a node.
#[derive(Clone, Copy)]
pub(super) struct Part {
    /// The field, for a part of an object; otherwise unused.
    pub(super) field: u32,
    pub(super) presence: Presence,
    pub(super) item: Item,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Presence {
    Always,
    /// Left out unless another node refers to the part: the default is like the part.
    UnlessShared,
    /// The field naming the object; left out if the name says the same.
    UnlessNamed,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Item {
    Node(u32),
    /// A text in the object itself.
    Text(u32),
}

/// The printer's information about a type.
pub(super) struct TypeText {
    pub(super) info: &'static TypeInfo,
    /// The type key and the parenthesis.
    pub(super) head: String,
    pub(super) fields: Vec<FieldText>,
    /// The fields in the order of print.
    order: Vec<u32>,
    name_field: Option<usize>,
}

pub(super) struct FieldText {
    /// The name as printed.
    pub(super) name: String,
    pub(super) flag: FieldFlag,
    is_hidden: bool,
    /// The position among the parts of an object, except for an inline field.
    part: Option<u32>,
    default: Option<Value>,
}

/// The nodes of a value, in empty tables.
///
/// # Errors
///
/// As [`to_text`](super::to_text).
pub(super) fn collect<'o>(
    value: &Value,
    options: &'o TextOptions,
    tables: Tables,
) -> Result<Graph<'o>> {
    let mut graph = Graph {
        options,
        room: options.parts,
        tables,
        tensors: Vec::new(),
        types: Vec::new(),
        known_types: Vec::new(),
        hints: HashMap::default(),
        comments: HashMap::default(),
    };
    linearize(value, &mut graph)?;
    Ok(graph)
}

impl Graph<'_> {
    pub(super) fn options(&self) -> &TextOptions {
        self.options
    }

    /// The tables, emptied, for the next text.
    pub(super) fn into_tables(self) -> Tables {
        let mut tables = self.tables;
        empty(&mut tables.nodes);
        empty(&mut tables.parts);
        empty(&mut tables.ends);
        let mut pool = tables.pool.into_bytes();
        empty(&mut pool);
        tables.pool = String::from_utf8(pool).unwrap_or_default();
        tables
    }

    /// The number of nodes.
    pub(super) fn len(&self) -> usize {
        self.tables.nodes.len()
    }

    /// The number of the value itself.
    pub(super) fn root(&self) -> u32 {
        self.len().saturating_sub(1) as u32
    }

    pub(super) fn node(&self, number: u32) -> &Node {
        &self.tables.nodes[number as usize]
    }

    pub(super) fn parts_of(&self, number: u32) -> &[Part] {
        let node = self.node(number);
        &self.tables.parts[node.first..node.first + node.count as usize]
    }

    pub(super) fn text(&self, number: u32) -> &str {
        let number = number as usize;
        let start = number
            .checked_sub(1)
            .map_or(0, |before| self.tables.ends[before]);
        &self.tables.pool[start..self.tables.ends[number]]
    }

    pub(super) fn type_of(&self, number: u32) -> Option<&TypeText> {
        match self.node(number).what {
            NodeKind::Object(ty) => Some(&self.types[ty as usize]),
            _ => None,
        }
    }

    pub(super) fn is_singleton(&self, number: u32) -> bool {
        self.type_of(number)
            .is_some_and(|ty| ty.kind() == Kind::Singleton)
    }

    /// True if a tensor belongs to the section after the text.
    pub(super) fn is_constant(&self, what: NodeKind) -> bool {
        matches!(what, NodeKind::Tensor(_)) && self.options.tensors == TensorText::Section
    }

    /// Ends the text just written to the pool.
    fn end_text(&mut self) -> Result<u32> {
        let Ok(number) = u32::try_from(self.tables.ends.len()) else {
            return Err(Error::value_error(format!(
                "expected a value of at most {} fields",
                u32::MAX
            )));
        };
        self.tables.ends.push(self.tables.pool.len());
        Ok(number)
    }

    fn leaf(&mut self, what: fn(u32) -> NodeKind) -> Result<()> {
        let text = self.end_text()?;
        self.push(what(text), self.tables.parts.len(), 0);
        Ok(())
    }

    fn push(&mut self, what: NodeKind, first: usize, header: u32) {
        self.tables.nodes.push(Node {
            what,
            first,
            count: (self.tables.parts.len() - first) as u32,
            header,
        });
    }

    fn type_text(&mut self, section: &mut Section, info: &'static TypeInfo) -> u32 {
        let index = info.index().get() as usize;
        match self.known_types.get(index) {
            Some(&known) if known > 0 => known - 1,
            _ => self.new_type(section, info, index),
        }
    }

    #[cold]
    fn new_type(&mut self, section: &mut Section, info: &'static TypeInfo, index: usize) -> u32 {
        let ty = TypeText::new(section, info, self.options);
        self.types.push(ty);
        if self.known_types.len() <= index {
            self.known_types.resize(index + 1, 0);
        }
        self.known_types[index] = self.types.len() as u32;
        self.types.len() as u32 - 1
    }

    fn annotate(&mut self, section: &mut Section, object: ObjRef<'_>, number: u32) -> Result<()> {
        if !self.options.has_annotations() {
            return Ok(());
        }
        let options = self.options;
        let comment = access::outside(section, || options.annotation_of(object.as_ref()))?;
        if let Some(comment) = comment.filter(|comment| !comment.is_empty()) {
            self.tables.pool.push_str(&spelling::comment_text(&comment));
            let text = self.end_text()?;
            self.comments.insert(number, text);
        }
        Ok(())
    }
}

impl Sink for Graph<'_> {
    const IS_LIMITED: bool = true;

    fn is_full(&mut self) -> bool {
        let is_full = self.room == 0;
        self.room = self.room.saturating_sub(1);
        is_full
    }

    fn ellipsis(&mut self) -> Result<()> {
        self.tables.pool.push_str(spelling::ELLIPSIS);
        self.leaf(NodeKind::Leaf)
    }

    fn plain(&mut self, value: ValueRef<'_>) -> Result<()> {
        let is_limited = self.options.parts != usize::MAX;
        if is_limited && spelling::push_beginning(value, &mut self.tables.pool) {
            return self.leaf(NodeKind::Leaf);
        }
        if let ValueRef::Tensor(tensor) = value {
            let is_small = !tensor::is_large(tensor);
            if is_small || self.options.tensors == TensorText::Abbreviated {
                tensor::push(tensor, is_small, &mut self.tables.pool)?;
                return self.leaf(NodeKind::Whole);
            }
            let number = self.tensors.len() as u32;
            self.tensors.push(tensor.clone());
            self.push(NodeKind::Tensor(number), self.tables.parts.len(), 0);
            return Ok(());
        }
        if !spelling::push_plain(value, &mut self.tables.pool)? {
            return Err(Error::type_error("expected a value without parts"));
        }
        match value {
            ValueRef::Shape(_) => self.leaf(NodeKind::Whole),
            _ => self.leaf(NodeKind::Leaf),
        }
    }

    fn container(&mut self, container: &ContainerType, parts: &[u32], _number: u32) {
        let first = self.tables.parts.len();
        self.tables.parts.extend(parts.iter().map(|&part| Part {
            field: 0,
            presence: Presence::Always,
            item: Item::Node(part),
        }));
        let [open, _] = container.text;
        let what = if container.is_mapping() {
            NodeKind::Mapping(open)
        } else {
            NodeKind::Sequence(open)
        };
        self.push(what, first, 0);
    }

    fn object(
        &mut self,
        section: &mut Section,
        object: ObjRef<'_>,
        parts: &[u32],
        number: u32,
    ) -> Result<()> {
        self.annotate(section, object, number)?;
        let type_number = self.type_text(section, object.info());
        // Taken out for the duration of the loop, which writes texts.
        let ty = std::mem::replace(
            &mut self.types[type_number as usize],
            TypeText::empty(object.info()),
        );
        let first = self.tables.parts.len();
        let written = self.fields(section, object, parts, number, &ty);
        self.types[type_number as usize] = ty;
        let header = written?;
        self.push(NodeKind::Object(type_number), first, header);
        Ok(())
    }

    fn hooked(&mut self, info: &'static TypeInfo, data: &Value) -> Result<()> {
        spelling::push_key(info.key(), &mut self.tables.pool);
        self.tables.pool.push('!');
        let names = attrs::get(info.index(), TEXT_MEMBER, Lookup::Exact);
        let name = names.and_then(|names| names.as_map());
        let name = name.and_then(|names| names.get(data.clone()).cloned());
        json::write_data(name.as_ref().unwrap_or(data), &mut self.tables.pool)?;
        // All uses of a member can show the name.
        self.leaf(match names {
            Some(_) => NodeKind::Leaf,
            None => NodeKind::Whole,
        })
    }

    fn other(&mut self, value: &Value) -> Result<bool> {
        if let ValueRef::Function(function) = value.view()
            && let Some(name) = function.name()
            && let Ok(global) = global_function(name)
            && Value::from(global).words() == value.words()
        {
            self.tables.pool.push_str(spelling::FUNCTION);
            self.tables.pool.push('(');
            spell::string(name, &mut self.tables.pool);
            self.tables.pool.push(')');
        } else if self.options.placeholders {
            self.tables.pool.push('<');
            self.tables.pool.push_str(value.type_name());
            self.tables.pool.push('>');
        } else if let ValueRef::Function(function) = value.view() {
            let which = match function.name() {
                Some(name) => format!("'{name}', which is registered under no global name"),
                None => "one without a name".to_owned(),
            };
            return Err(Error::type_error(format!(
                "expected a function that is registered under its name, got {which}"
            )));
        } else {
            return Ok(false);
        }
        self.leaf(NodeKind::Leaf)?;
        Ok(true)
    }
}

impl Graph<'_> {
    /// Adds the parts of an object; returns the number of parts in the object's header.
    fn fields(
        &mut self,
        section: &Section,
        object: ObjRef<'_>,
        parts: &[u32],
        number: u32,
        ty: &TypeText,
    ) -> Result<u32> {
        let fields = object.all_fields();
        let mut header = 0;
        for &position in &ty.order {
            let field = &ty.fields[position as usize];
            let Some((_, loaded)) = fields.get(section, position as usize) else {
                continue;
            };
            let is_name = ty.name_field == Some(position as usize);
            // A hidden name still names the object.
            if is_name
                && let Loaded::Value(value) = loaded
                && value.is_str()
            {
                self.hints.insert(number, Value::clone(&value));
            }
            let is_forced = self.options.shows(object, position);
            if field.is_hidden && !is_forced {
                continue;
            }
            let mut presence = Presence::Always;
            if is_forced {
                // A picture exists to show this.
            } else if is_name {
                presence = Presence::UnlessNamed;
            } else if let Some(default) = &field.default {
                match compare(section, loaded, default) {
                    DefaultMatch::Same => continue,
                    DefaultMatch::BothFresh => presence = Presence::UnlessShared,
                    DefaultMatch::Different => {}
                }
            }
            let item = match field.part {
                Some(part) => match parts.get(part as usize) {
                    Some(&node) => Item::Node(node),
                    None => continue,
                },
                None => {
                    match loaded {
                        Loaded::Int(number) => {
                            self.tables
                                .pool
                                .push_str(itoa::Buffer::new().format(number));
                        }
                        Loaded::Float(number) => spell::float(number, &mut self.tables.pool),
                        Loaded::Bool(flag) => self.tables.pool.push_str(spell::bool_text(flag)),
                        Loaded::DType(dtype) => spelling::push_dtype(dtype, &mut self.tables.pool)?,
                        Loaded::Value(_) | Loaded::Object(_) | Loaded::None => continue,
                    }
                    Item::Text(self.end_text()?)
                }
            };
            header += u32::from(ty.is_definition(field));
            self.tables.parts.push(Part {
                field: position,
                presence,
                item,
            });
        }
        Ok(header)
    }
}

enum DefaultMatch {
    Same,
    /// Two objects with the content of the default: empty containers, or
    /// objects whose fields hold plain values and empty containers.
    BothFresh,
    Different,
}

/// Compares the contents of a field with the default.
fn compare(section: &Section, loaded: Loaded<'_, '_>, default: &Value) -> DefaultMatch {
    let same = match loaded {
        Loaded::Int(number) => default.as_int() == Some(number),
        Loaded::Bool(flag) => default.as_bool() == Some(flag),
        Loaded::DType(dtype) => default.as_dtype() == Some(dtype),
        Loaded::None => default.is_none(),
        Loaded::Float(number) => Value::from(number) == *default,
        Loaded::Value(value) => match default.as_object() {
            Some(_) if !default.is_str() => return both_fresh(section, &value, default),
            _ => *value == *default,
        },
        Loaded::Object(object) => {
            return both_fresh(section, &Value::from_object(object.to_ref()), default);
        }
    };
    if same {
        DefaultMatch::Same
    } else {
        DefaultMatch::Different
    }
}

/// Compares an object with the default, if neither is part of the other.
fn both_fresh(section: &Section, value: &Value, default: &Value) -> DefaultMatch {
    match (both_empty(value, default), value.view(), default.view()) {
        (false, ValueRef::Object(object), ValueRef::Object(default)) => {
            if have_like_fields(section, object.borrowed(), default.borrowed()) {
                DefaultMatch::BothFresh
            } else {
                DefaultMatch::Different
            }
        }
        (true, ..) => DefaultMatch::BothFresh,
        (false, ..) => DefaultMatch::Different,
    }
}

fn both_empty(value: &Value, default: &Value) -> bool {
    let empty = emptiness(value);
    empty.is_some() && empty == emptiness(default)
}

/// True if two objects of one type hold the same plain values and empty containers.
/// False for objects that hold other objects, so the function does not recurse.
fn have_like_fields(section: &Section, one: ObjRef<'_>, other: ObjRef<'_>) -> bool {
    // Objects of all other kinds have their own names in a text.
    let is_tree = matches!(one.info().kind(), Kind::Tree | Kind::ConstTree | Kind::None);
    if one.type_index() != other.type_index() || !is_tree {
        return false;
    }
    let (fields, others) = (one.all_fields(), other.all_fields());
    (0..fields.len()).all(|position| {
        let (Some((_, field)), Some((_, other))) =
            (fields.get(section, position), others.get(section, position))
        else {
            return false;
        };
        let (field, other) = (field.to_value(), other.to_value());
        match field.as_object() {
            Some(_) if !field.is_str() => both_empty(&field, &other),
            _ => field == other,
        }
    })
}

/// The type of an empty container.
fn emptiness(value: &Value) -> Option<&'static ContainerType> {
    let is_empty = value.contents()?.is_empty();
    value.container().filter(|_| is_empty)
}

impl TypeText {
    fn new(section: &mut Section, info: &'static TypeInfo, options: &TextOptions) -> Self {
        let mut head = String::new();
        spelling::push_key(info.key(), &mut head);
        head.push('(');
        let name_field = name_field(info);
        let mut parts = 0..;
        let fields: Vec<FieldText> = info
            .fields()
            .iter()
            .zip(&info.slots)
            .map(|(field, slot)| {
                let mut name = String::new();
                spelling::push_field(field.name(), &mut name);
                let is_ignored = slot.flag == FieldFlag::Ignore && !options.ignored_fields;
                FieldText {
                    name,
                    flag: slot.flag,
                    is_hidden: is_ignored || options.hides(field),
                    part: if slot.storage.inline().is_some() {
                        None
                    } else {
                        parts.next()
                    },
                    default: if options.defaults {
                        None
                    } else {
                        // A changing default is not left out.
                        access::outside(section, || {
                            Some((field.make_default()?, field.make_default()?))
                        })
                        .and_then(|(first, again)| {
                            is_reproducible(section, &first, &again).then_some(first)
                        })
                    },
                }
            })
            .collect();
        let mut order: Vec<u32> = info
            .visited_and_ignored
            .iter()
            .map(|slot| slot.field)
            .collect();
        if info.is_scope() {
            // Definitions come before their block.
            order.sort_by_key(|&field| !defines(fields[field as usize].flag));
        }
        TypeText {
            info,
            head,
            fields,
            order,
            name_field,
        }
    }

    fn empty(info: &'static TypeInfo) -> Self {
        TypeText {
            info,
            head: String::new(),
            fields: Vec::new(),
            order: Vec::new(),
            name_field: None,
        }
    }

    /// True if a field is in the header of a block.
    fn is_definition(&self, field: &FieldText) -> bool {
        self.info.is_scope() && defines(field.flag)
    }

    pub(super) fn kind(&self) -> Kind {
        self.info.kind()
    }
}

fn defines(flag: FieldFlag) -> bool {
    matches!(flag, FieldFlag::Def | FieldFlag::DefSimple)
}

fn is_reproducible(section: &Section, first: &Value, again: &Value) -> bool {
    match first.as_object() {
        Some(_) if !first.is_str() => {
            matches!(both_fresh(section, first, again), DefaultMatch::BothFresh)
        }
        _ => first == again,
    }
}
