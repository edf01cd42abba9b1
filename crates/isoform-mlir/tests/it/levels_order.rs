//! The order of private symbols.

use isoform::{Ref, structural_equal};
use isoform_mlir::{Level, Program};

use super::support::{different_at, normal_form, program, same_at};

fn level() -> Level {
    Level::strict().symbol_order(false)
}

/// A function whose body is a list of names: a call of `@name`, or another operation.
fn function(name: &str, visibility: &str, body: &str) -> String {
    let operations = body
        .split_whitespace()
        .map(|word| match word.strip_prefix('@') {
            Some(callee) => format!("\"call\"() {{callee = @{callee}}} : () -> () "),
            None => format!("\"{word}\"() : () -> () "),
        });
    let operations: String = operations.collect();
    format!(
        "\"func.func\"() <{{sym_name = \"{name}\", sym_visibility = \"{visibility}\"}}> ({{ {operations} }}) : () -> ()\n"
    )
}

fn private(name: &str, body: &str) -> String {
    function(name, "private", body)
}

fn public(name: &str, body: &str) -> String {
    function(name, "public", body)
}

#[test]
fn private_functions_have_no_order() {
    let main = public("main", "@p @q");
    let [p, q] = [private("p", "one"), private("q", "two")];
    same_at(
        &level(),
        &[
            &(p.clone() + &q + &main),
            &(q.clone() + &p + &main),
            &(private("q", "one") + &private("p", "two") + &public("main", "@q @p")),
        ],
    );
    different_at(
        &level(),
        &[
            &(p.clone() + &q + &main),
            &(p.clone() + &q + &public("main", "@q @p")),
            &(p.clone() + &q + &public("main", "@p @p")),
            // The places of the private functions among the others count.
            &(p.clone() + &main + &q),
            &(main.clone() + &p + &q),
        ],
    );
    // So does the order of public functions.
    let [a, b] = [public("a", "one"), public("b", "two")];
    different_at(
        &level(),
        &[&(a.clone() + &b + &p + &q), &(b + &a + &p + &q)],
    );
}

#[test]
fn references_are_followed() {
    let text = |names: [&str; 4], order: [usize; 4]| {
        let [a, b, c, d] = names;
        let functions = [
            private(a, &format!("@{b} @{c}")),
            private(b, &format!("@{d}")),
            private(c, &format!("@{a}")),
            private(d, "leaf"),
        ];
        let functions: String = order.iter().map(|&number| &*functions[number]).collect();
        public("main", &format!("@{a}")) + &functions
    };
    let names = ["a", "b", "c", "d"];
    same_at(
        &level(),
        &[
            &text(names, [0, 1, 2, 3]),
            &text(names, [3, 2, 1, 0]),
            &text(["d", "a", "b", "c"], [1, 3, 0, 2]),
        ],
    );
}

#[test]
fn unreached_functions_are_ordered_by_their_form() {
    let texts: Vec<String> = [[0, 1, 2, 3], [3, 1, 0, 2], [2, 3, 1, 0]]
        .iter()
        .map(|order| {
            let functions = [
                private("u", "@v one"),
                private("v", "@u two"),
                private("w", "@w"),
                private("x", "@p"),
            ];
            let functions: String = order.iter().map(|&number| &*functions[number]).collect();
            functions + &public("main", "@p") + &private("p", "three")
        })
        .collect();
    same_at(
        &level(),
        &texts.iter().map(String::as_str).collect::<Vec<_>>(),
    );
}

#[test]
fn nested_tables_have_no_order_either() {
    let module = |first: &str, second: &str| {
        format!(
            "\"builtin.module\"() ({{ {first} {second} {} }}) : () -> ()\n",
            public("f", "@p @q")
        )
    };
    let [p, q] = [private("p", "one"), private("q", "two")];
    let named = |body: &str, name: &str| {
        body.replace(
            "\"builtin.module\"()",
            &format!(
                "\"builtin.module\"() <{{sym_name = \"{name}\", sym_visibility = \"private\"}}>"
            ),
        )
    };
    let inner = [module(&p, &q), module(&q, &p)];
    same_at(&level(), &[&inner[0], &inner[1]]);
    // An inner module that nothing reaches has its place by its contents.
    let one = |order: usize| named(&inner[order], "one");
    let two = private("two", "three");
    same_at(
        &level(),
        &[
            &(one(0) + &two),
            &(two.clone() + &one(0)),
            &(one(1) + &two),
            &(two.clone() + &one(1)),
        ],
    );
}

