//! Draws objects by the schemas of their fields.

use std::collections::HashMap;

use super::super::generate::tensor;
use super::super::program::{Edit, Maker, Streams};
use super::super::source::Source;
use super::classes::{Class, Classes};
use super::typing::{self, Typing};
use isoform::functions::global_function;
use isoform::objects::construct;
use isoform::types::{FieldDef, FieldFlag, Schema, TypeIndex, TypeInfo};
use isoform::values::{DType, Dict, List, Tensor};
use isoform::{Array, Error, Map, Node, Obj, Ref, Result, Value, host};
use isoform_ir::ir::{DiagnosticLevel, PrimExpr, TypeKind};

/// The nesting of a drawn value; reused values are deeper.
const DEPTH: usize = 8;

/// The approximate number of nodes of one function of a module.
const FUNCTION: usize = 40;

/// The nesting of parts that comparison ignores.
const IGNORED_DEPTH: usize = 2;

/// Reusable objects, by the types of the places that accept them, and for expressions
/// by the data type.
#[derive(Default)]
struct Pool {
    objects: HashMap<(TypeIndex, Option<DType>), Vec<Ref<Obj>>>,
}

impl Pool {
    fn add(&mut self, info: &TypeInfo, dtype: Option<DType>, object: &Ref<Obj>) {
        for ancestor in info.lineage() {
            let mut add = |dtype| {
                let known = self.objects.entry((ancestor, dtype)).or_default();
                known.push(object.clone());
            };
            add(None);
            if dtype.is_some() {
                add(dtype);
            }
        }
    }

    fn pick(
        &self,
        ty: TypeIndex,
        dtype: Option<DType>,
        source: &mut Source<'_>,
    ) -> Option<Ref<Obj>> {
        let known = self.objects.get(&(ty, dtype))?;
        // Newer objects are used more often, however many exist.
        let recent = &known[known.len().saturating_sub(200)..];
        Some(source.pick(recent).clone())
    }
}

/// Draws values; all values of a generator share nodes.
pub(super) struct Generator<'a> {
    classes: &'static Classes,
    main: Source<'a>,
    hints: Source<'a>,
    ignored: Source<'a>,
    /// Inside a field that comparison ignores.
    is_ignored: bool,
    pool: Pool,
    ignored_pool: Pool,
    /// The number of nodes that may still be drawn freely.
    budget: usize,
    pub(super) maker: Maker<'a>,
}

impl<'a> Generator<'a> {
    pub(super) fn new(streams: Streams<'a>, edit: Option<&'a Edit>) -> Result<Self> {
        Ok(Generator {
            classes: Classes::get()?,
            main: Source::new(streams.main),
            hints: Source::new(streams.hints),
            ignored: Source::new(streams.ignored),
            is_ignored: false,
            pool: Pool::default(),
            ignored_pool: Pool::default(),
            budget: 0,
            maker: Maker::new(edit),
        })
    }

    /// A module of about this many nodes.
    pub(super) fn module(&mut self, size: usize) -> Result<Ref<Obj>> {
        let [func, type_data, attrs] =
            ["ir.BaseFunc", "ir.TypeData", "ir.DictAttrs"].map(Schema::named);
        let info = |key: &str| {
            isoform::types::find_type(key)
                .ok_or_else(|| Error::type_error(format!("{key}: no such type")))
        };
        let (var_class, definition_class) = (info("ir.GlobalVar")?, info("ir.GlobalTypeVar")?);
        self.budget = size;
        // Global names are drawn first, to let every function call every other
        // function.
        let mut names = Vec::new();
        for _ in 0..size / FUNCTION + 1 {
            names.push(Value::from(self.node(var_class, None, DEPTH)?));
        }
        let mut types = Vec::new();
        for _ in 0..self.main.below(3) {
            self.budget = FUNCTION.min(size);
            let header = self.node(definition_class, None, DEPTH)?;
            types.push((Value::from(header), self.value(&type_data, None, DEPTH)?));
        }
        let mut functions = Vec::new();
        for name in names {
            self.budget = FUNCTION.min(size);
            functions.push((name, self.value(&func, None, DEPTH)?));
        }
        self.budget = FUNCTION.min(size);
        let attrs = match size {
            0 => Value::NONE,
            _ => self.value(&attrs, None, DEPTH)?,
        };
        let module = info("ir.IRModule")?;
        let values = module
            .fields()
            .iter()
            .map(|field| match field.name() {
                "functions" => Ok(functions.iter().cloned().collect::<Dict>().into()),
                "type_definitions" => Ok(types.iter().cloned().collect::<Dict>().into()),
                "attrs" => Ok(attrs.clone()),
                _ => self.field(module, field, None, DEPTH),
            })
            .collect::<Result<_>>()?;
        self.make(module, None, values)
    }

