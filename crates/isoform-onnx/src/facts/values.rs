//! Elements of small tensors of integers and bools.
