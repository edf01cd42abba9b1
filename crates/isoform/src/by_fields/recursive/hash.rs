//! The hash that agrees with recursive equality.

use crate::kernel::container::{ShapeObj, asking, key_hash};
use crate::kernel::error::{Error, Result};
use crate::kernel::hooks::Hook;
use crate::kernel::hooks::{self, DynRecursiveCompare, DynRecursiveEqual, DynRecursiveHash};
use crate::kernel::object::access::{self, Poll, Section};
use crate::kernel::object::arena::Arena;
use crate::kernel::object::class::Payload;
use crate::kernel::object::view::{ObjRef, PartRef};
use crate::kernel::pages::Pages;
use crate::kernel::types::{FieldDef, RegionKind};
use crate::kernel::value::{Value, canonical_float_bits};
use crate::structural::structural_hash;
use crate::traverse::cursor::{Cursor, Part, View, cyclic, path_of};

pub(super) fn hash(section: &mut Section, value: &Value) -> Result<u64> {
    let parts = Arena::default();
    let mut hashing = Hashing {
        parts: &parts,
        stack: Vec::new(),
        positions: Pages::default(),
        known: Vec::new(),
        poll: Poll::default(),
    };
    hashing.run(section, value)
}

/// An object with parts still to hash.
struct Frame<'a> {
    cursor: Cursor<'a>,
    state: u64,
    /// The position of its hash in `known`.
    position: u32,
}

struct Hashing<'a> {
    /// Owners of values that hooks pass in.
    parts: &'a Arena,
    stack: Vec<Frame<'a>>,
    /// The index in `known` plus one, by identity number.
    positions: Pages<u32, 256>,
    /// Hashes of objects; None while an object is being hashed.
    known: Vec<Option<u64>>,
    poll: Poll,
}

impl<'a> Hashing<'a> {
    /// The hash of a value of the caller or of a hook.
    fn run(&mut self, section: &mut Section, root: &'a Value) -> Result<u64> {
        let floor = self.stack.len();
        let hash = self.run_to(section, floor, root);
        if hash.is_err() {
            // A hook may continue without this part; the part is then no longer open.
            for frame in self.stack.drain(floor..) {
                *self.positions.word(frame.cursor.object().ident()) = 0;
            }
        }
        hash
    }

    fn run_to(&mut self, section: &mut Section, floor: usize, root: &'a Value) -> Result<u64> {
        let mut finished = self.meet(section, Part::alone(root, RegionKind::Use))?;
        loop {
            self.poll.step(section)?;
            let height = self.stack.len();
            let frame = match self.stack.last_mut() {
                Some(frame) if height > floor => frame,
                _ => return Ok(finished.unwrap_or_default()),
            };
            if let Some(hash) = finished.take() {
                frame.add(section, hash)?;
            }
            finished = match frame.next(section) {
                Some(part) => self.meet(section, part)?,
                None => {
                    let result = mix(frame.state, frame.cursor.position() as u64);
                    self.known[frame.position as usize] = Some(result);
                    self.stack.pop();
                    Some(result)
                }
            };
        }
    }

