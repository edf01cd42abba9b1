//! The digests of this platform.

use std::process::Command;

#[test]
fn the_digests_are_those_of_every_platform() {
    let output = Command::new(env!("CARGO_BIN_EXE_portable"))
        .output()
        .expect("the program starts");
    let lines = String::from_utf8(output.stdout).expect("text");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(lines, include_str!("digests.txt"), "{errors}");
}
