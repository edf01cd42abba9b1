//! Random values over a [`Family`].

use super::family::{Family, Role};
use super::source::Source;
use isoform::objects::field_value_at;
use isoform::values::{DType, Dict, List, Shape, Tensor, ValueRef};
use isoform::{Map, Result, Value};

/// The nesting of a drawn value; reused values are deeper.
const DEPTH: usize = 6;

/// A value is reused only while it has at most this many parts, counted at every
/// occurrence: the oracle visits shared parts every time.
const REUSE_LIMIT: usize = 60;

/// Draws values; all values of one generator share variables, operators and nodes.
///
/// ```
/// use isoform_testing::{family::Family, generate::Generator, source::Source};
/// let family = Family::native()?;
/// let mut source = Source::new(&[7, 3, 200, 41]);
/// let value = Generator::new(&family, &mut source).value()?;
/// println!("{value:?}");
/// # Ok::<(), isoform::Error>(())
/// ```
pub struct Generator<'g, 's> {
    family: &'g Family,
    source: &'g mut Source<'s>,
    vars: Vec<Value>,
    dags: Vec<Value>,
    trees: Vec<Value>,
    ops: Vec<Value>,
    /// Inside the operand of a commutative node, whose parts must neither
    /// see nor leave bindings.
    closed: bool,
    /// True to include incomparable nodes.
    incomparable: bool,
}

impl<'g, 's> Generator<'g, 's> {
    /// A generator with choices drawn from a source.
    pub fn new(family: &'g Family, source: &'g mut Source<'s>) -> Self {
        Generator {
            family,
            source,
            vars: Vec::new(),
            dags: Vec::new(),
            trees: Vec::new(),
            ops: Vec::new(),
            closed: false,
            incomparable: false,
        }
    }

    /// Lets nodes of kind `none`, functions and opaque objects come up too.
    #[must_use]
    pub fn with_incomparable(mut self) -> Self {
        self.incomparable = true;
        self
    }

