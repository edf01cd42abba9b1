//! The files here are written byte by byte, without code of the reader.

use isoform::structural_digest;
use isoform_testing::source::split_mix;

use super::*;

/// A file that is being written.
struct File {
    version: u32,
    tensors: u64,
    pairs: u64,
    metadata: Vec<u8>,
    infos: Vec<u8>,
    alignment: usize,
    data: Vec<u8>,
}

fn string(text: impl AsRef<[u8]>) -> Vec<u8> {
    let text = text.as_ref();
    let mut bytes = (text.len() as u64).to_le_bytes().to_vec();
    bytes.extend(text);
    bytes
}

impl File {
    fn new() -> File {
        File {
            version: 3,
            tensors: 0,
            pairs: 0,
            metadata: Vec::new(),
            infos: Vec::new(),
            alignment: 32,
            data: Vec::new(),
        }
    }

    /// Adds an entry of the metadata, with the number of its type.
    fn pair(mut self, key: &str, kind: u32, value: impl AsRef<[u8]>) -> File {
        self.pairs += 1;
        self.metadata.extend(string(key));
        self.metadata.extend(kind.to_le_bytes());
        self.metadata.extend(value.as_ref());
        self
    }

    /// Adds the description of a tensor.
    fn info(mut self, name: &str, dims: &[u64], kind: u32, offset: u64) -> File {
        self.tensors += 1;
        self.infos.extend(string(name));
        self.infos.extend((dims.len() as u32).to_le_bytes());
        for dim in dims {
            self.infos.extend(dim.to_le_bytes());
        }
        self.infos.extend(kind.to_le_bytes());
        self.infos.extend(offset.to_le_bytes());
        self
    }

    /// Adds a tensor and its bytes.
    fn tensor(mut self, name: &str, dims: &[u64], kind: u32, data: &[u8]) -> File {
        while !self.data.len().is_multiple_of(self.alignment) {
            self.data.push(0);
        }
        let offset = self.data.len() as u64;
        self.data.extend(data);
        self.info(name, dims, kind, offset)
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = b"GGUF".to_vec();
        bytes.extend(self.version.to_le_bytes());
        bytes.extend(self.tensors.to_le_bytes());
        bytes.extend(self.pairs.to_le_bytes());
        bytes.extend(&self.metadata);
        bytes.extend(&self.infos);
        if !self.data.is_empty() {
            while !bytes.len().is_multiple_of(self.alignment) {
                bytes.push(0);
            }
        }
        bytes.extend(&self.data);
        bytes
    }

    fn read(&self) -> Result<Value, String> {
        read(&self.bytes().into())
    }
}

/// A list of the metadata: the number of the type of items, their count and their bytes.
fn list(kind: u32, count: u64, items: &[u8]) -> Vec<u8> {
    let mut bytes = kind.to_le_bytes().to_vec();
    bytes.extend(count.to_le_bytes());
    bytes.extend(items);
    bytes
}

fn map(entries: &[(&str, Value)]) -> Value {
    let entries = entries
        .iter()
        .map(|(key, value)| (Str::from(*key), value.clone()));
    Map::<Str, Value>::from_iter(entries).into()
}

fn tensor_of(code: DTypeCode, bits: u8, shape: &[i64], data: &[u8]) -> Value {
    let tensor = Tensor::new(DType::new(code, bits), shape.to_vec(), data.to_vec());
    tensor.unwrap().into()
}

#[track_caller]
fn check(file: &File, metadata: &[(&str, Value)], tensors: &[(&str, Value)]) {
    let value = file.read().unwrap();
    let expected = map(&[("metadata", map(metadata)), ("tensors", map(tensors))]);
    let digest = |value: &Value| structural_digest(value).unwrap().to_string();
    assert_eq!(digest(&value), digest(&expected), "{value:?}\n{expected:?}");
}

#[track_caller]
fn refused(file: &File, expected: &str) {
    let message = file.read().unwrap_err();
    assert!(message.starts_with("GGUF: "), "{message}");
    assert!(message.contains(expected), "{message}");
}

/// A file with all types of the metadata and several types of tensors.
fn sample() -> File {
    let texts = [string("<s>"), string("é")].concat();
    let inner = [list(0, 2, &[7, 8]), list(8, 1, &string("x"))].concat();
    let q4: Vec<u8> = (0..36).collect();
    File::new()
        .pair("u8", 0, [255])
        .pair("i8", 1, [255])
        .pair("u16", 2, [255, 255])
        .pair("i16", 3, [255, 255])
        .pair("u32", 4, [255; 4])
        .pair("i32", 5, [255; 4])
        .pair("f32", 6, 1.5f32.to_le_bytes())
        .pair("bool", 7, [1])
        .pair("string", 8, string("a\nb"))
        .pair("raw", 8, string(b"\xe2\x96"))
        .pair("list", 9, list(8, 2, &texts))
        .pair("lists", 9, list(9, 2, &inner))
        .pair("none", 9, list(9, 0, &[]))
        .pair("u64", 10, [255; 8])
        .pair("i64", 11, [255; 8])
        .pair("f64", 12, 0.1f64.to_le_bytes())
        .tensor("w", &[3, 2], 0, &[1; 24])
        .tensor("q", &[32, 2], 2, &q4)
        .tensor("half", &[1, 2], 1, &[1, 2, 3, 4])
        .tensor("scalar", &[], 26, &[1, 0, 0, 0])
        .tensor("empty", &[0, 5], 28, &[])
}

