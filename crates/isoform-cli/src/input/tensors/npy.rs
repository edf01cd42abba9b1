//! The format of a NumPy array, versions 1 to 3.

use bytes::Bytes;
use isoform::values::{DType, DTypeCode, Tensor};

/// Reads an array. A problem is described without the name of the file.
///
/// The bytes are shared unless the array is in another order or byte order.
pub(super) fn read(file: &Bytes) -> Result<Tensor, String> {
    let cut = || "cut short or damaged; fetch the file again".to_owned();
    let rest = file.strip_prefix(b"\x93NUMPY").ok_or_else(|| {
        "its first bytes are not those of a NumPy array; write it with numpy.save".to_owned()
    })?;
    let (size, offset) = match *rest {
        [1, _, a, b, ..] => (usize::from(u16::from_le_bytes([a, b])), 10),
        [2 | 3, _, a, b, c, d, ..] => (u32::from_le_bytes([a, b, c, d]) as usize, 12),
        [version, ..] if !(1..=3).contains(&version) => {
            return Err(format!(
                "expected version 1, 2 or 3 of the format, got {version}"
            ));
        }
        _ => return Err(cut()),
    };
    let start = size
        .checked_add(offset)
        .filter(|&start| start <= file.len())
        .ok_or_else(cut)?;
    let header = std::str::from_utf8(&file[offset..start]).map_err(|_| cut())?;
    let header = Header::parse(header)?;
    let (dtype, swapped) = element_type(&header.descr)?;
    let width = usize::from(dtype.bits() / 8);
    let mut data = file.slice(start..);
    let count = header.shape.iter().try_fold(1_u64, |count, &dim| {
        count.checked_mul(u64::try_from(dim).ok()?)
    });
    let expected = count.and_then(|count| count.checked_mul(width as u64));
    if expected != Some(data.len() as u64) {
        return Err(format!(
            "expected {} bytes for the shape {:?} of '{}', got {}; fetch the file again",
            expected.map_or("too many".to_owned(), |bytes| bytes.to_string()),
            header.shape,
            header.descr,
            data.len()
        ));
    }
    // The steps of an empty array may exceed all numbers.
    if header.fortran_order && header.shape.len() > 1 && !data.is_empty() {
        data = in_row_major(&data, &header.shape, width).into();
    }
    if swapped {
        // The parts of a complex number are two numbers.
        let part = if dtype.code() == DTypeCode::Complex {
            width / 2
        } else {
            width
        };
        let mut bytes = data.to_vec();
        bytes.chunks_exact_mut(part).for_each(<[u8]>::reverse);
        data = bytes.into();
    }
    Tensor::new(dtype, header.shape, data).map_err(|error| error.message().to_owned())
}

/// The elements of an array whose first index runs fastest, with the last running fastest.
/// O(elements).
fn in_row_major(data: &[u8], shape: &[i64], width: usize) -> Vec<u8> {
    let dims: Vec<usize> = shape
        .iter()
        .map(|&dim| dim.unsigned_abs() as usize)
        .collect();
    // The distances in the file between neighbours along each dimension.
    let mut step = width;
    let steps: Vec<usize> = dims
        .iter()
        .map(|&dim| {
            let here = step;
            step *= dim;
            here
        })
        .collect();
    let mut out = Vec::with_capacity(data.len());
    let mut index = vec![0; dims.len()];
    let mut offset = 0;
    while out.len() < data.len() {
        out.extend_from_slice(&data[offset..offset + width]);
        for axis in (0..dims.len()).rev() {
            index[axis] += 1;
            offset += steps[axis];
            if index[axis] < dims[axis] {
                break;
            }
            offset -= steps[axis] * dims[axis];
            index[axis] = 0;
        }
    }
    out
}

/// The element type for a description like `<f4`, and true if the bytes are to be
/// swapped.
fn element_type(descr: &str) -> Result<(DType, bool), String> {
    use DTypeCode as Code;
    let refused = |what: &str| Err(format!("elements of dtype '{descr}' {what}"));
    let (order, kind) = match descr.split_at_checked(1) {
        Some(parts @ ("<" | ">" | "|" | "=", _)) => parts,
        _ => ("|", descr),
    };
    let (code, bits) = match kind {
        "b1" => (Code::Bool, 8),
        "i1" => (Code::Int, 8),
        "i2" => (Code::Int, 16),
        "i4" => (Code::Int, 32),
        "i8" => (Code::Int, 64),
        "u1" => (Code::UInt, 8),
        "u2" => (Code::UInt, 16),
        "u4" => (Code::UInt, 32),
        "u8" => (Code::UInt, 64),
        "f2" => (Code::Float, 16),
        "f4" => (Code::Float, 32),
        "f8" => (Code::Float, 64),
        "c8" => (Code::Complex, 64),
        "c16" => (Code::Complex, 128),
        "O" => {
            return refused(
                "are pickled objects, which isoform does not read, because reading a pickle runs the code in it; save an array of numbers",
            );
        }
        _ if kind.starts_with(['U', 'S', 'a']) => {
            return refused("are text, which tensors do not hold; save an array of numbers");
        }
        _ if kind.starts_with(['M', 'm']) => {
            return refused("are times, which tensors do not hold; save them as int64");
        }
        _ if kind.starts_with('V') => {
            return refused(
                "have a type that the file does not name, as bfloat16 in NumPy; save them as safetensors, or viewed as uint16 or uint8",
            );
        }
        _ => return refused("are not read; convert the array to float64, or another usual type"),
    };
    Ok((DType::new(code, bits), order == ">" && bits > 8))
}

const RECORDS: &str =
    "the elements are records, which tensors do not hold; save each field as an array";

