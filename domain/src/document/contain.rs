//! Containment of panics inside yrs: they become errors, are counted and logged in our own words.
//!
//! Invariants
//! - After a contained panic the document object is thrown away and built anew from the log; nothing of it is trusted.
//! - The standard panic message is not printed for a contained panic.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    static IS_CONTAINED: Cell<bool> = const { Cell::new(false) };
}

/// A panic that was caught; the text is for the log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the document library failed: {0}")]
pub(crate) struct Contained(String);

/// Makes contained panics silent; others go on to the hook that was there before.
pub(crate) fn install_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let former = take_hook();
        set_hook(Box::new(move |info| {
            if !IS_CONTAINED.get() {
                former(info);
            }
        }));
    });
}

/// Runs `work`, turning a panic into an error.
pub(crate) fn contain<T>(work: impl FnOnce() -> T) -> Result<T, Contained> {
    let was_contained = IS_CONTAINED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    IS_CONTAINED.set(was_contained);
    result.map_err(|payload| Contained(text_of(payload.as_ref())))
}

fn text_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error_with_its_text() {
        install_hook();
        let result = contain(|| -> u32 { std::panic::panic_any("index out of range") });
        assert_eq!(result, Err(Contained("index out of range".to_owned())));
    }
}
