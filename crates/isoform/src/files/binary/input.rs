//! Numbers, strings and the like from bytes.

use crate::kernel::error::{Error, Result};
use crate::kernel::value::{DType, DTypeCode};

/// The bytes of the records.
pub(super) struct Input<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

impl<'a> Input<'a> {
    pub(super) fn rest(&self) -> usize {
        self.bytes.len() - self.at
    }

    #[cold]
    fn too_short() -> Error {
        Error::value_error("expected more bytes, got the end")
    }

    #[inline(always)]
    pub(super) fn byte(&mut self) -> Result<u8> {
        let Some(&byte) = self.bytes.get(self.at) else {
            return Err(Self::too_short());
        };
        self.at += 1;
        Ok(byte)
    }

    #[inline(always)]
    pub(super) fn number(&mut self) -> Result<u64> {
        let first = self.byte()?;
        if first < 0x80 {
            return Ok(u64::from(first));
        }
        // Most references of larger files.
        if let Some(&second) = self.bytes.get(self.at)
            && second < 0x80
        {
            self.at += 1;
            return Ok(u64::from(first & 0x7f) | u64::from(second) << 7);
        }
        self.long_number(first)
    }

    fn long_number(&mut self, first: u8) -> Result<u64> {
        let mut number = u64::from(first & 0x7f);
        let mut shift = 7;
        loop {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 || shift > 63 {
                return Err(Error::value_error("a number of more than 64 bits"));
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
            shift += 7;
        }
    }

    #[inline(always)]
    pub(super) fn int(&mut self) -> Result<i64> {
        let number = self.number()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    /// Reads the number of following items, at least one byte each.
    pub(super) fn count(&mut self) -> Result<usize> {
        let count = self.number()?;
        let rest = self.rest();
        match usize::try_from(count) {
            Ok(count) if count <= rest => Ok(count),
            _ => Err(Error::value_error(format!(
                "expected at least {count} more bytes, got {rest}"
            ))),
        }
    }

    pub(super) fn content(&mut self) -> Result<&'a [u8]> {
        let length = self.count()?;
        let content = &self.bytes[self.at..self.at + length];
        self.at += length;
        Ok(content)
    }

    pub(super) fn text(&mut self) -> Result<&'a str> {
        let content = self.content()?;
        std::str::from_utf8(content)
            .map_err(|error| Error::value_error(format!("expected a string: {error}")))
    }

    pub(super) fn bool(&mut self) -> Result<bool> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(Error::value_error(format!("expected a bool, got {other}"))),
        }
    }

    pub(super) fn float(&mut self) -> Result<f64> {
        let bytes = self.bytes.get(self.at..self.at + 8);
        let Some(bytes) = bytes.and_then(|bytes| bytes.first_chunk::<8>()) else {
            return Err(Self::too_short());
        };
        self.at += 8;
        Ok(f64::from_le_bytes(*bytes))
    }

    pub(super) fn small(&mut self) -> Result<u32> {
        let number = self.number()?;
        u32::try_from(number)
            .map_err(|_| Error::value_error(format!("{number} is outside the 32-bit range")))
    }

    pub(super) fn dtype(&mut self) -> Result<DType> {
        let (code, bits) = (self.byte()?, self.byte()?);
        let lanes = self.number()?;
        if code > DTypeCode::Float4E2M1FN as u8 {
            return Err(Error::value_error(format!(
                "unknown code {code} of a dtype"
            )));
        }
        let lanes_16 = u16::try_from(lanes).ok();
        let dtype = lanes_16.and_then(|lanes| DType::from_parts(code, bits, lanes));
        dtype.ok_or_else(|| Error::value_error(format!("a dtype of {bits} bits and {lanes} lanes")))
    }

    pub(super) fn dims(&mut self) -> Result<Vec<i64>> {
        let count = self.count()?;
        (0..count).map(|_| self.int()).collect()
    }

    /// The number of the node this many nodes before node `own`.
    #[inline(always)]
    pub(super) fn reference(&mut self, own: usize) -> Result<usize> {
        let back = self.number()?;
        match usize::try_from(back) {
            Ok(back) if (1..=own).contains(&back) => Ok(own - back),
            _ => Err(Error::value_error(format!(
                "a reference {back} nodes back, where there are {own}"
            ))),
        }
    }
}
