//! If, Loop, Scan and local functions.
