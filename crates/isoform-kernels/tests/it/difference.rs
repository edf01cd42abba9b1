//! The numbers of a difference, against a slow and obvious computation of each.

use isoform_kernels::difference::{
    Difference, Tolerance, difference, difference_of_numbers, packed_difference,
};
use isoform_kernels::elementwise::cast;
use isoform_kernels::{Control, ElementType, ErrorKind, Native, Tensor, View, pack_bits, to_f64s};

fn measured(left: &Tensor, right: &Tensor, tolerance: Option<Tolerance>) -> Difference {
    difference(left.view(), right.view(), tolerance, &Control::default()).unwrap()
}

fn pair<T: Native>(left: &[T], right: &[T]) -> Difference {
    let [left, right] = [left, right].map(|it| Tensor::from_slice(&[it.len()], it).unwrap());
    measured(&left, &right, None)
}

#[track_caller]
fn close(actual: Option<f64>, expected: f64) {
    let actual = actual.expect("a number");
    let near = (actual - expected).abs() <= 1e-12 * expected.abs().max(1e-300);
    assert!(near || actual == expected, "{actual} is not {expected}");
}

#[test]
fn every_type_that_is_a_number_agrees_with_a_naive_computation() {
    // Longer than a block of work; the last elements of both are equal.
    let count = 70_001;
    let wild = |seed: u32| {
        let mut state = seed;
        let numbers: Vec<f32> = (0..count)
            .map(|index| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                if index % 3 == 0 {
                    1.0
                } else {
                    (state >> 29) as f32 * 0.25
                }
            })
            .collect();
        Tensor::from_slice(&[count], &numbers).unwrap()
    };
    let (left, right) = (wild(1), wild(2));
    let control = Control::default();
    let tolerance = Tolerance {
        rtol: 0.25,
        atol: 0.25,
    };
    let numbers = ElementType::ALL.iter().filter(|ty| !ty.is_complex());
    for ty in numbers {
        let [left, right] =
            [&left, &right].map(|tensor| cast(tensor.view(), *ty, &control).unwrap());
        let difference = measured(&left, &right, Some(tolerance));
        let [a, b] = [&left, &right].map(|tensor| to_f64s(tensor.view(), &control).unwrap());
        let apart: Vec<f64> = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).collect();
        let length = |values: &[f64]| values.iter().map(|x| x * x).sum::<f64>().sqrt();
        let differing = apart.iter().filter(|distance| **distance != 0.0).count();
        assert!(differing > 0, "{ty}");
        assert_eq!(
            (difference.count, difference.differing),
            (count, differing),
            "{ty}"
        );
        assert_eq!(
            difference.first,
            apart.iter().position(|distance| *distance != 0.0),
            "{ty}"
        );
        let largest = apart.iter().copied().fold(0.0, f64::max);
        assert_eq!(difference.max_abs, Some(largest), "{ty}");
        let beyond = apart
            .iter()
            .zip(&b)
            .filter(|(apart, b)| **apart > 0.25 + 0.25 * **b);
        assert_eq!(difference.beyond, beyond.count(), "{ty}");
        close(difference.relative_l2, length(&apart) / length(&a));
        let product: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
        close(difference.cosine, product / length(&a) / length(&b));
        if ty.packed_bits() < 8 {
            let [l, r] = [&left, &right].map(|tensor| pack_bits(tensor.view(), &control).unwrap());
            let packed = packed_difference(*ty, count, (&l, &r), Some(tolerance), &control);
            assert_eq!(packed.unwrap(), difference, "{ty}");
        }
    }
}

