use isoform::exports;
use isoform::functions::Function;

fn borrowed(text: &str) -> i64 {
    text.len() as i64
}

// No closure: compilers print the path of the file in its type.
fn of_thread(_: std::thread::ThreadId) -> i64 {
    1
}

fn main() {
    Function::typed(borrowed);
    Function::typed(of_thread);
    let _ = exports![borrowed];
}