#[test]
fn values_and_tensors_become_two_maps() {
    let q4: Vec<u8> = (0..36).collect();
    check(
        &sample(),
        &[
            ("bool", true.into()),
            ("f32", 1.5.into()),
            ("f64", 0.1.into()),
            ("i16", (-1i64).into()),
            ("i32", (-1i64).into()),
            ("i64", (-1i64).into()),
            ("i8", (-1i64).into()),
            ("list", vec!["<s>", "é"].into()),
            (
                "lists",
                vec![Value::from(vec![7i64, 8]), vec!["x"].into()].into(),
            ),
            ("none", Vec::<Value>::new().into()),
            ("raw", Value::from(&b"\xe2\x96"[..])),
            ("string", "a\nb".into()),
            ("u16", 65535i64.into()),
            ("u32", 4294967295i64.into()),
            ("u64", 18446744073709551615i128.into()),
            ("u8", 255i64.into()),
        ],
        &[
            ("empty", tensor_of(DTypeCode::Float, 64, &[5, 0], &[])),
            (
                "half",
                tensor_of(DTypeCode::Float, 16, &[2, 1], &[1, 2, 3, 4]),
            ),
            (
                "q",
                map(&[
                    ("type", "Q4_0".into()),
                    ("shape", vec![2i64, 32].into()),
                    ("blocks", tensor_of(DTypeCode::UInt, 8, &[2, 1, 18], &q4)),
                ]),
            ),
            ("scalar", tensor_of(DTypeCode::Int, 32, &[], &[1, 0, 0, 0])),
            ("w", tensor_of(DTypeCode::Float, 32, &[2, 3], &[1; 24])),
        ],
    );
}

#[test]
fn the_order_and_the_layout_of_a_file_do_not_count() {
    let a = File::new()
        .pair("a", 0, [1])
        .pair("b", 4, [2, 0, 0, 0])
        .tensor("x", &[2], 24, &[1, 2])
        .tensor("y", &[1], 24, &[3]);
    let mut b = File::new().pair("b", 11, 2u64.to_le_bytes());
    b.version = 2;
    b = b.pair("a", 5, [1, 0, 0, 0]);
    b = b.tensor("y", &[1], 24, &[3]).tensor("x", &[2], 24, &[1, 2]);
    let digests = [&a, &b].map(|file| structural_digest(file.read().unwrap()).unwrap());
    assert_eq!(digests[0], digests[1]);
    // A digest is the same on every machine.
    assert_eq!(
        digests[0].to_string(),
        "0258e5494946d4fec03125b94783729a5b2fca0503002f8d3794924c14bd4d3b"
    );
}

#[test]
fn tensors_are_slices_of_the_file() {
    let bytes = Bytes::from(sample().bytes());
    let value = read(&bytes).unwrap();
    let tensors = entry(&value, TENSORS);
    let plain = ["w", "half", "scalar"].map(|name| entry(&tensors, name));
    for tensor in [&plain[..], &[entry(&entry(&tensors, "q"), BLOCKS)]].concat() {
        let data = tensor.peek::<Tensor>().unwrap().data();
        assert!(bytes.as_ptr_range().contains(&data.as_ptr()));
    }
}

fn entry(map: &Value, key: &str) -> Value {
    let map = map.extract::<Map<Str, Value>>().unwrap();
    map.get(key).unwrap().clone()
}