    /// The source, for the caller's own choices.
    pub fn source(&mut self) -> &mut Source<'s> {
        self.source
    }

    /// Returns the next value.
    ///
    /// # Errors
    ///
    /// None for a consistent family; construction is fallible in general.
    pub fn value(&mut self) -> Result<Value> {
        self.at_depth(DEPTH)
    }

    fn at_depth(&mut self, depth: usize) -> Result<Value> {
        if depth == 0 {
            return Ok(self.source.plain());
        }
        let value = match self.source.below(38) {
            0 | 1 => return Ok(self.source.plain()),
            2..=7 => return self.var(depth),
            8 | 9 => return self.again(depth),
            10 => return self.op(),
            11 => self.node(Role::Const, 1, depth)?,
            12 | 13 => self.spanned(Role::Add, depth)?,
            14 => self.storages(depth)?,
            15 => self.frozen()?,
            16 | 17 if !self.closed => {
                let dag = self.spanned(Role::Shared, depth)?;
                self.dags.push(dag.clone());
                dag
            }
            16..=18 => self.binder(Role::Lambda, depth)?,
            19 => self.open_binder(Role::LateLambda, depth)?,
            20 => self.open_binder(Role::Function, depth)?,
            21 | 22 => self.open_binder(Role::Let, depth)?,
            23 => self.open_binder(Role::SharedLambda, depth)?,
            24 => self.comm(depth)?,
            25 => self.binder(Role::Binder, depth)?,
            26 => {
                let items = self.items(depth)?;
                Value::from(items)
            }
            27 => {
                let items = self.items(depth)?;
                Value::from(List::from(items))
            }
            28 => Value::from(self.entries(depth)?.into_iter().collect::<Map>()),
            29 => Value::from(self.entries(depth)?.into_iter().collect::<Dict>()),
            30 => tensor(self.source)?,
            31 => literal(self.family, self.source)?,
            32 | 33 if !self.closed => self.nest(depth)?,
            35 | 36 => self.node(Role::Wrap, 1, depth)?,
            37 if !self.closed => self.define(depth)?,
            _ => self.rare(depth)?,
        };
        self.trees.push(value.clone());
        Ok(value)
    }

    fn node(&mut self, role: Role, fields: usize, depth: usize) -> Result<Value> {
        let values = (0..fields)
            .map(|_| self.at_depth(depth - 1))
            .collect::<Result<_>>()?;
        Ok(self.family.make(role, values)?.into())
    }

    /// A node with an ignored span and two parts.
    fn spanned(&mut self, role: Role, depth: usize) -> Result<Value> {
        let span = self.source.plain();
        let (lhs, rhs) = (self.at_depth(depth - 1)?, self.at_depth(depth - 1)?);
        Ok(self.family.make(role, vec![span, lhs, rhs])?.into())
    }

    /// A variable: a known or a new one.
    fn var(&mut self, depth: usize) -> Result<Value> {
        let fresh = self.vars.is_empty() || self.source.chance(20);
        if !fresh {
            return Ok(self.source.pick(&self.vars).clone());
        }
        if self.closed {
            return Ok(self.source.plain());
        }
        self.new_var(depth)
    }

    fn new_var(&mut self, depth: usize) -> Result<Value> {
        let kind = self.source.below(8);
        let name = Value::from(format!("v{}", self.vars.len()));
        if kind == 7 {
            let var = Value::from(self.family.make(Role::Name, vec![Value::NONE, name])?);
            self.vars.push(var.clone());
            return Ok(var);
        }
        // Most variables have a plain type; a few have a separate value for a type,
        // possibly with variables.
        let ty = if kind >= 5 && depth > 1 {
            self.at_depth(depth.min(3) - 1)?
        } else {
            Value::from(*self.source.pick(&["i32", "i32", "i32", "f32"]))
        };
        let base = vec![Value::NONE, name, ty];
        let var: Value = if kind == 4 {
            let rank = Value::from(self.source.below(2));
            let values = base.into_iter().chain([rank]).collect();
            self.family.make(Role::TypedVar, values)?.into()
        } else {
            self.family.make(Role::Var, base)?.into()
        };
        self.vars.push(var.clone());
        Ok(var)
    }

    fn op(&mut self) -> Result<Value> {
        if self.ops.is_empty() || self.source.chance(30) {
            let op = self.family.make(Role::Op, vec!["op".into()])?.into();
            self.ops.push(op);
        }
        Ok(self.source.pick(&self.ops).clone())
    }

    /// A node that already occurs elsewhere.
    fn again(&mut self, depth: usize) -> Result<Value> {
        let from_dags = self.source.chance(50);
        let pool = if from_dags { &self.dags } else { &self.trees };
        if pool.is_empty() {
            return self.var(depth);
        }
        let value = self.source.pick(pool).clone();
        if weight(&value, REUSE_LIMIT) >= REUSE_LIMIT {
            return Ok(self.source.plain());
        }
        Ok(value)
    }

    fn storages(&mut self, depth: usize) -> Result<Value> {
        let any = self.at_depth(depth - 1)?;
        let object = self.expr(depth)?;
        let nullable = if self.source.chance(40) {
            self.expr(depth)?
        } else {
            Value::NONE
        };
        let values = vec![
            any,
            object,
            nullable,
            Value::from(self.source.below(3)),
            Value::from(*self.source.pick(&[0.0, -0.0, f64::NAN, -f64::NAN])),
            Value::from(self.source.below(2) == 1),
            Value::from(*self.source.pick(&["", "fourteen bytes", "fifteen bytes!!"])),
            Value::from(*self.source.pick(&[DType::INT64, DType::FLOAT32])),
        ];
        Ok(self.family.make(Role::Storages, values)?.into())
    }

    /// An object that extends `Expr`, required by typed fields.
    fn expr(&mut self, depth: usize) -> Result<Value> {
        match self.source.below(5) {
            4 => literal(self.family, self.source),
            1 if !self.vars.is_empty() => Ok(self.source.pick(&self.vars).clone()),
            2 if depth > 1 => self.spanned(Role::Add, depth - 1),
            3 if !self.dags.is_empty() => {
                let dag = self.source.pick(&self.dags).clone();
                if weight(&dag, REUSE_LIMIT) < REUSE_LIMIT {
                    return Ok(dag);
                }
                Ok(self.family.make(Role::Expr, vec![Value::NONE])?.into())
            }
            _ => Ok(self.family.make(Role::Expr, vec![Value::NONE])?.into()),
        }
    }

    /// A const-tree node, or several with shared parts; everything below is ground.
    fn frozen(&mut self) -> Result<Value> {
        let mut node = Value::from(self.source.below(2));
        for _ in 0..=self.source.below(3) {
            let other = if self.source.chance(50) {
                node.clone()
            } else {
                self.source.plain()
            };
            node = self.family.make(Role::Frozen, vec![node, other])?.into();
        }
        Ok(node)
    }

    /// A binder. In a closed value, no parameter is used outside of its binder.
    fn binder(&mut self, role: Role, depth: usize) -> Result<Value> {
        let outer = self.vars.len();
        let params = self.params(depth)?;
        let body = self.at_depth(depth - 1)?;
        if self.closed {
            self.vars.truncate(outer);
            // Reusing a part would bring variables out of their scope.
            self.trees.clear();
        }
        let values = match role {
            Role::Binder | Role::Function | Role::SharedLambda => vec![params, body],
            Role::LateLambda => vec![body, params],
            _ => vec![Value::NONE, body, params],
        };
        Ok(self.family.make(role, values)?.into())
    }

    /// A binder that may leave bindings open, or use a variable before its definition.
    fn open_binder(&mut self, role: Role, depth: usize) -> Result<Value> {
        if self.closed {
            return self.binder(Role::Lambda, depth);
        }
        if role != Role::Let {
            let value = self.binder(role, depth)?;
            return Ok(value);
        }
        let value = self.at_depth(depth - 1)?;
        let target = match self.source.below(8) {
            // A target may also hide in a container or below another node.
            6 => Value::from(vec![self.param(depth)?, self.param(depth)?]),
            7 => {
                let inner = self.param(depth)?;
                self.family.make(Role::Const, vec![inner])?.into()
            }
            _ => self.param(depth)?,
        };
        Ok(self.family.make(Role::Let, vec![value, target])?.into())
    }

    /// A definition in code, which binds in all following parts.
    fn define(&mut self, depth: usize) -> Result<Value> {
        let target = self.param(depth)?;
        let number = Value::from(self.source.below(2));
        Ok(self.family.make(Role::Define, vec![number, target])?.into())
    }

    /// Binders and sums over a handful of variables, built from each other: nodes that use
    /// variables of several scopes, and occur both inside and outside of these scopes.
    fn nest(&mut self, depth: usize) -> Result<Value> {
        let vars = [self.param(1)?, self.param(1)?, self.param(1)?];
        let mut parts: Vec<Value> = vars.to_vec();
        for _ in 0..3 + self.source.below(10) {
            let (lhs, rhs) = (self.part(&parts), self.part(&parts));
            let var = self.source.pick(&vars).clone();
            let node = match self.source.below(8) {
                0..=2 => self.family.make(Role::Add, vec![Value::NONE, lhs, rhs])?,
                3 => {
                    let other = self.source.pick(&vars).clone();
                    let params = Value::from(vec![var, other]);
                    self.family.make(Role::Binder, vec![params, lhs])?
                }
                4 => {
                    let params = Value::from(vec![var]);
                    self.family.make(Role::LateLambda, vec![lhs, params])?
                }
                5 if depth > 2 => self.family.make(Role::Let, vec![lhs, var])?,
                _ => {
                    let params = Value::from(vec![var]);
                    self.family
                        .make(Role::Lambda, vec![Value::NONE, lhs, params])?
                }
            };
            parts.push(node.into());
        }
        let tail = parts.split_off(parts.len() - 2 - self.source.below(2));
        Ok(tail.into())
    }

    /// Picks a part that is not too large yet, usually a recent part.
    fn part(&mut self, parts: &[Value]) -> Value {
        let back = self.source.below(parts.len()).min(self.source.below(4));
        let part = &parts[parts.len() - 1 - back];
        if weight(part, REUSE_LIMIT) >= REUSE_LIMIT {
            return parts[0].clone();
        }
        part.clone()
    }

    fn params(&mut self, depth: usize) -> Result<Value> {
        match self.source.below(8) {
            0..=3 => Ok(vec![self.param(depth)?].into()),
            4 | 5 => Ok(vec![self.param(depth)?, self.param(depth)?].into()),
            6 => self.param(depth),
            // A pattern: variables below other nodes.
            _ => {
                let (lhs, rhs) = (self.param(depth)?, self.param(depth)?);
                let values = vec![Value::NONE, lhs, rhs];
                Ok(self.family.make(Role::Add, values)?.into())
            }
        }
    }

    /// A variable in a defining place: mostly new, occasionally known, for shadowing
    /// and late definitions.
    fn param(&mut self, depth: usize) -> Result<Value> {
        if !self.vars.is_empty() && self.source.chance(25) {
            return Ok(self.source.pick(&self.vars).clone());
        }
        self.new_var(depth)
    }

    fn comm(&mut self, depth: usize) -> Result<Value> {
        let outer = (
            std::mem::take(&mut self.vars),
            std::mem::take(&mut self.dags),
            std::mem::take(&mut self.trees),
            self.closed,
        );
        self.closed = true;
        let mut operand = || {
            self.vars.clear();
            self.trees.clear();
            self.at_depth(depth - 1)
        };
        let operands = operand().and_then(|lhs| Ok(vec![lhs, operand()?]));
        (self.vars, self.dags, self.trees, self.closed) = outer;
        Ok(self.family.make(Role::Comm, operands?)?.into())
    }

    fn items(&mut self, depth: usize) -> Result<Vec<Value>> {
        let count = self.source.below(4);
        (0..count).map(|_| self.at_depth(depth - 1)).collect()
    }

    fn entries(&mut self, depth: usize) -> Result<Vec<(Value, Value)>> {
        let count = self.source.below(5);
        let mut entries = Vec::new();
        for _ in 0..count {
            let key = match self.source.below(8) {
                3 | 4 if !self.vars.is_empty() => self.source.pick(&self.vars).clone(),
                5 if !self.dags.is_empty() => self.source.pick(&self.dags).clone(),
                6 if !self.trees.is_empty() => self.source.pick(&self.trees).clone(),
                7 => self.op()?,
                _ => self.source.plain(),
            };
            entries.push((key, self.at_depth(depth - 1)?));
        }
        Ok(entries)
    }

    /// Rare cases: incomparable values and cycles.
    fn rare(&mut self, depth: usize) -> Result<Value> {
        if self.closed || !self.incomparable {
            return self.node(Role::Const, 1, depth);
        }
        match self.source.below(4) {
            0 => self.node(Role::Hidden, 1, depth),
            1 => Ok(isoform::functions::Function::new(|_| Ok(Value::NONE)).into()),
            2 => Ok(Value::opaque(0u8)),
            _ => {
                let list = List::from(vec![self.at_depth(depth - 1)?]);
                let around = self.family.make(Role::Const, vec![list.clone().into()])?;
                list.push(around.into())?;
                Ok(list.into())
            }
        }
    }
}

