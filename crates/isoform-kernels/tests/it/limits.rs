//! Memory limits and interruption of every operator.

use std::cell::Cell;

use isoform_kernels::{Control, ErrorKind, POLL_INTERVAL, Tensor, View};

use crate::every::Operands;

#[test]
fn every_operator_polls_in_proportion_to_its_work() {
    // Two operands of 2^21 elements, in an order of axes that no operator merges away.
    let operands = Operands::new(1 << 11, 1 << 10);
    let least = (1 << 21) / POLL_INTERVAL;
    for (name, call) in operands.calls() {
        let polls = Cell::new(0);
        let count = || {
            polls.set(polls.get() + 1);
            false
        };
        let control = Control {
            interrupted: Some(&count),
            ..Control::default()
        };
        call(&control).unwrap_or_else(|error| panic!("{name}: {error}"));
        // The last piece of work need not fill an interval.
        assert!(
            polls.get() + 1 >= least,
            "{name} polled {} times",
            polls.get()
        );
        assert!(polls.get() <= 60, "{name} polled {} times", polls.get());
    }
}

#[test]
fn every_operator_can_be_interrupted() {
    let operands = Operands::new(1 << 11, 1 << 10);
    for (name, call) in operands.calls() {
        let stop = || true;
        let control = Control {
            interrupted: Some(&stop),
            ..Control::default()
        };
        let error = call(&control).err();
        let kind = error.map(|error| error.kind());
        assert_eq!(kind, Some(ErrorKind::Interrupted), "{name}");
    }
}

#[test]
fn no_operator_polls_on_small_operands() {
    let operands = Operands::new(4, 6);
    let never = || unreachable!("24 elements are not worth a poll");
    let control = Control {
        interrupted: Some(&never),
        ..Control::default()
    };
    for (name, call) in operands.calls() {
        call(&control).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn every_operator_obeys_the_limit() {
    // Zero bytes: whatever has elements is too large.
    let operands = Operands::new(4, 6);
    let control = Control {
        max_bytes: 0,
        ..Control::default()
    };
    for (name, call) in operands.calls() {
        let kind = call(&control).err().map(|error| error.kind());
        assert_eq!(kind, Some(ErrorKind::TooLarge), "{name}");
    }
}

#[test]
fn every_operator_takes_unaligned_bytes() {
    let aligned = Tensor::from_slice(&[3], &[1.0_f64, 2.0, 3.0]).unwrap();
    for offset in 0..8 {
        let mut bytes = vec![0xff; offset];
        bytes.extend(aligned.bytes());
        let view = View::new(aligned.element_type(), &[3], &bytes[offset..]).unwrap();
        assert_eq!(view, aligned.view());
        assert_eq!(view.to_vec::<f64>().unwrap(), [1.0, 2.0, 3.0]);
    }
}
