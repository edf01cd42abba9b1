//! The few pretty forms that occur in files of the generic form and in dumps: modules,
//! functions, calls, returns, conversions, constants.

use isoform::{Map, Str};

use super::Reader;
use super::fault::{Read, refuse};
use super::lexer::{Kind, Token};
use super::locations::Place;
use super::operation::{OpenOperation, Results};
use super::records::{BlockRecord, Dict, Id, Span};
use super::values::{Object, Want};
use crate::nodes::{
    ArrayAttr, DenseAttr, DenseStringsAttr, DictAttr, FloatAttr, FunctionType, IntegerAttr,
    ResourceAttr, SparseAttr, StringAttr, UnitAttr,
};

/// The parts of a module or a function that precede its region.
pub(super) struct Pretty {
    attributes: Dict,
    is_module: bool,
}

/// An argument of a function.
struct Argument<'t> {
    name: Option<Token>,
    ty: Object,
    attributes: Dict,
    place: Place<'t>,
}

/// The properties of `func.func`; other attributes are in its dictionary.
const FUNCTION_PROPERTIES: [&str; 6] = [
    "arg_attrs",
    "function_type",
    "no_inline",
    "res_attrs",
    "sym_name",
    "sym_visibility",
];

impl<'t> Reader<'t> {
    /// Reads an operation whose name is a word.
    pub(super) fn begin_pretty(&mut self, start: usize, names: Vec<(Token, Id)>) -> Read<()> {
        let token = self.cursor.token;
        let word = self.cursor.slice(token);
        match word {
            b"module" | b"builtin.module" if names.is_empty() => self.begin_module(start),
            b"func.func" if names.is_empty() => self.begin_function(start),
            b"return" | b"func.return" if names.is_empty() => {
                let mut operation = self.new_pretty("func.return", start);
                (operation.operands, operation.tokens) = self.read_return_operands()?;
                let inputs = self.read_pretty_types(&operation)?;
                let attributes = self.no_entries.clone();
                self.end_operation(operation, attributes, &inputs, Vec::new(), false)
            }
            b"call" | b"func.call" => self.read_call(start, names),
            b"unrealized_conversion_cast" | b"builtin.unrealized_conversion_cast" => {
                self.read_cast(start, names)
            }
            b"arith.constant" => self.read_constant(start, names),
            _ => {
                let name = String::from_utf8_lossy(word);
                let message = format!(
                    "expected an operation in the generic form, such as \"{name}\"(), got '{name}': \
                     only its dialect can read the pretty form; print the program with \
                     'mlir-opt -mlir-print-op-generic' or 'get_asm(print_generic_op_form=True)'"
                );
                refuse(token, message)
            }
        }
    }

    /// Takes the word of an operation.
    fn new_pretty(&mut self, name: &str, start: usize) -> OpenOperation {
        OpenOperation {
            name: name.into(),
            start,
            operands: Span::default(),
            tokens: Vec::new(),
            successors: self.empty_successors(),
            results: Results::Unnamed,
            properties: self.no_entries.clone(),
            regions: Vec::new(),
            unsettled: self.unsettled,
            is_unsettled: true,
            pretty: None,
        }
    }

    fn read_return_operands(&mut self) -> Read<(Span, Vec<Token>)> {
        self.cursor.take()?;
        let end = if self.cursor.token.kind == Kind::Value {
            b':'
        } else {
            0
        };
        if end == 0 {
            return Ok((self.no_operands(), Vec::new()));
        }
        self.read_operands(end)
    }

    fn no_operands(&self) -> Span {
        let start = self.records.operands.len() as Id;
        Span { start, end: start }
    }

    /// Reads `: types` with a type for each operand; an operation without operands has no colon.
    fn read_pretty_types(&mut self, operation: &OpenOperation) -> Read<Vec<Object>> {
        if operation.operands.len() == 0 {
            return Ok(Vec::new());
        }
        self.cursor.expect(b':')?;
        let mut types = vec![self.value(Want::Type)?];
        while self.cursor.eat(b',')? {
            types.push(self.value(Want::Type)?);
        }
        Ok(types)
    }

