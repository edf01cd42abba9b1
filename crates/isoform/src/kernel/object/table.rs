//! The process-wide type table: append-only, read without locks.
//!
//! The table is a static array of pointers to entries; only a registration takes a lock.

use std::alloc::Layout;
use std::collections::HashMap;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::access;
use super::aliases::{Aliases, check_field_aliases};
use super::class::{AtomicEnum, Payload, VisitShape};
use super::field::DropSlot;
use super::header::{HEADER_SIZE, Header, TypeIndex};
use super::native::{FIRST_USER_TYPE, builtin_types};
use super::placement::place;
use super::reference::Node;
pub(crate) use super::slot::Slot;
use crate::kernel::container::ContainerType;
use crate::kernel::error::{Error, Result};
use crate::kernel::function::Function;
use crate::kernel::hooks::{FileHooks, HookCells, HookSet};
use crate::kernel::types::attributes::{self, Lookup};
use crate::kernel::types::role_attributes::check_fields;
use crate::kernel::types::stand_ins;
use crate::kernel::types::{
    Complex, FieldDef, FieldFlag, INIT, Kind, RustType, TypeDef, visit_order,
};

/// Index of [`Obj`](super::reference::Obj), the root of all types.
pub(crate) const OBJECT: TypeIndex = TypeIndex(0);

/// The registration of a type.
pub struct TypeInfo {
    shape: AtomicEnum<VisitShape>,
    class: AtomicEnum<Payload>,
    pub(crate) kind: Kind,
    pub(crate) scope: bool,
    /// True if a compared field may hold an object.
    pub(crate) has_children: bool,
    pub(crate) index: TypeIndex,
    /// A hash of the type key, the same in every process.
    pub(crate) seed: u64,
    /// The type in digests: the first bytes of the BLAKE3 hash of the key, and of a zero
    /// byte and the name of each compared field in the order of visit.
    pub(crate) portable_name: [u8; 16],
    /// Compared fields in the order of visit.
    pub(crate) visited: Box<[Slot]>,
    /// The compared and the ignored fields, in the order of visit.
    pub(crate) visited_and_ignored: Box<[Slot]>,
    pub(crate) drop_slots: Box<[DropSlot]>,
    pub(super) native_drop: Option<unsafe fn(NonNull<Header>)>,
    container: Option<&'static ContainerType>,
    pub(crate) layout: Layout,
    /// All fields in declaration order, parents' first.
    pub(crate) slots: Box<[Slot]>,
    /// The entries of `slots` that may hold more than an [inline](super::field::Inline)
    /// value.
    pub(crate) references: Box<[Slot]>,
    pub(crate) hooks: HookCells,
    /// True if a field is mutable.
    mutable: bool,
    /// True if comparison reads a mutable field.
    compares_mutable: bool,
    /// True if the type has fields, and all were declared at run time.
    run_time_fields: bool,
    /// True if objects of this type may be tracked for cycles.
    pub(super) tracked: AtomicBool,
    /// True if a frozen field of an object of this type was overwritten.
    overwritten: AtomicBool,
    /// True if a custom hash of an object of this type asked alternative questions.
    hash_alternatives: AtomicBool,
    /// The users of the type's own frozen fields; see [`Claim`].
    claim: AtomicU8,
    /// The Rust type with this definition, if already known.
    pub(super) rust_type: OnceLock<RustType>,
    /// The type that was declared in place of this one.
    successor: OnceLock<TypeIndex>,
    ancestors: Box<[TypeIndex]>,
    key: Box<str>,
    doc: Box<str>,
    fields: Box<[FieldDef]>,
    definition: TypeDef,
}

impl TypeInfo {
    /// The type's name.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The type's index in the table.
    pub fn index(&self) -> TypeIndex {
        self.index
    }

    /// True if another type was declared under the key in the meantime.
    pub fn is_replaced(&self) -> bool {
        self.successor.get().is_some()
    }

    /// The structural kind.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// True if a custom hash of an object of this type has asked alternative questions,
    /// starting from one number.
    pub(crate) fn may_hash_alternatives(&self) -> bool {
        self.hash_alternatives.load(Ordering::Relaxed)
    }

    /// Notes that a custom hash of an object of this type asked alternative questions.
    pub(crate) fn note_hash_alternatives(&self) {
        self.hash_alternatives.store(true, Ordering::Relaxed);
    }

    /// True if variable bindings made inside an object of this type end with the
    /// object.
    pub fn is_scope(&self) -> bool {
        self.scope
    }

