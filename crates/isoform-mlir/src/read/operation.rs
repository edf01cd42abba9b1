//! Operations and regions.
//!
//! An operation whose region is being read waits on a stack, so that nested regions take no
//! native stack.

use isoform::{Map, Str, structural_equal};

use super::Reader;
use super::fault::{Read, refuse};
use super::lexer::{Kind, Token};
use super::names::OpenRegion;
use super::records::{Dict, Id, OperationRecord, RegionRecord, Span, SymbolRecord};
use super::values::{Object, Want};
use crate::nodes::{DictAttr, StringAttr};

/// An operation whose regions are being read.
pub(super) struct OpenOperation {
    pub(super) name: Str,
    pub(super) start: usize,
    pub(super) operands: Span,
    /// The position of each operand.
    pub(super) tokens: Vec<Token>,
    pub(super) successors: Span,
    pub(super) results: Results,
    pub(super) properties: Dict,
    pub(super) regions: Vec<Id>,
    /// The count of unsettled parts at the start, without those of regions.
    pub(super) unsettled: usize,
    pub(super) is_unsettled: bool,
    /// The attributes, if they precede the region, as in a pretty form.
    pub(super) attributes: Option<Dict>,
}

/// The values that an operation defines.
#[derive(Clone, Copy)]
pub(super) enum Results {
    /// The operation names none.
    Unnamed,
    Named(Span),
}

impl<'t> Reader<'t> {
    /// Begins a region.
    pub(super) fn open_region(&mut self) {
        let parent = self.regions.last().map(|region| region.id);
        let id = self.records.regions.len() as Id;
        let blocks = Vec::new();
        self.records.regions.push(RegionRecord {
            parent,
            blocks,
            has_symbols: false,
        });
        self.regions.push(OpenRegion::new(id));
    }

    /// Ends the innermost region.
    pub(super) fn close_region(&mut self) -> Read<Id> {
        let Some(region) = self.regions.pop() else {
            return Err(self.cursor.unexpected("an operation"));
        };
        self.end_names(&region)?;
        let id = region.id;
        self.records.regions[id as usize].blocks = region.blocks;
        Ok(id)
    }

    /// Reads all operations, aliases and resources of the file.
    pub(super) fn read_file(&mut self) -> Read<()> {
        self.open_region();
        loop {
            let token = self.cursor.token;
            let is_top = self.operations.is_empty();
            match token.kind {
                Kind::End if is_top => {
                    self.close_region()?;
                    return Ok(());
                }
                Kind::Type | Kind::Attribute if is_top => self.read_alias()?,
                Kind::OpenResources if is_top => self.read_resources()?,
                Kind::Block if !is_top => {
                    self.cursor.take()?;
                    let block = self.define_block(token)?;
                    if self.cursor.is(b'(') {
                        self.read_arguments(block)?;
                    }
                    self.cursor.expect(b':')?;
                }
                Kind::Mark(b'}') if !is_top => {
                    self.cursor.take()?;
                    let region = self.close_region()?;
                    self.continue_operation(region)?;
                }
                Kind::Value | Kind::String | Kind::Word => self.begin_operation()?,
                _ if is_top => {
                    return Err(self
                        .cursor
                        .unexpected("an operation, an alias or the end of the file"));
                }
                _ => return Err(self.cursor.unexpected("an operation, a block or '}'")),
            }
        }
    }

    /// Reads an operation up to its first region, or to its end.
    fn begin_operation(&mut self) -> Read<()> {
        let start = self.cursor.token.start;
        let mut names: Vec<(Token, Id)> = Vec::new();
        if self.cursor.token.kind == Kind::Value {
            loop {
                let token = self
                    .cursor
                    .expect_kind(Kind::Value, "a result, such as %0")?;
                let mut count = 1;
                if self.cursor.eat(b':')? {
                    let at = self.cursor.token;
                    let number = self.cursor.expect_number("the number of results")?;
                    count = match Id::try_from(number) {
                        Ok(count) if count > 0 => count,
                        _ => return refuse(at, "expected at least one result"),
                    };
                }
                names.push((token, count));
                if !self.cursor.eat(b',')? {
                    break;
                }
            }
            self.cursor.expect(b'=')?;
        }
        let token = self.cursor.token;
        if token.kind == Kind::Word {
            return self.begin_pretty(start, names);
        }
        let token = self
            .cursor
            .expect_kind(Kind::String, "the name of an operation in quotes")?;
        let name = self.operation_name(token)?;
        let unsettled = self.unsettled;
        self.cursor.expect(b'(')?;
        let is_empty = self.cursor.is(b')');
        let (operands, tokens) = self.read_operands(is_empty)?;
        self.cursor.expect(b')')?;
        let results = self.define_results(names)?;
        let mut successors = Span::default();
        if self.cursor.eat(b'[')? {
            successors.start = self.records.successors.len() as Id;
            while {
                self.read_successor()?;
                self.cursor.goes_on(b']')?
            } {}
            successors.end = self.records.successors.len() as Id;
        }
        let mut properties = self.no_entries.clone();
        if self.cursor.eat(b'<')? {
            properties = self.read_properties()?;
            self.cursor.expect(b'>')?;
        }
        let operation = OpenOperation {
            name,
            start,
            operands,
            tokens,
            successors,
            results,
            properties,
            regions: Vec::new(),
            unsettled,
            is_unsettled: self.unsettled != unsettled,
            attributes: None,
        };
        if self.cursor.eat(b'(')? {
            self.cursor.expect(b'{')?;
            self.operations.push(operation);
            self.open_region();
            return Ok(());
        }
        self.end_generic(operation)
    }