    fn begin_module(&mut self, start: usize) -> Read<()> {
        let mut operation = self.new_pretty("builtin.module", start);
        self.cursor.take()?;
        if self.cursor.token.kind == Kind::Symbol {
            let token = self.cursor.take()?;
            let name = StringAttr::new(&self.cursor.symbol(token)?).into_object();
            operation.properties = Map::from([("sym_name", name)]);
        }
        let mut attributes = Map::new();
        if self.cursor.eat_word("attributes")? {
            for (key, value) in &self.read_attributes()? {
                if *key == "sym_visibility" {
                    operation.properties.insert(key.clone(), value.clone());
                } else {
                    attributes.insert(key.clone(), value.clone());
                }
            }
        }
        self.cursor.expect(b'{')?;
        operation.pretty = Some(Box::new(Pretty {
            attributes,
            is_module: true,
        }));
        self.operations.push(operation);
        self.open_region();
        Ok(())
    }

    fn begin_function(&mut self, start: usize) -> Read<()> {
        let mut operation = self.new_pretty("func.func", start);
        self.cursor.take()?;
        let mut entries: Vec<(Str, Object)> = Vec::new();
        let is_visibility = ["public", "private", "nested"]
            .iter()
            .any(|visibility| self.cursor.is_word(visibility));
        if is_visibility {
            let token = self.cursor.take()?;
            let visibility = StringAttr::new(self.cursor.word(token)).into_object();
            entries.push(("sym_visibility".into(), visibility));
        }
        let token = self
            .cursor
            .expect_kind(Kind::Symbol, "the name of the function, such as @f")?;
        let name = StringAttr::new(&self.cursor.symbol(token)?).into_object();
        entries.push(("sym_name".into(), name));
        self.cursor.expect(b'(')?;
        let arguments = self.read_function_types(true)?;
        let mut results = Vec::new();
        if self.cursor.token.kind == Kind::Arrow {
            self.cursor.take()?;
            if self.cursor.eat(b'(')? {
                results = self.read_function_types(false)?;
            } else {
                let ty = self.value(Want::Type)?;
                let attributes = Map::new();
                results.push(Argument {
                    name: None,
                    ty,
                    attributes,
                    place: Place::None,
                });
            }
        }
        let types = |list: &[Argument<'t>]| list.iter().map(|a| a.ty.clone()).collect::<Vec<_>>();
        let ty = FunctionType::new(types(&arguments), types(&results)).into_object();
        entries.push(("function_type".into(), ty));
        entries.extend(attribute_list("arg_attrs", &arguments));
        entries.extend(attribute_list("res_attrs", &results));
        let mut attributes = Map::new();
        if self.cursor.eat_word("attributes")? {
            for (key, value) in &self.read_attributes()? {
                if FUNCTION_PROPERTIES.contains(&key.as_str()) {
                    entries.push((key.clone(), value.clone()));
                } else {
                    attributes.insert(key.clone(), value.clone());
                }
            }
        }
        operation.properties = entries.into_iter().collect();
        operation.pretty = Some(Box::new(Pretty {
            attributes,
            is_module: false,
        }));
        let is_definition = self.cursor.eat(b'{')?;
        self.open_region();
        if !is_definition {
            let region = self.close_region()?;
            operation.regions.push(region);
            return self.end_pretty(operation);
        }
        self.operations.push(operation);
        self.define_arguments(arguments)
    }

    /// Types with attributes, up to the closing parenthesis; with names for arguments.
    fn read_function_types(&mut self, may_have_names: bool) -> Read<Vec<Argument<'t>>> {
        let mut arguments = Vec::new();
        if self.cursor.eat(b')')? {
            return Ok(arguments);
        }
        loop {
            let mut name = None;
            if may_have_names && self.cursor.token.kind == Kind::Value {
                name = Some(self.cursor.take()?);
                self.cursor.expect(b':')?;
            }
            let ty = self.value(Want::Type)?;
            let attributes = self.read_attributes()?;
            let place = self.read_place()?;
            arguments.push(Argument {
                name,
                ty,
                attributes,
                place,
            });
            if !self.cursor.eat(b',')? {
                self.cursor.expect(b')')?;
                return Ok(arguments);
            }
        }
    }

    /// The entry block of a function.
    fn define_arguments(&mut self, arguments: Vec<Argument<'t>>) -> Read<()> {
        let block = self.current_block();
        let start = self.records.values.len() as Id;
        for argument in arguments {
            let Some(name) = argument.name else {
                return Err(self
                    .cursor
                    .unexpected("a declaration, since arguments have no names"));
            };
            let value = self.define(Some(name), 1)?;
            let record = &mut self.records.values[value as usize];
            record.ty = Some(argument.ty);
            record.place = argument.place;
            record.is_unsettled = true;
        }
        let end = self.records.values.len() as Id;
        self.records.blocks[block as usize].arguments = Span { start, end };
        Ok(())
    }

