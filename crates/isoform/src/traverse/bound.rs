//! The meanings of variables during a substitution, scope by scope, and the
//! dependencies of remembered results.
//!
//! Level 0 holds the substitution itself, level 1 the whole value, and each open scope
//! has the next level. The result of a shared object remains valid while the scopes of
//! all used bindings are open and every looked-up variable keeps its meaning. A version
//! tracks the meanings: the version changes only when a looked-up variable gets another
//! meaning, which does not happen in programs binding each variable once.

use hashbrown::{HashMap, HashSet};
use rapidhash::fast::RandomState;

use super::rewrite::Outcome;
use crate::kernel::object::view::PartRef;
use crate::kernel::types::region::RegionKind;
use crate::kernel::value::Value;

/// A region, the level of the field that opened the region, and the meaning of
/// variables inside.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) region: RegionKind,
    def_level: u32,
    sight: LookupRule,
}

impl Place {
    pub(super) const ROOT: Place = Place {
        region: RegionKind::Use,
        def_level: 0,
        sight: LookupRule::Bindings,
    };
    /// In the fields of a free variable.
    pub(super) const IN_FREE: Place = Place {
        sight: LookupRule::Pairs,
        ..Place::ROOT
    };
    /// In the replacement of a variable.
    pub(super) const IN_REPLACEMENT: Place = Place {
        sight: LookupRule::Fields,
        ..Place::ROOT
    };

    /// True in the fields of a variable being bound.
    pub(super) fn is_implicit(self) -> bool {
        self.sight == LookupRule::Size
    }

    /// The place of the fields of a variable being bound here.
    pub(super) fn inside(self) -> Place {
        Place {
            sight: LookupRule::Size,
            ..self
        }
    }
}

/// The rule giving variables their meaning at a place.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum LookupRule {
    /// The variables' binding, if any, otherwise their replacement.
    Bindings,
    /// Like `Bindings`, in the fields of a variable being bound.
    Size,
    /// Their replacement: nothing is bound there.
    Pairs,
    /// They are kept, except for their fields.
    Fields,
}

/// The meaning of a variable at its place.
pub(super) enum Meaning {
    /// The variable becomes this.
    Is(Outcome),
    /// It has to be bound.
    Binder,
    /// The variable is kept, with fields still to be searched.
    Free,
    /// A replacement with variables still to be searched.
    Unsettled(Value),
}

/// The level of bindings outside of all scopes.
const OUTERMOST: u32 = 1;

/// The dependencies of a part of the visit.
#[derive(Clone, Copy)]
pub(super) struct Dependence {
    /// The levels of used bindings, one bit each; the last bit represents all further
    /// levels.
    levels: u64,
    /// The levels of definition fields that named a variable already bound, as bits; in
    /// a scope further in, such a field would bind the variable again.
    defs: u64,
    /// The lowest level of a binding that caused a change.
    changed: u32,
    /// The lowest level of a new binding.
    created: u32,
}

const NOTHING: Dependence = Dependence {
    levels: 0,
    defs: 0,
    changed: u32::MAX,
    created: u32::MAX,
};

/// The bit of [`Dependence::levels`] representing this level and all higher levels.
const LAST_BIT: u32 = 63;

struct Binding {
    level: u32,
    image: Value,
    /// True if the binding of the variable at this level makes a difference.
    matters: bool,
}

struct Level {
    /// Unique among all scopes of the visit.
    instance: u64,
    /// The version to return to at the end of the scope.
    version: u64,
    /// The variables bound at this level.
    vars: Vec<u64>,
}

struct Remembered {
    result: Outcome,
    place: Place,
    version: u64,
    /// The innermost used level and its instance; None if no level was used.
    innermost: Option<(u32, u64)>,
    /// The instance of the scope in which definitions named a bound variable.
    definitions: Option<u64>,
    dependence: Dependence,
}

pub(super) struct BindingScopes {
    bindings: HashMap<u64, Vec<Binding>, RandomState>,
    levels: Vec<Level>,
    instances: u64,
    version: u64,
    versions: u64,
    /// Variables that were looked up.
    seen: HashSet<u64, RandomState>,
    /// Variables with a free use.
    used: HashSet<u64, RandomState>,
    /// True if the fields of free variables are searched.
    in_free: bool,
    /// True if the level of a variable's binding makes a difference, whatever replaces
    /// the variable.
    all_matter: bool,
    /// The results for free variables with searched fields.
    free: HashMap<u64, Value, RandomState>,
    /// Variables of the substitution with replacements still to be searched.
    unsettled: HashSet<u64, RandomState>,
    dependence: Dependence,
    results: HashMap<(u64, RegionKind, LookupRule), Remembered, RandomState>,
}

