//! Custom rules, and refused rules.

use isoform_onnx::optimize::{OptimizeOptions, Rule, rules};

use crate::optimize::check::{check_equal, fired, optimize, program};

/// A rule that replaces `from` by a call of `to`.
fn to(name: &str, from: &str, to: &'static str) -> Rule {
    let rule = Rule::new(name, &format!("{from}(x)"), move |site| {
        let x = site.get("x")?.clone();
        Ok(site.replace(to, vec![x], &[]))
    });
    rule.unwrap()
}

#[track_caller]
fn refused(rules: Vec<Rule>, text: &str, message: &str) {
    let options = OptimizeOptions::default().rules(rules);
    let error = options.optimize(&program(17, text)).unwrap_err();
    assert_eq!(error.to_string(), message);
}

#[test]
fn a_rule_applies() {
    let options = OptimizeOptions::default().rules([to("mine", "Abs", "Relu")]);
    let done = optimize(&options, &program(17, "x: float[N] => Neg(Abs(x))"));
    let expected = program(17, "x: float[N] => Neg(Relu(x))");
    check_equal(&expected, &done.program, "Abs");
    assert_eq!(fired(&done), ["mine"]);
    let elsewhere = options.optimize(&program(17, "x: float[N] => Neg(demo::Abs(x))"));
    assert!(elsewhere.unwrap().report.fired.is_empty());
}

#[test]
fn a_rule_keeps_to_its_versions() {
    let rule = to("mine", "Abs", "Relu").versions(14..=17);
    let options = OptimizeOptions::default().rules([rule]);
    for (opset, times) in [(13, 0), (14, 1), (17, 1), (18, 0)] {
        let done = optimize(&options, &program(opset, "x: float[N] => Abs(x)"));
        assert_eq!(done.report.fired.len(), times, "version {opset}");
    }
}

#[test]
fn rules_that_undo_each_other_are_refused() {
    let rules = vec![to("there", "Abs", "Relu"), to("back", "Relu", "Abs")];
    let text = "x: float[N] => Neg(Abs(x))";
    let message =
        "ValueError: rules replace what they made without an end, the last one was 'there'";
    refused(rules, text, message);
}

#[test]
fn a_rule_that_makes_what_it_looks_for_is_refused() {
    let text = "x: float[N] => Neg(Abs(x))";
    let message =
        "ValueError: rules replace what they made without an end, the last one was 'again'";
    refused(vec![to("again", "Abs", "Abs")], text, message);
}

#[test]
fn a_rule_that_makes_ever_more_is_refused() {
    let rule = Rule::new("more", "Abs(x)", |site| {
        let x = site.get("x")?.clone();
        let one = site.make("Abs", vec![x.clone()], &[]);
        let one = one.unwrap_or(x);
        Ok(site.replace("Abs", vec![one], &[]))
    });
    let message =
        "ValueError: rules replace what they made without an end, the last one was 'more'";
    refused(vec![rule.unwrap()], "x: float[N] => Neg(Abs(x))", message);
}

#[test]
fn a_value_of_another_type_is_refused() {
    let message = "ValueError: rule 'not' at Abs '': output 0 has elements of float, not of bool";
    let rule = Rule::new("not", "Abs(x)", |site| {
        let x = site.get("x")?.clone();
        let equal = site.make("Equal", vec![x.clone(), x], &[]);
        Ok(equal.map(|value| vec![value]))
    });
    let options = OptimizeOptions::default().rules([rule.unwrap()]);
    let error = options
        .optimize(&program(17, "x: float[N] => Neg(Abs(x))"))
        .unwrap_err()
        .to_string();
    assert_eq!(error, message);
}

#[test]
fn a_value_of_another_shape_is_refused() {
    let message = "ValueError: rule 'turned' at Abs '': output 0 has shape (2, 3), not (3, 2)";
    let rules = vec![to("turned", "Abs", "Transpose")];
    refused(rules, "x: float[2, 3] => Neg(Abs(x))", message);
}

#[test]
fn another_number_of_values_is_refused() {
    let message =
        "ValueError: rule 'half' at Split '': expected 2 values, one for each output, got 1";
    let rule = Rule::new("half", "Split(x)", |site| {
        Ok(Some(vec![site.get("x")?.clone()]))
    });
    let text = "x: float[4] => a, b = Split{axis=0}(x); Neg(a), Neg(b)";
    refused(vec![rule.unwrap()], text, message);
}

#[test]
fn errors_of_a_rule_are_those_of_optimisation() {
    let rule = Rule::new("lost", "Abs(x)", |site| {
        site.get("y")?;
        Ok(None)
    });
    let message = "KeyError: rule 'lost': its pattern has no value 'y', only x";
    refused(vec![rule.unwrap()], "x: float[N] => Abs(x)", message);
}

#[test]
fn names_that_are_no_rules_are_refused() {
    let text = program(17, "x: float[N] => Abs(x)");
    for options in [
        OptimizeOptions::default().only(["drop-everything"]),
        OptimizeOptions::default().without(["drop-everything"]),
    ] {
        let error = options.optimize(&text).unwrap_err().to_string();
        assert!(
            error.starts_with("ValueError: there is no rule 'drop-everything'; the rules are ")
        );
        // Rules that are used with --fuse alone have names, too.
        for rule in rules() {
            assert!(error.contains(rule.name()), "{error}");
        }
    }
    assert!(Rule::new("", "Abs(x)", |_| Ok(None)).is_err());
    assert!(Rule::new("open", "Abs(x", |_| Ok(None)).is_err());
}
