//! Numbers and strings in little-endian bytes, read within their bounds.

/// The number of bytes of a wrong string that a message shows.
const SHOWN_BYTES: usize = 80;

/// A position in the bytes of a file.
pub(super) struct Cursor<'f> {
    file: &'f [u8],
    position: usize,
}

impl<'f> Cursor<'f> {
    pub(super) fn new(file: &'f [u8]) -> Self {
        Cursor { file, position: 0 }
    }

    /// The number of bytes read.
    pub(super) fn position(&self) -> usize {
        self.position
    }

    fn left(&self) -> usize {
        self.file.len() - self.position
    }

    /// The next bytes.
    pub(super) fn take(&mut self, size: usize) -> Result<&'f [u8], String> {
        let end = self.position.checked_add(size);
        let bytes = end.and_then(|end| self.file.get(self.position..end));
        let bytes = bytes.ok_or_else(|| self.cut(size as u64))?;
        self.position += size;
        Ok(bytes)
    }

    fn cut(&self, size: u64) -> String {
        format!(
            "cut short or damaged: expected {size} more bytes at byte {}, got {}; fetch the file again",
            self.position,
            self.left()
        )
    }

    /// The next bytes, as many as the caller's array has.
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    pub(super) fn u32(&mut self) -> Result<u32, String> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, String> {
        self.array().map(u64::from_le_bytes)
    }

    /// A count of items with at least `size` bytes each, which the rest of the file can
    /// hold.
    pub(super) fn count(&self, count: u64, size: usize) -> Result<usize, String> {
        let held = self.left() / size.max(1);
        usize::try_from(count)
            .ok()
            .filter(|&count| count <= held)
            .ok_or_else(|| {
                format!(
                    "cut short or damaged: expected at most {held} items in the {} bytes left at byte {}, got {count}; fetch the file again",
                    self.left(),
                    self.position
                )
            })
    }

    /// The bytes of a string.
    pub(super) fn string(&mut self) -> Result<&'f [u8], String> {
        let size = self.u64()?;
        match usize::try_from(size) {
            Ok(size) => self.take(size),
            Err(_) => Err(self.cut(size)),
        }
    }

    /// A string in UTF-8.
    pub(super) fn text(&mut self) -> Result<&'f str, String> {
        let bytes = self.string()?;
        std::str::from_utf8(bytes).map_err(|error| {
            format!(
                "expected UTF-8, got '{}', wrong from byte {} on",
                bytes[..bytes.len().min(SHOWN_BYTES)].escape_ascii(),
                error.valid_up_to()
            )
        })
    }
}