    /// The hash of a value, or None after pushing its parts onto the stack.
    fn meet(&mut self, section: &mut Section, part: Part<'a>) -> Result<Option<u64>> {
        let object = match part.met {
            PartRef::Object(object) => object,
            PartRef::Plain(plain) => {
                let value = plain.to_value();
                return match value.as_float() {
                    Some(number) => {
                        let number = if number == 0.0 { 0.0 } else { number };
                        Ok(Some(mix(1, canonical_float_bits(number.to_bits()))))
                    }
                    None => key_hash(&value).map(Some),
                };
            }
        };
        let seed = match object.info().class() {
            Payload::Shape => {
                let dims = object
                    .downcast::<ShapeObj>()
                    .map_or(&[][..], |shape| &shape.dims);
                let hash = dims.iter().fold(2, |state, dim| mix(state, *dim as u64));
                return Ok(Some(mix(hash, dims.len() as u64)));
            }
            Payload::Tensor => {
                let tensor = part.met.to_value();
                return access::outside(section, || structural_hash(&tensor)).map(Some);
            }
            Payload::Sequence | Payload::Mapping | Payload::Mutable => object
                .info()
                .container()
                .map_or(0, |container| container.seed),
            Payload::Plain | Payload::Node => object.info().seed,
            Payload::Str | Payload::Bytes | Payload::BigInt | Payload::Incomparable => {
                let value = part.met.to_value();
                return asking(section, &value, || key_hash(&value)).map(Some);
            }
        };
        let position = self.positions.word(object.ident());
        if let Some(position) = position.checked_sub(1) {
            let cached_hash = self.known[position as usize];
            let path = || path_of(self.stack.iter().map(|frame| &frame.cursor));
            return cached_hash
                .map(Some)
                .ok_or_else(|| cyclic(object).at(path()));
        }
        self.known.push(None);
        *position = self.known.len() as u32;
        let position = *position - 1;
        if let Some(hash) = self.call_hook(section, object) {
            // Open or forgotten, as for values hashed by their fields.
            match hash {
                Ok(hash) => self.known[position as usize] = Some(hash),
                Err(_) => *self.positions.word(object.ident()) = 0,
            }
            return hash.map(Some);
        }
        if let Some(cursor) = Cursor::open(section, object, part, View::Declared) {
            self.stack.push(Frame {
                cursor,
                state: seed,
                position,
            });
        }
        Ok(None)
    }

    /// The hash by the hook of an object's type, if any.
    fn call_hook(&mut self, section: &mut Section, object: ObjRef<'a>) -> Option<Result<u64>> {
        let info = object.info();
        let cells = &info.hooks;
        if let Some(hook) = cells.recursive_hash.get() {
            let name = DynRecursiveHash::NAME;
            return Some(hooks::run(section, name, info.key(), || {
                hook.call(object.as_ref(), &mut |part| {
                    let part = self.parts.keep_value(part);
                    access::traversing(|section| self.run(section, part))
                })
            }));
        }
        let other = match (cells.recursive_equal.get(), cells.recursive_compare.get()) {
            (Some(_), _) => DynRecursiveEqual::NAME,
            (None, Some(_)) => DynRecursiveCompare::NAME,
            (None, None) => return None,
        };
        // If hashed by their fields, equal objects could have different hashes.
        Some(Err(Error::type_error(format!(
            "type {} has {other} but no {}, so it has no recursive hash",
            info.key(),
            DynRecursiveHash::NAME
        ))))
    }
}

impl<'a> Frame<'a> {
    /// The next part that counts; the keys of entries are added with their values.
    fn next(&mut self, section: &Section) -> Option<Part<'a>> {
        loop {
            let part = self.cursor.next(section)?;
            let field = self.cursor.field(self.cursor.position() - 1);
            if !part.is_key && field.is_none_or(FieldDef::is_hashed) {
                return Some(part);
            }
        }
    }

    /// Adds the hash of the part taken last.
    fn add(&mut self, section: &mut Section, hash: u64) -> Result<()> {
        self.state = match self.cursor.entry(self.cursor.position() - 1) {
            // The order of the entries must not matter.
            Some((key, _)) => {
                let key = asking(section, key, || key_hash(key))?;
                self.state.wrapping_add(mix(key, hash))
            }
            None => mix(self.state, hash),
        };
        Ok(())
    }
}

/// Combines two hashes; the order matters.
fn mix(left: u64, right: u64) -> u64 {
    let left = left.rotate_left(23) ^ 0x9e37_79b9_7f4a_7c15;
    let product = u128::from(left | 1) * u128::from(right ^ 0xd6e8_feb8_6659_fd93);
    let folded = (product >> 64) as u64 ^ product as u64;
    folded ^ right.wrapping_mul(0xff51_afd7_ed55_8ccd).rotate_left(31) ^ left
}
