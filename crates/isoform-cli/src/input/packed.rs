//! Compressed files, which are unpacked into memory.

use std::io::{self, Read};

use flate2::read::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};

/// The number of bytes that a file may have when it is unpacked, the largest size of a
/// protobuf message. A small file may claim, and contain, any number of zeros.
pub(super) const LIMIT: u64 = 2 << 30;

/// A method of compression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Packing {
    /// Members of gzip, one after the other.
    Gzip,
    /// Frames of Zstandard, one after the other.
    Zstd,
}

impl Packing {
    /// The compression method of a file with this start.
    pub(super) fn of(start: &[u8]) -> Option<Packing> {
        match start {
            [0x1f, 0x8b, 8, ..] => Some(Packing::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => {
                Some(Packing::Zstd)
            }
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Packing::Gzip => "gzip",
            Packing::Zstd => "zstd",
        }
    }

    /// The contents of a compressed file, if they have at most `limit` bytes.
    /// O(bytes unpacked).
    pub(super) fn unpack(self, bytes: &[u8], limit: u64) -> Result<Vec<u8>, String> {
        let mut out = Vec::new();
        let unpacked = match self {
            Packing::Gzip => {
                let decoder = MultiGzDecoder::new(bytes);
                decoder.take(limit + 1).read_to_end(&mut out).map(|_| ())
            }
            Packing::Zstd => unpack_zstd(bytes, limit, &mut out),
        };
        let name = self.name();
        if out.len() as u64 > limit {
            return Err(format!(
                "this is compressed with {name} and has more than {limit} bytes when it is unpacked, the limit for compressed files; unpack it with '{name} -d' and give the result"
            ));
        }
        match unpacked {
            Ok(()) => Ok(out),
            Err(error) if error.kind() == io::ErrorKind::Unsupported => Err(format!(
                "this is compressed with {name} in a way that isoform does not read: {error}; unpack it with 'zstd -d --long=31' and give the result"
            )),
            Err(error) => Err(format!(
                "this is compressed with {name}, but cut short or damaged: {error}; fetch the file again"
            )),
        }
    }
}

fn unpack_zstd(mut rest: &[u8], limit: u64, out: &mut Vec<u8>) -> io::Result<()> {
    while !rest.is_empty() && out.len() as u64 <= limit {
        match StreamingDecoder::new(&mut rest) {
            Ok(mut decoder) => {
                let before = out.len() as u64;
                let left = limit + 1 - out.len() as u64;
                (&mut decoder).take(left).read_to_end(out)?;
                let frame = decoder.decoder;
                let is_complete = frame.is_finished() && out.len() as u64 <= limit;
                let size = frame.content_size();
                if is_complete && size != 0 && size != out.len() as u64 - before {
                    return Err(io::Error::other("the size is wrong"));
                }
                let expected = frame.get_checksum_from_data();
                if is_complete && expected.is_some() && expected != frame.get_calculated_checksum()
                {
                    return Err(io::Error::other("the checksum is wrong"));
                }
            }
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length,
                ..
            })) => {
                let skipped = usize::try_from(length).ok();
                rest = skipped
                    .and_then(|length| rest.get(length..))
                    .ok_or(io::ErrorKind::UnexpectedEof)?;
            }
            Err(error) => {
                let text = error.to_string();
                let kind = if text.contains("WindowTooBig") || text.contains("window_size") {
                    io::ErrorKind::Unsupported
                } else {
                    io::ErrorKind::Other
                };
                return Err(io::Error::new(kind, text));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    fn packed(packing: Packing, bytes: &[u8]) -> Vec<u8> {
        match packing {
            Packing::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(bytes).unwrap();
                encoder.finish().unwrap()
            }
            Packing::Zstd => compress_to_vec(bytes, CompressionLevel::Fastest),
        }
    }

    #[test]
    fn members_are_joined() {
        for packing in [Packing::Gzip, Packing::Zstd] {
            let one = packed(packing, b"one");
            assert_eq!(Packing::of(&one), Some(packing));
            assert_eq!(packing.unpack(&one, 3).unwrap(), b"one");
            let both = [one, packed(packing, b"two")].concat();
            assert_eq!(packing.unpack(&both, 6).unwrap(), b"onetwo");
            let message = packing.unpack(&both, 5).unwrap_err();
            assert!(message.contains("more than 5 bytes"), "{message}");
        }
        let skipped = [
            b"\x50\x2a\x4d\x18\x02\0\0\0ab",
            &packed(Packing::Zstd, b"x")[..],
        ]
        .concat();
        assert_eq!(Packing::of(&skipped), Some(Packing::Zstd));
        assert_eq!(Packing::Zstd.unpack(&skipped, 9).unwrap(), b"x");
    }

    #[test]
    fn damage_is_an_error_wherever_it_is() {
        let contents: Vec<u8> = (0..3000_u32).flat_map(|x| (x * x).to_le_bytes()).collect();
        for packing in [Packing::Gzip, Packing::Zstd] {
            let whole = packed(packing, &contents);
            for end in [5, 9, whole.len() / 2, whole.len() - 1] {
                let message = packing.unpack(&whole[..end], LIMIT).unwrap_err();
                assert!(message.contains("cut short or damaged"), "{message}");
            }
        }
    }

    #[test]
    fn claims_of_frames_are_checked() {
        let mut frame = b"\x28\xb5\x2f\xfd\xe0".to_vec();
        frame.extend((1_u64 << 60).to_le_bytes());
        frame.extend(b"\x01\0\0");
        assert!(Packing::Zstd.unpack(&frame, LIMIT).is_err());
        let window = b"\x28\xb5\x2f\xfd\x00\xff\x01\0\0";
        let message = Packing::Zstd.unpack(window, LIMIT).unwrap_err();
        assert!(message.contains("--long=31"), "{message}");
    }

    #[test]
    fn a_bomb_ends_at_the_limit() {
        let bomb = packed(Packing::Gzip, &vec![0; 1 << 20]);
        assert!(bomb.len() < 4 << 10);
        let message = Packing::Gzip.unpack(&bomb, 1000).unwrap_err();
        assert!(message.contains("gzip -d"), "{message}");
    }
}
