//! Tells the compiler for which Python the crate is built: `cfg(Py_GIL_DISABLED)`.

fn main() {
    pyo3_build_config::use_pyo3_cfgs();
}
