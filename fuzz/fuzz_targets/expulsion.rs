//! A list of expelled members is read or refused, and means the same when it is written again.
#![no_main]

use fabnet_net::ExpulsionList;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(list) = ExpulsionList::read(text) {
        assert_eq!(ExpulsionList::read(&list.to_string()), Ok(list));
    }
});
