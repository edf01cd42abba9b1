//! The hash that agrees with recursive equality.

use crate::kernel::container::{Array, Map, asking, key_hash};
use crate::kernel::error::{Error, Result};
use crate::kernel::hooks::Hook;
use crate::kernel::hooks::{self, DynRecursiveCompare, DynRecursiveEqual, DynRecursiveHash};
use crate::kernel::object::access::{self, Poll, Section};
use crate::kernel::object::class::Class;
use crate::kernel::object::dynamic::get_field_at;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::pages::Pages;
use crate::kernel::path::{AccessPath, AccessStep};
use crate::kernel::value::{Value, ValueRef, canonical_float_bits};
use crate::structural::structural_hash;

pub(super) fn hash(section: &mut Section, value: &Value) -> Result<u64> {
    let mut hashing = Hashing {
        stack: Vec::new(),
        positions: Pages::default(),
        known: Vec::new(),
        poll: Poll::default(),
    };
    hashing.run(section, value)
}

/// A value whose parts are still to be hashed.
struct Frame {
    parts: Parts,
    next: usize,
    state: u64,
    /// The object, and where its hash is remembered.
    ident: u64,
    position: u32,
}

enum Parts {
    Fields(Ref<Obj>),
    Items(Array),
    Entries(Map),
}

struct Hashing {
    stack: Vec<Frame>,
    /// Position in `known`, one higher, by identity number.
    positions: Pages<u32, 256>,
    /// Hashes of objects; None while an object is being hashed.
    known: Vec<Option<u64>>,
    poll: Poll,
}

impl Hashing {
    /// The hash of a value, of the whole question or of a hook's.
    fn run(&mut self, section: &mut Section, root: &Value) -> Result<u64> {
        let floor = self.stack.len();
        let hash = self.run_to(section, floor, root);
        if hash.is_err() {
            // A hook may go on without this part; it is not open any more.
            for frame in self.stack.drain(floor..) {
                *self.positions.word(frame.ident) = 0;
            }
        }
        hash
    }

    fn run_to(&mut self, section: &mut Section, floor: usize, root: &Value) -> Result<u64> {
        let mut finished = self.meet(section, root)?;
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
            finished = match frame.next() {
                Some(value) => self.meet(section, &value)?,
                None => {
                    let result = mix(frame.state, frame.next as u64);
                    self.known[frame.position as usize] = Some(result);
                    self.stack.pop();
                    Some(result)
                }
            };
        }
    }

    /// The hash of a value, or None when its parts were put on the stack.
    fn meet(&mut self, section: &mut Section, value: &Value) -> Result<Option<u64>> {
        let (seed, parts) = match value.view() {
            ValueRef::Float(number) => {
                let number = if number == 0.0 { 0.0 } else { number };
                return Ok(Some(mix(1, canonical_float_bits(number.to_bits()))));
            }
            ValueRef::Shape(shape) => {
                let hash = shape.iter().fold(2, |state, dim| mix(state, *dim as u64));
                return Ok(Some(mix(hash, shape.len() as u64)));
            }
            ValueRef::Tensor(_) => {
                return access::outside(section, || structural_hash(value)).map(Some);
            }
            ValueRef::Array(array) => (3, Parts::Items(array.clone())),
            ValueRef::List(list) => (4, Parts::Items(list.snapshot())),
            ValueRef::Map(map) => (5, Parts::Entries(map.clone())),
            ValueRef::Dict(dict) => (6, Parts::Entries(dict.snapshot())),
            ValueRef::Object(object) if object.type_info().class() != Class::Incomparable => {
                (object.type_info().seed, Parts::Fields(object.clone()))
            }
            _ => return asking(section, value, || key_hash(value)).map(Some),
        };
        let ident = value.as_object().map_or(0, Ref::identity);
        let position = self.positions.word(ident);
        if let Some(position) = position.checked_sub(1) {
            let known = self.known[position as usize];
            return known.map(Some).ok_or_else(|| self.cycle(value));
        }
        self.known.push(None);
        *position = self.known.len() as u32;
        let position = *position - 1;
        if let Parts::Fields(object) = &parts
            && let Some(hash) = self.call_hook(section, object)
        {
            // Open or forgotten, as what is hashed by its fields.
            match hash {
                Ok(hash) => self.known[position as usize] = Some(hash),
                Err(_) => *self.positions.word(ident) = 0,
            }
            return hash.map(Some);
        }
        self.stack.push(Frame {
            parts,
            next: 0,
            state: seed,
            ident,
            position,
        });
        Ok(None)
    }

    /// What the type of an object says, if it has a hook.
    fn call_hook(&mut self, section: &mut Section, object: &Ref<Obj>) -> Option<Result<u64>> {
        let info = object.type_info();
        let cells = &info.hooks;
        if let Some(hook) = cells.recursive_hash.get() {
            return Some(hooks::run(
                section,
                DynRecursiveHash::NAME,
                info.key(),
                || {
                    hook.call(object, &mut |part| {
                        access::traversing(|section| self.run(section, part))
                    })
                },
            ));
        }
        let other = match (cells.recursive_equal.get(), cells.recursive_compare.get()) {
            (Some(_), _) => DynRecursiveEqual::NAME,
            (None, Some(_)) => DynRecursiveCompare::NAME,
            (None, None) => return None,
        };
        // By its fields, equal objects could have different hashes.
        Some(Err(Error::type_error(format!(
            "type {} has {other} but no {}, so it has no recursive hash",
            info.key(),
            DynRecursiveHash::NAME
        ))))
    }

    #[cold]
    fn cycle(&self, value: &Value) -> Error {
        let path = self.stack.iter().filter_map(Frame::step).collect();
        crate::traverse::cyclic(value).at(AccessPath::from_steps(path))
    }
}

