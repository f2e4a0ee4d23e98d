//! How many connections a person and a document may have at once.
//!
//! Invariants
//! - A place is given back when it is dropped, whatever ended the connection.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::ids::{UserId, WorkId};

use super::close::Close;

/// The limits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlaceLimits {
    /// Connections to documents at once of one person.
    pub(crate) per_person: usize,
    /// Connections at once to one document.
    pub(crate) per_document: usize,
}

/// All places of this process.
#[derive(Debug)]
pub(crate) struct Places {
    limits: PlaceLimits,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    people: HashMap<UserId, usize>,
    documents: HashMap<WorkId, usize>,
}

/// One connection's place.
#[derive(Debug)]
pub(crate) struct Place {
    places: Arc<Places>,
    user: UserId,
    work: WorkId,
}

impl Places {
    /// No place is taken yet.
    pub(crate) fn new(limits: PlaceLimits) -> Arc<Self> {
        Arc::new(Self {
            limits,
            taken: Mutex::default(),
        })
    }

    /// Takes a place for a person at a document.
    pub(crate) fn take(self: &Arc<Self>, user: UserId, work: WorkId) -> Result<Place, Close> {
        let mut taken = self.taken();
        let of_person = taken.people.get(&user).copied().unwrap_or_default();
        if of_person >= self.limits.per_person {
            return Err(full("you have", self.limits.per_person));
        }
        let of_document = taken.documents.get(&work).copied().unwrap_or_default();
        if of_document >= self.limits.per_document {
            return Err(full("the work has", self.limits.per_document));
        }
        taken.people.insert(user, of_person + 1);
        taken.documents.insert(work, of_document + 1);
        drop(taken);
        Ok(Place {
            places: self.clone(),
            user,
            work,
        })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.taken();
        give_back(&mut taken.people, &self.user);
        give_back(&mut taken.documents, &self.work);
    }
}

fn give_back<K: Eq + Hash>(counts: &mut HashMap<K, usize>, key: &K) {
    if let Some(count) = counts.get_mut(key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(key);
        }
    }
}

fn full(whose: &str, limit: usize) -> Close {
    let reason = format!("{whose} all of the {limit} connections that are allowed");
    Close::new(Close::LATER, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_was_given_back_can_be_taken_again() {
        let places = Places::new(PlaceLimits {
            per_person: 1,
            per_document: 10,
        });
        let (user, work) = (UserId::new(), WorkId::new());
        let place = places.take(user, work).expect("the first");
        assert_eq!(
            places.take(user, work).expect_err("the second").code,
            Close::LATER
        );
        places.take(UserId::new(), work).expect("of somebody else");
        drop(place);
        places.take(user, work).expect("again");
    }

    #[test]
    fn a_full_document_refuses_whoever_comes() {
        let places = Places::new(PlaceLimits {
            per_person: 10,
            per_document: 1,
        });
        let work = WorkId::new();
        let _place = places.take(UserId::new(), work).expect("the first");
        let close = places.take(UserId::new(), work).expect_err("somebody else");
        assert!(close.reason.contains("the work"), "{}", close.reason);
    }
}
