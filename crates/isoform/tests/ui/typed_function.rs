use isoform::{Function, exports};

fn borrowed(text: &str) -> i64 {
    text.len() as i64
}

fn main() {
    Function::typed(borrowed);
    Function::typed(|_: std::thread::ThreadId| 1);
    let _ = exports![borrowed];
}
