//! The tried changes: one visitor over a source file lists every place where a small
//! edit gives another program, and the edit.
//!
//! Edits are spans of the source and the replacement text, which leaves the rest of a
//! file unchanged. Code evaluated by the compiler (constants, types, patterns) has no
//! switch at run time and is left out, as are macros and tests.

use std::cmp::Reverse;
use std::ops::Range;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{BinOp, Block, Expr, Lit, Stmt, UnOp};

/// The kind of replaced code, which decides the form of the switch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Place {
    /// A statement with its semicolon, which goes.
    Statement,
    /// An expression, which becomes another one.
    Expression,
}

/// One edit of a source file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Edit {
    /// The bytes that are replaced.
    pub(crate) range: Range<usize>,
    /// The replacement.
    pub(crate) text: String,
    pub(crate) place: Place,
    /// The surrounding function, with its type.
    pub(crate) function: String,
}

/// Every edit of a source file, in the order of the file, outer edits first.
pub(crate) fn edits(source: &str) -> syn::Result<Vec<Edit>> {
    let file = syn::parse_file(source)?;
    let mut finder = Finder {
        source,
        edits: Vec::new(),
        owner: String::new(),
        function: String::new(),
        decides: false,
    };
    finder.visit_file(&file);
    let mut edits = finder.edits;
    edits.sort_by_key(|edit| (edit.range.start, Reverse(edit.range.end)));
    Ok(edits)
}

struct Finder<'s> {
    source: &'s str,
    edits: Vec<Edit>,
    /// The type of the `impl` block.
    owner: String,
    function: String,
    /// True if the function returns a truth value.
    decides: bool,
}