    /// The declaration's documentation; may be empty.
    pub fn doc(&self) -> &str {
        &self.doc
    }

    /// The constructor for host languages: the attribute `__ffi_init__`, if set.
    pub fn init(&self) -> Option<&'static Function> {
        attributes::get(self.index, INIT, Lookup::Exact)?.peek()
    }

    /// All fields, parents' first, in declaration order.
    pub fn fields(&self) -> &[FieldDef] {
        &self.fields
    }

    /// The declaration of the type itself.
    pub fn definition(&self) -> &TypeDef {
        &self.definition
    }

    /// All fields in the order of visit; see [`TypeDef::visit_order`].
    pub fn fields_as_visited(&self) -> impl Iterator<Item = &FieldDef> {
        let slots = self.visited_and_ignored.iter();
        slots.map(|slot| &self.fields[slot.field as usize])
    }

    /// True if any field, parents' included, is
    /// [mutable](FieldDef::is_mutable).
    pub fn is_mutable(&self) -> bool {
        self.mutable
    }

    /// True if the type has fields, and all were declared at run time.
    pub(super) fn has_run_time_fields(&self) -> bool {
        self.run_time_fields
    }

    /// True if the fields of a shared object of this type may change: a field is
    /// mutable, or a frozen field was overwritten before.
    #[inline(always)]
    #[doc(hidden)]
    pub fn may_change(&self) -> bool {
        self.mutable || self.overwritten.load(Ordering::Relaxed)
    }

    /// [`may_change`](Self::may_change) for the fields read by comparison.
    #[inline(always)]
    pub(crate) fn comparison_may_change(&self) -> bool {
        self.compares_mutable
            || self.overwritten.load(Ordering::Relaxed)
            // A custom comparison may read any field.
            || self.mutable && !self.hooks.are_structural_defaults()
    }

    /// The declaring type of a field: an ancestor, or the type itself.
    fn declarer(&self, field: usize) -> &TypeInfo {
        let line = self.ancestors.iter().map(|ancestor| info(*ancestor));
        let mut declarers = line.filter(|ancestor| field < ancestor.fields.len());
        declarers.next().unwrap_or(self)
    }

    /// Prepares to overwrite a frozen field; false if Rust code may hold plain
    /// references to it.
    pub(super) fn claim_overwrite(&self, field: usize) -> bool {
        if !self.declarer(field).claim(Claim::Overwritten) {
            return false;
        }
        if !self.overwritten.swap(true, Ordering::Relaxed) {
            super::moment::note_changed_type();
        }
        true
    }

    fn claim(&self, claim: Claim) -> bool {
        let (free, claimed) = (Claim::Nobody as u8, claim as u8);
        let order = (Ordering::AcqRel, Ordering::Acquire);
        match self.claim.compare_exchange(free, claimed, order.0, order.1) {
            Ok(_) => true,
            Err(earlier) => earlier == claimed,
        }
    }

    /// The parent type; None for the root.
    pub fn parent(&self) -> Option<&'static TypeInfo> {
        let parent = self.ancestors.len().checked_sub(2)?;
        Some(info(self.ancestors[parent]))
    }

    /// The position of a field in [`fields`](Self::fields).
    pub fn field_index(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.name() == name)
    }

    /// The position of the field that files call by this name, which may be an
    /// [alias](FieldDef::aliases). Every reader looks fields up here.
    pub(crate) fn field_index_in_file(&self, name: &str) -> Option<usize> {
        let alias = || self.fields.iter().position(|field| field.is_called(name));
        self.field_index(name).or_else(alias)
    }

    /// The class of objects of this type for a visit.
    #[inline(always)]
    #[doc(hidden)]
    pub fn class(&self) -> Payload {
        self.class.get()
    }

    /// The shape of a visit of an object of this type.
    #[inline(always)]
    pub(crate) fn shape(&self) -> VisitShape {
        self.shape.get()
    }

    pub(crate) fn file_hooks(&self) -> Option<FileHooks> {
        self.hooks.file_hooks()
    }

    /// True if hook attributes have a meaning for this type: a type with declared
    /// fields, or without both fields and built-in content.
    pub(crate) fn takes_hooks(&self) -> bool {
        !self.is_builtin()
    }

    /// Activates hooks of a registered type. Running traversals may still see the type
    /// without the new hooks.
    pub(crate) fn install_hooks(&self, hooks: &HookSet) {
        self.take_hooks(hooks);
        if !self.hooks.are_structural_defaults() {
            super::moment::note_changed_type();
        }
    }

    fn take_hooks(&self, hooks: &HookSet) {
        hooks.publish(&self.hooks);
        self.hooks.note();
        if !self.hooks.are_structural_defaults() {
            self.class.set(Payload::Node);
            self.shape.set(VisitShape::Other);
        }
    }

    /// True if the type has a custom comparison or hash.
    pub fn has_structural_hooks(&self) -> bool {
        !self.hooks.are_structural_defaults()
    }

    /// The type and its ancestors, nearest first.
    pub fn lineage(&self) -> impl Iterator<Item = TypeIndex> {
        self.ancestors.iter().rev().copied()
    }

    /// The row of the type, if the type is a container.
    #[inline(always)]
    pub(crate) fn container(&self) -> Option<&'static ContainerType> {
        self.container
    }

    /// True if the type is built in and has no declared fields.
    pub fn is_builtin(&self) -> bool {
        self.index.0 < FIRST_USER_TYPE
    }

    /// Sets the row of a type of containers.
    pub(super) fn with_container(mut self, container: &'static ContainerType) -> TypeInfo {
        self.container = Some(container);
        self
    }

    /// The entry of a type with values other than objects.
    pub(super) fn plain(index: TypeIndex, key: &str, doc: &str) -> TypeInfo {
        TypeInfo {
            native_drop: None,
            ..TypeInfo::native(
                index,
                key,
                doc,
                Payload::Incomparable,
                payload_layout(0),
                no_payload,
            )
        }
    }

    pub(super) fn native(
        index: TypeIndex,
        key: &str,
        doc: &str,
        class: Payload,
        layout: Layout,
        drop_payload: unsafe fn(NonNull<Header>),
    ) -> TypeInfo {
        TypeInfo {
            shape: AtomicEnum::new(VisitShape::Other),
            class: AtomicEnum::new(class),
            kind: Kind::Tree,
            scope: false,
            has_children: true,
            index,
            seed: key_seed(key),
            portable_name: portable_name(key, []),
            visited: Box::default(),
            visited_and_ignored: Box::default(),
            drop_slots: Box::default(),
            native_drop: Some(drop_payload),
            container: None,
            layout,
            slots: Box::default(),
            references: Box::default(),
            hooks: HookCells::default(),
            mutable: false,
            compares_mutable: false,
            run_time_fields: false,
            tracked: AtomicBool::new(false),
            overwritten: AtomicBool::new(false),
            hash_alternatives: AtomicBool::new(false),
            claim: AtomicU8::new(Claim::Rust as u8),
            rust_type: OnceLock::new(),
            successor: OnceLock::new(),
            ancestors: Box::new([OBJECT, index]),
            key: key.into(),
            doc: doc.into(),
            fields: Box::default(),
            definition: TypeDef::new(key).doc(doc),
        }
    }
}

