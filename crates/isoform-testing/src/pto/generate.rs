//! The state of drawing a program, and the construction of its nodes.

use super::super::program::{Edit, Maker, Streams};
use super::super::source::Source;
use super::known::{Frame, Signature, Ty};
use isoform::objects::construct;
use isoform::types::{FieldFlag, NodeEnum, Schema, TypeIndex};
use isoform::{Array, Error, Node, Obj, Ref, Result, Value, host};
use isoform_pto as pto;
use isoform_pto::Span;

/// Draws a program; all parts of the program may share nodes.
pub(super) struct Generator<'a> {
    maker: Maker<'a>,
    pub(super) main: Source<'a>,
    hints: Source<'a>,
    ignored: Source<'a>,
    /// The number of nodes that may still be drawn freely.
    pub(super) budget: usize,
    spans: Vec<Value>,
    /// Types without variables.
    pub(super) types: Vec<Ty>,
    /// Literals that are sizes.
    pub(super) sizes: Vec<Ref<Obj>>,
    pub(super) ops: Vec<Ref<Obj>>,
    pub(super) signatures: Vec<Signature>,
    pub(super) frame: Frame,
}

impl<'a> Generator<'a> {
    pub(super) fn new(streams: Streams<'a>, edit: Option<&'a Edit>) -> Result<Self> {
        pto::register()?;
        Ok(Generator {
            maker: Maker::new(edit),
            main: Source::new(streams.main),
            hints: Source::new(streams.hints),
            ignored: Source::new(streams.ignored),
            budget: 0,
            spans: Vec::new(),
            types: Vec::new(),
            sizes: Vec::new(),
            ops: Vec::new(),
            signatures: Vec::new(),
            frame: Frame::default(),
        })
    }

    /// The objects in order of construction.
    pub(super) fn into_made(self) -> Vec<Ref<Obj>> {
        self.maker.made
    }

    /// True if only required nodes are drawn from here on.
    pub(super) fn is_over(&self, depth: usize) -> bool {
        depth == 0 || self.budget == 0
    }

    /// Picks one of the 100 most recent items.
    pub(super) fn late<'i, T>(&mut self, items: &'i [T]) -> &'i T {
        let recent = &items[items.len().saturating_sub(100)..];
        self.main.pick(recent)
    }

    /// A new node of a class.
    pub(super) fn node<T: Node>(&mut self, fields: Vec<(&str, Value)>) -> Result<Ref<Obj>> {
        self.node_of(T::type_index(), fields)
    }

    /// A new node of a class: the missing fields are drawn if comparison ignores them,
    /// and get their defaults otherwise.
    pub(super) fn node_of(
        &mut self,
        class: TypeIndex,
        mut fields: Vec<(&str, Value)>,
    ) -> Result<Ref<Obj>> {
        self.budget = self.budget.saturating_sub(1);
        let info = host::type_info(class);
        let values = info
            .fields()
            .iter()
            .map(|field| {
                let name = field.name();
                if let Some(position) = fields.iter().position(|(other, _)| *other == name) {
                    return Ok(fields.swap_remove(position).1);
                }
                if field.field_flag() == FieldFlag::Ignore {
                    return match field.schema() {
                        Schema::Str => Ok(self.hint()),
                        Schema::Array(_) => Ok(self.comments()),
                        _ => self.span(),
                    };
                }
                field.make_default().ok_or_else(|| {
                    let key = info.key();
                    Error::value_error(format!("{key}.{name}: expected a value, got none"))
                })
            })
            .collect::<Result<_>>()?;
        if let Some((name, _)) = fields.first() {
            let key = info.key();
            return Err(Error::value_error(format!("{key}: no field '{name}'")));
        }
        self.maker.make(class, values)
    }

    /// A name that is only a hint.
    fn hint(&mut self) -> Value {
        let names = [
            "x",
            "y",
            "",
            "tile_0",
            "0 odd \"name\"",
            "more than fourteen bytes",
        ];
        Value::from(*self.hints.pick(&names))
    }

    /// The comments before a statement, usually none.
    fn comments(&mut self) -> Value {
        if !self.ignored.chance(10) {
            return Array::<Value>::new().into();
        }
        let lines = ["# again", "over rows,\nthen over columns", ""];
        let count = 1 + self.ignored.below(2);
        let drawn = (0..count).map(|_| Value::from(*self.ignored.pick(&lines)));
        drawn.collect::<Array>().into()
    }

    /// A place in a source text: unknown, used before, or new.
    fn span(&mut self) -> Result<Value> {
        match self.ignored.below(4) {
            0 => return Ok(Span::unknown().into()),
            1 if !self.spans.is_empty() => return Ok(self.ignored.pick(&self.spans).clone()),
            _ => {}
        }
        let file = Value::from(*self.ignored.pick(&["a.py", "kernels/matmul.py"]));
        let [line, column, rows] = [(); 3].map(|()| self.ignored.below(99) as i64);
        let values = [line + 1, column + 1, line + rows + 1, -1].map(Value::from);
        let values = std::iter::once(file).chain(values).collect();
        let span = Value::from(construct(Span::type_index(), values)?);
        self.spans.push(span.clone());
        Ok(span)
    }

    /// A member of an enum.
    pub(super) fn member<E: NodeEnum>(&mut self) -> Value {
        self.main.pick(E::MEMBERS).object().into()
    }

    /// A member of an enum, or None.
    pub(super) fn optional_member<E: NodeEnum>(&mut self) -> Value {
        if self.main.chance(50) {
            self.member::<E>()
        } else {
            Value::NONE
        }
    }
}
