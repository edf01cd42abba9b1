//! The engine: an explicit stack of open values and waiting methods.

use hashbrown::hash_map::Entry;

use super::{Call, Methods, Outcome, Resumed, Retention, Stop};
use crate::kernel::hooks::TraversalHooks;
use crate::kernel::object::access::Poll;
use crate::kernel::path::AccessStep;
use crate::kernel::types::RegionKind;
use crate::kernel::value::Value;
use crate::traverse::cursor::cyclic;
use crate::traverse::options::ChildOptions;
use crate::traverse::parts::Children;

/// The result for a value visited in a region. If a running method asks for the value,
/// `from` is the node of this method. Depth is limited by memory only.
///
/// # Errors
///
/// Errors of the methods and hooks; `ValueError` for a value that contains itself.
pub fn result_of<M: Methods>(
    methods: &M,
    value: &Value,
    region: RegionKind,
    from: Option<&Value>,
) -> Outcome<M::Reply, M> {
    if let Some(from) = from {
        ask(methods, from, value);
    }
    Run::new(methods).nested(value, from, |run| run.meet(value.clone(), region))
}

/// The result for a value from a call of one of its methods; see [`result_of`].
///
/// # Errors
///
/// As [`result_of`].
pub fn result_of_call<M: Methods>(
    methods: &M,
    call: Call<M>,
    value: &Value,
    region: RegionKind,
    from: Option<&Value>,
) -> Outcome<M::Reply, M> {
    Run::new(methods).nested(value, from, |run| {
        run.begin(call, value.clone(), region, None)
    })
}

/// Notes that the method of a node asks for a value.
fn ask<M: Methods>(methods: &M, from: &Value, value: &Value) {
    if methods.retention() == Retention::Bindings
        && let Some(from) = from.as_object()
    {
        methods.memory(|memory| memory.scopes.ask(from.identity(), value));
    }
}

/// A value that is being visited.
struct Frame<M: Methods> {
    region: RegionKind,
    /// The node of the remembered result.
    place: Option<u64>,
    work: Work<M>,
}

enum Work<M: Methods> {
    /// The children are visited in order.
    Children {
        children: Children,
        next: usize,
        replies: Vec<M::Reply>,
    },
    /// A method waits for the requested result.
    Method { node: Value, waiting: M::Waiting },
}

/// The next step of a frame.
enum Next<M: Methods> {
    /// A child has this result, or is on the stack, still without a result.
    Go(Option<M::Reply>),
    /// The child requested by a method has failed.
    Throw(M::Error),
    /// The frame has its result.
    Leave(M::Answer),
}

/// The part of a visit on one stack. A method asking for results while running, rather
/// than waiting for results, begins another run.
pub(super) struct Run<'m, M: Methods> {
    pub(super) methods: &'m M,
    pub(super) hooks: TraversalHooks,
    stack: Vec<Frame<M>>,
    /// The value whose visit has just failed.
    failed: Option<Value>,
}

impl<'m, M: Methods> Run<'m, M> {
    pub(super) fn new(methods: &'m M) -> Self {
        Run {
            methods,
            hooks: methods.memory(|memory| memory.hooks),
            stack: Vec::new(),
            failed: None,
        }
    }

    pub(super) fn nested(
        mut self,
        value: &Value,
        from: Option<&Value>,
        begin: impl FnOnce(&mut Self) -> Outcome<Option<M::Reply>, M>,
    ) -> Outcome<M::Reply, M> {
        let outcome = match begin(&mut self) {
            Ok(Some(reply)) => Ok(reply),
            Ok(None) => self.descend(),
            Err(stop) => Err(stop),
        };
        // These values were not visited to their end.
        for place in self.stack.iter().rev().filter_map(|frame| frame.place) {
            self.forget(place);
        }
        if let (Err(Stop::Error(error)), Some(from)) = (&outcome, from)
            && self.methods.is_located(error)
        {
            let steps = self.between(from, value);
            self.methods.memory(|memory| memory.way.extend(steps));
        }
        outcome
    }

