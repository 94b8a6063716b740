//! Fewer frames where there are too many: bounds on what is kept of a stream.

use crate::{Item, WatchFrame};

/// Drops every second frame of the older three quarters of a stream, until no more than this many
/// bytes are left. Frames beside an event stay as long as others can go; events always stay.
pub(crate) fn thin(mut items: Vec<(Item, usize)>, limit: usize) -> Vec<(Item, usize)> {
    for keep_beside_events in [true, false] {
        loop {
            let (bytes, before) = (items.iter().map(|(_, bytes)| bytes).sum::<usize>(), items.len());
            if bytes <= limit {
                return items;
            }
            items = halve(items, keep_beside_events);
            if items.len() == before {
                break;
            }
        }
    }
    items
}

/// Drops every second frame of the older three quarters.
fn halve(items: Vec<(Item, usize)>, keep_beside_events: bool) -> Vec<(Item, usize)> {
    let is_event = |place: usize| items.get(place).is_some_and(|(item, _)| matches!(item, Item::Event(_)));
    let old = items.len() / 4 * 3;
    let mut goes = true;
    let dropped: Vec<bool> = (0..items.len())
        .map(|place| {
            let beside = is_event(place + 1) || place.checked_sub(1).is_some_and(is_event);
            let may_go = matches!(items[place].0, Item::Frame(_)) && place < old && !(keep_beside_events && beside);
            // The first one stays.
            goes ^= may_go;
            goes && may_go
        })
        .collect();
    let mut kept: Vec<(Item, usize)> = Vec::with_capacity(items.len());
    let mut changes = WatchFrame::default();
    for ((mut item, bytes), dropped) in items.into_iter().zip(dropped) {
        if let Item::Frame(frame) = &mut item {
            frame.take_over(std::mem::take(&mut changes));
            if dropped {
                changes = std::mem::take(frame);
                continue;
            }
        }
        kept.push((item, bytes));
    }
    kept
}

impl WatchFrame {
    /// Adds what an earlier frame said only because it had changed.
    fn take_over(&mut self, earlier: Self) {
        let mut edges = earlier.ne;
        edges.append(&mut self.ne);
        self.ne = edges;
        self.ep = self.ep.take().or(earlier.ep);
        self.li = self.li.take().or(earlier.li);
        self.h = self.h.take().or(earlier.h);
        self.rf = self.rf.take().or(earlier.rf);
        self.m = self.m.max(earlier.m);
        self.mx = self.mx.or(earlier.mx);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ByAgent, WatchEvent};

    /// A frame for each time, each of a hundred bytes, with new edges, and an event after `event`.
    fn stream(frames: u32, event: u32) -> Vec<(Item, usize)> {
        let frame = |time: u32| WatchFrame { t: f64::from(time), ne: vec![time, time], ..WatchFrame::default() };
        let mut items: Vec<(Item, usize)> = (0..frames).map(|time| (Item::Frame(frame(time)), 100)).collect();
        items.insert(event as usize + 1, (Item::Event(WatchEvent::new(f64::from(event) + 0.5, 0, "kill")), 10));
        items
    }

    fn times(items: &[(Item, usize)]) -> Vec<f64> {
        items.iter().filter(|(item, _)| matches!(item, Item::Frame(_))).filter_map(|(item, _)| item.time()).collect()
    }

    #[test]
    fn a_stream_within_its_bounds_is_left_alone() {
        assert_eq!(thin(stream(10, 3), 1010), stream(10, 3));
    }

    #[test]
    fn new_frames_and_those_beside_events_stay() {
        let left = thin(stream(100, 20), 6000);
        assert!(left.iter().map(|(_, bytes)| bytes).sum::<usize>() <= 6000);
        let times = times(&left);
        assert!((90..100).all(|time| times.contains(&f64::from(time))), "{times:?}");
        assert!(times.contains(&20.0) && times.contains(&21.0), "{times:?}");
        assert!(left.iter().any(|(item, _)| matches!(item, Item::Event(_))));
    }

    #[test]
    fn what_was_said_once_is_said_by_a_frame_that_stays() {
        let mut items = stream(64, 0);
        if let Item::Frame(frame) = &mut items[10].0 {
            frame.ep = Some(ByAgent::All(7));
        }
        let left = thin(items, 800);
        let edges: Vec<u32> = left
            .iter()
            .filter_map(|(item, _)| if let Item::Frame(frame) = item { Some(frame.ne.clone()) } else { None })
            .flatten()
            .collect();
        assert_eq!(edges, (0..64).flat_map(|time| [time, time]).collect::<Vec<_>>());
        let epochs = left.iter().filter(|(item, _)| matches!(item, Item::Frame(WatchFrame { ep: Some(_), .. })));
        assert_eq!(epochs.count(), 1);
    }
}