/// The use of a type's own frozen fields. A definition may be registered first as data
/// and then again from a Rust struct, with fields read through plain references; from
/// then on, these fields must not change.
#[derive(Clone, Copy)]
#[repr(u8)]
enum Claim {
    Nobody,
    /// A Rust struct has this definition.
    Rust,
    /// A frozen field was overwritten.
    Overwritten,
}

impl std::fmt::Debug for TypeInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TypeInfo")
            .field("key", &self.key)
            .field("kind", &self.kind)
            .field("fields", &self.fields)
            .finish_non_exhaustive()
    }
}

fn key_seed(key: &str) -> u64 {
    rapidhash::v3::rapidhash_v3(key.as_bytes())
}

fn portable_name<'f>(key: &str, fields: impl IntoIterator<Item = &'f FieldDef>) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(key.as_bytes());
    for field in fields {
        hasher.update(&[0]).update(field.name().as_bytes());
    }
    let mut name = [0; 16];
    name.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    name
}

/// The maximal number of types in a process; the table's pages are touched only when
/// they are used.
const CAPACITY: usize = 1 << 20;

static TABLE: [AtomicPtr<TypeInfo>; CAPACITY] =
    [const { AtomicPtr::new(ptr::null_mut()) }; CAPACITY];

/// The data needed by registration, but not by lookups by index.
struct Registry {
    by_key: HashMap<Box<str>, TypeIndex>,
    aliases: Aliases,
    next: u32,
}

