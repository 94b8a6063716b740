//! Every problem that an experiment may ask for.

use fabnet_core::Scalar;
use fabnet_problems::ProblemKind;

/// Problems that not every build has, each with the cargo feature that builds it.
pub(crate) const FEATURES: [(&str, &str); 3] =
    [("hyper-cleaning", "learning"), ("hyper-tuning", "learning"), ("text-cleaning", "text")];

/// The problems that are always built, those of optional crates and the one that programs bring.
pub(crate) fn problems<T: Scalar>() -> Vec<ProblemKind<T>> {
    let mut kinds = fabnet_problems::problems();
    #[cfg(feature = "text")]
    kinds.extend(fabnet_burn::kinds());
    kinds.push(brought());
    kinds
}

/// The kind that stands in an experiment whose problem a program brings.
fn brought<T: Scalar>() -> ProblemKind<T> {
    ProblemKind {
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