    /// Visits everything on the stack. Returns the result of the lowest frame.
    fn descend(&mut self) -> Outcome<M::Reply, M> {
        let mut poll = Poll::default();
        let mut reply = None;
        loop {
            poll.step_outside()
                .map_err(|error| Stop::Error(error.into()))?;
            let next = match self.step(reply.take()) {
                Ok(next) => next,
                Err(Stop::Error(error)) => {
                    self.fail(&error);
                    Next::Throw(error)
                }
                Err(end) => return Err(end),
            };
            reply = match next {
                Next::Go(reply) => reply.map(Ok),
                Next::Throw(error) => Some(Err(error)),
                Next::Leave(answer) => {
                    let place = self.stack.pop().and_then(|frame| frame.place);
                    Some(Ok(self.leave(place, answer)))
                }
            };
            if self.stack.is_empty()
                && let Some(reply) = reply
            {
                return reply.map_err(Stop::Error);
            }
        }
    }

    /// Continues the last frame with the awaited result. An error belongs to the frame
    /// itself.
    fn step(&mut self, reply: Option<Result<M::Reply, M::Error>>) -> Outcome<Next<M>, M> {
        let methods = self.methods;
        let Some(frame) = self.stack.last_mut() else {
            return Ok(Next::Go(None));
        };
        let region = frame.region;
        match &mut frame.work {
            Work::Children {
                children,
                next,
                replies,
            } => {
                replies.extend(reply.transpose()?);
                let Some(child) = methods.reading(|| children.get(*next, region)) else {
                    let replies = std::mem::take(replies);
                    // Errors from here on are not on the way to a child.
                    *next = 0;
                    return Ok(Next::Leave(methods.combine(children, replies)?));
                };
                *next += 1;
                self.meet(child.value, child.region).map(Next::Go)
            }
            Work::Method { node, waiting } => {
                let has_failed = matches!(reply, Some(Err(_)));
                let resumed = methods.resume(waiting, node, region, reply)?;
                if has_failed {
                    self.failed = None;
                    methods.memory(|memory| memory.way.clear());
                }
                let met = match resumed {
                    Resumed::Answer(answer) => return Ok(Next::Leave(answer)),
                    Resumed::Ask(value) => {
                        ask(methods, node, &value);
                        self.meet(value, region)
                    }
                    Resumed::Call(call) => {
                        let node = node.clone();
                        call.and_then(|call| self.begin(call, node, region, None))
                    }
                };
                match met {
                    Ok(reply) => Ok(Next::Go(reply)),
                    // The method may catch the error of its child.
                    Err(Stop::Error(error)) => Ok(Next::Throw(error)),
                    Err(end) => Err(end),
                }
            }
        }
    }

    /// The result for a value, or None after putting the value on the stack.
    fn meet(&mut self, value: Value, region: RegionKind) -> Outcome<Option<M::Reply>, M> {
        let methods = self.methods;
        let object = value.as_object().filter(|object| !methods.is_plain(object));
        let Some(object) = object else {
            return methods.plain(value).map(Some);
        };
        let place = object.identity();
        let by_bindings = methods.retention() == Retention::Bindings;
        if by_bindings {
            let stale = methods.reading(|| {
                methods.memory(|memory| {
                    let is_known = matches!(memory.known.get(&place), Some(Some(_)));
                    let is_stale = is_known && !memory.scopes.is_valid(object);
                    if is_stale {
                        memory.known.remove(&place)
                    } else {
                        None
                    }
                })
            });
            // Dropping an old result may run code that begins another run.
            drop(stale);
        }
        let state = methods.memory(|memory| {
            if region == RegionKind::Use
                && let Some(image) = memory.uses.get(&place)
            {
                return Some(Some(methods.reply(&methods.answer_of(image.clone()))));
            }
            match memory.known.entry(place) {
                Entry::Occupied(entry) => {
                    Some(entry.get().as_ref().map(|answer| methods.reply(answer)))
                }
                Entry::Vacant(unknown) => {
                    unknown.insert(None);
                    None
                }
            }
        });
        match state {
            Some(Some(reply)) => return Ok(Some(reply)),
            Some(None) => {
                let error = cyclic(object.borrowed());
                self.failed = Some(value);
                return Err(Stop::Error(error.into()));
            }
            None => {}
        }
        if by_bindings {
            methods.reading(|| methods.memory(|memory| memory.scopes.enter(object)));
        }
        match methods.call(&value, region) {
            Ok(call) => self.begin(call, value, region, Some(place)),
            Err(stop) => {
                self.forget(place);
                self.failed = Some(value);
                Err(stop)
            }
        }
    }