/// A node without children, drawn from a few.
pub(super) fn literal(family: &Family, source: &mut Source<'_>) -> Result<Value> {
    let bits = Value::from(source.below(2));
    let scale = Value::from(*source.pick(&[1.0, 0.0, -0.0, f64::NAN, -f64::NAN]));
    let values = vec![Value::NONE, bits, scale];
    Ok(family.make(Role::Literal, values)?.into())
}

/// A shape, or a small tensor of a format whose NaNs matter.
pub(super) fn tensor(source: &mut Source<'_>) -> Result<Value> {
    if source.chance(30) {
        let dims: Vec<i64> = (0..source.below(3))
            .map(|_| source.below(3) as i64)
            .collect();
        return Ok(Shape::from(dims).into());
    }
    // Per format: zero, negative zero, one, and NaNs of three payloads.
    let formats: [(&str, usize, [u64; 6]); 6] = [
        (
            "float32",
            4,
            [
                0,
                0x8000_0000,
                0x3f80_0000,
                0x7fc0_0000,
                0xffc0_0001,
                0x7f80_0001,
            ],
        ),
        ("float16", 2, [0, 0x8000, 0x3c00, 0x7e00, 0xfe01, 0x7c01]),
        ("bfloat16", 2, [0, 0x8000, 0x3f80, 0x7fc0, 0xffc1, 0x7f81]),
        (
            "float64",
            8,
            [
                0,
                1 << 63,
                0x3ff0_0000_0000_0000,
                0x7ff8_0000_0000_0000,
                0xfff8_0000_0000_0001,
                0x7ff0_0000_0000_0001,
            ],
        ),
        ("float8_e4m3fn", 1, [0, 0x80, 0x38, 0x7f, 0xff, 0x7e]),
        ("int8", 1, [0, 0x80, 1, 0x7f, 0xff, 0x7e]),
    ];
    let (name, width, patterns) = *source.pick(&formats);
    let count = source.below(4);
    let mut data = Vec::new();
    for _ in 0..count {
        let bits = *source.pick(&patterns);
        data.extend_from_slice(&bits.to_le_bytes()[..width]);
    }
    let shape = match source.below(3) {
        1 => vec![1, count as i64],
        _ => vec![count as i64],
    };
    Ok(Tensor::new(name.parse()?, shape, data)?.into())
}

/// The number of parts of a value, counted at every occurrence, up to a limit.
pub(super) fn weight(value: &Value, limit: usize) -> usize {
    let mut stack = vec![value.clone()];
    let mut count = 0;
    while let Some(value) = stack.pop() {
        count += 1;
        if count >= limit {
            return count;
        }
        stack.extend(children(&value));
    }
    count
}

/// The values directly below a value: elements, map values, fields.
pub(super) fn children(value: &Value) -> Vec<Value> {
    match value.view() {
        ValueRef::Array(array) => array.values().to_vec(),
        ValueRef::List(list) => list.snapshot().values().to_vec(),
        ValueRef::Map(map) => map.iter().map(|(_, value)| value.clone()).collect(),
        ValueRef::Dict(dict) => dict.snapshot().iter().map(|(_, v)| v.clone()).collect(),
        ValueRef::Object(object) => (0..object.type_info().fields().len())
            .filter_map(|field| field_value_at(object, field))
            .collect(),
        _ => Vec::new(),
    }
}
