use isoform_testing::onnx::ONNX_PROPERTIES;
use isoform_testing::source::random_bytes;
use std::collections::BTreeMap;
#[test]
fn tally() {
    let (_, property) = ONNX_PROPERTIES[0];
    let mut seen: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let mut bad = 0;
    for seed in 0..100000u64 {
        let bytes = random_bytes(seed, 4 + (seed as usize % 396));
        let r = std::panic::catch_unwind(|| property(&bytes)).unwrap_or_else(|_| Err(format!("panic")));
        if let Err(e) = r {
            bad += 1;
            let line = e.lines().next().unwrap().to_owned();
            let key: String = line.chars().filter(|c| !c.is_ascii_digit()).collect();
            let e = seen.entry(key).or_insert((0, e.clone()));
            e.0 += 1;
        }
    }
    let mut all: Vec<_> = seen.into_iter().collect();
    all.sort_by_key(|x| std::cmp::Reverse(x.1.0));
    println!("BAD {bad}");
    for (k, (n, e)) in all.iter().take(60) { println!("{n} {k}"); if std::env::var("FULL").is_ok() { println!("{e}"); } }
}