/// The header: a dictionary of Python with three keys.
struct Header {
    descr: String,
    fortran_order: bool,
    shape: Vec<i64>,
}

impl Header {
    fn parse(text: &str) -> Result<Header, String> {
        let wrong = || {
            "the header is not the one of a NumPy array: expected {'descr': ..., 'fortran_order': ..., 'shape': ...}".to_owned()
        };
        let value = |key: &str| {
            let quoted = [format!("'{key}'"), format!("\"{key}\"")];
            let split = quoted.iter().find_map(|key| text.split_once(key.as_str()));
            let (_, rest) = split.ok_or_else(wrong)?;
            let rest = rest.trim_start().strip_prefix(':');
            rest.map(str::trim_start).ok_or_else(wrong)
        };
        let descr = value("descr")?;
        let descr = match descr.chars().next() {
            Some(quote @ ('\'' | '"')) => {
                let end = descr[1..].find(quote).ok_or_else(wrong)?;
                descr[1..=end].to_owned()
            }
            // A list describes fields, whose names may look like the other keys.
            _ => return Err(RECORDS.to_owned()),
        };
        let fortran_order = match value("fortran_order")? {
            rest if rest.starts_with("True") => true,
            rest if rest.starts_with("False") => false,
            _ => return Err(wrong()),
        };
        let shape = value("shape")?.strip_prefix('(').ok_or_else(wrong)?;
        let (shape, _) = shape.split_once(')').ok_or_else(wrong)?;
        let dims = shape
            .split(',')
            .map(str::trim)
            .filter(|dim| !dim.is_empty())
            .map(|dim| {
                dim.trim_end_matches('L')
                    .parse()
                    .ok()
                    .filter(|&dim| dim >= 0)
            });
        Ok(Header {
            descr,
            fortran_order,
            shape: dims.collect::<Option<_>>().ok_or_else(wrong)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(descr: &str, fortran: &str, shape: &str, data: &[u8]) -> Bytes {
        let header =
            format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend((header.len() as u16).to_le_bytes());
        file.extend(header.as_bytes());
        file.extend(data);
        file.into()
    }

    #[track_caller]
    fn check(descr: &str, fortran: &str, shape: &str, data: &[u8], expected: (&str, &[u8])) {
        let tensor = read(&file(descr, fortran, shape, data)).unwrap();
        let ty = format!("{}{:?}", tensor.dtype(), tensor.shape());
        assert_eq!((ty.as_str(), &tensor.data()[..]), expected);
    }

    #[test]
    fn arrays_become_row_major_and_little_endian() {
        check(
            "'|u1'",
            "False",
            "(2, 3)",
            &[1, 2, 3, 4, 5, 6],
            ("uint8[2, 3]", &[1, 2, 3, 4, 5, 6]),
        );
        check(
            "'|u1'",
            "True",
            "(2, 3)",
            &[1, 4, 2, 5, 3, 6],
            ("uint8[2, 3]", &[1, 2, 3, 4, 5, 6]),
        );
        check(
            "'<i2'",
            "True",
            "(1, 2, 2)",
            &[1, 0, 3, 0, 2, 0, 4, 0],
            ("int16[1, 2, 2]", &[1, 0, 2, 0, 3, 0, 4, 0]),
        );
        check(
            "\">i2\"",
            "False",
            "(2,)",
            &[0, 1, 0, 2],
            ("int16[2]", &[1, 0, 2, 0]),
        );
        check(
            "'>c8'",
            "False",
            "()",
            &[1, 2, 3, 4, 5, 6, 7, 8],
            ("complex64[]", &[4, 3, 2, 1, 8, 7, 6, 5]),
        );
        check("'<f8'", "True", "(0, 5)", &[], ("float64[0, 5]", &[]));
        check(
            "'<f8'",
            "True",
            "(4611686018427387904, 0, 5)",
            &[],
            ("float64[4611686018427387904, 0, 5]", &[]),
        );
    }

    #[track_caller]
    fn refused(file: &Bytes, expected: &str) {
        let message = read(file).unwrap_err();
        assert!(message.contains(expected), "{message}");
    }

    #[test]
    fn other_arrays_are_refused_by_name() {
        refused(
            &file("'|O'", "False", "(1,)", b"\x80\x04."),
            "pickled objects",
        );
        refused(&file("'<U3'", "False", "(1,)", &[0; 12]), "text");
        refused(&file("'<M8[ns]'", "False", "(1,)", &[0; 8]), "times");
        refused(&file("'<V2'", "False", "(1,)", &[0; 2]), "bfloat16");
        refused(&file("[('a', '<f4')]", "False", "(1,)", &[0; 4]), "records");
        refused(
            &file("'<f16'", "False", "(1,)", &[0; 16]),
            "'<f16' are not read",
        );
    }

    #[test]
    fn damage_is_refused() {
        let whole = file("'<f4'", "False", "(2,)", &[0; 8]);
        for end in 6..whole.len() {
            assert!(read(&whole.slice(..end)).is_err(), "{end}");
        }
        // Claims of sizes, which are not believed.
        for shape in [
            "(99999999999999,)",
            "(9223372036854775807, 9)",
            "(-1,)",
            "(1.5,)",
            "1",
        ] {
            assert!(
                read(&file("'<f4'", "False", shape, &[0; 8])).is_err(),
                "{shape}"
            );
        }
        refused(
            &Bytes::from_static(b"\x93NUMPY\x09\0\0\0"),
            "version 1, 2 or 3",
        );
        refused(
            &Bytes::from_static(b"\x93NUMPY\x02\0\xff\xff\xff\xff{"),
            "cut short",
        );
    }
}