    /// The name of an operation, kept once.
    fn operation_name(&mut self, token: Token) -> Read<Str> {
        let slice = self.cursor.slice(token);
        if let Some(name) = self.operation_names.get(slice) {
            return Ok(name.clone());
        }
        let name = self.cursor.name(token)?;
        self.operation_names.insert(slice, name.clone());
        Ok(name)
    }

    /// Reads uses with commas between them.
    pub(super) fn read_operands(&mut self, is_empty: bool) -> Read<(Span, Vec<Token>)> {
        let start = self.records.operands.len() as Id;
        let mut tokens = Vec::new();
        let mut goes_on = !is_empty;
        while goes_on {
            tokens.push(self.cursor.token);
            self.read_use()?;
            goes_on = self.cursor.eat(b',')?;
        }
        let end = self.records.operands.len() as Id;
        Ok((Span { start, end }, tokens))
    }

    /// Defines the results that an operation names.
    pub(super) fn define_results(&mut self, names: Vec<(Token, Id)>) -> Read<Results> {
        if names.is_empty() {
            return Ok(Results::Unnamed);
        }
        let start = self.records.values.len() as Id;
        for (token, count) in names {
            self.define(Some(token), count)?;
        }
        let end = self.records.values.len() as Id;
        Ok(Results::Named(Span { start, end }))
    }

    /// The properties; those that are not a dictionary have the empty key.
    fn read_properties(&mut self) -> Read<Dict> {
        let properties = self.value(Want::Attribute)?;
        match properties.downcast_ref::<DictAttr>() {
            Some(dict) => Ok(dict.entries.clone()),
            None => Ok(Map::from([("", properties)])),
        }
    }

    /// Continues the operation of a region that has ended.
    fn continue_operation(&mut self, region: Id) -> Read<()> {
        let Some(mut operation) = self.operations.pop() else {
            return Err(self.cursor.unexpected("an operation"));
        };
        operation.regions.push(region);
        operation.unsettled = self.unsettled;
        if let Some(attributes) = operation.attributes.take() {
            return self.end_pretty(operation, attributes);
        }
        if self.cursor.eat(b',')? {
            self.cursor.expect(b'{')?;
            self.operations.push(operation);
            self.open_region();
            return Ok(());
        }
        self.cursor.expect(b')')?;
        self.end_generic(operation)
    }

    /// Reads the end of an operation in the generic form, from the attributes on.
    fn end_generic(&mut self, mut operation: OpenOperation) -> Read<()> {
        let attributes = self.read_attributes()?;
        operation.is_unsettled |= self.unsettled != operation.unsettled;
        self.cursor.expect(b':')?;
        self.cursor.expect(b'(')?;
        let inputs = self.list(b')', |reader| reader.value(Want::Type))?;
        self.cursor.expect_kind(Kind::Arrow, "'->'")?;
        let before = self.unsettled;
        let results = if self.cursor.eat(b'(')? {
            self.list(b')', |reader| reader.value(Want::Type))?
        } else {
            vec![self.value(Want::Type)?]
        };
        let has_unsettled_types = self.unsettled != before;
        self.end_operation(operation, attributes, &inputs, results, has_unsettled_types)
    }

    /// Reads `{…}` if it is next.
    pub(super) fn read_attributes(&mut self) -> Read<Dict> {
        if !self.cursor.is(b'{') {
            return Ok(self.no_entries.clone());
        }
        let attributes = self.value(Want::Attribute)?;
        match attributes.downcast_ref::<DictAttr>() {
            Some(dict) => Ok(dict.entries.clone()),
            None => Err(self.cursor.unexpected("a dictionary")),
        }
    }

