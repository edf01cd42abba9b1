//! Graphs that are hard to align.