impl Default for BindingScopes {
    fn default() -> Self {
        BindingScopes {
            bindings: HashMap::default(),
            levels: vec![Level {
                instance: 0,
                version: 0,
                vars: Vec::new(),
            }],
            instances: 0,
            version: 0,
            versions: 0,
            seen: HashSet::default(),
            used: HashSet::default(),
            in_free: false,
            all_matter: false,
            free: HashMap::default(),
            unsettled: HashSet::default(),
            dependence: NOTHING,
            results: HashMap::default(),
        }
    }
}

impl BindingScopes {
    /// Adds a pair to the substitution. Returns false if the variable has one.
    pub(super) fn replace(&mut self, var: u64, replacement: Value) -> bool {
        let stack = self.bindings.entry(var).or_default();
        stack.push(Binding {
            level: 0,
            image: replacement,
            matters: true,
        });
        stack.len() == 1
    }

    /// Requests that the fields of free variables be searched, and those of the
    /// variables in replacements. The variables `used` count as used free from
    /// the start.
    pub(super) fn search_free(&mut self, used: impl Iterator<Item = u64>) {
        self.in_free = true;
        self.used.extend(used);
        self.unsettled.extend(self.bindings.keys());
    }

    /// Requests another visit of a part wherever its variables have another binding,
    /// even without a replacement inside.
    pub(super) fn tell_bindings_apart(&mut self) {
        self.all_matter = true;
    }

    /// Sets the result for a variable of the substitution.
    pub(super) fn settle(&mut self, var: u64, image: Value) {
        self.unsettled.remove(&var);
        if let Some(pair) = self.bindings.get_mut(&var).and_then(|it| it.first_mut()) {
            pair.image = image;
        }
    }

    /// Sets the result for a free variable.
    pub(super) fn settle_free(&mut self, var: u64, image: Value) {
        self.free.insert(var, image);
    }

    /// Records a free use of a variable. Returns true for the first one.
    pub(super) fn note_use(&mut self, var: u64) -> bool {
        self.used.insert(var)
    }

    /// True if a variable has a recorded free use.
    pub(super) fn is_used_free(&self, var: u64) -> bool {
        self.used.contains(&var)
    }

    /// True if a variable at this place is a free use.
    pub(super) fn is_free_use(&self, var: u64, place: Place) -> bool {
        let bindings = matches!(place.sight, LookupRule::Bindings | LookupRule::Size);
        let newest = || self.bindings.get(&var)?.last();
        bindings && self.is_use(var, place) && newest().is_none_or(|it| it.level == 0)
    }

    /// True if a variable at this place is a use, whatever its binding. A variable in
    /// the fields of another variable being bound, such as a size in its type, is a use
    /// if comparison already knows it: because it was used before, and no scope is in
    /// between.
    fn is_use(&self, var: u64, place: Place) -> bool {
        place.region == RegionKind::Use
            || match place.sight {
                LookupRule::Bindings => false,
                LookupRule::Size => place.def_level <= OUTERMOST && self.used.contains(&var),
                LookupRule::Pairs | LookupRule::Fields => true,
            }
    }

    fn current(&self) -> u32 {
        (self.levels.len() - 1) as u32
    }

    /// The instance of the innermost scope.
    fn innermost(&self) -> u64 {
        self.levels.last().map_or(0, |level| level.instance)
    }

    /// The place of a child of a value at `parent`.
    pub(super) fn place_of(&self, parent: Place, region: RegionKind, opens: bool) -> Place {
        Place {
            region,
            def_level: if opens {
                self.current()
            } else {
                parent.def_level
            },
            sight: match parent.sight {
                LookupRule::Size if opens => LookupRule::Bindings,
                other => other,
            },
        }
    }

    pub(super) fn open_scope(&mut self) {
        self.instances += 1;
        self.levels.push(Level {
            instance: self.instances,
            version: self.version,
            vars: Vec::new(),
        });
    }

    /// Ends the bindings of the innermost scope. Returns true if a binding further out
    /// changed a part of the scope.
    pub(super) fn close_scope(&mut self) -> bool {
        let closing = self.current();
        let Some(level) = self.levels.pop() else {
            return true;
        };
        for var in level.vars {
            if let Some(stack) = self.bindings.get_mut(&var) {
                stack.pop();
            }
        }
        self.version = level.version;
        let dependence = &mut self.dependence;
        if closing <= LAST_BIT {
            dependence.levels &= !(1 << closing);
            dependence.defs &= !(1 << closing);
        }
        if dependence.created >= closing {
            dependence.created = u32::MAX;
        }
        let keep = dependence.changed < closing;
        if !keep {
            dependence.changed = u32::MAX;
        }
        keep
    }