impl Finder<'_> {
    fn text(&self, part: &impl Spanned) -> &str {
        &self.source[part.span().byte_range()]
    }

    fn add(&mut self, place: Place, part: &impl Spanned, text: impl Into<String>) {
        self.edits.push(Edit {
            range: part.span().byte_range(),
            text: text.into(),
            place,
            function: self.function.clone(),
        });
    }

    fn replace(&mut self, expr: &Expr, text: impl Into<String>) {
        self.add(Place::Expression, expr, text);
    }

    /// An expression, in the form of an operand of any operator.
    fn operand(&self, expr: &Expr) -> String {
        let text = self.text(expr);
        match expr {
            Expr::Binary(_) | Expr::Cast(_) | Expr::Unary(_) => format!("({text})"),
            _ => text.to_owned(),
        }
    }

    fn function(&mut self, signature: &syn::Signature, attrs: &[syn::Attribute], body: &Block) {
        if signature.constness.is_some() || is_test(attrs) {
            return;
        }
        let separator = if self.owner.is_empty() { "" } else { "::" };
        let name = format!("{}{separator}{}", self.owner, signature.ident);
        let function = std::mem::replace(&mut self.function, name);
        let decides = std::mem::replace(&mut self.decides, returns_bool(&signature.output));
        if let Some(Stmt::Expr(last, None)) = body.stmts.last() {
            self.decision(last);
        }
        self.visit_block(body);
        (self.function, self.decides) = (function, decides);
    }

    /// The result of a function: a constant instead, where it is a truth value.
    fn decision(&mut self, result: &Expr) {
        if self.decides && !matches!(result, Expr::Lit(_)) {
            self.replace(result, "true");
            self.replace(result, "false");
        }
    }

    /// A condition: the opposite, or the opposite of one link of a chain with `let`.
    fn condition(&mut self, condition: &Expr) {
        match condition {
            Expr::Let(_) | Expr::Lit(_) => {}
            Expr::Binary(chain) if matches!(chain.op, BinOp::And(_)) && has_let(condition) => {
                self.condition(&chain.left);
                self.condition(&chain.right);
            }
            // Their operators have opposites, tried anyway.
            Expr::Binary(test) if matches!(test.op, BinOp::Eq(_) | BinOp::Ne(_)) => {}
            Expr::Unary(not) if matches!(not.op, UnOp::Not(_)) => {}
            _ => self.replace(condition, format!("!({})", self.text(condition))),
        }
    }

    /// An item or method of this type is visited like a part of the type.
    fn owned(&mut self, owner: String, visit: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.owner, owner);
        visit(self);
        self.owner = outer;
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_test(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_impl(&mut self, block: &'ast syn::ItemImpl) {
        let owner = match &*block.self_ty {
            syn::Type::Path(ty) => ty.path.segments.last().map(|last| last.ident.to_string()),
            _ => None,
        };
        let visit = |finder: &mut Self| visit::visit_item_impl(finder, block);
        self.owned(owner.unwrap_or_default(), visit);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        let visit = |finder: &mut Self| visit::visit_item_trait(finder, item);
        self.owned(item.ident.to_string(), visit);
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.sig, &item.attrs, &item.block);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.sig, &item.attrs, &item.block);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(body) = &item.default {
            self.function(&item.sig, &item.attrs, body);
        }
    }

    // Code evaluated, or only read, by the compiler.
    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_item_enum(&mut self, _: &'ast syn::ItemEnum) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_trait_item_const(&mut self, _: &'ast syn::TraitItemConst) {}
    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}
    fn visit_type(&mut self, _: &'ast syn::Type) {}
    fn visit_path(&mut self, _: &'ast syn::Path) {}
    fn visit_generics(&mut self, _: &'ast syn::Generics) {}
    fn visit_angle_bracketed_generic_arguments(
        &mut self,
        _: &'ast syn::AngleBracketedGenericArguments,
    ) {
    }
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}

    /// Of a pattern, the condition of a `match` arm alone is code that runs.
    fn visit_pat(&mut self, pattern: &'ast syn::Pat) {
        if let syn::Pat::Guard(guarded) = pattern {
            self.condition(&guarded.guard);
            self.visit_expr(&guarded.guard);
        }
    }

    fn visit_expr_repeat(&mut self, array: &'ast syn::ExprRepeat) {
        self.visit_expr(&array.expr);
    }

    fn visit_expr_closure(&mut self, closure: &'ast syn::ExprClosure) {
        let decides = std::mem::replace(&mut self.decides, false);
        self.visit_expr(&closure.body);
        self.decides = decides;
    }

    fn visit_expr_if(&mut self, branch: &'ast syn::ExprIf) {
        self.condition(&branch.cond);
        visit::visit_expr_if(self, branch);
    }

    fn visit_expr_while(&mut self, branch: &'ast syn::ExprWhile) {
        self.condition(&branch.cond);
        visit::visit_expr_while(self, branch);
    }

    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        if let Stmt::Expr(expr, Some(_)) = statement
            && only_acts(expr)
        {
            self.add(Place::Statement, statement, "");
        }
        visit::visit_stmt(self, statement);
    }

    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Binary(binary) => {
                if let Some(other) = other_operator(&binary.op)
                    && !has_let(expr)
                {
                    let (left, right) = (self.operand(&binary.left), self.operand(&binary.right));
                    self.replace(expr, format!("{left} {other} {right}"));
                }
            }
            Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_)) => {
                let inner = self.text(&unary.expr).to_owned();
                self.replace(expr, inner);
            }
            Expr::Lit(literal) => match &literal.lit {
                Lit::Bool(truth) => self.replace(expr, (!truth.value).to_string()),
                Lit::Int(number) => {
                    if let Some(other) = other_number(number) {
                        self.replace(expr, other);
                    }
                }
                _ => {}
            },
            Expr::MethodCall(call) if call.args.len() == 1 => {
                let other = match call.method.to_string().as_str() {
                    "min" => Some("max"),
                    "max" => Some("min"),
                    _ => None,
                };
                if let Some(other) = other {
                    let (receiver, argument) =
                        (self.text(&call.receiver), self.text(&call.args[0]));
                    self.replace(expr, format!("{receiver}.{other}({argument})"));
                }
            }
            Expr::Call(call) if matches!(&*call.func, Expr::Path(f) if f.path.is_ident("Some")) => {
                self.replace(expr, "None");
            }
            Expr::Return(syn::ExprReturn {
                expr: Some(result), ..
            }) => self.decision(result),
            _ => {}
        }
        visit::visit_expr(self, expr);
    }
}