#[test]
fn regions_whose_order_may_count_are_left_alone() {
    // Results, several blocks, and names that are compared.
    let [p, q] = [private("p", "one"), private("q", "two")];
    let result = "%0 = \"x\"() : () -> i32\n";
    different_at(
        &level(),
        &[&(p.clone() + &q + result), &(q.clone() + &p + result)],
    );
    let blocks =
        |first: &str, second: &str| format!("\"m\"() ({{ {first} ^b: {second} }}) : () -> ()");
    different_at(&level(), &[&blocks(&p, &q), &blocks(&q, &p)]);
    let path = "\"c\"() {a = @m::@p, b = @m::@q} : () -> ()";
    different_at(&level(), &[&(p.clone() + &q + path), &(q + &p + path)]);
}

#[test]
fn references_in_attributes_and_types_count() {
    let mesh = |name: &str, size: i32| {
        format!(
            "\"sdy.mesh\"() <{{sym_name = \"{name}\", sym_visibility = \"private\", mesh = {size}}}> : () -> ()\n"
        )
    };
    let uses = |attributes: &str| {
        format!("\"f\"() <{{{attributes}}}> ({{^b(%a: !x.t<@m>): }}) : () -> ()")
    };
    let [m, n] = [mesh("m", 1), mesh("n", 1)];
    same_at(
        &level(),
        &[
            &(m.clone() + &n + &uses("z = #y.s<@m>, a = [#y.s<@n>]")),
            &(n.clone() + &m + &uses("a = [#y.s<@n>], z = #y.s<@m>")),
        ],
    );
    different_at(
        &level(),
        &[
            &(m.clone() + &n + &uses("z = #y.s<@m>, a = [#y.s<@n>]")),
            &(m.clone() + &n + &uses("z = #y.s<@n>, a = [#y.s<@n>]")),
            &(m + &n + &uses("z = #y.s<@n>, a = [#y.s<@m>]")),
        ],
    );
}

/// Random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % bound
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.below(end + 1));
        }
    }
}

/// A module: the bodies of its functions, the public ones first.
#[derive(Clone)]
struct Module {
    public: usize,
    bodies: Vec<Vec<Word>>,
}

#[derive(Clone, Copy, PartialEq)]
enum Word {
    Call(usize),
    Work(usize),
}

impl Module {
    fn random(random: &mut Random, private: usize, kinds: usize) -> Module {
        let public = random.below(2);
        let count = public + private;
        let body = |random: &mut Random| {
            let length = random.below(3);
            (0..length)
                .map(|_| Word::random(random, count, kinds))
                .collect()
        };
        let bodies = (0..count).map(|_| body(random)).collect();
        Module { public, bodies }
    }

    /// Changes one operation.
    fn changed(&self, random: &mut Random, kinds: usize) -> Module {
        let mut changed = self.clone();
        let count = changed.bodies.len();
        let body = random.below(count);
        let body = &mut changed.bodies[body];
        if body.is_empty() {
            body.push(Word::random(random, count, kinds));
        } else {
            let at = random.below(body.len());
            body[at] = Word::random(random, count, kinds);
        }
        changed
    }

    /// The text with the private functions in an order, under these names.
    fn text(&self, order: &[usize], names: &[usize]) -> String {
        let name = |number: usize| {
            if number < self.public {
                format!("main{number}")
            } else {
                format!("f{}", names[number - self.public])
            }
        };
        let body = |number: usize| {
            let words = self.bodies[number].iter().map(|word| match word {
                Word::Call(callee) => format!("@{} ", name(*callee)),
                Word::Work(kind) => format!("work{kind} "),
            });
            words.collect::<String>()
        };
        let mut text: String = (0..self.public)
            .map(|number| public(&name(number), &body(number)))
            .collect();
        for &number in order {
            let number = number + self.public;
            text += &private(&name(number), &body(number));
        }
        text
    }

    fn private(&self) -> usize {
        self.bodies.len() - self.public
    }