    /// Returns the meaning of a variable at a place.
    pub(super) fn look_up(&mut self, var: u64, place: Place, was: PartRef<'_>) -> Meaning {
        let bindings = self.bindings.get(&var);
        let binding = bindings.and_then(|stack| match place.sight {
            LookupRule::Bindings | LookupRule::Size => stack.last(),
            LookupRule::Pairs => stack.first().filter(|pair| pair.level == 0),
            LookupRule::Fields => None,
        });
        // A definition field rebinds variables bound further out.
        let is_bound = binding.is_some_and(|binding| binding.level >= place.def_level);
        if !is_bound && !self.is_use(var, place) {
            return Meaning::Binder;
        }
        self.seen.insert(var);
        if place.region != RegionKind::Use {
            self.dependence.defs |= 1 << place.def_level.min(LAST_BIT);
        }
        let Some(binding) = binding else {
            return match self.free.get(&var).cloned() {
                Some(image) => {
                    let image = Outcome::of(image, was);
                    self.use_level(0, matches!(image, Outcome::New(_)));
                    Meaning::Is(image)
                }
                None if self.in_free => Meaning::Free,
                None => Meaning::Is(Outcome::Same),
            };
        };
        let (image, level) = (binding.image.clone(), binding.level);
        if binding.matters || place.region != RegionKind::Use {
            self.use_level(level, !was.is(&image));
        }
        if level == 0 && self.unsettled.contains(&var) {
            return Meaning::Unsettled(image);
        }
        Meaning::Is(Outcome::of(image, was))
    }

    fn use_level(&mut self, level: u32, changed: bool) {
        if level > 0 {
            self.dependence.levels |= 1 << level.min(LAST_BIT);
        }
        if changed {
            self.dependence.changed = self.dependence.changed.min(level);
        }
    }

    /// Binds a variable until the end of the scope around the definition field.
    pub(super) fn bind(&mut self, var: u64, place: Place, image: Value, changed: bool) {
        let level = place.def_level;
        let stack = self.bindings.entry(var).or_default();
        let matters = changed || self.all_matter || stack.last().is_some_and(|outer| outer.matters);
        stack.push(Binding {
            level,
            image,
            matters,
        });
        if matters && self.seen.contains(&var) {
            self.versions += 1;
            self.version = self.versions;
            // The binding outlives the scopes inside its own.
            for inner in &mut self.levels[level as usize + 1..] {
                inner.version = self.version;
            }
        }
        self.levels[level as usize].vars.push(var);
        self.dependence.created = self.dependence.created.min(level);
        if changed {
            self.dependence.changed = self.dependence.changed.min(level);
        }
    }

    /// Starts collecting dependencies for one object; pass the result to
    /// [`end`](Self::end).
    pub(super) fn begin(&mut self) -> Dependence {
        std::mem::replace(&mut self.dependence, NOTHING)
    }

    /// Resumes collecting for the object around it.
    pub(super) fn end(&mut self, outer: Dependence) {
        self.depend(outer);
    }

    fn depend(&mut self, on: Dependence) {
        let own = &mut self.dependence;
        own.levels |= on.levels;
        own.defs |= on.defs;
        own.changed = own.changed.min(on.changed);
        own.created = own.created.min(on.created);
    }

    /// Remembers the result of the object whose dependencies are being collected,
    /// unless another visit of the object would bind a variable.
    pub(super) fn remember(&mut self, object: u64, place: Place, result: &Outcome) {
        let dependence = self.dependence;
        if dependence.created <= self.current() {
            return;
        }
        let innermost = match dependence.levels.checked_ilog2() {
            None => None,
            Some(LAST_BIT) => Some(self.current()),
            Some(level) => Some(level),
        };
        let innermost = innermost.and_then(|level| {
            let open = self.levels.get(level as usize)?;
            Some((level, open.instance))
        });
        let definitions = (dependence.defs != 0).then(|| self.innermost());
        let remembered = Remembered {
            result: result.clone(),
            definitions,
            place,
            version: self.version,
            innermost,
            dependence,
        };
        let key = (object, place.region, place.sight);
        self.results.insert(key, remembered);
    }

    /// Returns the result of an object, if one is remembered and valid at this
    /// place.
    pub(super) fn remembered(&mut self, object: u64, place: Place) -> Option<Outcome> {
        let key = (object, place.region, place.sight);
        let known = self.results.get(&key)?;
        let open = known.innermost.is_none_or(|(level, instance)| {
            let level = self.levels.get(level as usize);
            level.is_some_and(|level| level.instance == instance)
        });
        let same_place = place.region == RegionKind::Use || known.place == place;
        let defines = known
            .definitions
            .is_none_or(|scope| scope == self.innermost());
        if !open || !same_place || !defines || known.version != self.version {
            return None;
        }
        let (result, dependence) = (known.result.clone(), known.dependence);
        self.depend(dependence);
        Some(result)
    }
}
