//! Snapshots of the expansion: the readable specification of the macro's output.

use syn::visit::Visit;

use crate::derive;

/// The formatted expansion of `source`.
#[track_caller]
fn expansion(source: &str) -> syn::File {
    let tokens = derive(source.parse().expect("the declaration is made of tokens"));
    syn::parse2(tokens).expect("the expansion is made of items")
}

/// Compares the whole expansion of `source` with its snapshot.
macro_rules! check {
    ($source:expr) => {
        insta::with_settings!({ omit_expression => true }, {
            insta::assert_snapshot!(prettyplease::unparse(&expansion($source)));
        })
    };
}

/// Compares the functions of the expansion of `source` whose names start with a prefix with their
/// snapshot.
macro_rules! check_fns {
    ($source:expr, $($prefix:literal),+) => {
        insta::with_settings!({ omit_expression => true }, {
            insta::assert_snapshot!(functions(&expansion($source), &[$($prefix),+]));
        })
    };
}

/// The formatted functions of `file` whose names start with one of `prefixes`.
fn functions(file: &syn::File, prefixes: &[&str]) -> String {
    struct Finder<'a> {
        prefixes: &'a [&'a str],
        found: Vec<syn::Item>,
    }
    impl<'ast> Visit<'ast> for Finder<'_> {
        fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
            let name = function.sig.ident.to_string();
            if self.prefixes.iter().any(|prefix| name.starts_with(prefix)) {
                self.found.push(syn::parse_quote!(#function));
            }
        }
    }
    let mut finder = Finder {
        prefixes,
        found: Vec::new(),
    };
    finder.visit_file(file);
    prettyplease::unparse(&syn::File {
        shebang: None,
        frontmatter: None,
        attrs: Vec::new(),
        items: finder.found,
    })
}

#[test]
fn every_option() {
    check!(
        r#"
        /// An addition.
        ///
        /// With a second paragraph.
        #[node(key = "demo.Add", kind = tree, scope, defs_first = false, hooks(equal, hash))]
        #[repr(C)]
        pub struct Add {
            #[node(base)]
            base: Expr,
            /// Left operand.
            pub lhs: Ref<Expr>,
            #[node(def)]
            pub params: Array<Ref<Var>>,
            #[node(def_simple)]
            pub(crate) v: Ref<Var>,
            #[node(ignore, default)]
            span: Option<Ref<Span>>,
            #[node(default = 5, name = "count")]
            pub n: i64,
        }
        "#
    );
}

#[test]
fn init_and_convert() {
    check_fns!(
        r#"
        #[node(key = "demo.Leaf", init = make_leaf, convert = inner::leaf_from)]
        #[repr(C)]
        pub struct Leaf { pub value: i64 }
        "#,
        "definition"
    );
}

#[test]
fn without_fields() {
    check!(r#"#[node(key = "demo.Unit")] #[repr(C)] struct Unit;"#);
}

#[test]
fn without_base() {
    check!(r#"#[node(key = "demo.Leaf")] #[repr(C)] pub struct Leaf { pub value: i64 }"#);
}

#[test]
fn without_methods() {
    check!(
        r#"#[node(key = "demo.Leaf", no_new, no_with)] #[repr(C)] pub struct Leaf { pub value: i64 }"#
    );
}

#[test]
fn no_new() {
    check_fns!(
        r#"#[node(key = "demo.Leaf", no_new)] #[repr(C)] pub struct Leaf { pub a: i64, #[node(default)] pub b: i64 }"#,
        "new",
        "with_",
        "__default_"
    );
}

#[test]
fn no_with() {
    check_fns!(
        r#"#[node(key = "demo.Leaf", no_with)] #[repr(C)] pub struct Leaf { pub a: i64, #[node(default)] pub b: i64 }"#,
        "new",
        "with_",
        "__default_"
    );
}

#[test]
fn base_with_default() {
    check_fns!(
        r#"
        #[node(key = "demo.Leaf")]
        #[repr(C)]
        pub struct Leaf { #[node(base, default)] base: Expr, pub value: i64 }
        "#,
        "definition",
        "clone_fields",
        "new",
        "__default_"
    );
}

#[test]
fn other_crate_path() {
    check_fns!(
        r#"#[node(key = "demo.Leaf", crate = crate::reexport::isoform)] #[repr(C)] pub struct Leaf { pub value: i64 }"#,
        "type_index",
        "new"
    );
}

#[test]
fn struct_options() {
    let options = [
        "kind = tree",
        "kind = const_tree",
        "kind = dag",
        "kind = var",
        "kind = singleton",
        "kind = none",
        "scope",
        "defs_first",
        "hooks(equal)",
        "hooks(hash)",
        "hooks(verify)",
        r#"attrs(dyn Pure, "demo.cost" = 2 + 3, dyn crate::Fold)"#,
    ];
    let definitions = options.map(|option| {
        let source = format!(r#"#[node(key = "demo.Leaf", {option})] #[repr(C)] struct Leaf;"#);
        functions(&expansion(&source), &["definition"])
    });
    insta::with_settings!({ omit_expression => true }, {
        insta::assert_snapshot!(definitions.join(""));
    });
}

#[test]
fn visit_order() {
    check_fns!(
        r#"
        #[node(key = "demo.For", scope, visit_order(start, r#type, var, span))]
        #[repr(C)]
        struct For {
            #[node(base)]
            base: Expr,
            #[node(def)]
            var: Ref<Var>,
            start: Ref<Expr>,
        }
        "#,
        "definition"
    );
}

#[test]
fn uses() {
    check_fns!(
        r#"
        #[node(key = "demo.Leaf")]
        #[repr(C)]
        struct Leaf {
            #[node(compare = false)]
            a: i64,
            #[node(hash = false, repr = false, ignore)]
            b: i64,
        }
        "#,
        "definition"
    );
}

#[test]
fn docs() {
    check_fns!(
        r#"
        /** A block
            comment. */
        #[node(key = "demo.Leaf")]
        #[doc(hidden)]
        #[repr(C)]
        struct Leaf {
            /// Two lines,
            ///   the second one indented.
            ///
            value: i64,
            ///
            silent: i64,
        }
        "#,
        "definition"
    );
}

#[test]
fn defaults() {
    check_fns!(
        r#"
        #[node(key = "demo.Leaf")]
        #[repr(C)]
        struct Leaf {
            #[node(default)]
            a: Array<i64>,
            #[node(default = -1)]
            b: i64,
            #[node(default = "text")]
            c: Str,
            #[node(default = None)]
            d: Option<Ref<Var>>,
            #[node(default = -0.5)]
            e: Value,
        }
        "#,
        "definition",
        "__default_",
        "new"
    );
}

#[test]
fn raw_identifiers() {
    check_fns!(
        r#"#[node(key = "demo.Leaf")] #[repr(C)] struct Leaf { r#type: i64, #[node(default)] r#match: i64 }"#,
        "definition",
        "__default_",
        "new",
        "with_"
    );
}

#[test]
fn misuse_becomes_compile_errors() {
    check!("struct Leaf { x: i64 }");
}
