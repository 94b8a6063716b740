//! Where functions are evaluated, and where their gradients are added to.

/// The sizes of the shared variables x and y.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim {
    /// Scalars of the shared outer variable x; 0 for a single-level problem.
    pub outer: usize,
    /// Scalars of the inner variable y.
    pub inner: usize,
}

/// The upper level f or the lower level g.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// The upper level f, the objective of the outer variable x.
    Upper,
    /// The lower level g, the objective of the inner variable y.
    Lower,
}

/// What a single-level method minimises on a bilevel problem.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Objective {
    /// The lower level g: the (noisy) training data. The only one of a single-level problem.
    #[default]
    Train,
    /// The sum f + g: training and validation data together.
    Merged,
    /// The upper level f: the clean validation data.
    Clean,
}

impl Objective {
    /// The levels that it consists of, unless a problem says otherwise.
    pub fn levels(self) -> &'static [Level] {
        match self {
            Self::Train => &[Level::Lower],
            Self::Merged => &[Level::Upper, Level::Lower],
            Self::Clean => &[Level::Upper],
        }
    }
}

/// Where, by whom and when a function is evaluated.
#[derive(Clone, Copy, Debug)]
pub struct Point<'a, T> {
    /// The agent whose function is evaluated.
    pub agent: usize,
    /// The round, which together with the agent names the mini-batch and the noise.
    pub round: u64,
    /// The agent's private outer coordinates.
    pub own: &'a [T],
    /// The shared outer variable.
    pub x: &'a [T],
    /// The inner variable.
    pub y: &'a [T],
}

/// Where scaled gradients are added to. An empty slice is a part that is not wanted and need not be
/// computed.
#[derive(Debug)]
pub struct GradientMut<'a, T> {
    /// The factors of the outer (shared and private) and of the inner part. They are two because
    /// FAB takes −∇ₓg and +∇ᵧg at z in one pass.
    pub scale: (T, T),
    /// The gradient in the agent's private outer coordinates.
    pub own: &'a mut [T],
    /// The gradient in x.
    pub x: &'a mut [T],
    /// The gradient in y.
    pub y: &'a mut [T],
}