    /// Nodes of all incomparable classes.
    pub(super) fn incomparable(&mut self) -> Result<Value> {
        self.budget = 4 * FUNCTION;
        let nodes: Vec<Value> = self
            .classes
            .incomparable
            .iter()
            .map(|class| Ok(self.node(class.info, None, DEPTH)?.into()))
            .collect::<Result<_>>()?;
        Ok(nodes.into())
    }

    /// The source of choices at this place.
    fn source(&mut self) -> &mut Source<'a> {
        if self.is_ignored {
            &mut self.ignored
        } else {
            &mut self.main
        }
    }

    /// True if only required nodes are drawn from here on.
    fn is_over(&self, depth: usize) -> bool {
        depth == 0 || self.budget == 0
    }

    /// A value that a place accepts; an expression has the requested data type.
    fn value(&mut self, schema: &Schema, want: Option<DType>, depth: usize) -> Result<Value> {
        let below = depth.saturating_sub(1);
        Ok(match schema {
            Schema::Any => return self.anything(depth),
            Schema::None => Value::NONE,
            Schema::Bool => Value::from(self.source().chance(50)),
            Schema::Int => {
                let numbers = [0, 1, 2, -1, 7, 1 << 40, i64::MAX, i64::MIN];
                Value::from(*self.source().pick(&numbers))
            }
            Schema::Float => {
                let numbers = [0.0, 1.0, -0.0, 0.1, -2.5e-310, f64::INFINITY, f64::NAN];
                Value::from(*self.source().pick(&numbers))
            }
            Schema::Str => self.text(),
            Schema::Bytes => {
                let texts: [&[u8]; 3] = [b"", b"a", b"more than fourteen bytes"];
                Value::from(*self.source().pick(&texts))
            }
            Schema::DType => Value::from(typing::draw(self.source())),
            Schema::Device => Value::from(isoform::values::Device::new(
                2,
                self.source().below(3) as u32,
            )),
            Schema::Object(ty) => {
                let ty = ty.index().ok_or_else(|| unknown(schema))?;
                return Ok(self.object(ty, want, depth)?.into());
            }
            Schema::Optional(inner) => {
                if self.is_over(depth) || self.source().chance(50) {
                    return Ok(Value::NONE);
                }
                return self.value(inner, want, depth);
            }
            Schema::Union(choices) => {
                let choice = self.source().below(choices.len());
                return self.value(&choices[choice], want, depth);
            }
            Schema::Literal(values) => self.source().pick(values).clone(),
            Schema::Tuple(items) => {
                let items = items.iter().map(|item| self.value(item, None, below));
                Value::from(items.collect::<Result<Vec<_>>>()?)
            }
            Schema::Array(item) => {
                let items = self.items(item, depth)?;
                items.into_iter().collect::<Array>().into()
            }
            Schema::List(item) => List::from(self.items(item, depth)?).into(),
            Schema::Map(entry) => {
                let entries = self.entries(&entry.0, &entry.1, depth)?;
                entries.into_iter().collect::<Map>().into()
            }
            Schema::Dict(entry) => {
                let entries = self.entries(&entry.0, &entry.1, depth)?;
                entries.into_iter().collect::<Dict>().into()
            }
            Schema::Shape => {
                let dims: Vec<i64> = (0..self.source().below(4)).map(|dim| dim as i64).collect();
                isoform::values::Shape::from(dims).into()
            }
            Schema::Tensor => return self.tensor(),
            Schema::Function => global_function("tir.const")?.into(),
            // The types drawn here are declared in Rust, without further requirements
            // of fields.
            _ => Value::NONE,
        })
    }

    fn text(&mut self) -> Value {
        let texts = [
            "",
            "a",
            "x1",
            "global",
            "héllo \"w\"\n%",
            "more than fourteen bytes",
        ];
        Value::from(*self.source().pick(&texts))
    }

    /// A tensor: small, of a format with NaNs, or larger.
    fn tensor(&mut self) -> Result<Value> {
        // Texts have large tensors in a section of their own.
        let smallest = if self.source().below(3) == 0 { 129 } else { 1 };
        for _ in 0..3 {
            let drawn = tensor(self.source())?;
            if smallest == 1 && Schema::Tensor.check(&drawn).is_ok() {
                return Ok(drawn);
            }
        }
        let count = smallest + self.source().below(80);
        let data: Vec<u8> = (0..count).map(|at| at as u8).collect();
        Ok(Tensor::new("int8".parse()?, vec![count as i64], data)?.into())
    }

    fn items(&mut self, item: &Schema, depth: usize) -> Result<Vec<Value>> {
        let count = if self.is_over(depth) {
            0
        } else {
            self.source().below(4)
        };
        (0..count)
            .map(|_| self.value(item, None, depth.saturating_sub(1)))
            .collect()
    }

    fn entries(
        &mut self,
        key: &Schema,
        value: &Schema,
        depth: usize,
    ) -> Result<Vec<(Value, Value)>> {
        let keys = self.items(key, depth)?;
        keys.into_iter()
            .map(|key| Ok((key, self.value(value, None, depth.saturating_sub(1))?)))
            .collect()
    }

    /// A value for an unrestricted place.
    fn anything(&mut self, depth: usize) -> Result<Value> {
        if self.is_over(depth) {
            return Ok(self.source().plain());
        }
        match self.source().below(12) {
            0..=2 => Ok(self.source().plain()),
            3 => tensor(self.source()),
            4 => self.value(&Schema::Array(Box::new(Schema::Any)), None, depth),
            5 => {
                let entry = Box::new((Schema::Str, Schema::Any));
                self.value(&Schema::Map(entry), None, depth)
            }
            _ => {
                let classes = &self.classes.comparable;
                let class = *self.source().pick(classes);
                Ok(self.any_of(&[class], None, depth)?.into())
            }
        }
    }

    /// An object of a type or a derived one, either existing or new.
    fn object(&mut self, ty: TypeIndex, want: Option<DType>, depth: usize) -> Result<Ref<Obj>> {
        let percent = if self.is_over(depth) { 70 } else { 25 };
        if self.source().chance(percent)
            && let Some(known) = self.known(ty, want)
        {
            return Ok(known);
        }
        let classes = self.classes.below(ty);
        match classes {
            [] => Err(Error::type_error(format!(
                "{}: no class fits",
                host::type_info(ty).key()
            ))),
            _ => self.any_of(classes, want, depth),
        }
    }

    fn known(&mut self, ty: TypeIndex, want: Option<DType>) -> Option<Ref<Obj>> {
        if !self.is_ignored {
            self.pool.pick(ty, want, &mut self.main)
        } else if self.ignored.chance(60) {
            self.ignored_pool.pick(ty, want, &mut self.ignored)
        } else {
            self.pool.pick(ty, want, &mut self.ignored)
        }
    }

    /// A new object of a given class.
    fn any_of(&mut self, classes: &[Class], want: Option<DType>, depth: usize) -> Result<Ref<Obj>> {
        let fits = |class: &&Class| want.is_none_or(|want| typing::may_be(class.info, want));
        let fitting: Vec<Class> = classes.iter().filter(fits).copied().collect();
        let concrete: Vec<Class> = fitting
            .iter()
            .filter(|class| !class.is_base)
            .copied()
            .collect();
        let mut choices = if concrete.is_empty() || self.source().chance(3) {
            fitting
        } else {
            concrete
        };
        if self.is_over(depth) {
            // A vector must be built from scalars or named, otherwise it would never end.
            if want.is_some_and(|want| want.lanes() > 1) {
                choices.retain(|class| typing::is_simple_vector(class.info));
            }
            let least = choices.iter().map(|class| class.height).min();
            choices.retain(|class| Some(class.height) == least);
        }
        if choices.is_empty() {
            choices = classes.to_vec();
        }
        let class = *self.source().pick(&choices);
        self.node(class.info, want, depth)
    }

    /// A new object of a class.
    fn node(
        &mut self,
        info: &'static TypeInfo,
        want: Option<DType>,
        depth: usize,
    ) -> Result<Ref<Obj>> {
        if info.key() == "ir.Op" {
            let operators = &self.classes.operators;
            return self.source().pick(operators).extract();
        }
        self.budget = self.budget.saturating_sub(1);
        let is_expr = host::extends(info.index(), PrimExpr::type_index());
        let typing = is_expr.then(|| typing::of(info, want, self.source()));
        let below = depth.saturating_sub(1);
        let mut values = vec![Value::NONE; info.fields().len()];
        // Definition fields are drawn first, to let other fields use the variables.
        for binds in [true, false] {
            for (position, field) in info.fields().iter().enumerate() {
                let is_def = matches!(field.field_flag(), FieldFlag::Def | FieldFlag::DefSimple);
                if is_def == binds {
                    values[position] = self.field(info, field, typing, below)?;
                }
            }
        }
        self.make(info, typing.map(|typing| typing.dtype), values)
    }

    /// The value of a field.
    fn field(
        &mut self,
        info: &'static TypeInfo,
        field: &FieldDef,
        typing: Option<Typing>,
        depth: usize,
    ) -> Result<Value> {
        // Comparison ignores the names of global type variables, but modules distinguish
        // their definitions by them.
        let is_global = matches!(info.key(), "ir.GlobalVar" | "ir.GlobalTypeVar");
        let is_name = is_global && field.name() == "name_hint";
        if field.field_flag() == FieldFlag::Ignore && !is_name && !self.is_ignored {
            return self.ignored_field(field);
        }
        let number = |numbers: &[i64], source: &mut Source<'_>| Value::from(*source.pick(numbers));
        Ok(match (info.key(), field.name(), typing) {
            (_, "dtype", Some(typing)) => Value::from(typing.dtype),
            (_, "lanes", Some(typing)) => Value::from(i64::from(typing.dtype.lanes())),
            ("tir.Var" | "tir.SizeVar", "type_annotation", Some(typing)) => {
                isoform_ir::ir::PrimType::new(typing.dtype).into()
            }
            ("ir.IntImm", "value", _) => number(&[0, 1], self.source()),
            ("ir.EnvFunc", "name", _) => Value::from("tir.const"),
            ("ir.Diagnostic", "level", _) => {
                let levels = DiagnosticLevel::ALL.map(|level| level as i64);
                number(&levels, self.source())
            }
            (_, "kind", _) if *field.schema() == Schema::Int => {
                number(&TypeKind::ALL.map(|kind| kind as i64), self.source())
            }
            _ if is_name => {
                if self.is_ignored {
                    Value::from(format!("ignored{}", self.ignored.below(200)))
                } else {
                    Value::from(format!("global{}", self.maker.made.len()))
                }
            }
            (_, name, Some(typing)) => {
                let want = typing.of_field(info, name);
                return self.value(field.schema(), want, depth);
            }
            _ => return self.value(field.schema(), None, depth),
        })
    }

    /// The value of an ignored field; the contents occur nowhere else, and a different
    /// choice here has no further effect.
    fn ignored_field(&mut self, field: &FieldDef) -> Result<Value> {
        if *field.schema() == Schema::Str {
            let names = ["x", "y", "", "0 odd \"name\"", "more than fourteen bytes"];
            return Ok(Value::from(*self.hints.pick(&names)));
        }
        let budget = std::mem::replace(&mut self.budget, 3);
        self.is_ignored = true;
        let drawn = self.value(field.schema(), None, IGNORED_DEPTH);
        self.is_ignored = false;
        self.budget = budget;
        drawn
    }

    fn make(
        &mut self,
        info: &'static TypeInfo,
        dtype: Option<DType>,
        values: Vec<Value>,
    ) -> Result<Ref<Obj>> {
        if self.is_ignored {
            let object = construct(info.index(), values)?;
            self.ignored_pool.add(info, dtype, &object);
            return Ok(object);
        }
        let object = self.maker.make(info.index(), values)?;
        self.pool.add(info, dtype, &object);
        Ok(object)
    }
}

fn unknown(schema: &Schema) -> Error {
    Error::type_error(format!("{schema}: no such type"))
}