fn registry() -> MutexGuard<'static, Registry> {
    static REGISTRY: OnceLock<Mutex<Registry>> = OnceLock::new();
    let mutex = REGISTRY.get_or_init(|| {
        let mut by_key = HashMap::new();
        let root = TypeDef::root();
        let mut all = vec![TypeInfo {
            kind: Kind::None,
            ancestors: Box::new([OBJECT]),
            native_drop: None,
            layout: payload_layout(0),
            definition: TypeDef::root(),
            ..TypeInfo::native(
                OBJECT,
                root.key(),
                root.documentation(),
                Payload::Node,
                payload_layout(0),
                no_payload,
            )
        }];
        all.extend(builtin_types());
        for info in all {
            by_key.insert(info.key.clone(), info.index);
            let index = info.index.0 as usize;
            TABLE[index].store(Box::into_raw(Box::new(info)), Ordering::Release);
        }
        Mutex::new(Registry {
            by_key,
            aliases: Aliases::default(),
            next: FIRST_USER_TYPE,
        })
    });
    // A panic cannot leave the registry inconsistent: it is changed last.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl TypeInfo {
    /// True if the type is declared at run time alone.
    fn is_data(&self) -> bool {
        self.definition.declared_size().is_none() && !self.is_builtin()
    }

    /// The index of this type for a definition with its key.
    ///
    /// # Errors
    ///
    /// `ValueError` for another definition, or a Rust type that cannot have it.
    fn again(&self, definition: &TypeDef) -> Result<TypeIndex> {
        match self.definition.difference(definition) {
            None if definition.declared_size().is_some() && !self.claim(Claim::Rust) => {
                Err(Error::value_error(format!(
                    "type key {} is registered as data, and frozen fields were overwritten, so a \
                     Rust struct cannot have it",
                    definition.key()
                )))
            }
            None => match definition.rust_type() {
                Some(new) => {
                    let known = self.rust_type.get_or_init(|| new);
                    known.check(&new, self.key()).map(|()| self.index)
                }
                None => Ok(self.index),
            },
            Some(what) => {
                if let (Some(new), Some(known)) = (definition.rust_type(), self.rust_type.get()) {
                    known.check(&new, self.key())?;
                }
                Err(Error::value_error(format!(
                    "type key {} is already registered with another definition: {what}",
                    definition.key()
                )))
            }
        }
    }
}

/// # Safety
///
/// No requirements: the function does nothing.
unsafe fn no_payload(_object: NonNull<Header>) {}

/// The entry of a type. O(1), no lock.
#[inline(always)]
pub fn info(index: TypeIndex) -> &'static TypeInfo {
    let entry = TABLE[index.0 as usize].load(Ordering::Acquire);
    if entry.is_null() {
        return info_cold(index);
    }
    // SAFETY: entries are leaked boxes and never replaced.
    unsafe { &*entry }
}

#[cold]
#[inline(never)]
fn info_cold(index: TypeIndex) -> &'static TypeInfo {
    // Built-in types are entered on first use of the registry; every other index comes
    // from the registry, after the type's entry was stored.
    drop(registry());
    let entry = TABLE[index.0 as usize].load(Ordering::Acquire);
    assert!(
        !entry.is_null(),
        "type index {} was never registered",
        index.0
    );
    // SAFETY: as in `info`.
    unsafe { &*entry }
}

/// True if `index` is `ancestor` or extends `ancestor`. O(1).
#[inline(always)]
pub fn is_a(index: TypeIndex, ancestor: TypeIndex) -> bool {
    if index == ancestor || ancestor == OBJECT {
        return true;
    }
    let depth = info(ancestor).ancestors.len() - 1;
    info(index).ancestors.get(depth) == Some(&ancestor)
}

/// True once a declaration took the place of another one.
static REPLACED: AtomicBool = AtomicBool::new(false);

/// The type under the key of a type: the type itself unless it was replaced. O(1).
#[inline(always)]
pub(crate) fn latest(index: TypeIndex) -> TypeIndex {
    if REPLACED.load(Ordering::Relaxed) {
        return latest_cold(index);
    }
    index
}

#[cold]
#[inline(never)]
fn latest_cold(mut index: TypeIndex) -> TypeIndex {
    while let Some(successor) = info(index).successor.get() {
        index = *successor;
    }
    index
}

/// Registers the types that the library itself declares, so that they are known by key before
/// an object of them exists. O(1) after the first call.
fn register_own_types() {
    Complex::type_index();
}

/// The type registered under `key`.
pub fn find(key: &str) -> Option<&'static TypeInfo> {
    register_own_types();
    find_registered(key)
}

