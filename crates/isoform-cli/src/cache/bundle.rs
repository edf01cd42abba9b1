//! Several byte strings with a JSON header, as one value of a store.
//!
//! | bytes | contents |
//! |---|---|
//! | 0..4 | the length of the header, little-endian |
//! | header | a JSON object: the lengths of the parts, and the data of the caller |
//! | rest | the parts, one after the other |

use bytes::Bytes;
use isoform::{Error, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Header<T> {
    lengths: Vec<usize>,
    data: T,
}

/// Joins the parts. O(bytes).
pub(super) fn pack<T: Serialize>(data: T, parts: &[&[u8]]) -> Result<Vec<u8>> {
    let lengths = parts.iter().map(|part| part.len()).collect();
    let header = serde_json::to_vec(&Header { lengths, data });
    let header = header.map_err(|error| Error::value_error(error.to_string()))?;
    let length = u32::try_from(header.len());
    let length = length.map_err(|_| Error::value_error("a header of more than 4 GiB"))?;
    let mut packed = length.to_le_bytes().to_vec();
    packed.extend(header);
    for part in parts {
        packed.extend_from_slice(part);
    }
    Ok(packed)
}

/// Splits packed bytes, without copies; None for bytes of another form.
pub(super) fn unpack<T: DeserializeOwned>(packed: &Bytes) -> Option<(T, Vec<Bytes>)> {
    let (length, rest) = packed.split_first_chunk::<4>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    let header: Header<T> = serde_json::from_slice(rest.get(..length)?).ok()?;
    let mut rest = packed.slice(4 + length..);
    let mut parts = Vec::with_capacity(header.lengths.len());
    for length in header.lengths {
        if length > rest.len() {
            return None;
        }
        parts.push(rest.split_to(length));
    }
    rest.is_empty().then_some((header.data, parts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_back_and_other_bytes_are_refused() {
        let packed = pack(7, &[b"ab", b"", b"c"]).unwrap();
        let (data, parts) = unpack::<i32>(&packed.clone().into()).unwrap();
        assert_eq!(data, 7);
        assert_eq!(parts, ["ab", "", "c"]);
        for length in 0..packed.len() {
            let cut = Bytes::copy_from_slice(&packed[..length]);
            assert!(unpack::<i32>(&cut).is_none(), "{length}");
        }
        let longer = [&packed[..], b"x"].concat();
        assert!(unpack::<i32>(&longer.into()).is_none());
        assert!(unpack::<String>(&packed.into()).is_none());
    }
}
