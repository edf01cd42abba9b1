//! A file that many readers read at once, each at its own position.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

/// An open file with the size that it had when it was opened. The file stays the same when
/// another one takes its name.
#[derive(Clone, Debug)]
pub(crate) struct SharedFile {
    file: Arc<File>,
    size: u64,
}

impl SharedFile {
    pub(crate) fn new(file: File) -> io::Result<SharedFile> {
        let size = file.metadata()?.len();
        Ok(SharedFile {
            file: Arc::new(file),
            size,
        })
    }
}

impl Length for SharedFile {
    fn len(&self) -> u64 {
        self.size
    }
}

impl ChunkReader for SharedFile {
    type T = BufReader<Part>;

    fn get_read(&self, start: u64) -> Result<BufReader<Part>> {
        Ok(BufReader::new(Part {
            file: Arc::clone(&self.file),
            position: start,
        }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let is_inside = start
            .checked_add(length as u64)
            .is_some_and(|end| end <= self.size);
        if !is_inside {
            let message = format!("{length} bytes at {start} lie outside of the file");
            return Err(ParquetError::General(message));
        }
        let mut bytes = Vec::new();
        let part = self.get_read(start)?;
        part.take(length as u64).read_to_end(&mut bytes)?;
        if bytes.len() == length {
            Ok(bytes.into())
        } else {
            Err(ParquetError::General("the file became shorter".to_owned()))
        }
    }
}

/// The rest of a file from a position on.
pub(crate) struct Part {
    file: Arc<File>,
    position: u64,
}

impl Read for Part {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        let count = std::os::unix::fs::FileExt::read_at(&*self.file, buffer, self.position)?;
        #[cfg(windows)]
        let count = std::os::windows::fs::FileExt::seek_read(&*self.file, buffer, self.position)?;
        self.position += count as u64;
        Ok(count)
    }
}
