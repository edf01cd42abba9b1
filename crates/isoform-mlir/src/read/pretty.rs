//! The few pretty forms that occur in files of the generic form and in dumps: modules,
//! functions, calls, returns, conversions, constants.

use isoform::{Map, Ref};

use super::Reader;
use super::build::MODULE;
use super::fault::{Read, refuse};
use super::lexer::{Kind, Token};
use super::locations::Place;
use super::operation::{OpenOperation, Results};
use super::records::{BlockRecord, Dict, Id, Span};
use super::values::{Object, Want};
use crate::nodes::{
    ArrayAttr, DenseAttr, DenseStringsAttr, DialectAttr, DictAttr, FloatAttr, FunctionType,
    IntegerAttr, ResourceAttr, SparseAttr, StringAttr,
};

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
                let inputs = self.read_pretty_operands(&mut operation, Vec::new())?;
                self.end_operation(operation, Map::new(), &inputs, Vec::new(), false)
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

    fn new_pretty(&self, name: &str, start: usize) -> OpenOperation {
        OpenOperation {
            name: name.into(),
            start,
            operands: Span::default(),
            tokens: Vec::new(),
            successors: Span::default(),
            results: Results::Unnamed,
            properties: self.no_entries.clone(),
            regions: Vec::new(),
            unsettled: self.unsettled,
            is_unsettled: true,
            attributes: None,
        }
    }

    /// Reads the operands and their types; without operands, there is no colon.
    fn read_pretty_operands(
        &mut self,
        operation: &mut OpenOperation,
        names: Vec<(Token, Id)>,
    ) -> Read<Vec<Object>> {
        self.cursor.take()?;
        let is_empty = self.cursor.token.kind != Kind::Value;
        (operation.operands, operation.tokens) = self.read_operands(is_empty)?;
        operation.results = self.define_results(names)?;
        if is_empty {
            return Ok(Vec::new());
        }
        self.cursor.expect(b':')?;
        self.read_types()
    }

    fn read_types(&mut self) -> Read<Vec<Object>> {
        let mut types = vec![self.value(Want::Type)?];
        while self.cursor.eat(b',')? {
            types.push(self.value(Want::Type)?);
        }
        Ok(types)
    }

    /// Reads `attributes {…}` if it is next. The entries of `keys` are properties.
    fn read_pretty_attributes(&mut self, keys: &[&str], properties: &mut Dict) -> Read<Dict> {
        let mut attributes = Map::new();
        if self.cursor.eat_word("attributes")? {
            for (key, value) in &self.read_attributes()? {
                let is_property = keys.contains(&key.as_str());
                let dict = if is_property {
                    &mut *properties
                } else {
                    &mut attributes
                };
                dict.insert(key.clone(), value.clone());
            }
        }
        Ok(attributes)
    }

    fn begin_module(&mut self, start: usize) -> Read<()> {
        let mut operation = self.new_pretty(MODULE, start);
        self.cursor.take()?;
        if self.cursor.token.kind == Kind::Symbol {
            let token = self.cursor.take()?;
            let name = StringAttr::new(&self.cursor.symbol(token)?).into_object();
            operation.properties = Map::from([("sym_name", name)]);
        }
        let keys = ["sym_visibility"];
        let attributes = self.read_pretty_attributes(&keys, &mut operation.properties)?;
        self.cursor.expect(b'{')?;
        operation.attributes = Some(attributes);
        self.operations.push(operation);
        self.open_region();
        Ok(())
    }

    fn begin_function(&mut self, start: usize) -> Read<()> {
        let mut operation = self.new_pretty("func.func", start);
        self.cursor.take()?;
        let mut properties: Dict = Map::new();
        let visibilities = ["public", "private", "nested"];
        if visibilities.iter().any(|word| self.cursor.is_word(word)) {
            let token = self.cursor.take()?;
            let visibility = StringAttr::new(self.cursor.word(token)).into_object();
            properties.insert("sym_visibility".into(), visibility);
        }
        let expected = "the name of the function, such as @f";
        let token = self.cursor.expect_kind(Kind::Symbol, expected)?;
        let name = StringAttr::new(&self.cursor.symbol(token)?).into_object();
        properties.insert("sym_name".into(), name);
        self.cursor.expect(b'(')?;
        let arguments = self.list(b')', |reader| {
            let name = match reader.cursor.token.kind {
                Kind::Value => Some(reader.cursor.take()?),
                _ => None,
            };
            if name.is_some() {
                reader.cursor.expect(b':')?;
            }
            reader.read_argument(name)
        })?;
        let mut results = Vec::new();
        if self.cursor.token.kind == Kind::Arrow {
            self.cursor.take()?;
            if self.cursor.eat(b'(')? {
                results = self.list(b')', |reader| reader.read_argument(None))?;
            } else {
                results.push(Argument {
                    name: None,
                    ty: self.value(Want::Type)?,
                    attributes: Map::new(),
                    place: Place::None,
                });
            }
        }
        let types = |list: &[Argument<'t>]| list.iter().map(|a| a.ty.clone()).collect::<Vec<_>>();
        let ty = FunctionType::new(types(&arguments), types(&results)).into_object();
        properties.insert("function_type".into(), ty);
        for (key, list) in [("arg_attrs", &arguments), ("res_attrs", &results)] {
            if list.iter().any(|argument| !argument.attributes.is_empty()) {
                let list = list.iter().map(|argument| &argument.attributes);
                let list: Vec<_> = list.map(|entries| DictAttr::new(entries.clone())).collect();
                let list = list.into_iter().map(Ref::into_object).collect::<Vec<_>>();
                properties.insert(key.into(), ArrayAttr::new(list).into_object());
            }
        }
        let attributes = self.read_pretty_attributes(&FUNCTION_PROPERTIES, &mut properties)?;
        operation.properties = properties;
        let is_definition = self.cursor.eat(b'{')?;
        self.open_region();
        if !is_definition {
            operation.regions.push(self.close_region()?);
            return self.end_pretty(operation, attributes);
        }
        operation.attributes = Some(attributes);
        self.operations.push(operation);
        self.define_arguments(arguments)
    }

    /// Reads the type of an argument or result, and what follows it.
    fn read_argument(&mut self, name: Option<Token>) -> Read<Argument<'t>> {
        Ok(Argument {
            name,
            ty: self.value(Want::Type)?,
            attributes: self.read_attributes()?,
            place: self.read_place()?,
        })
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
    pub(super) fn end_pretty(&mut self, operation: OpenOperation, attributes: Dict) -> Read<()> {
        let region = operation.regions.first().copied().unwrap_or_default() as usize;
        if operation.name == MODULE && self.records.regions[region].blocks.is_empty() {
            let block = self.records.blocks.len() as Id;
            self.records.blocks.push(BlockRecord::default());
            self.records.regions[region].blocks.push(block);
        }
        self.end_operation(operation, attributes, &[], Vec::new(), false)
    }

    fn read_call(&mut self, start: usize, names: Vec<(Token, Id)>) -> Read<()> {
        let mut operation = self.new_pretty("func.call", start);
        self.cursor.take()?;
        let callee = self.read_symbol()?;
        operation.properties = Map::from([("callee", callee)]);
        self.cursor.expect(b'(')?;
        let is_empty = self.cursor.is(b')');
        (operation.operands, operation.tokens) = self.read_operands(is_empty)?;
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
        let inputs = self.read_pretty_operands(&mut operation, names)?;
        self.cursor.expect_word("to")?;
        let results = self.read_types()?;
        let attributes = self.read_attributes()?;
        self.end_operation(operation, attributes, &inputs, results, true)
    }

    fn read_constant(&mut self, start: usize, names: Vec<(Token, Id)>) -> Read<()> {
        let mut operation = self.new_pretty("arith.constant", start);
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

/// The type of an attribute that has one.
fn type_of(attribute: &Object) -> Option<Object> {
    macro_rules! first {
        ($($node:ty),*) => {
            $(if let Some(found) = attribute.downcast_ref::<$node>() {
                return Option::<Object>::from(found.ty.clone());
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
    first!(StringAttr, DialectAttr);
    None
}
