//! How often a method exchanges.

/// How the exchanges and the gradient steps of a method go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exchanges {
    /// One exchange for each step.
    EachStep,
    /// One exchange for each step, or for several.
    Rarer,
    /// One exchange for each step or for several, or several for each.
    Any,
}