    /// Ends a module or a function after its region.
    pub(super) fn end_pretty(&mut self, mut operation: OpenOperation) -> Read<()> {
        let Some(pretty) = operation.pretty.take() else {
            return Ok(());
        };
        let region = operation
            .regions
            .first()
            .map_or(0, |&region| region as usize);
        if pretty.is_module && self.records.regions[region].blocks.is_empty() {
            let block = self.records.blocks.len() as Id;
            self.records.blocks.push(BlockRecord::default());
            self.records.regions[region].blocks.push(block);
        }
        self.end_operation(operation, pretty.attributes, &[], Vec::new(), false)
    }

    fn read_call(&mut self, start: usize, names: Vec<(Token, Id)>) -> Read<()> {
        let mut operation = self.new_pretty("func.call", start);
        self.cursor.take()?;
        let callee = self.read_symbol()?;
        operation.properties = Map::from([("callee", callee)]);
        self.cursor.expect(b'(')?;
        (operation.operands, operation.tokens) = self.read_operands(b')')?;
        self.cursor.expect(b')')?;
        operation.results = self.define_results(names)?;
        let attributes = self.read_attributes()?;
        self.cursor.expect(b':')?;
        let at = self.cursor.token;
        let ty = self.value(Want::Type)?;
        let Some(ty) = ty.downcast_ref::<FunctionType>() else {
            return refuse(at, "expected the type of a function");
        };
        let (inputs, results) = (ty.inputs.to_vec(), ty.results.to_vec());
        self.end_operation(operation, attributes, &inputs, results, true)
    }

    fn read_cast(&mut self, start: usize, names: Vec<(Token, Id)>) -> Read<()> {
        let mut operation = self.new_pretty("builtin.unrealized_conversion_cast", start);
        (operation.operands, operation.tokens) = self.read_return_operands()?;
        operation.results = self.define_results(names)?;
        let inputs = self.read_pretty_types(&operation)?;
        if !self.cursor.eat_word("to")? {
            return Err(self.cursor.unexpected("'to'"));
        }
        let mut results = vec![self.value(Want::Type)?];
        while self.cursor.eat(b',')? {
            results.push(self.value(Want::Type)?);
        }
        let attributes = self.read_attributes()?;
        self.end_operation(operation, attributes, &inputs, results, true)
    }

    fn read_constant(&mut self, start: usize, names: Vec<(Token, Id)>) -> Read<()> {
        let mut operation = self.new_pretty("arith.constant", start);
        operation.operands = self.no_operands();
        self.cursor.take()?;
        operation.results = self.define_results(names)?;
        let attributes = self.read_attributes()?;
        let at = self.cursor.token;
        let value = self.value(Want::Attribute)?;
        let Some(ty) = type_of(&value) else {
            return refuse(at, "expected an attribute with a type");
        };
        operation.properties = Map::from([("value", value)]);
        self.end_operation(operation, attributes, &[], vec![ty], true)
    }
}

/// The list of the attributes of arguments or results, if there are any.
fn attribute_list(key: &str, arguments: &[Argument<'_>]) -> Option<(Str, Object)> {
    if arguments
        .iter()
        .all(|argument| argument.attributes.is_empty())
    {
        return None;
    }
    let lists = arguments
        .iter()
        .map(|argument| DictAttr::new(argument.attributes.clone()).into_object());
    let list: Vec<Object> = lists.collect();
    Some((key.into(), ArrayAttr::new(list).into_object()))
}

/// The type of an attribute that has one.
fn type_of(attribute: &Object) -> Option<Object> {
    macro_rules! first {
        ($($ty:ty),*) => {
            $(if let Some(found) = attribute.downcast_ref::<$ty>() {
                return Some(found.ty.clone());
            })*
        };
    }
    first!(
        IntegerAttr,
        FloatAttr,
        DenseAttr,
        DenseStringsAttr,
        ResourceAttr,
        SparseAttr
    );
    if let Some(string) = attribute.downcast_ref::<StringAttr>() {
        return string.ty.clone();
    }
    if attribute.isa::<UnitAttr>() {
        return None;
    }
    attribute
        .downcast_ref::<crate::nodes::DialectAttr>()?
        .ty
        .clone()
}