/// The type registered under `key` so far: for registrations themselves, which may be those of
/// the types that [`find`] registers first.
pub(super) fn find_registered(key: &str) -> Option<&'static TypeInfo> {
    let index = *registry().by_key.get(key)?;
    Some(info(index))
}

/// The type that files call by this key, which may be an [alias](TypeDef::aliases), or the
/// type in its place. Every reader looks types up here.
pub fn find_in_file(key: &str) -> Option<&'static TypeInfo> {
    register_own_types();
    let table = registry();
    let index = stand_ins::find(key).or_else(|| table.by_key.get(key).copied());
    index.or_else(|| table.aliases.find(key)).map(info)
}

/// All registered types, in order of registration.
pub(crate) fn all() -> Vec<&'static TypeInfo> {
    register_own_types();
    let mut indices: Vec<_> = registry().by_key.values().copied().collect();
    indices.sort_unstable();
    indices.into_iter().map(info).collect()
}

fn payload_layout(payload: usize) -> Layout {
    let size = (HEADER_SIZE + payload).next_multiple_of(8);
    // The size is bounded by `MAX_PAYLOAD`, so the layout is always valid; the fallback
    // avoids a panic path.
    Layout::from_size_align(size, 8).unwrap_or(Layout::new::<Header>())
}

fn class_of(definition: &TypeDef, visited: &[Slot]) -> Payload {
    let plain = definition.structural_kind() == Kind::Tree
        && !definition.is_scope()
        && visited.iter().all(|slot| slot.flag == FieldFlag::None);
    if plain { Payload::Plain } else { Payload::Node }
}

/// Registers a definition; the same definition again returns the same index.
///
/// # Errors
///
/// `ValueError` for a key owned by another definition, an unknown or built-in parent, a
/// repeated field name, or an impossible layout. On an error, nothing is registered.
pub(crate) fn register(definition: TypeDef) -> Result<TypeIndex> {
    enter(definition, Taken::Refuse)
}

/// Registers a definition in place of the one that has its key. Objects of the old type keep
/// the old type, and fields that name the key accept objects of the new type from now on.
///
/// # Errors
///
/// As [`register`]; `ValueError` if the type with the key is declared in Rust.
pub(crate) fn replace(definition: TypeDef) -> Result<TypeIndex> {
    enter(definition, Taken::Replace)
}

/// The treatment of a key that another definition has.
#[derive(Clone, Copy, PartialEq)]
enum Taken {
    Refuse,
    Replace,
}