/// True if the item is compiled for tests only.
fn is_test(attrs: &[syn::Attribute]) -> bool {
    attrs.iter().any(|attr| {
        attr.path().is_ident("test")
            || attr.path().is_ident("cfg")
                && attr
                    .parse_args::<syn::Path>()
                    .is_ok_and(|condition| condition.is_ident("test"))
    })
}

fn returns_bool(output: &syn::ReturnType) -> bool {
    matches!(output, syn::ReturnType::Type(_, ty)
        if matches!(&**ty, syn::Type::Path(ty) if ty.path.is_ident("bool")))
}

/// True if a condition binds names: such a chain is not an expression elsewhere.
fn has_let(condition: &Expr) -> bool {
    match condition {
        Expr::Let(_) => true,
        Expr::Binary(chain) if matches!(chain.op, BinOp::And(_)) => {
            has_let(&chain.left) || has_let(&chain.right)
        }
        _ => false,
    }
}

/// True if an expression with a semicolon is evaluated for its effect: a call or an
/// assignment, with or without `?`.
fn only_acts(expr: &Expr) -> bool {
    match expr {
        Expr::MethodCall(_) | Expr::Call(_) | Expr::Assign(_) => true,
        Expr::Binary(binary) => is_assignment(&binary.op),
        Expr::Try(attempt) => only_acts(&attempt.expr),
        _ => false,
    }
}

fn is_assignment(op: &BinOp) -> bool {
    matches!(
        op,
        BinOp::AddAssign(_)
            | BinOp::SubAssign(_)
            | BinOp::MulAssign(_)
            | BinOp::BitXorAssign(_)
            | BinOp::BitAndAssign(_)
            | BinOp::BitOrAssign(_)
            | BinOp::ShlAssign(_)
            | BinOp::ShrAssign(_)
    )
}

fn other_operator(op: &BinOp) -> Option<&'static str> {
    Some(match op {
        BinOp::And(_) => "||",
        BinOp::Or(_) => "&&",
        BinOp::Lt(_) => "<=",
        BinOp::Le(_) => "<",
        BinOp::Gt(_) => ">=",
        BinOp::Ge(_) => ">",
        BinOp::Eq(_) => "!=",
        BinOp::Ne(_) => "==",
        BinOp::Add(_) => "-",
        BinOp::Sub(_) => "+",
        BinOp::AddAssign(_) => "-=",
        BinOp::SubAssign(_) => "+=",
        BinOp::BitAnd(_) => "|",
        BinOp::BitOr(_) => "&",
        BinOp::BitAndAssign(_) => "|=",
        BinOp::BitOrAssign(_) => "&=",
        BinOp::Shl(_) => ">>",
        BinOp::Shr(_) => "<<",
        _ => return None,
    })
}

/// One instead of zero, zero instead of one, the next number otherwise.
fn other_number(number: &syn::LitInt) -> Option<String> {
    let other = match number.base10_parse::<u128>().ok()? {
        1 => 0,
        value => value.checked_add(1)?,
    };
    Some(format!("{other}{}", number.suffix()))
}

#[cfg(test)]
mod tests {
    use super::edits;

    /// The edits of the body of a function, shown as the edited body.
    #[track_caller]
    fn check(body: &str, expected: &[&str]) {
        check_in("fn f() {", body, expected);
    }