#[test]
fn every_quantised_type_has_its_block() {
    // Elements and bytes per block, from the definitions of the C structures.
    for (kind, name, elements, bytes) in [
        (2, "Q4_0", 32, 18),
        (3, "Q4_1", 32, 20),
        (6, "Q5_0", 32, 22),
        (7, "Q5_1", 32, 24),
        (8, "Q8_0", 32, 34),
        (9, "Q8_1", 32, 36),
        (10, "Q2_K", 256, 84),
        (11, "Q3_K", 256, 110),
        (12, "Q4_K", 256, 144),
        (13, "Q5_K", 256, 176),
        (14, "Q6_K", 256, 210),
        (15, "Q8_K", 256, 292),
        (16, "IQ2_XXS", 256, 66),
        (17, "IQ2_XS", 256, 74),
        (18, "IQ3_XXS", 256, 98),
        (19, "IQ1_S", 256, 50),
        (20, "IQ4_NL", 32, 18),
        (21, "IQ3_S", 256, 110),
        (22, "IQ2_S", 256, 82),
        (23, "IQ4_XS", 256, 136),
        (29, "IQ1_M", 256, 56),
        (34, "TQ1_0", 256, 54),
        (35, "TQ2_0", 256, 66),
        (39, "MXFP4", 32, 17),
        (40, "NVFP4", 64, 36),
        (41, "Q1_0", 128, 18),
    ] {
        let data: Vec<u8> = (0..2 * bytes).map(|byte| byte as u8).collect();
        let file = File::new().tensor("t", &[2 * elements, 1], kind, &data);
        let blocks = tensor_of(DTypeCode::UInt, 8, &[1, 2, bytes as i64], &data);
        let tensor = map(&[
            ("type", name.into()),
            ("shape", vec![1, 2 * elements as i64].into()),
            ("blocks", blocks),
        ]);
        check(&file, &[], &[("t", tensor)]);
        let file = File::new().tensor("t", &[elements / 2, 2], kind, &data);
        refused(&file, "tensor 't': expected rows of whole blocks");
    }
    for (kind, code, bits) in [
        (0, DTypeCode::Float, 32),
        (1, DTypeCode::Float, 16),
        (24, DTypeCode::Int, 8),
        (25, DTypeCode::Int, 16),
        (26, DTypeCode::Int, 32),
        (27, DTypeCode::Int, 64),
        (28, DTypeCode::Float, 64),
        (30, DTypeCode::BFloat, 16),
    ] {
        let data = vec![3; usize::from(bits) / 8 * 6];
        let file = File::new().tensor("t", &[1, 2, 3], kind, &data);
        let tensor = tensor_of(code, bits, &[3, 2, 1], &data);
        check(&file, &[], &[("t", tensor)]);
    }
    for kind in [4, 31, 38] {
        let file = File::new().tensor("t", &[32], kind, &[0; 64]);
        refused(&file, &format!("tensor 't': elements of type {kind} ("));
    }
    for kind in [42, 1000, u32::MAX] {
        let file = File::new().tensor("t", &[32], kind, &[0; 64]);
        refused(&file, &format!("tensor 't': elements of type {kind} are"));
    }
}

#[test]
fn other_versions_are_refused_with_advice() {
    for (version, expected) in [
        (0, "expected version 2 or 3 of the format, got 0"),
        (1, "convert the original model again"),
        (2, ""),
        (4, "got 4"),
        (3 << 24, "gguf-convert-endian"),
        (1 << 24, "big-endian"),
        (0x2065_6874, "got 543516788"),
    ] {
        let mut file = File::new();
        file.version = version;
        if expected.is_empty() {
            check(&file, &[], &[]);
        } else {
            refused(&file, expected);
        }
    }
}

#[test]
fn wrong_metadata_is_refused_by_key() {
    let wrong = [
        (
            7,
            vec![2],
            "metadata 'k': expected 0 or 1 for a bool, got 2",
        ),
        (
            13,
            vec![0; 8],
            "metadata 'k': expected a type of value from 0 to 12, got 13",
        ),
        (
            9,
            list(14, 0, &[]),
            "metadata 'k': expected a type of value",
        ),
        // Counts that the file cannot hold.
        (8, vec![255; 8], "metadata 'k': cut short"),
        (
            9,
            list(0, 3, &[1, 2]),
            "metadata 'k': the length of a list: cut short",
        ),
        (
            9,
            list(9, u64::MAX, &[0; 64]),
            "metadata 'k': the length of a list",
        ),
        (
            9,
            list(8, 9, &[0; 64]),
            "metadata 'k': the length of a list",
        ),
    ];
    for (kind, value, expected) in wrong {
        refused(&File::new().pair("k", kind, value), expected);
    }
    let twice = File::new().pair("k", 0, [1]).pair("k", 0, [1]);
    refused(&twice, "metadata 'k': the key occurs twice");
    let mut file = File::new().pair("kk", 0, [1]);
    let position = file.metadata.iter().position(|byte| *byte == b'k').unwrap();
    file.metadata[position] = 0xff;
    refused(&file, "key 0 of the metadata: expected UTF-8, got '\\xffk'");
}

#[test]
fn lists_are_nested_up_to_a_limit() {
    let nested = |depth: usize| {
        let mut value = list(0, 1, &[5]);
        for _ in 1..depth {
            value = list(9, 1, &value);
        }
        File::new().pair("k", 9, value)
    };
    let mut expected = Value::from(vec![5i64]);
    for _ in 1..32 {
        expected = vec![expected].into();
    }
    check(&nested(32), &[("k", expected)], &[]);
    refused(&nested(33), "metadata 'k': expected at most 32 lists");
    refused(&nested(100_000), "metadata 'k': expected at most 32 lists");
}