    /// True if some order of the private functions makes the programs equal.
    fn is_equal_in_some_order(&self, other: &Ref<Program>) -> bool {
        let names: Vec<usize> = (0..self.private()).collect();
        permutations(self.private()).iter().any(|order| {
            structural_equal(program(&self.text(order, &names)), other).expect("comparable")
        })
    }
}

impl Word {
    fn random(random: &mut Random, count: usize, kinds: usize) -> Word {
        match random.below(3) {
            0 => Word::Work(random.below(kinds)),
            _ => Word::Call(random.below(count)),
        }
    }
}

fn permutations(count: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for number in 0..count {
        let longer = |order: Vec<usize>| {
            (0..=order.len()).map(move |at| {
                let mut longer = order.clone();
                longer.insert(at, number);
                longer
            })
        };
        all = all.into_iter().flat_map(longer).collect();
    }
    all
}

#[test]
fn neither_names_nor_order_of_private_functions_matter() {
    let mut random = Random(7);
    for round in 0..400 {
        let private = 2 + random.below(7);
        let module = Module::random(&mut random, private, 1 + round % 3);
        let mut order: Vec<usize> = (0..private).collect();
        let mut names = order.clone();
        let first = module.text(&order, &names);
        random.shuffle(&mut order);
        random.shuffle(&mut names);
        same_at(&level(), &[&first, &module.text(&order, &names)]);
    }
}

#[test]
fn verdicts_are_those_of_trying_all_orders() {
    let mut random = Random(11);
    let mut told = [0, 0];
    for round in 0..500 {
        let private = 2 + random.below(3);
        let kinds = 1 + round % 2;
        let module = Module::random(&mut random, private, kinds);
        let other = module.changed(&mut random, kinds);
        let mut order: Vec<usize> = (0..private).collect();
        let first = module.text(&order, &order);
        random.shuffle(&mut order);
        let second = other.text(&order, &(0..private).collect::<Vec<_>>());
        let is_equal = structural_equal(
            normal_form(&level(), &first),
            normal_form(&level(), &second),
        )
        .expect("comparable");
        assert_eq!(
            is_equal,
            module.is_equal_in_some_order(&program(&second)),
            "{first}\n{second}"
        );
        told[usize::from(is_equal)] += 1;
    }
    assert!(told.iter().all(|&count| count > 50), "{told:?}");
}

#[test]
fn long_chains_of_unreached_functions() {
    let count = 2_000;
    let chain = |name: &dyn Fn(usize) -> usize, order: &mut dyn Iterator<Item = usize>| {
        let functions = order.map(|number| {
            private(
                &format!("f{}", name(number)),
                &format!("@f{}", name((number + 1).min(count - 1))),
            )
        });
        functions.collect::<String>()
    };
    let forward = chain(&|number| number, &mut (0..count));
    let backward = chain(&|number| count - number, &mut (0..count).rev());
    same_forms(&forward, &backward);
}

#[test]
fn tables_nest_deeply() {
    let depth = 5_000;
    let open = format!(
        "\"builtin.module\"() ({{ {} {}",
        private("p", "one"),
        private("q", "@p")
    );
    let text = open.repeat(depth) + &"}) : () -> ()".repeat(depth);
    let normal = level().apply(&program(&text)).unwrap();
    assert!(level().apply(&normal).unwrap().same_as(&normal));
}

#[test]
fn an_attribute_with_many_symbols_is_shared_by_many_functions() {
    let count = 1_050;
    let names = |offset: usize| {
        let names = (0..count).map(|number| format!("@f{}", (number + offset) % count));
        names.collect::<Vec<_>>().join(", ")
    };
    let text = |offset: usize| {
        let functions = (0..count).map(|number| {
            format!("\"f\"() <{{sym_name = \"f{}\", sym_visibility = \"private\", all = #all, number = {number}}}> : () -> ()\n", (number + offset) % count)
        });
        format!("#all = [{}]\n", names(offset)) + &functions.collect::<String>()
    };
    same_forms(&text(0), &text(7));
}

/// Checks normal forms without writing them: their texts would be long.
#[track_caller]
fn same_forms(left: &str, right: &str) {
    let forms = [left, right].map(|text| level().apply(&program(text)).expect("a normal form"));
    assert!(structural_equal(&forms[0], &forms[1]).expect("comparable"));
}
