//! The loop of a run.

use std::ops::ControlFlow;

use super::observe::{Observer, Stop};
use super::shard::Shard;
use super::shard_error::ShardError;
use crate::Scalar;
use crate::algorithm::Request;

/// Carries out rounds until an observer ends the run or the limit is reached. An epoch that the
/// algorithm asks for is started for everyone.
pub fn run<T: Scalar>(shard: &mut Shard<T>, rounds: u64, observer: &mut dyn Observer<T>) -> Result<Stop, ShardError> {
    loop {
        if let ControlFlow::Break(stop) = observer.round(&shard.view()) {
            return Ok(stop);
        }
        if shard.view().round >= rounds {
            return Ok(observer.last(&shard.view()));
        }
        if shard.round()? == Request::Restart {
            shard.restart();
        }
    }
}