    /// Adds an operation all of whose parts are known, but its location.
    pub(super) fn end_operation(
        &mut self,
        operation: OpenOperation,
        attributes: Dict,
        inputs: &[Object],
        outputs: Vec<Object>,
        has_unsettled_types: bool,
    ) -> Read<()> {
        let (name, end) = (&operation.name, self.cursor.last_end);
        let whole = operation.start..operation.start.max(end.min(operation.start + 1));
        if inputs.len() != operation.operands.len() {
            let (types, operands) = (inputs.len(), operation.operands.len());
            let message = format!(
                "expected a type for each of the {operands} operands of \"{name}\", got {types}"
            );
            return refuse(whole, message);
        }
        let results = match operation.results {
            Results::Unnamed => {
                let count = outputs.len() as Id;
                let start = self.define(None, count)?;
                let end = start + count;
                Span { start, end }
            }
            Results::Named(span) => span,
        };
        if results.len() != outputs.len() {
            let (types, names) = (outputs.len(), results.len());
            let message = format!(
                "expected as many types as the {names} named results of \"{name}\", got {types}"
            );
            return refuse(whole, message);
        }
        for (value, ty) in results.positions().zip(outputs) {
            let value = &mut self.records.values[value];
            value.ty = Some(ty);
            value.is_unsettled = has_unsettled_types;
        }
        let operands = operation.operands.positions();
        for ((operand, ty), token) in operands.zip(inputs).zip(&operation.tokens) {
            let value = self.records.operands[operand];
            let known = self.records.values.get(value as usize);
            match known.and_then(|known| known.ty.as_ref()) {
                Some(known) => self.check_type(known, ty, *token)?,
                _ => self.late_checks.push((operand as Id, ty.clone(), *token)),
            }
        }
        let place = self.read_place()?;
        let id = self.records.operations.len() as Id;
        let region = self.region().id;
        self.note_symbol(&operation.properties, &attributes, id, region);
        self.records.operations.push(OperationRecord {
            name: operation.name,
            operands: operation.operands,
            successors: operation.successors,
            properties: operation.properties,
            attributes,
            results,
            regions: operation.regions,
            place,
            region,
            is_unsettled: operation.is_unsettled,
        });
        let block = self.current_block();
        self.records.blocks[block as usize].operations.push(id);
        Ok(())
    }

    fn check_type(&self, known: &Object, given: &Object, token: Token) -> Read<()> {
        if known.same_as(given) || structural_equal(known, given).unwrap_or(false) {
            return Ok(());
        }
        let [known, given] = [known, given].map(crate::write::type_text);
        let shown = self.cursor.shown(token);
        refuse(
            token,
            format!("expected the type {known} of {shown}, got {given}"),
        )
    }

    /// Checks the types of uses that preceded the types of their values.
    pub(super) fn check_late_types(&self) -> Read<()> {
        for (operand, ty, token) in &self.late_checks {
            let value = self.records.operands[*operand as usize];
            let value = self.records.values.get(value as usize);
            if let Some(known) = value.and_then(|value| value.ty.as_ref()) {
                self.check_type(known, ty, *token)?;
            }
        }
        Ok(())
    }

    /// Notes the symbol that an operation defines.
    fn note_symbol(&mut self, properties: &Dict, attributes: &Dict, operation: Id, region: Id) {
        let find = |key: &str| {
            let mut dicts = [properties, attributes].into_iter();
            // Most operations have no entries.
            dicts.find_map(|dict| if dict.is_empty() { None } else { dict.get(key) })
        };
        let string = |key: &str| find(key).and_then(|found| found.downcast_ref::<StringAttr>());
        let Some(name) = string("sym_name") else {
            return;
        };
        self.records.regions[region as usize].has_symbols = true;
        let visibility = string("sym_visibility");
        let is_private = visibility.is_some_and(|found| found.value.as_str() == Some("private"));
        if let Some(name) = name.value.as_str() {
            let is_property = properties.contains_key("sym_name");
            self.records.symbols.push(SymbolRecord {
                name: name.into(),
                operation,
                region,
                is_property,
                is_private,
            });
        }
    }

    /// Reads the type and the location of an argument.
    pub(super) fn read_argument_type(&mut self, value: Id) -> Read<()> {
        let unsettled = self.unsettled;
        let ty = self.value(Want::Type)?;
        let is_unsettled = self.unsettled != unsettled;
        let place = self.read_place()?;
        let record = &mut self.records.values[value as usize];
        record.ty = Some(ty);
        record.place = place;
        record.is_unsettled = is_unsettled;
        Ok(())
    }
}
