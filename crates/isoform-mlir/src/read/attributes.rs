//! Attributes.

use isoform::{Map, Str, Value, structural_equal};

use super::Reader;
use super::fault::{Fault, Read};
use super::lexer::{Kind, Token};
use super::numbers::{Literal, Numeric, text_value, unsigned};
use super::values::{Frame, Object, Step, Want};
use crate::nodes::{
    ArrayAttr, DialectAttr, DictAttr, DistinctAttr, FloatAttr, FloatType, IntegerAttr, IntegerType,
    ResourceAttr, StridedAttr, StringAttr, SymbolRefAttr, UnitAttr,
};

impl<'t> Reader<'t> {
    pub(super) fn begin_attribute(&mut self) -> Read<Step<'t>> {
        let token = self.cursor.token;
        match token.kind {
            Kind::Word => self.begin_word(token),
            Kind::Integer | Kind::Hex | Kind::Float => self.begin_number(false),
            Kind::Mark(b'-') => {
                self.cursor.take()?;
                self.begin_number(true)
            }
            Kind::String => {
                self.cursor.take()?;
                let string = text_value(self.cursor.string(token));
                if self.cursor.eat(b':')? {
                    return Ok(Step::Open(Frame::String(string), Want::Type));
                }
                Ok(Step::Done(StringAttr::new(string).into_object()))
            }
            Kind::Symbol => {
                let symbol = self.read_symbol()?;
                Ok(Step::Done(symbol))
            }
            Kind::Attribute => self.begin_dialect(token),
            Kind::Mark(b'[') => {
                self.cursor.take()?;
                if self.cursor.eat(b']')? {
                    return Ok(Step::Done(ArrayAttr::new([]).into_object()));
                }
                Ok(Step::Open(Frame::List(Vec::new()), Want::Attribute))
            }
            Kind::Mark(b'{') => {
                self.cursor.take()?;
                if self.cursor.eat(b'}')? {
                    return Ok(Step::Done(DictAttr::new(Map::new()).into_object()));
                }
                self.begin_entry(Map::new())
            }
            Kind::Mark(b'(') | Kind::Type => self.begin_type(),
            _ => Err(self.cursor.unexpected("an attribute")),
        }
    }

    /// An attribute or a type that begins with a word.
    fn begin_word(&mut self, token: Token) -> Read<Step<'t>> {
        let follows = |mark| {
            let word = self.cursor.word(token);
            self.cursor.is_call(&word, mark)
        };
        match self.cursor.slice(token) {
            b"unit" => {
                self.cursor.take()?;
                Ok(Step::Done(UnitAttr::new().into_object()))
            }
            word @ (b"true" | b"false") => {
                self.cursor.take()?;
                Ok(Step::Done(self.boolean(word == b"true")))
            }
            b"loc" if follows(b'(') => {
                self.cursor.take()?;
                self.cursor.take()?;
                Ok(Step::Open(Frame::LocationAttribute, Want::Location))
            }
            b"affine_map" if follows(b'<') => Ok(Step::Done(self.read_affine_map()?)),
            b"affine_set" if follows(b'<') => Ok(Step::Done(self.read_affine_set()?)),
            b"strided" if follows(b'<') => Ok(Step::Done(self.read_strided()?)),
            b"array" if follows(b'<') => {
                self.cursor.take()?;
                let at = self.cursor.take()?;
                Ok(Step::Open(Frame::DenseArray { at }, Want::Type))
            }
            b"dense" if follows(b'<') => {
                self.cursor.take()?;
                self.cursor.expect(b'<')?;
                let literal = self.skip_literal()?;
                self.cursor.expect(b'>')?;
                self.cursor.expect(b':')?;
                Ok(Step::Open(Frame::Dense { literal }, Want::Type))
            }
            b"sparse" if follows(b'<') => {
                self.cursor.take()?;
                self.cursor.expect(b'<')?;
                let nothing = (self.cursor.token.start, self.cursor.token.start);
                let (mut indices, mut values) = (nothing, nothing);
                if !self.cursor.is(b'>') {
                    indices = self.skip_elements()?;
                    self.cursor.expect(b',')?;
                    values = self.skip_elements()?;
                }
                self.cursor.expect(b'>')?;
                self.cursor.expect(b':')?;
                Ok(Step::Open(Frame::Sparse { indices, values }, Want::Type))
            }
            b"dense_resource" if follows(b'<') => {
                self.cursor.take()?;
                self.cursor.expect(b'<')?;
                let key = self.read_key("the key of a resource")?;
                self.cursor.expect(b'>')?;
                self.cursor.expect(b':')?;
                Ok(Step::Open(Frame::Resource(key), Want::Type))
            }
            b"distinct" if follows(b'[') => {
                self.cursor.take()?;
                self.cursor.expect(b'[')?;
                let at = self.cursor.token.start;
                let number = self
                    .cursor
                    .expect_number("the number of a distinct attribute")?;
                self.cursor.expect(b']')?;
                self.cursor.expect(b'<')?;
                if self.cursor.is(b'>') {
                    let unit = UnitAttr::new().into_object();
                    return self.end_distinct(number, at, unit);
                }
                Ok(Step::Open(Frame::Distinct { number, at }, Want::Attribute))
            }
            _ => match self.begin_type() {
                Err(_) if self.cursor.token.start == token.start => {
                    Err(self.cursor.unexpected("an attribute"))
                }
                step => step,
            },
        }
    }

    /// A key: a word or a string.
    pub(super) fn read_key(&mut self, expected: &str) -> Read<Str> {
        let token = self.cursor.token;
        match token.kind {
            Kind::Word => {
                self.cursor.take()?;
                Ok(self.cursor.word(token))
            }
            Kind::String => {
                self.cursor.take()?;
                self.cursor.name(token)
            }
            _ => Err(self.cursor.unexpected(expected)),
        }
    }

    /// A reference to a symbol.
    pub(super) fn read_symbol(&mut self) -> Read<Object> {
        let token = self
            .cursor
            .expect_kind(Kind::Symbol, "a symbol, such as @f")?;
        let mut names = vec![self.cursor.symbol(token)?];
        while self.cursor.text[self.cursor.token.start..].starts_with(b"::") {
            self.cursor.take()?;
            self.cursor.take()?;
            let token = self
                .cursor
                .expect_kind(Kind::Symbol, "a symbol after '::'")?;
            names.push(self.cursor.symbol(token)?);
        }
        Ok(self.symbol_reference(names))
    }

    /// The reference to a symbol, by name for now.
    pub(super) fn symbol_reference(&mut self, names: Vec<Str>) -> Object {
        self.unsettled += 1;
        let mut names = names.into_iter();
        let root = names.next().unwrap_or_default();
        let path: Vec<Str> = names.collect();
        self.nested_names.extend(path.iter().cloned());
        SymbolRefAttr::new(root).with_path(path).into_object()
    }

    fn begin_number(&mut self, is_negative: bool) -> Read<Step<'t>> {
        let token = self.cursor.token;
        if !matches!(token.kind, Kind::Integer | Kind::Hex | Kind::Float) {
            return Err(self.cursor.unexpected("a number"));
        }
        self.cursor.take()?;
        if self.cursor.eat(b':')? {
            return Ok(Step::Open(Frame::Number { token, is_negative }, Want::Type));
        }
        let ty = if token.kind == Kind::Float {
            self.common(b"f64", || FloatType::new("f64").into_object())
        } else {
            self.common(b"i64", || IntegerType::new(64, "signless").into_object())
        };
        Ok(Step::Done(self.number(token, is_negative, ty)?))
    }

    /// A type that is kept under its text, or an attribute under a text that no type has.
    fn common(&mut self, text: &'static [u8], make: fn() -> Object) -> Object {
        self.known.entry(text).or_insert_with(make).clone()
    }

    pub(super) fn boolean(&mut self, value: bool) -> Object {
        let ty = self.common(b"i1", || IntegerType::new(1, "signless").into_object());
        IntegerAttr::new(value, ty).into_object()
    }

    fn number(&self, token: Token, is_negative: bool, ty: Object) -> Read<Object> {
        let spelling = self.cursor.slice(token);
        let literal = Literal {
            token,
            spelling,
            is_negative,
        };
        match Numeric::of(&ty) {
            Some(Numeric::Integer { width, signedness }) => {
                let bits = literal.integer_bits(width, signedness)?;
                let value = bits.value(width, signedness);
                Ok(IntegerAttr::new(value, ty).into_object())
            }
            Some(Numeric::Float(format)) => {
                let bits = literal.float_bits(format)?;
                Ok(FloatAttr::new(unsigned(bits), ty).into_object())
            }
            None => Err(Fault::new(
                token.start..token.end,
                format!(
                    "expected a number of an integer, index or float type, got one of {}",
                    ty.type_info().key()
                ),
            )),
        }
    }

    /// The next entry of a dictionary.
    fn begin_entry(&mut self, mut entries: Map<Str, Object>) -> Read<Step<'t>> {
        loop {
            let at = self.cursor.token;
            let key = self.read_key("the key of an attribute")?;
            if key.is_empty() {
                return Err(Fault::new(
                    at.start..at.end,
                    "expected a key that is not empty",
                ));
            }
            if self.cursor.eat(b'=')? {
                return Ok(Step::Open(
                    Frame::Dict { entries, key, at },
                    Want::Attribute,
                ));
            }
            let unit = self.common(b"#unit", || UnitAttr::new().into_object());
            add_entry(&mut entries, key, unit, at)?;
            if !self.cursor.eat(b',')? {
                self.cursor.expect(b'}')?;
                return Ok(Step::Done(DictAttr::new(entries).into_object()));
            }
        }
    }

    fn end_distinct(&mut self, number: i64, at: usize, contents: Object) -> Read<Step<'t>> {
        self.cursor.expect(b'>')?;
        let known = self.distinct.get(&number);
        if let Some(known) = known.and_then(|known| known.downcast_ref::<DistinctAttr>()) {
            let is_same = structural_equal(&known.attribute, contents).unwrap_or(false);
            if is_same {
                return Ok(Step::Done(known.clone().into_object()));
            }
            let message = format!("expected the contents that distinct[{number}] has elsewhere");
            return Err(Fault::new(at..self.cursor.last_end, message));
        }
        let new = DistinctAttr::new(contents)
            .with_number(number)
            .into_object();
        self.distinct.insert(number, new.clone());
        Ok(Step::Done(new))
    }

    fn read_strided(&mut self) -> Read<Object> {
        self.cursor.take()?;
        self.cursor.expect(b'<')?;
        self.cursor.expect(b'[')?;
        let mut strides = Vec::new();
        if !self.cursor.is(b']') {
            strides.push(self.read_stride()?);
            while self.cursor.eat(b',')? {
                strides.push(self.read_stride()?);
            }
        }
        self.cursor.expect(b']')?;
        let mut offset = Value::from(0);
        if self.cursor.eat(b',')? {
            if !self.cursor.eat_word("offset")? {
                return Err(self.cursor.unexpected("'offset'"));
            }
            self.cursor.expect(b':')?;
            offset = self.read_stride()?;
        }
        self.cursor.expect(b'>')?;
        Ok(StridedAttr::new(strides, offset).into_object())
    }

    /// A number, or None for `?`.
    fn read_stride(&mut self) -> Read<Value> {
        if self.cursor.eat(b'?')? {
            return Ok(Value::NONE);
        }
        let is_negative = self.cursor.eat(b'-')?;
        let number = self.cursor.expect_number("an integer or '?'")?;
        Ok(Value::from(if is_negative { -number } else { number }))
    }

    pub(super) fn resume_attribute(&mut self, frame: Frame<'t>, part: Object) -> Read<Step<'t>> {
        let attribute = match frame {
            Frame::Number { token, is_negative } => self.number(token, is_negative, part)?,
            Frame::String(value) => StringAttr::new(value).with_ty(part).into_object(),
            Frame::List(mut elements) => {
                elements.push(part);
                if self.cursor.eat(b',')? {
                    return Ok(Step::Open(Frame::List(elements), Want::Attribute));
                }
                self.cursor.expect(b']')?;
                ArrayAttr::new(elements).into_object()
            }
            Frame::Dict {
                mut entries,
                key,
                at,
            } => {
                add_entry(&mut entries, key, part, at)?;
                if self.cursor.eat(b',')? {
                    return self.begin_entry(entries);
                }
                self.cursor.expect(b'}')?;
                DictAttr::new(entries).into_object()
            }
            Frame::DenseArray { at } => self.read_dense_array(at, part)?,
            Frame::Dense { literal } => self.dense(literal, part)?,
            Frame::Sparse { indices, values } => self.sparse(indices, values, part)?,
            Frame::Resource(key) => {
                self.unsettled += 1;
                self.has_resources = true;
                ResourceAttr::new(&key, part).with_key(&key).into_object()
            }
            Frame::Distinct { number, at } => return self.end_distinct(number, at, part),
            Frame::DialectType { attribute } => match attribute.downcast_ref::<DialectAttr>() {
                Some(plain) => plain.with_ty(part).into_object(),
                None => attribute,
            },
            Frame::LocationAttribute => {
                self.cursor.expect(b')')?;
                part
            }
            _ => part,
        };
        Ok(Step::Done(attribute))
    }
}

fn add_entry(entries: &mut Map<Str, Object>, key: Str, value: Object, at: Token) -> Read<()> {
    let message = format!("expected one entry of the key {key:?}");
    match entries.insert(key, value) {
        None => Ok(()),
        Some(_) => Err(Fault::new(at.start..at.end, message)),
    }
}
