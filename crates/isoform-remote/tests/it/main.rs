//! Stores on servers: a small server of the tests that speaks a part of the S3 protocol
//! and can fail, and real servers named by a variable.

mod fake;
mod faults;
mod folder;
mod servers;
