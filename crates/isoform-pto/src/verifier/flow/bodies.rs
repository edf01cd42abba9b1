//! Bodies of loops, branches and functions: their begin and end, their yields and
//! returns, and the jumps out of them.

use std::rc::Rc;

use hashbrown::HashSet;

use super::super::types::{compatible, shown};
use super::state::{Body, Checker};
use crate::*;
use isoform::host::{Place, Places};
use isoform::{Error, Ref};

impl Checker<'_> {
    pub(super) fn body(
        &self,
        types: &Rc<[Ref<Type>]>,
        place: Place,
        span: &Ref<Span>,
        is_loop: bool,
    ) -> Body {
        Body {
            types: Rc::clone(types),
            place,
            span: span.clone(),
            is_loop,
            yielded: false,
            mark: 0,
            diverged: false,
        }
    }

    pub(super) fn start(&mut self, mut body: Body) {
        body.mark = self.scopes.mark();
        body.diverged = std::mem::take(&mut self.diverged);
        self.loops += usize::from(body.is_loop);
        self.bodies.push(body);
    }

    /// Leaves a body, and checks its yield.
    pub(super) fn end_body(&mut self) -> Body {
        let body = self.bodies.pop().unwrap_or_else(|| {
            let types: Rc<[Ref<Type>]> = Rc::new([]);
            self.body(&types, Places::ROOT, &Span::unknown(), false)
        });
        let expected = body.types.len();
        if expected > 0 && !body.yielded && !self.diverged {
            let text = format!("expected a yield of {expected} values at the end, got none");
            self.fail(body.place, &body.span, Error::value_error(text));
        }
        body
    }

    pub(super) fn end_then(&mut self) {
        let body = self.end_body();
        let values = self.scopes.leave(body.mark);
        self.branches.push((values, self.diverged));
        self.diverged = body.diverged;
    }

    pub(super) fn end_else(&mut self) {
        let body = self.end_body();
        let (values, then_diverged) = self.branches.pop().unwrap_or_default();
        let else_diverged = self.diverged;
        self.diverged = body.diverged || (then_diverged && else_diverged);
        if then_diverged {
            // Every path to this point runs through this branch.
            return;
        }
        let other = self.scopes.leave(body.mark);
        if else_diverged {
            values.into_iter().for_each(|var| self.scopes.assume(var));
            return;
        }
        let other: HashSet<u64> = other.into_iter().collect();
        let both = values.into_iter().filter(|var| other.contains(var));
        both.for_each(|var| self.scopes.assume(var));
    }

    pub(super) fn yielded(&mut self, stmt: &Ref<YieldStmt>, place: Place, tail: bool) {
        let Some(body) = self.bodies.last_mut().filter(|_| tail) else {
            let text = "yield: expected at the end of the body of a loop or an if";
            return self.fail(place, &stmt.span, Error::value_error(text));
        };
        body.yielded = true;
        let types = Rc::clone(&body.types);
        let bodies = self.bodies.len();
        if let Some(record) = self.records.last_mut()
            && record.bodies == bodies
        {
            record.yielded = Some(stmt.clone());
        }
        self.values("yield", &stmt.value, &types, place, &stmt.span);
    }

    pub(super) fn returned(&mut self, stmt: &Ref<ReturnStmt>, place: Place) {
        let Some(function) = &self.function else {
            return;
        };
        let types: Vec<_> = function.return_types.iter().cloned().collect();
        self.values("return", &stmt.value, &types, place, &stmt.span);
    }

    /// Checks the number and the types of values.
    fn values(
        &mut self,
        what: &str,
        values: &isoform::Array<Ref<Expr>>,
        types: &[Ref<Type>],
        place: Place,
        span: &Ref<Span>,
    ) {
        if values.len() != types.len() {
            let (expected, got) = (types.len(), values.len());
            let text = format!("{what}: expected {expected} values, got {got}");
            return self.fail(place, span, Error::value_error(text));
        }
        for (position, (value, ty)) in values.iter().zip(types).enumerate() {
            if !compatible(ty, &value.ty) {
                let (expected, got) = (shown(ty), shown(&value.ty));
                let text = format!("{what}: expected type {expected}, got {got}");
                let above = self.places.field(place, "value");
                let place = self.places.item(above, position);
                self.fail(place, span, Error::type_error(text));
            }
        }
    }

    pub(super) fn jump(&mut self, loops: usize, stmt: &Ref<Stmt>, place: Place) {
        if loops == 0 {
            let name = match stmt.type_info().key() {
                "pto.BreakStmt" => "break",
                "pto.ContinueStmt" => "continue",
                _ => "break or continue",
            };
            let text = format!("{name}: expected in a loop");
            self.fail(place, &stmt.span, Error::value_error(text));
        }
        if let Some(record) = self.records.last_mut() {
            record.jump = record.jump.min(loops);
        }
    }
}
