//! Every problem that an experiment may ask for.

use fabnet_core::Scalar;
use fabnet_problems::Kind;

/// Problems that need more than is always built, with the feature that brings them.
pub(crate) const FEATURES: [(&str, &str); 1] = [("text-cleaning", "text")];

/// Those that are built in, and those of optional crates.
pub(crate) fn problems<T: Scalar>() -> Vec<Kind<T>> {
    #[cfg_attr(not(feature = "text"), allow(unused_mut, reason = "there is nothing to add"))]
    let mut kinds = fabnet_problems::problems();
    #[cfg(feature = "text")]
    kinds.extend(fabnet_burn::kinds());
    kinds
}
