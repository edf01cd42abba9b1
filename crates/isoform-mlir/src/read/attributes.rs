//! Attributes.

use isoform::{Map, Str, Value, structural_equal};

use super::Reader;
use super::fault::{Read, refuse};
use super::lexer::{Kind, Token};
use super::numbers::{Literal, Numeric, integer_value, text_value};
use super::values::{Object, Step, Want, done, open};
use crate::nodes::{
    ArrayAttr, DictAttr, DistinctAttr, FloatAttr, FloatType, IntegerAttr, IntegerType,
    ResourceAttr, StridedAttr, StringAttr, SymbolRefAttr, UnitAttr,
};

impl<'t> Reader<'t> {
    pub(super) fn begin_attribute(&mut self) -> Read<Step<'t>> {
        let token = self.cursor.token;
        match token.kind {
            Kind::Word => self.begin_word(token),
            Kind::Integer | Kind::Hex | Kind::Float | Kind::Mark(b'-') => self.begin_number(),
            Kind::String => {
                self.cursor.take()?;
                let string = text_value(self.cursor.string(token));
                if self.cursor.eat(b':')? {
                    return open(Want::Type, |_, ty| {
                        done(StringAttr::new(string).with_ty(ty))
                    });
                }
                done(StringAttr::new(string))
            }
            Kind::Symbol => Ok(Step::Done(self.read_symbol()?)),
            Kind::Attribute => self.begin_dialect(token),
            Kind::Mark(b'[') => {
                self.cursor.take()?;
                self.open_list(Want::Attribute, b']', |_, elements| {
                    done(ArrayAttr::new(elements))
                })
            }
            Kind::Mark(b'{') => {
                self.cursor.take()?;
                if self.cursor.eat(b'}')? {
                    return done(DictAttr::new(Map::new()));
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
                done(UnitAttr::new())
            }
            word @ (b"true" | b"false") => {
                self.cursor.take()?;
                Ok(Step::Done(self.boolean(word == b"true")))
            }
            b"loc" if follows(b'(') => {
                self.cursor.take()?;
                self.cursor.take()?;
                open(Want::Location, |reader, location| {
                    reader.cursor.expect(b')')?;
                    Ok(Step::Done(location))
                })
            }
            b"affine_map" if follows(b'<') => Ok(Step::Done(self.read_affine_map()?)),
            b"affine_set" if follows(b'<') => Ok(Step::Done(self.read_affine_set()?)),
            b"strided" if follows(b'<') => Ok(Step::Done(self.read_strided()?)),
            b"array" if follows(b'<') => {
                self.cursor.take()?;
                let at = self.cursor.take()?;
                open(Want::Type, move |reader, ty| {
                    reader.read_dense_array(at, ty)
                })
            }
            b"dense" if follows(b'<') => {
                self.cursor.take()?;
                self.cursor.expect(b'<')?;
                let literal = self.skip_literal()?;
                self.cursor.expect(b'>')?;
                self.cursor.expect(b':')?;
                open(Want::Type, move |reader, ty| reader.dense(literal, ty))
            }
            b"sparse" if follows(b'<') => {
                self.cursor.take()?;
                self.cursor.expect(b'<')?;
                let start = self.cursor.token.start;
                let (mut indices, mut values) = (start..start, start..start);
                if !self.cursor.is(b'>') {
                    indices = self.skip_elements()?;
                    self.cursor.expect(b',')?;
                    values = self.skip_elements()?;
                }
                self.cursor.expect(b'>')?;
                self.cursor.expect(b':')?;
                open(Want::Type, move |reader, ty| {
                    reader.sparse(indices, values, ty)
                })
            }
            b"dense_resource" if follows(b'<') => {
                self.cursor.take()?;
                self.cursor.expect(b'<')?;
                let key = self.read_key("the key of a resource")?;
                self.cursor.expect(b'>')?;
                self.cursor.expect(b':')?;
                open(Want::Type, move |reader, ty| {
                    reader.unsettled += 1;
                    reader.has_resources = true;
                    done(ResourceAttr::new(&key, ty).with_key(&key))
                })
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
                open(Want::Attribute, move |reader, contents| {
                    reader.end_distinct(number, at, contents)
                })
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

    fn begin_number(&mut self) -> Read<Step<'t>> {
        let is_negative = self.cursor.eat(b'-')?;
        let literal = Literal::next(&self.cursor, is_negative)?;
        self.cursor.take()?;
        if self.cursor.eat(b':')? {
            return open(Want::Type, move |_, ty| number(literal, ty));
        }
        let ty = if literal.is_float() {
            self.common(b"f64", || FloatType::new("f64").into_object())
        } else {
            self.common(b"i64", || IntegerType::new(64, "signless").into_object())
        };
        number(literal, ty)
    }

    /// A type that is kept under its text, or an attribute under a text that no type has.
    fn common(&mut self, text: &'static [u8], make: fn() -> Object) -> Object {
        self.known.entry(text).or_insert_with(make).clone()
    }

    pub(super) fn boolean(&mut self, value: bool) -> Object {
        let ty = self.common(b"i1", || IntegerType::new(1, "signless").into_object());
        IntegerAttr::new(value, ty).into_object()
    }

    /// The next entry of a dictionary.
    fn begin_entry(&mut self, mut entries: Map<Str, Object>) -> Read<Step<'t>> {
        loop {
            let at = self.cursor.token;
            let key = self.read_key("the key of an attribute")?;
            if key.is_empty() {
                return refuse(at, "expected a key that is not empty");
            }
            if self.cursor.eat(b'=')? {
                return open(Want::Attribute, move |reader, value| {
                    add_entry(&mut entries, key, value, at)?;
                    if reader.cursor.goes_on(b'}')? {
                        return reader.begin_entry(entries);
                    }
                    done(DictAttr::new(entries))
                });
            }
            let unit = self.common(b"#unit", || UnitAttr::new().into_object());
            add_entry(&mut entries, key, unit, at)?;
            if !self.cursor.goes_on(b'}')? {
                return done(DictAttr::new(entries));
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
            return refuse(at..self.cursor.last_end, message);
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
        let strides = self.list(b']', Self::read_stride)?;
        let mut offset = Value::from(0);
        if self.cursor.eat(b',')? {
            self.cursor.expect_word("offset")?;
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
}

fn number<'t>(literal: Literal<'t>, ty: Object) -> Read<Step<'t>> {
    match Numeric::of(&ty) {
        Some(Numeric::Integer { width, signedness }) => {
            let bits = literal.integer_bits(width, signedness)?;
            done(IntegerAttr::new(bits.value(width, signedness), ty))
        }
        Some(Numeric::Float(format)) => {
            let bits = literal.float_bits(format)?;
            done(FloatAttr::new(integer_value(bits), ty))
        }
        None => {
            let got = ty.type_info().key();
            let message =
                format!("expected a number of an integer, index or float type, got one of {got}");
            refuse(literal, message)
        }
    }
}

fn add_entry(entries: &mut Map<Str, Object>, key: Str, value: Object, at: Token) -> Read<()> {
    let message = format!("expected one entry of the key {key:?}");
    match entries.insert(key, value) {
        None => Ok(()),
        Some(_) => refuse(at, message),
    }
}
