//! Damaged texts: an error or a program, never a panic.

use isoform_mlir::{read, write};

/// Texts with all parts of the syntax.
const SAMPLES: [&str; 5] = [
    r##"#a = affine_map<(d0, d1)[s0] -> (d0 floordiv 2 + s0, -d1 mod 3)> !t = tensor<4x?xf32, #a>
#l = loc("f.py":1:2)
module @m attributes {x.a = #x.b<@f, [1, "s"], !t> : i32} {
  %0:2 = "x.y"(%1)[] <{a = 255 : i8, b = dense<[[1, 2]]> : tensor<1x2xi8>}> : (!t) -> (i1, i1) loc(#l)
  func.func private @f(%p: i32 {a.b}) -> (i32 {c}) attributes {d} { return %p : i32 } loc("x")
}"##,
    r#""r"() ({ ^bb0(%a: i1 loc("x"), %b: memref<4xf32, strided<[1, ?], offset: 3>, 1>): "br"(%c)[^bb1, ^bb0] : (i1) -> ()
^bb1: %c = "d"() {k = array<i32: 1, -2>, f = 0x7FC00000 : f32, g = 1.5e-3 : bf16} : () -> i1 }, {}) : () -> ()"#,
    r#""x"() {a = dense_resource<k> : tensor<2xi8>, b = distinct[0]<"i">, c = sparse<[[0, 1]], 5> : tensor<2x2xi32>,
 d = loc(fused<1>["a", "b"(callsite("c" at unknown))]), e = (i1, index) -> (tuple<none>), f = vector<2x[4]xcomplex<f32>>} : () -> ()
{-# dialect_resources: { builtin: { k: "0x040000000102" } }, external_resources: { t: { a: true } } #-}"#,
    r#""f"() <{sym_name = "p", sym_visibility = "private"}> ({ "c"() {callee = @p, d = @q::@"r s"} : () -> () }) : () -> ()
"s"() {t = affine_set<(d0) : (d0 >= 5, d0 == 2)>, u = !x<"raw">, v = !x.a-b<0x1F, 2.50> , w = "\C3\A9\\"} : () -> ()"#,
    r#"%a = arith.constant {x} dense<(1.0,-2.0)> : tensor<1xcomplex<f32>> %b = builtin.unrealized_conversion_cast %a : tensor<1xcomplex<f32>> to i4
%c = call @f(%b) : (i4) -> i4 "u"(%c) {n = dense<"0x0102"> : vector<2xi8>, o = dense<true> : tensor<9xi1>} : (i4) -> ()"#,
];

/// A simple generator of numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }
}

/// The number of damaged texts: more for `ISOFORM_TEST_SCALE` in percent.
fn rounds() -> usize {
    let scale = std::env::var("ISOFORM_TEST_SCALE").ok();
    let scale: usize = scale.and_then(|scale| scale.parse().ok()).unwrap_or(100);
    20_000 * scale / 100
}

#[test]
fn samples_are_read() {
    for (number, sample) in SAMPLES.iter().enumerate() {
        // The first one has an empty list of successors, to be damaged.
        assert_eq!(read(sample).is_ok(), number != 0, "{sample}");
    }
}

#[test]
fn damaged_texts_do_not_panic() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let pieces: Vec<&[u8]> = SAMPLES
        .iter()
        .flat_map(|sample| sample.split(' '))
        .map(str::as_bytes)
        .collect();
    let mut good = 0;
    for _ in 0..rounds() {
        let mut text = SAMPLES[random.below(SAMPLES.len())]
            .replace("[] <{", "<{")
            .into_bytes();
        for _ in 0..=random.below(3) {
            let at = random.below(text.len());
            let end = (at + random.below(12)).min(text.len());
            match random.below(5) {
                0 => text.truncate(at),
                1 => text[at] = random.below(256) as u8,
                2 => drop(text.drain(at..end)),
                3 => {
                    let piece = pieces[random.below(pieces.len())];
                    text.splice(at..end, piece.iter().copied());
                }
                _ => {
                    let copy = text[at..end].to_vec();
                    let target = random.below(text.len());
                    text.splice(target..target, copy);
                }
            }
            if text.is_empty() {
                break;
            }
        }
        if let Ok(program) = read(&text) {
            good += 1;
            let written = write(&program).unwrap();
            let again = read(&written).unwrap_or_else(|error| {
                panic!("{}\n{written}\n{error}", String::from_utf8_lossy(&text))
            });
            let is_equal = isoform::structural_equal(&program, &again).unwrap();
            assert!(is_equal, "{}\n{written}", String::from_utf8_lossy(&text));
        }
    }
    assert!(good > 0);
}
