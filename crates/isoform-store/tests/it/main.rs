//! The tests of the store, with faults: killed processes, damaged files, full disks.

mod cache;
mod clock;
mod damage;
mod entries;
mod evict;
mod faults;
mod golden;
mod helpers;
mod index;
mod killed;
mod model;
mod processes;
mod read_only;
mod values;
