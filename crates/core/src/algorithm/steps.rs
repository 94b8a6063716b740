//! Step sizes as users give them.

use super::{Acceleration, Auto, Exchanges, MixingPlan, Tracker};
use crate::Network;
use crate::settings::SettingsReader;

/// Step sizes as a user gives them.
#[derive(Clone, Debug)]
pub struct Steps {
    pub(super) sizes: StepChoice,
    pub(super) schedule: StepDecay,
    pub(super) momentum: Option<f64>,
    pub(super) inner_rounds: Option<u64>,
    pub(super) mixing: MixingPlan,
    pub(super) rest_from: Option<u64>,
    pub(super) exchange_every: u64,
}

#[derive(Clone, Debug)]
pub(super) enum StepChoice {
    Same(f64),
    Each(Vec<(String, f64)>),
    Auto(Box<Auto>),
}

impl Steps {
    /// The same step size for every block.
    pub fn same(size: f64) -> Self {
        Self::given(StepChoice::Same(size))
    }

    /// A step for each block, by its name. A step of 0 freezes that block.
    pub fn each<'a>(sizes: impl IntoIterator<Item = (&'a str, f64)>) -> Self {
        Self::given(StepChoice::Each(sizes.into_iter().map(|(name, size)| (name.to_owned(), size)).collect()))
    }

    /// Found by the agents themselves, with the momentum.
    pub fn auto(auto: Auto) -> Self {
        Self::given(StepChoice::Auto(Box::new(auto)))
    }

    /// Heavy ball: the velocity m⁺ = β m + t takes the place of t.
    pub fn momentum(self, beta: f64) -> Self {
        Self { momentum: Some(beta), ..self }
    }

    /// A double loop: by turns, this many rounds that move and exchange everything but the first
    /// block, and one round that moves and exchanges the first.
    pub fn double_loop(self, inner_rounds: u64) -> Self {
        Self { inner_rounds: Some(inner_rounds), ..self }
    }

    /// Several mixings for each step, in this order, and what becomes of them.
    pub fn mixing(self, mixing: MixingPlan) -> Self {
        Self { mixing, ..self }
    }

    /// Whether a step uses the tracker from before or after the last mixing; agents with automatic
    /// step sizes choose that themselves.
    pub fn order(mut self, order: Tracker) -> Self {
        self.mixing.order = order;
        self
    }

    /// Agents stand still from this round on and go on mixing, so that they agree at the end of a
    /// run. Before that, their step sizes fall to zero within a fifth of the rounds.
    pub fn rest_from(self, round: u64) -> Self {
        Self { rest_from: Some(round), ..self }
    }

    /// This many gradient steps for each exchange: all but the first are taken alone.
    pub fn exchange_every(self, steps: u64) -> Self {
        Self { exchange_every: steps.max(1), ..self }
    }

    /// Step sizes that change with the round.
    pub fn schedule(self, schedule: StepDecay) -> Self {
        Self { schedule, ..self }
    }

    /// What users can choose for a method with step sizes of these names and such exchanges; none
    /// means automatic ones.
    pub fn read(keys: &mut SettingsReader<'_>, names: &[&str], exchanges: Exchanges) -> Option<Self> {
        let all =
            keys.number_or_word("steps", "auto", 0.0.., "automatic; or one step size for all; or a table of these:");
        let key = |name: &str| format!("steps.{name}");
        let explicit = all.is_some() || names.iter().any(|name| keys.given(&key(name)).is_some());
        let mut size = |name: &str| {
            let about = format!("the step size of {name}; 0 freezes it");
            match all {
                Some(all) => Some(keys.number(&key(name), all, 0.0.., &about)),
                None => keys.optional_number(&key(name), 0.0.., &about),
            }
        };
        let sizes: Vec<_> = names.iter().map(|name| (*name, size(name))).collect();
        let momentum =
            keys.optional_number("steps.momentum", 0.0..1.0, "heavy ball β: m⁺ = βm + t replaces the tracker t");
        let decay = keys.optional_number("steps.decay", 0.0.., "step sizes decay as η/(1 + decay·k) in round k");
        let power = keys.optional_number("steps.power", 0.0.., "step sizes decay as η/(1 + k)^power in round k");
        let mixing = if exchanges == Exchanges::Any { MixingPlan::read(keys) } else { None };
        let alone = exchanges != Exchanges::EachStep;
        if !alone && keys.given("exchange_every").is_some() {
            keys.mistake("exchange_every", StepsError::AloneMethod.to_string());
        }
        let about = "gradient steps for each exchange, one if not given; all but the first are taken alone";
        let given = if alone { keys.optional_whole("exchange_every", 1..=1000, about) } else { None };
        let exchange_every = given.unwrap_or(1);
        let wanted = explicit || momentum.or(decay).or(power).is_some() || mixing.is_some();
        if let Some((name, _)) =
            sizes.iter().find(|(name, size)| wanted && size.is_none() && keys.given(&key(name)).is_none())
        {
            let known = names.join(", ");
            keys.mistake(
                "steps",
                format!("`{name}` is missing: give a step size for each of {known} (0 freezes a variable)"),
            );
        }
        if exchange_every > 1 && !explicit {
            keys.mistake("exchange_every", StepsError::AloneAutomatic.to_string());
        }
        if exchange_every > 1 && mixing.is_some_and(|mixing| mixing.mixings > 1) {
            keys.mistake("exchange_every", StepsError::AloneMixings.to_string());
        }
        if decay.is_some() && power.is_some() {
            keys.mistake("steps.power", "give `decay` or `power`, not both");
        }
        explicit.then(|| {
            keys.unset("steps");
            let schedule = decay.map(StepDecay::InverseTime).or(power.map(StepDecay::Power)).unwrap_or_default();
            let steps =
                Self::each(sizes.into_iter().map(|(name, size)| (name, size.unwrap_or_default()))).schedule(schedule);
            let steps = mixing.into_iter().fold(steps, Self::mixing).exchange_every(exchange_every);
            momentum.into_iter().fold(steps, Self::momentum)
        })
    }

    /// Fits them to the network on which agents will run. Where messages may be lost, trackers
    /// cannot be accelerated: what is under way would be lost with them.
    pub fn on(self, network: Network, lossy: bool) -> Result<Self, StepsError> {
        let Self { sizes, mut mixing, .. } = self;
        if lossy && mixing.acceleration != Acceleration::Plain {
            return Err(StepsError::LossyGossip);
        }
        if let Acceleration::Chebyshev { second } = &mut mixing.acceleration {
            if !network.is_static() {
                return Err(StepsError::ChangingGraph);
            }
            *second = network.second_eigenvalue();
        }
        let sizes = match sizes {
            StepChoice::Auto(auto) if lossy => StepChoice::Auto(Box::new(auto.on(network).plainly())),
            StepChoice::Auto(auto) => StepChoice::Auto(Box::new(auto.on(network))),
            given => given,
        };
        Ok(Self { sizes, mixing, ..self })
    }

    /// Whether agents may take gradient steps alone, where they are to.
    pub(super) fn check_alone(&self) -> Result<(), StepsError> {
        match self.sizes {
            _ if self.exchange_every == 1 => Ok(()),
            _ if self.inner_rounds.is_some() => Err(StepsError::AloneMethod),
            StepChoice::Auto(_) => Err(StepsError::AloneAutomatic),
            _ if self.mixing.mixings > 1 => Err(StepsError::AloneMixings),
            _ => Ok(()),
        }
    }

    fn given(sizes: StepChoice) -> Self {
        Self {
            sizes,
            schedule: StepDecay::default(),
            momentum: None,
            inner_rounds: None,
            mixing: MixingPlan::default(),
            rest_from: None,
            exchange_every: 1,
        }
    }
}

