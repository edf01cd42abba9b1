//! Types.

use super::printer::{Printer, Task};
use crate::*;
use isoform::Ref;
use isoform::types::NodeEnum;

impl Printer<'_> {
    pub(super) fn ty(&mut self, ty: &Ref<Type>) {
        if !self.by_name(ty.as_object()) {
            self.bare_type(ty);
        }
    }

    pub(super) fn bare_type(&mut self, ty: &Ref<Type>) {
        if let Some(scalar) = ty.downcast_ref::<ScalarType>() {
            let text = self.language(scalar.dtype.get().name());
            self.out.push_str(&text);
        } else if let Some(tuple) = ty.downcast_ref::<TupleType>() {
            let items = tuple.types.iter().cloned().map(Task::Type);
            let mut tasks = Self::joined(items);
            tasks.insert(0, format!("{}[", self.language("Tuple")).into());
            tasks.push("]".into());
            self.then(tasks);
        } else if let Some(array) = ty.downcast_ref::<ArrayType>() {
            let extent = array
                .shape
                .iter()
                .map(|size| Task::Operand(size.clone(), 0));
            let mut tasks = Self::joined(extent);
            tasks.insert(0, format!("{}[", self.language("Array")).into());
            tasks.push(format!(", {}]", self.language(array.dtype.get().name())).into());
            self.then(tasks);
        } else if let Some(tensor) = ty.downcast_ref::<TensorType>() {
            let mut tasks = self.shaped("Tensor", &tensor.shape, tensor.dtype.get());
            tasks.extend(self.memory(tensor.memref.as_ref()));
            let usual = || self.options.explicit_layout.then(TensorView::new);
            if let Some(view) = &tensor.tensor_view.clone().or_else(usual) {
                tasks.push(", ".into());
                tasks.extend(self.tensor_view(view));
            }
            tasks.push("]".into());
            self.then(tasks);
        } else if let Some(tile) = ty.downcast_ref::<TileType>() {
            let mut tasks = self.shaped("Tile", &tile.shape, tile.dtype.get());
            tasks.extend(self.memory(tile.memref.as_ref()));
            let is_explicit = self.options.explicit_layout;
            let full = is_explicit.then(|| tile.effective_tile_view());
            if let Some(view) = &full.or_else(|| tile.tile_view.clone()) {
                tasks.push(", ".into());
                tasks.extend(self.tile_view(view));
            }
            if let Some(space) = &tile.memory_space {
                let space = self.choice(space.as_object()).unwrap_or_default();
                tasks.push(format!(", {space}").into());
            }
            tasks.push("]".into());
            self.then(tasks);
        } else {
            let name = match ty.type_info().key() {
                "pto.PtrType" => self.language("Ptr"),
                "pto.UnknownType" => self.language("Unknown"),
                _ => format!("{ty:?}"),
            };
            self.out.push_str(&name);
        }
    }

    fn shaped(&self, name: &str, shape: &isoform::Array<Ref<Expr>>, dtype: DataType) -> Vec<Task> {
        let mut tasks = self.list(shape);
        tasks.insert(0, format!("{}[", self.language(name)).into());
        tasks.push(format!(", {}", self.language(dtype.name())).into());
        tasks
    }

    /// Expressions in brackets.
    fn list(&self, items: &isoform::Array<Ref<Expr>>) -> Vec<Task> {
        let items = items.iter().map(|item| Task::Operand(item.clone(), 0));
        let mut tasks = Self::joined(items);
        tasks.insert(0, "[".into());
        tasks.push("]".into());
        tasks
    }

    fn memory(&self, memory: Option<&Ref<MemRef>>) -> Vec<Task> {
        let Some(memory) = memory else {
            return Vec::new();
        };
        vec![
            ", ".into(),
            Task::Operand(memory.clone().upcast().upcast(), 0),
        ]
    }

    fn tensor_view(&self, view: &Ref<TensorView>) -> Vec<Task> {
        let mut tasks: Vec<Task> = vec![self.language("TensorView(").into()];
        tasks.extend(self.argument("stride", self.list(&view.stride)));
        let layout = self.choice(view.layout.as_object());
        tasks.extend(self.argument("layout", vec![layout.unwrap_or_default().into()]));
        if !view.valid_shape.is_empty() {
            tasks.extend(self.argument("valid_shape", self.list(&view.valid_shape)));
        }
        if view.pad.get() != PadValue::Null {
            let pad = self.choice(view.pad.as_object()).unwrap_or_default();
            tasks.extend(self.argument("pad", vec![pad.into()]));
        }
        Self::closed(tasks)
    }

    fn tile_view(&self, view: &Ref<TileView>) -> Vec<Task> {
        let mut tasks: Vec<Task> = vec![self.language("TileView(").into()];
        for (name, items) in [("valid_shape", &view.valid_shape), ("stride", &view.stride)] {
            if !items.is_empty() {
                tasks.extend(self.argument(name, self.list(items)));
            }
        }
        if let Some(offset) = &view.start_offset {
            let offset = vec![Task::Operand(offset.clone(), 0)];
            tasks.extend(self.argument("start_offset", offset));
        }
        for (name, choice) in [
            ("blayout", view.blayout.as_object()),
            ("slayout", view.slayout.as_object()),
            ("pad", view.pad.as_object()),
            ("compact", view.compact.as_object()),
        ] {
            let choice = self.choice(choice).unwrap_or_default();
            tasks.extend(self.argument(name, vec![choice.into()]));
        }
        let fractal = view.fractal.to_string();
        tasks.extend(self.argument("fractal", vec![fractal.into()]));
        Self::closed(tasks)
    }

    /// An argument by name, with a comma before the next argument.
    fn argument(&self, name: &str, mut value: Vec<Task>) -> Vec<Task> {
        value.insert(0, format!("{name}=").into());
        value.push(", ".into());
        value
    }

    /// The end of arguments: no comma, but a parenthesis.
    fn closed(mut tasks: Vec<Task>) -> Vec<Task> {
        if tasks.len() > 1 {
            tasks.pop();
        }
        tasks.push(")".into());
        tasks
    }
}
