//! Regions and walks: how a visit moves through an object graph.

mod region;

pub use region::RegionChange;