fn enter(definition: TypeDef, taken: Taken) -> Result<TypeIndex> {
    if definition.key() != Complex::TYPE_KEY {
        register_own_types();
    }
    definition.validate()?;
    let (hooks, attrs) = definition.attributes()?;
    let attrs = attributes::prepare(definition.key(), attrs)?;
    let parent = match definition.parent_index() {
        None => info(OBJECT),
        Some(index) => {
            drop(registry());
            let is_registered = TABLE
                .get(index.0 as usize)
                .map(|entry| !entry.load(Ordering::Acquire).is_null());
            if is_registered != Some(true) {
                return Err(Error::value_error(format!(
                    "type {}: unknown parent type (index {})",
                    definition.key(),
                    index.0
                )));
            }
            info(index)
        }
    };
    if parent.is_builtin() && parent.index != OBJECT {
        return Err(Error::value_error(format!(
            "type {}: the built-in type {} cannot be extended",
            definition.key(),
            parent.key
        )));
    }
    for field in definition.own_fields() {
        if parent.field_index(field.name()).is_some() {
            return Err(Error::value_error(format!(
                "type {}: field '{}' already exists in parent {}",
                definition.key(),
                field.name(),
                parent.key
            )));
        }
    }
    check_field_aliases(parent, &definition)?;
    for (name, value) in &attrs {
        let fields = parent.fields.iter().chain(definition.own_fields());
        check_fields(definition.key(), fields, name, value)?;
    }
    let placement = place(parent, &definition)?;
    let ancestors = parent.ancestors.iter();
    let line = ancestors.map(|ancestor| &info(*ancestor).definition);
    let order = visit_order(&line.chain([&definition]).collect::<Vec<_>>())?;
    let mut table = registry();
    let known = table.by_key.get(definition.key()).map(|index| info(*index));
    if let Some(existing) = known
        && (taken == Taken::Refuse || !existing.is_data())
    {
        return existing.again(&definition);
    }
    let is_key = |key: &str| table.by_key.contains_key(key);
    table.aliases.check(&definition, known, is_key)?;
    if table.next as usize >= CAPACITY {
        return Err(Error::value_error(format!(
            "type {}: the type table is full ({CAPACITY} types)",
            definition.key()
        )));
    }
    let fields: Box<[FieldDef]> = parent
        .fields
        .iter()
        .chain(definition.own_fields())
        .cloned()
        .collect();
    if fields.iter().any(|field| field.declared_offset().is_none()) {
        // Before anybody can make an object of the type.
        access::note_run_time_fields();
    }
    let claim = match definition.declared_size() {
        Some(_) => Claim::Rust,
        None => Claim::Nobody,
    };
    let index = TypeIndex(table.next);
    let visited_and_ignored: Box<[Slot]> = order
        .into_iter()
        .map(|position| placement.slots[position])
        .collect();
    let visited: Box<[Slot]> = visited_and_ignored
        .iter()
        .copied()
        .filter(|slot| slot.flag != FieldFlag::Ignore)
        .collect();
    let class = class_of(&definition, &visited);
    let kind = definition.structural_kind();
    let has_children = visited
        .iter()
        .any(|slot| slot.storage.drop_slot(slot.offset).is_some());
    let info = TypeInfo {
        shape: AtomicEnum::new(match (class, kind) {
            (Payload::Plain, _) if has_children => VisitShape::Inner,
            (Payload::Plain, _) => VisitShape::Leaf,
            (_, Kind::Var) if visited.is_empty() => VisitShape::Var,
            _ => VisitShape::Other,
        }),
        class: AtomicEnum::new(class),
        kind,
        scope: definition.is_scope(),
        has_children,
        index,
        seed: key_seed(definition.key()),
        portable_name: portable_name(
            definition.key(),
            visited.iter().map(|slot| &fields[slot.field as usize]),
        ),
        drop_slots: placement
            .slots
            .iter()
            .filter_map(|slot| slot.storage.drop_slot(slot.offset))
            .collect(),
        visited,
        visited_and_ignored,
        native_drop: None,
        container: None,
        layout: payload_layout(placement.size),
        references: placement
            .slots
            .iter()
            .copied()
            .filter(|slot| slot.storage.inline().is_none())
            .collect(),
        slots: placement.slots.into(),
        hooks: HookCells::default(),
        ancestors: parent.ancestors.iter().copied().chain([index]).collect(),
        key: definition.key().into(),
        doc: definition.documentation().into(),
        mutable: fields.iter().any(FieldDef::is_mutable),
        compares_mutable: fields
            .iter()
            .any(|field| field.is_mutable() && field.field_flag() != FieldFlag::Ignore),
        run_time_fields: !fields.is_empty()
            && fields.iter().all(|field| field.declared_offset().is_none()),
        tracked: AtomicBool::new(false),
        overwritten: AtomicBool::new(false),
        hash_alternatives: AtomicBool::new(false),
        claim: AtomicU8::new(claim as u8),
        rust_type: definition
            .rust_type()
            .map_or_else(OnceLock::new, OnceLock::from),
        successor: OnceLock::new(),
        fields,
        definition,
    };
    info.take_hooks(&hooks);
    table.aliases.enter(&info, known);
    table.by_key.insert(info.key.clone(), index);
    TABLE[index.0 as usize].store(Box::into_raw(Box::new(info)), Ordering::Release);
    table.next += 1;
    if let Some(existing) = known {
        // The lock orders replacements, so the cell is empty.
        let _ = existing.successor.set(index);
        REPLACED.store(true, Ordering::Relaxed);
    }
    // Nobody has the index yet: finding the index takes the lock of the key, held here.
    attributes::enter(index, &hooks, attrs);
    Ok(index)
}

#[cfg(test)]
mod tests {
    use super::{CAPACITY, TypeIndex, find, register};
    use crate::kernel::types::TypeDef;

    #[test]
    fn an_index_that_was_never_given_out_is_no_parent() {
        for index in [CAPACITY as u32 - 1, CAPACITY as u32, u32::MAX] {
            let definition = TypeDef::new("unit.Orphan").parent(TypeIndex(index));
            let error = register(definition).expect_err("the parent is unknown");
            let expected = format!("type unit.Orphan: unknown parent type (index {index})");
            assert_eq!(error.message(), expected);
            assert!(find("unit.Orphan").is_none());
        }
    }
}