impl Frame {
    fn next(&mut self) -> Option<Value> {
        match &self.parts {
            Parts::Fields(object) => {
                let fields = object.type_info().fields().iter().enumerate();
                let mut hashed = fields
                    .skip(self.next)
                    .filter(|(_, field)| field.is_hashed());
                let (position, _) = hashed.next()?;
                self.next = position + 1;
                get_field_at(object, position)
            }
            Parts::Items(items) => {
                self.next += 1;
                items.get(self.next - 1).cloned()
            }
            Parts::Entries(entries) => {
                let (_, value) = entries.reference().entry(self.next)?;
                self.next += 1;
                Some(value.clone())
            }
        }
    }

    /// Takes in the hash of the part taken last.
    fn add(&mut self, section: &mut Section, hash: u64) -> Result<()> {
        self.state = match &self.parts {
            // The order of the entries must not show.
            Parts::Entries(entries) => {
                let entry = entries.reference().entry(self.next - 1);
                let key = entry.map_or(Ok(0), |(key, _)| asking(section, key, || key_hash(key)))?;
                self.state.wrapping_add(mix(key, hash))
            }
            _ => mix(self.state, hash),
        };
        Ok(())
    }

    fn step(&self) -> Option<AccessStep> {
        let position = self.next.checked_sub(1)?;
        match &self.parts {
            Parts::Fields(object) => {
                let field = object.type_info().fields().get(position)?;
                Some(AccessStep::Attr(field.name().to_string()))
            }
            Parts::Items(_) => Some(AccessStep::ArrayItem(position)),
            Parts::Entries(entries) => {
                let (key, _) = entries.reference().entry(position)?;
                Some(AccessStep::MapItem(key.clone()))
            }
        }
    }
}

/// Joins two hashes; the order matters.
fn mix(left: u64, right: u64) -> u64 {
    let left = left.rotate_left(23) ^ 0x9e37_79b9_7f4a_7c15;
    let product = u128::from(left | 1) * u128::from(right ^ 0xd6e8_feb8_6659_fd93);
    let folded = (product >> 64) as u64 ^ product as u64;
    folded ^ right.wrapping_mul(0xff51_afd7_ed55_8ccd).rotate_left(31) ^ left
}
