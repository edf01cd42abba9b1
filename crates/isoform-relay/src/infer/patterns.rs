//! The types of matches, patterns and constructors.

use super::collect::Inference;
use super::types::ById;
use crate::analysis::first_unmatched;
use crate::{
    AsExpr, Match, Pattern, PatternConstructor, PatternTuple, PatternVar, PatternWildcard,
};
use isoform::{Array, Ref, Result};
use isoform_ir::ir::{Constructor, FuncType, RelayExpr, TupleType, Type, TypeCall};

/// The maximal numbers of cases and levels in a message.
const SHOWN: usize = 8;

impl Inference<'_> {
    /// The type of a constructor: a function of its fields.
    pub(super) fn constructor(&mut self, constructor: &Ref<Constructor>) -> Result<Ref<Type>> {
        let header = &constructor.belong_to;
        let Some(data) = self.module.type_definitions.get(header) else {
            let number = self.next();
            self.problems.add(
                number,
                format!(
                    "the module has no definition of the type {}",
                    header.name_hint
                ),
            );
            return Ok(self.types.hole());
        };
        let params = &data.type_vars;
        let args: Array<Ref<Type>> = params.iter().map(|param| param.clone().upcast()).collect();
        let result = TypeCall::new(header.clone(), args);
        let ty = FuncType::new(constructor.inputs.clone(), result);
        Ok(ty.with_type_params(params.clone()).upcast())
    }

    /// The common type of the results of clauses.
    pub(super) fn clauses(
        &mut self,
        expr: &Ref<RelayExpr>,
        matching: &Ref<Match>,
    ) -> Result<Ref<Type>> {
        self.check_cases(matching)?;
        let mut clauses = matching.clauses.iter();
        let Some(first) = clauses.next() else {
            return Ok(self.types.hole());
        };
        let mut common = self.type_of(&first.rhs)?;
        for clause in clauses {
            let ty = self.type_of(&clause.rhs)?;
            common = self.require_branch(expr, &common, &ty)?;
        }
        Ok(common)
    }

    /// Gives types to the variables of a pattern.
    pub(super) fn pattern(
        &mut self,
        matching: &Ref<Match>,
        pattern: &Ref<Pattern>,
        ty: Ref<Type>,
    ) -> Result<()> {
        let data = &matching.data;
        let mut stack = vec![(pattern.clone(), ty)];
        while let Some((pattern, ty)) = stack.pop() {
            if let Some(binder) = pattern.downcast_ref::<PatternVar>() {
                let var = binder.var.expr();
                let var_type = self.type_of(&var)?;
                self.require(&var, &var_type, &ty)?;
            } else if let Some(tuple) = pattern.downcast_ref::<PatternTuple>() {
                let fields: Vec<_> = tuple.patterns.iter().map(|_| self.types.hole()).collect();
                let expected = TupleType::new(fields.clone()).upcast();
                self.require(data, &expected, &ty)?;
                stack.extend(tuple.patterns.iter().cloned().zip(fields));
            } else if let Some(case) = pattern.downcast_ref::<PatternConstructor>() {
                let callee = self.constructor(&case.constructor)?;
                let Some(callee) = callee.downcast_ref::<FuncType>() else {
                    continue;
                };
                if callee.arg_types.len() != case.patterns.len() {
                    let number = self.number(data).unwrap_or(self.next());
                    self.problems.add(
                        number,
                        format!(
                            "the pattern of {} has {} fields, and the constructor has {}",
                            case.constructor.name_hint,
                            case.patterns.len(),
                            callee.arg_types.len()
                        ),
                    );
                    continue;
                }
                let mut replacements = ById::default();
                for param in callee.type_params.iter() {
                    replacements.insert(param.identity(), self.types.hole());
                }
                let expected = self.types.instantiated(&callee.ret_type, &replacements);
                self.require(data, &expected, &ty)?;
                for (pattern, field) in case.patterns.iter().zip(callee.arg_types.iter()) {
                    let field = self.types.instantiated(field, &replacements);
                    stack.push((pattern.clone(), field));
                }
            }
        }
        Ok(())
    }

    /// Checks a match that must cover all values.
    fn check_cases(&mut self, matching: &Ref<Match>) -> Result<()> {
        if !matching.complete {
            return Ok(());
        }
        let number = self.next();
        let missing = match first_unmatched(matching, Some(self.module), SHOWN) {
            Ok(missing) => missing,
            // The data type has no definition; the pattern already reported the
            // problem.
            Err(_) if !self.problems.is_empty() => return Ok(()),
            Err(error) => {
                self.problems.add(number, error.message().to_owned());
                return Ok(());
            }
        };
        if missing.is_empty() {
            return Ok(());
        }
        let cases: Vec<_> = missing
            .iter()
            .map(|case| pattern_text(case, SHOWN))
            .collect();
        self.problems.add(
            number,
            format!(
                "match expression does not handle the following cases: {}",
                cases.join(", ")
            ),
        );
        Ok(())
    }
}

/// A pattern as text; calls itself at most `levels` deep.
fn pattern_text(pattern: &Ref<Pattern>, levels: usize) -> String {
    let inner = |patterns: &Array<Ref<Pattern>>| {
        let inner = patterns
            .iter()
            .map(|pattern| pattern_text(pattern, levels - 1));
        inner.collect::<Vec<_>>().join(", ")
    };
    if levels == 0 {
        return "...".to_owned();
    }
    if let Some(case) = pattern.downcast_ref::<PatternConstructor>() {
        let name = &case.constructor.name_hint;
        return if case.patterns.is_empty() {
            name.to_string()
        } else {
            format!("{name}({})", inner(&case.patterns))
        };
    }
    if let Some(tuple) = pattern.downcast_ref::<PatternTuple>() {
        return format!("({})", inner(&tuple.patterns));
    }
    if pattern.isa::<PatternWildcard>() {
        "_".to_owned()
    } else {
        "a variable".to_owned()
    }
}