#[test]
fn a_difference_at_the_end_is_found_there() {
    let count = 200_003;
    let control = Control::default();
    for ty in ElementType::ALL.iter().filter(|ty| !ty.is_complex()) {
        let left = Tensor::from_slice(&[count], &vec![1.0_f32; count]).unwrap();
        let mut other = vec![1.0_f32; count];
        other[count - 2] = 0.5;
        let right = Tensor::from_slice(&[count], &other).unwrap();
        let [left, right] =
            [&left, &right].map(|tensor| cast(tensor.view(), *ty, &control).unwrap());
        if left == right {
            // Truth values have no halves.
            assert_eq!(*ty, ElementType::Bool);
            continue;
        }
        let difference = measured(&left, &right, None);
        assert_eq!(
            (difference.first, difference.differing),
            (Some(count - 2), 1),
            "{ty}"
        );
        if ty.packed_bits() < 8 {
            let [l, r] = [&left, &right].map(|tensor| pack_bits(tensor.view(), &control).unwrap());
            let packed = packed_difference(*ty, count, (&l, &r), None, &control);
            assert_eq!(packed.unwrap(), difference, "{ty}");
        }
    }
}

#[test]
fn integers_are_exact() {
    let found = pair(&[i64::MIN, 7], &[i64::MAX, 7]);
    assert_eq!(found.max_abs_int, Some(u64::MAX));
    // As floats, these are equal.
    let found = pair(&[(1_i64 << 53) + 1], &[1 << 53]);
    assert_eq!((found.max_abs, found.max_abs_int), (Some(1.0), Some(1)));
    let found = pair(&[u64::MAX, 0], &[u64::MAX - 1, 0]);
    assert_eq!((found.differing, found.max_abs_int), (1, Some(1)));
    assert_eq!(pair(&[u64::MAX], &[0]).max_abs_int, Some(u64::MAX));
    let found = pair(&[true, false], &[true, true]);
    assert_eq!((found.first, found.max_abs_int), (Some(1), Some(1)));
}

#[test]
fn nans_are_equal_and_zeros_differ_by_their_sign() {
    let odd = f32::from_bits(0xffc0_0001);
    // A tensor made of values has one NaN, and a tensor of bytes may have any.
    let tensor = |numbers: [f32; 2]| {
        let bytes = numbers.map(f32::to_le_bytes).concat();
        Tensor::new(ElementType::Float32, vec![2], bytes).unwrap()
    };
    let (left, right) = (tensor([f32::NAN, 3.0]), tensor([odd, 3.5]));
    let found = measured(&left, &right, None);
    assert_eq!((found.differing, found.max_abs), (1, Some(0.5)));
    close(found.relative_l2, 0.5 / 3.0);
    let found = pair(&[0.0_f64, 1.0], &[-0.0, 1.0]);
    assert_eq!((found.differing, found.first), (1, Some(0)));
    assert_eq!((found.max_abs, found.relative_l2), (Some(0.0), Some(0.0)));
}

#[test]
fn infinities_are_far_from_everything_else() {
    let infinity = f32::INFINITY;
    let found = pair(&[infinity, 1.0], &[infinity, 2.0]);
    assert_eq!((found.differing, found.max_abs), (1, Some(1.0)));
    for other in [1.0, -infinity, f32::NAN] {
        let found = pair(&[infinity, 1.0], &[other, 1.0]);
        assert_eq!(found.max_abs, Some(f64::INFINITY), "{other}");
        assert_eq!(found.relative_l2, Some(f64::INFINITY), "{other}");
        assert_eq!(found.cosine, None, "{other}");
        let [left, right] = [infinity, other].map(Tensor::scalar);
        let far = Tolerance {
            rtol: 1e300,
            atol: 1e300,
        };
        assert_eq!(measured(&left, &right, Some(far)).beyond, 1, "{other}");
    }
}

#[test]
fn lengths_neither_overflow_nor_vanish() {
    for size in [1e300, 1.0, 1e-300] {
        let found = pair(&[size, size], &[size, -size]);
        close(found.relative_l2, 2.0_f64.sqrt());
        assert!(found.cosine.unwrap().abs() < 1e-12);
    }
    close(pair(&[1.0, 0.0], &[1.0, 1e-200]).relative_l2, 1e-200);
    let found = pair(&[0.0, 0.0], &[0.0, 2.0]);
    assert_eq!(
        (found.relative_l2, found.cosine),
        (Some(f64::INFINITY), None)
    );
}

