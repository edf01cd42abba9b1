//! Attributes for the places of values, and for the compilers of functions.

use super::declare::attributes;
use isoform::{Str, Value};

attributes! {
    /// The device of an expression, stated by a call of `on_device`.
    OnDeviceAttrs = "relay.attrs.OnDeviceAttrs" {
        /// The device, or any other description of a place; None leaves the place open.
        #[node(default)]
        virtual_device: Value,
        /// True if the result of the call is on the device.
        constrain_result: bool = false,
        /// True if the body is computed on the device.
        constrain_body: bool = true,
    }

    /// The ends of a copy between devices.
    DeviceCopyAttrs = "relay.attrs.DeviceCopyAttrs" {
        /// Where the value is.
        src_virtual_device: Value,
        /// Where the copy is to be.
        dst_virtual_device: Value,
    }

    /// The external compiler of a region.
    CompilerAttrs = "relay.attrs.CompilerAttrs" {
        /// Its name.
        compiler: Str,
    }
}
