//! Draws types, views and references to memory.

use super::generate::Generator;
use super::known::{Form, Ty, Typed};
use isoform::types::NodeEnum;
use isoform::{Array, Obj, Ref, Result, Value};
use isoform_pto::*;

/// The formats of most numbers; the first ones are the most frequent.
const FORMATS: [DataType; 12] = [
    DataType::Index,
    DataType::Fp32,
    DataType::Int32,
    DataType::Bool,
    DataType::Index,
    DataType::Int64,
    DataType::Fp32,
    DataType::Fp16,
    DataType::UInt8,
    DataType::Int4,
    DataType::Bf16,
    DataType::TaskId,
];

impl Generator<'_> {
    /// The type of numbers of a format: in most cases a shared node.
    pub(super) fn scalar(&mut self, dtype: DataType) -> Result<Ty> {
        let known = self
            .types
            .iter()
            .find(|ty| matches!(ty.form, Form::Scalar(format) if format == dtype))
            .cloned();
        if let Some(known) = known
            && !self.main.chance(20)
        {
            return Ok(known);
        }
        let object = self.node::<ScalarType>(vec![("dtype", dtype.object().into())])?;
        let ty = Ty {
            object,
            form: Form::Scalar(dtype),
        };
        self.types.push(ty.clone());
        Ok(ty)
    }

    /// A format of numbers.
    pub(super) fn format(&mut self) -> DataType {
        if self.main.chance(10) {
            *self.main.pick(DataType::MEMBERS)
        } else {
            *self.main.pick(&FORMATS)
        }
    }

    /// The format of an integer that counts.
    pub(super) fn counter(&mut self) -> DataType {
        *self
            .main
            .pick(&[DataType::Index, DataType::Int64, DataType::Int32])
    }

    /// A type that is valid anywhere at this place.
    pub(super) fn known_type(&mut self) -> Result<Ty> {
        if !self.frame.types.is_empty() && self.main.chance(40) {
            let known = std::mem::take(&mut self.frame.types);
            let ty = self.late(&known).clone();
            self.frame.types = known;
            return Ok(ty);
        }
        self.closed_type()
    }

    /// A type without variables.
    pub(super) fn closed_type(&mut self) -> Result<Ty> {
        let choice = self.main.below(12);
        if choice < 6 || self.budget == 0 {
            let dtype = self.format();
            return self.scalar(dtype);
        }
        let others: Vec<Ty> = self
            .types
            .iter()
            .filter(|ty| !matches!(ty.form, Form::Scalar(_)))
            .cloned()
            .collect();
        if !others.is_empty() && self.main.chance(40) {
            return Ok(self.late(&others).clone());
        }
        let object = match choice {
            6 | 7 => self.shaped(true, false, None)?,
            8 => self.shaped(false, false, None)?,
            9 => {
                let shape = Value::from(vec![Value::from(self.size()?)]);
                let dtype = self.format().object().into();
                self.node::<ArrayType>(vec![("shape", shape), ("dtype", dtype)])?
            }
            10 => {
                let count = self.main.below(3);
                let parts = (0..count)
                    .map(|_| self.closed_type())
                    .collect::<Result<_>>()?;
                return self.tuple_type(parts);
            }
            _ => match self.main.below(2) {
                0 => self.node::<PtrType>(Vec::new())?,
                _ => self.node::<UnknownType>(Vec::new())?,
            },
        };
        let ty = Ty {
            object,
            form: Form::Other,
        };
        self.types.push(ty.clone());
        Ok(ty)
    }

    /// The type of several values.
    pub(super) fn tuple_type(&mut self, parts: Vec<Ty>) -> Result<Ty> {
        let types: Vec<Value> = parts.iter().map(|ty| Value::from(&ty.object)).collect();
        let object = self.node::<TupleType>(vec![("types", types.into())])?;
        Ok(Ty {
            object,
            form: Form::Tuple(parts.into()),
        })
    }

    /// The type of a variable's definition, possibly with unbound variables.
    pub(super) fn defined_type(&mut self, is_param: bool) -> Result<Ty> {
        if self.budget == 0 || !self.main.chance(35) {
            return self.known_type();
        }
        // The type of a parameter defines a size.
        let size = if is_param && self.main.chance(50) {
            let ty = self.scalar(DataType::Index)?;
            Some(self.var(&ty)?)
        } else {
            None
        };
        let is_tile = self.main.chance(60);
        let first = size.as_ref().map(|size| size.object.clone());
        let object = self.shaped(is_tile, true, first)?;
        self.frame.vars.extend(size);
        let ty = Ty {
            object,
            form: Form::Other,
        };
        self.frame.types.push(ty.clone());
        Ok(ty)
    }

    /// A new variable of a type.
    pub(super) fn var(&mut self, ty: &Ty) -> Result<Typed> {
        let object = self.node::<Var>(vec![("type", Value::from(&ty.object))])?;
        Ok(Typed {
            object,
            ty: ty.clone(),
        })
    }

    /// The type of a tile or of a tensor; with references to memory and sizes
    /// that are not known where variables may be bound.
    fn shaped(
        &mut self,
        is_tile: bool,
        is_open: bool,
        first: Option<Ref<Obj>>,
    ) -> Result<Ref<Obj>> {
        let shape = self.extents(is_open, first)?;
        let dtype = self.format().object().into();
        let memref = if is_open && self.main.chance(60) {
            self.memref()?
        } else {
            Value::NONE
        };
        let view = if !self.main.chance(40) {
            Value::NONE
        } else if is_tile {
            self.tile_view(is_open, &shape)?.into()
        } else {
            self.tensor_view(is_open, &shape)?.into()
        };
        let mut fields = vec![("shape", shape), ("dtype", dtype), ("memref", memref)];
        if is_tile {
            let space = self.optional_member::<MemorySpace>();
            fields.extend([("tile_view", view), ("memory_space", space)]);
            return self.node::<TileType>(fields);
        }
        fields.push(("tensor_view", view));
        self.node::<TensorType>(fields)
    }

    fn tile_view(&mut self, is_open: bool, shape: &Value) -> Result<Ref<Obj>> {
        let offset = if self.main.chance(40) {
            self.extent(is_open)?.into()
        } else {
            Value::NONE
        };
        let fields = vec![
            ("valid_shape", self.valid_shape(shape)),
            ("stride", self.extents(is_open, None)?),
            ("start_offset", offset),
            ("blayout", self.member::<TileLayout>()),
            ("slayout", self.member::<TileLayout>()),
            ("fractal", Value::from(*self.main.pick(&[512i64, 1024]))),
            ("pad", self.member::<PadValue>()),
            ("compact", self.member::<CompactMode>()),
        ];
        self.node::<TileView>(fields)
    }

    fn tensor_view(&mut self, is_open: bool, shape: &Value) -> Result<Ref<Obj>> {
        let fields = vec![
            ("stride", self.extents(is_open, None)?),
            ("layout", self.member::<TensorLayout>()),
            ("valid_shape", self.valid_shape(shape)),
            ("pad", self.member::<PadValue>()),
        ];
        self.node::<TensorView>(fields)
    }

    /// The whole shape, or nothing, which means the same.
    fn valid_shape(&mut self, shape: &Value) -> Value {
        match self.main.below(2) {
            0 => Array::<Value>::new().into(),
            _ => shape.clone(),
        }
    }

    fn extents(&mut self, is_open: bool, first: Option<Ref<Obj>>) -> Result<Value> {
        let mut extents: Vec<Value> = first.into_iter().map(Value::from).collect();
        for _ in 0..self.main.below(3) {
            extents.push(self.extent(is_open)?.into());
        }
        Ok(extents.into())
    }

    /// A size: a literal or, where variables are allowed, a variable.
    fn extent(&mut self, is_open: bool) -> Result<Ref<Obj>> {
        if is_open && self.main.chance(50) {
            let is_size = |var: &&Typed| matches!(var.ty.form, Form::Scalar(DataType::Index));
            let vars: Vec<_> = self.frame.vars.iter().filter(is_size).cloned().collect();
            if !vars.is_empty() {
                return Ok(self.late(&vars).object.clone());
            }
        }
        self.size()
    }

    /// A literal size, usually a size already in use.
    fn size(&mut self) -> Result<Ref<Obj>> {
        if !self.sizes.is_empty() && !self.main.chance(30) {
            let known = self.main.below(self.sizes.len());
            return Ok(self.sizes[known].clone());
        }
        let ty = self.scalar(DataType::Index)?;
        let value = Value::from(*self.main.pick(&[16i64, 32, 1, 128]));
        let size = self.node::<ConstInt>(vec![("type", ty.object.into()), ("value", value)])?;
        self.sizes.push(size.clone());
        Ok(size)
    }

    /// A piece of memory, sometimes already in use: an allocation, or a part of one.
    fn memref(&mut self) -> Result<Value> {
        let memories = std::mem::take(&mut self.frame.memories);
        let again =
            (!memories.is_empty() && self.main.chance(35)).then(|| self.late(&memories).clone());
        self.frame.memories = memories;
        if let Some(again) = again {
            return Ok(again.into());
        }
        let object = self.node::<PtrType>(Vec::new())?;
        let pointer = Ty {
            object,
            form: Form::Other,
        };
        let ty = Value::from(&pointer.object);
        let base = match self.main.below(4) {
            0 => Value::NONE,
            _ => self.var(&pointer)?.object.into(),
        };
        let slot = if self.main.chance(30) {
            self.extent(true)?.into()
        } else {
            Value::NONE
        };
        let fields = vec![
            ("type", ty),
            ("base", base),
            ("byte_offset", self.extent(true)?.into()),
            ("size", Value::from(*self.main.pick(&[1024i64, 0]))),
            ("is_pinned", Value::from(self.main.chance(20))),
            ("slots", Value::from(*self.main.pick(&[1i64, 2]))),
            ("slot", slot),
        ];
        let memory = self.node::<MemRef>(fields)?;
        self.frame.memories.push(memory.clone());
        Ok(memory.into())
    }
}