    /// Continues after a call of a method: the result, or None for a method waiting on
    /// the stack.
    pub(super) fn begin(
        &mut self,
        call: Call<M>,
        value: Value,
        region: RegionKind,
        place: Option<u64>,
    ) -> Outcome<Option<M::Reply>, M> {
        match call {
            Call::Answer(answer) => return Ok(Some(self.leave(place, answer))),
            Call::Waiting(waiting) => {
                let work = Work::Method {
                    node: value,
                    waiting,
                };
                self.stack.push(Frame {
                    region,
                    place,
                    work,
                });
            }
            Call::Children => {
                if let Some(object) = value.as_object()
                    && let Some(answer) = self.by_hook(object, region)
                {
                    if answer.is_err() {
                        place.into_iter().for_each(|place| self.forget(place));
                        self.failed = Some(value);
                    }
                    return Ok(Some(self.leave(place, answer?)));
                }
                self.open(&value, region, place);
            }
        }
        Ok(None)
    }

    /// Puts a value on the stack, to visit its children.
    pub(super) fn open(&mut self, value: &Value, region: RegionKind, place: Option<u64>) {
        let work = Work::Children {
            children: self.methods.reading(|| options().children_of(value)),
            next: 0,
            replies: Vec::new(),
        };
        self.stack.push(Frame {
            region,
            place,
            work,
        });
    }

    /// Remembers a result, and passes it on.
    fn leave(&self, place: Option<u64>, answer: M::Answer) -> M::Reply {
        let reply = self.methods.reply(&answer);
        if let Some(place) = place {
            let retention = self.methods.retention();
            if retention == Retention::Request {
                self.forget(place);
                return reply;
            }
            let old = self.methods.memory(|memory| {
                if retention == Retention::Bindings {
                    memory.scopes.complete(place);
                }
                memory.set(place, answer)
            });
            // Dropping the old value may run code that begins another run.
            drop(old);
        }
        reply
    }

    fn forget(&self, place: u64) {
        let known = self.methods.memory(|memory| {
            memory.scopes.leave(place);
            memory.known.remove(&place)
        });
        drop(known);
    }

    /// Gives the last frame up, and records its step of the way to the error.
    fn fail(&mut self, error: &M::Error) {
        let failed = self.failed.take();
        let Some(frame) = self.stack.pop() else {
            return;
        };
        let is_located = self.methods.is_located(error);
        let value = match frame.work {
            Work::Children { children, next, .. } => {
                let step = || children.step(next.checked_sub(1)?);
                if is_located && let Some(step) = self.methods.reading(step) {
                    self.methods.memory(|memory| memory.way.push(step));
                }
                children.source().clone()
            }
            Work::Method { node, waiting } => {
                let is_here = self
                    .methods
                    .memory(|memory| std::mem::take(&mut memory.is_here));
                if is_located
                    && !is_here
                    && let Some(failed) = failed
                {
                    let steps = self.between(&node, &failed);
                    self.methods.memory(|memory| memory.way.extend(steps));
                }
                // Dropping the waiting method may run code that begins another run.
                drop(waiting);
                node
            }
        };
        if let Some(place) = frame.place {
            self.forget(place);
        }
        self.failed = Some(value);
    }

    /// The steps from a node to a part, the last step first: to a field, or to an
    /// element of a container in a field. None for any other part. O(children).
    fn between(&self, node: &Value, part: &Value) -> Vec<AccessStep> {
        let place = |children: &Children| {
            let mut parts = children.iter(RegionKind::Use);
            parts.position(|child| child.value == *part)
        };
        self.methods.reading(|| {
            let children = options().children_of(node);
            if let Some(position) = place(&children) {
                return children.step(position).into_iter().collect();
            }
            for (position, child) in children.iter(RegionKind::Use).enumerate() {
                let object = child.value.as_object();
                if object.is_some_and(|object| object.type_info().is_builtin()) {
                    let inner = options().children_of(&child.value);
                    if let Some(inside) = place(&inner) {
                        let steps = [inner.step(inside), children.step(position)];
                        return steps.into_iter().flatten().collect();
                    }
                }
            }
            Vec::new()
        })
    }
}

/// Keys of maps are looked up and name nothing, hence keys are not nodes.
fn options() -> ChildOptions {
    ChildOptions::default().keys(false)
}