#[test]
fn alignment_is_a_power_of_two() {
    for alignment in [8u32, 64, 4096] {
        let mut file = File::new().pair("general.alignment", 4, alignment.to_le_bytes());
        file.alignment = alignment as usize;
        file = file.tensor("a", &[1], 24, &[1]).tensor("b", &[1], 24, &[2]);
        let tensor = |byte| tensor_of(DTypeCode::Int, 8, &[1], &[byte]);
        check(
            &file,
            &[("general.alignment", i64::from(alignment).into())],
            &[("a", tensor(1)), ("b", tensor(2))],
        );
    }
    for alignment in [0u32, 12, 33] {
        let file = File::new().pair("general.alignment", 4, alignment.to_le_bytes());
        refused(
            &file,
            "metadata 'general.alignment': expected a power of two",
        );
    }
    let file = File::new().pair("general.alignment", 8, string("32"));
    refused(&file, "expected a power of two, got \"32\"");
    let file = File::new().pair("general.alignment", 10, (1u64 << 62).to_le_bytes());
    refused(
        &file.info("t", &[1], 24, 0),
        "tensor 't': its 1 bytes at offset 0 lie outside",
    );
    let mut file = File::new().info("t", &[1], 24, 16);
    file.data = vec![0; 64];
    refused(
        &file,
        "tensor 't': the offset 16 is not a multiple of the alignment 32",
    );
}

#[test]
fn wrong_tensors_are_refused_by_name() {
    let with_data = |mut file: File| {
        file.data = vec![0; 64];
        file
    };
    let file = File::new().info("t", &[16], 0, 0).info("t", &[16], 0, 0);
    refused(&with_data(file), "tensor 't': the name occurs twice");
    let file = File::new().info("a", &[16], 0, 0).info("b", &[8], 0, 32);
    refused(&with_data(file), "tensors 'a' and 'b': their bytes overlap");
    let file = File::new().info("b", &[16], 0, 0).info("a", &[1], 0, 0);
    refused(&with_data(file), "their bytes overlap");
    for (dims, offset, expected) in [
        (
            &[17][..],
            0,
            "its 68 bytes at offset 0 lie outside of the file",
        ),
        (
            &[9],
            32,
            "its 36 bytes at offset 32 lie outside of the file",
        ),
        (&[1], 64, "lie outside of the file"),
        (&[1], u64::MAX - 31, "lie outside of the file"),
        (&[1 << 62], 0, "is too large"),
        (&[1 << 32, 1 << 32], 0, "is too large"),
        (&[1 << 61], 0, "lie outside of the file"),
        (&[0, u64::MAX], 0, "is too large"),
        (&[1; 5], 0, "expected at most 4 dimensions, got 5"),
    ] {
        let file = with_data(File::new().info("t", dims, 0, offset));
        refused(&file, "tensor 't'");
        refused(&file, expected);
    }
}

#[test]
fn claims_of_counts_are_not_believed() {
    for claim in [1, 1 << 20, 1 << 60, u64::MAX] {
        let mut file = File::new();
        file.tensors = claim;
        refused(&file, "the count of the tensors: cut short");
        let mut file = File::new();
        file.pairs = claim;
        refused(&file, "the count of the metadata: cut short");
    }
}

#[test]
fn every_truncation_is_refused() {
    let bytes = Bytes::from(sample().tensor("z", &[1], 24, &[9]).bytes());
    assert!(read(&bytes).is_ok());
    for end in 0..bytes.len() {
        let message = read(&bytes.slice(..end)).unwrap_err();
        assert!(message.contains("fetch the file again"), "{end}: {message}");
    }
}

#[test]
fn damaged_files_are_values_or_errors() {
    let original = sample().bytes();
    for bit in 0..original.len() * 8 {
        let mut bytes = original.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        exercise(bytes);
    }
    let mut state = 1;
    for _ in 0..20_000 {
        let mut bytes = original.clone();
        for _ in 0..split_mix(&mut state) % 6 + 1 {
            let position = split_mix(&mut state) as usize % bytes.len();
            // Counts and sizes are small numbers, or huge ones.
            let byte = split_mix(&mut state);
            bytes[position] = if byte & 256 == 0 {
                byte as u8
            } else {
                (byte % 16) as u8
            };
        }
        exercise(bytes);
    }
}

/// Reads a damaged file, and uses its value if it has one.
fn exercise(bytes: Vec<u8>) {
    match read(&bytes.into()) {
        Ok(value) => {
            structural_digest(value).unwrap();
        }
        Err(message) => assert!(message.starts_with("GGUF: ")),
    }
}