#[test]
fn complex_numbers_are_points() {
    let bytes = |parts: [f32; 4]| parts.map(f32::to_le_bytes).concat();
    let (left, right) = (bytes([1.0, 2.0, 0.0, 0.0]), bytes([1.0, 2.0, 3.0, 4.0]));
    let view = |bytes| View::new(ElementType::Complex64, &[2], bytes).unwrap();
    let control = Control::default();
    let found = difference(view(&left), view(&right), None, &control).unwrap();
    assert_eq!((found.count, found.differing), (2, 1));
    assert_eq!((found.first, found.max_abs), (Some(1), Some(5.0)));
    close(found.relative_l2, 5.0_f64.sqrt());
}

#[test]
fn equal_tensors_have_no_difference() {
    let found = pair(&[1.0_f32, f32::NAN], &[1.0, f32::NAN]);
    assert_eq!(found, Difference::none(ElementType::Float32, 2));
    assert_eq!(pair::<i8>(&[], &[]), Difference::none(ElementType::Int8, 0));
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let (one, two) = (Tensor::scalar(1.0_f32), Tensor::scalar(1_i32));
    let error = difference(one.view(), two.view(), None, &Control::default()).unwrap_err();
    let text = "difference: expected elements of float32, got int32; cast one of the tensors first";
    assert_eq!(
        (error.kind(), error.to_string()),
        (ErrorKind::Type, text.to_owned())
    );
    let row = Tensor::from_slice(&[1], &[1.0_f32]).unwrap();
    let error = difference(one.view(), row.view(), None, &Control::default()).unwrap_err();
    assert_eq!(error.to_string(), "difference: expected shape [], got [1]");
    for bytes in [(&[1_u8][..], &[1_u8, 2][..]), (&[1, 2, 3], &[1, 2, 3])] {
        let found = packed_difference(ElementType::Int4, 3, bytes, None, &Control::default());
        assert_eq!(found.unwrap_err().kind(), ErrorKind::Shape);
    }
}

#[test]
fn a_long_comparison_can_be_interrupted() {
    let count = 3 << 20;
    let [left, right] = [1_u8, 2].map(|it| Tensor::from_slice(&[count], &vec![it; count]).unwrap());
    let stop = || true;
    let control = Control {
        interrupted: Some(&stop),
        ..Control::default()
    };
    let error = difference(left.view(), right.view(), None, &control).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Interrupted);
}

#[test]
fn tensors_of_two_types_are_compared_as_their_numbers() {
    let control = Control::default();
    // Longer than a block of work.
    let count = 70_001;
    let numbers: Vec<f32> = (0..count).map(|index| (index % 5) as f32 * 0.25).collect();
    let left = Tensor::from_slice(&[count], &numbers).unwrap();
    let real = ElementType::ALL.iter().filter(|ty| !ty.is_complex());
    for ty in real {
        let right = cast(left.view(), *ty, &control).unwrap();
        let difference = difference_of_numbers(left.view(), right.view(), &control).unwrap();
        let wide = |tensor: &Tensor| {
            let numbers = to_f64s(tensor.view(), &control).unwrap();
            Tensor::from_slice(&[count], &numbers).unwrap()
        };
        assert_eq!(
            difference,
            measured(&wide(&left), &wide(&right), None),
            "{ty}"
        );
    }
    let complex = Tensor::new(ElementType::Complex64, vec![count], vec![0; 8 * count]).unwrap();
    let error = difference_of_numbers(left.view(), complex.view(), &control).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Type);
    let short = Tensor::from_slice(&[1], &[1_i8]).unwrap();
    let error = difference_of_numbers(left.view(), short.view(), &control).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Shape);
    let stop = || true;
    let stopped = Control {
        interrupted: Some(&stop),
        ..Control::default()
    };
    let long = Tensor::from_slice(&[2 << 20], &vec![0_u8; 2 << 20]).unwrap();
    let other = Tensor::from_slice(&[2 << 20], &vec![0_i8; 2 << 20]).unwrap();
    let error = difference_of_numbers(long.view(), other.view(), &stopped).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Interrupted);
}
