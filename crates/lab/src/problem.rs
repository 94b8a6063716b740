//! Every problem that an experiment may ask for.

use fabnet_core::Scalar;
use fabnet_problems::Kind;

/// Problems that need more than is always built, with the feature that brings them.
pub(crate) const FEATURES: [(&str, &str); 1] = [("text-cleaning", "text")];

/// Those that are built in, and those of optional crates.
pub(crate) fn problems<T: Scalar>() -> Vec<Kind<T>> {
    let mut kinds = fabnet_problems::problems();
    #[cfg(feature = "text")]
    kinds.extend(fabnet_burn::kinds());
    kinds.push(brought());
    kinds
}

/// What stands in an experiment whose problem a program brings.
fn brought<T: Scalar>() -> Kind<T> {
    Kind {
        name: "brought",
        about: "what a program brings, such as `fabnet.solve` of the Python package: not for files",
        metrics: &[],
        checksum: None,
        divide: None,
        read: |_| {
            Box::new(|_, _| Err("a program has to bring it, as `fabnet.solve` of the Python package does".into()))
        },
    }
}