    #[track_caller]
    fn check_in(head: &str, body: &str, expected: &[&str]) {
        let source = format!("{head}{body}}}");
        let mut found: Vec<String> = edits(&source)
            .expect("a Rust file")
            .into_iter()
            .map(|edit| {
                let mut edited = source.clone();
                edited.replace_range(edit.range, &edit.text);
                edited[head.len()..edited.len() - 1].to_owned()
            })
            .collect();
        found.sort();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(found, expected, "of {source}");
    }

    #[test]
    fn operators_are_replaced() {
        check("let c = a < b;", &["let c = a <= b;"]);
        check("let c = a >= b;", &["let c = a > b;"]);
        check("let c = a == b;", &["let c = a != b;"]);
        check("let c = a + b;", &["let c = a - b;"]);
        check("let c = a.min(b);", &["let c = a.max(b);"]);
        check("let c = !a;", &["let c = a;"]);
        check("let c = a << b;", &["let c = a >> b;"]);
        check(
            "let d = a || b || c;",
            &["let d = a && b || c;", "let d = (a || b) && c;"],
        );
    }

    #[test]
    fn literals_are_replaced() {
        check(
            "g(0, 1u8, 7, true)[..]",
            &[
                "g(1, 1u8, 7, true)[..]",
                "g(0, 0u8, 7, true)[..]",
                "g(0, 1u8, 8, true)[..]",
                "g(0, 1u8, 7, false)[..]",
            ],
        );
        check("Some(a)", &["None"]);
        check("a.0", &[]);
    }

    #[test]
    fn statements_are_removed() {
        check("a.b();", &[""]);
        check("a.b()?;", &[""]);
        check("a = b;", &[""]);
        check("a += b;", &["", "a -= b;"]);
        check("let a = b.c();", &[]);
        check("a.b()", &[]);
        check("assert!(a < 1);", &[]);
    }

    #[test]
    fn conditions_are_negated() {
        check("if a.b() {}", &["if !(a.b()) {}"]);
        check("while a {}", &["while !(a) {}"]);
        check("if !a {}", &["if a {}"]);
        check("if a == b {}", &["if a != b {}"]);
        check("if a < b {}", &["if a <= b {}", "if !(a < b) {}"]);
        check("match a { _ if b => {} }", &["match a { _ if !(b) => {} }"]);
        check(
            "if a && let Some(b) = c && d() {}",
            &[
                "if !(a) && let Some(b) = c && d() {}",
                "if a && let Some(b) = c && !(d()) {}",
            ],
        );
    }

    #[test]
    fn truth_values_that_are_returned_become_constant() {
        check_in("fn f() -> bool {", "a.b()", &["true", "false"]);
        check_in(
            "fn f() -> bool {",
            "return a;",
            &["return true;", "return false;"],
        );
        check_in(
            "fn f() -> bool {",
            "g(|| return a) as bool",
            &["true", "false"],
        );
        check_in("fn f() -> u8 {", "a.b()", &[]);
    }

    #[test]
    fn what_the_compiler_evaluates_stays() {
        check("const A: u8 = 1 + 1;", &[]);
        check("let a: [u8; 1] = [b; 1];", &[]);
        check("match a { 0 | 1..2 => {} }", &[]);
        check("a::<1>(b)", &[]);
        check_in("const fn f() -> u8 {", "1", &[]);
        check_in("#[test] fn f() {", "a = 1;", &[]);
        check_in("#[cfg(test)] mod m {", "fn f() { a = 1; }", &[]);
        check_in("enum E {", "A = 1", &[]);
    }

    #[test]
    fn a_function_is_named_with_its_type() {
        let source = "impl<T> a::B<T> { fn c() { d(1); } } fn e() { f(0) }";
        let names: Vec<_> = edits(source)
            .expect("a Rust file")
            .into_iter()
            .map(|edit| edit.function)
            .collect();
        assert_eq!(names, ["B::c", "B::c", "e"]);
    }
}