/// How step sizes change with the round k.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum StepDecay {
    /// A constant step size η.
    #[default]
    Constant,
    /// η / (1 + δk), with this δ.
    InverseTime(f64),
    /// η / (1 + k)ᵖ, with this p.
    Power(f64),
}

impl StepDecay {
    pub(super) fn factor(self, round: u64) -> f64 {
        match self {
            Self::Constant => 1.0,
            Self::InverseTime(decay) => 1.0 / (1.0 + decay * round as f64),
            Self::Power(exponent) => (1.0 + round as f64).powf(-exponent),
        }
    }
}

/// Why a method cannot be put together with its step sizes.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StepsError {
    /// A name that the direction does not have.
    #[error("there is no step size `{name}`: this method has those of {known}")]
    Unknown {
        /// The name that was given.
        name: String,
        /// The names of the blocks.
        known: String,
    },
    /// A block has no step size.
    #[error("the step size `{name}` is missing: give one for each of {known} (0 freezes a variable)")]
    Missing {
        /// The name of the block.
        name: &'static str,
        /// The names of the blocks.
        known: String,
    },
    /// A step that is negative or not a number.
    #[error("the step size {value} is not usable: step sizes are finite and not negative")]
    Value {
        /// The value that was given.
        value: f64,
    },
    /// Automatic step sizes for a direction with more blocks than they know.
    #[error(
        "automatic step sizes are known for at most {most} blocks, and this direction has {count}: give a step size for each"
    )]
    Blocks {
        /// The number of blocks.
        count: usize,
        /// The largest number of blocks.
        most: usize,
    },
    /// Step sizes that must not change on the way.
    #[error("this method has no automatic step sizes: give one for each of its variables")]
    NotAutomatic,
    /// The sensitivity dy/dx is too large.
    #[error("the sensitivity dy/dx would have {outer} × {inner} entries, more than 100,000: take a single-loop method")]
    Sensitivity {
        /// The number of coordinates of x.
        outer: usize,
        /// The number of coordinates of y.
        inner: usize,
    },
    /// A table of gradients is too large.
    #[error(
        "a table of {batches} gradients of {width} scalars for every agent is more than a machine should keep: take larger batches, fewer agents, or another method"
    )]
    Table {
        /// The number of mini-batches of an agent.
        batches: usize,
        /// The number of scalars of a gradient.
        width: usize,
    },
    /// Private coordinates where there is no place for them.
    #[error("this method cannot move private coordinates, which the problem has: take `fab` or `dfab`")]
    Private,
    /// An acceleration where messages may be lost.
    #[error(
        "`gossip` other than \"plain\" needs every message: leave it out where messages may be lost, as with [faults] and on real nodes"
    )]
    LossyGossip,
    /// Chebyshev polynomials on a graph that changes.
    #[error("`gossip = \"chebyshev\"` needs a graph that does not change: take \"window\" or \"plain\"")]
    ChangingGraph,
    /// A method that goes wrong for good where a message is lost.
    #[error(
        "this method needs every message: {reason}; run it without [faults] and not on real nodes, or take `push-pull` or `dfab`, which bear losses"
    )]
    Lossy {
        /// What a lost message breaks.
        reason: &'static str,
    },
    /// Several gradient steps for each exchange with automatic step sizes.
    #[error("`exchange_every` needs given step sizes: automatic ones are those of one gradient step for each exchange")]
    AloneAutomatic,
    /// Several gradient steps for each exchange, and several exchanges for each gradient step.
    #[error("`exchange_every` and several mixings for each step exclude each other: leave out one of the two")]
    AloneMixings,
    /// Several gradient steps for each exchange in a method that is wrong without an exchange.
    #[error(
        "`exchange_every` is for methods over push-pull with one loop, for gossip and for K-GT: push-sum's points are mass, EXTRA and Exact Diffusion count on each exchange, and a double loop exchanges each level at its own time"
    )]
    AloneMethod,
    /// The momentum is outside [0, 1).
    #[error("the momentum {value} is not usable: it lies in 0 ≤ β < 1")]
    Momentum {
        /// The value that was given.
        value: f64,
    },
}
