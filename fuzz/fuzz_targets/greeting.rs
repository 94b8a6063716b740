//! What another node says before anything is known of it is read within its limits, or refused; and
//! what was read means the same when it is written again.
#![no_main]

use fabnet_net::Greeting;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(greeting) = Greeting::read(bytes) {
        assert!(greeting.digest.len() <= 64 && greeting.certificates.len() <= 100);
        assert_eq!(Greeting::read(greeting.to_string().as_bytes()), Ok(greeting));
    }
});
