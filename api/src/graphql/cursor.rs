//! Cursors: where a page or a subscription goes on, sealed so that clients can only hand back what they were given.
//!
//! Invariants
//! - A cursor names its list: kind, owner (workspace, person or work) and filter. Under another list it is refused, as is
//!   one that was made up or changed: `CursorInvalid`.
//! - The key comes from a secret of the installation, so a cursor holds over restarts and in every process.
//!
//! Layout before base64url: form (1 byte), kind (1), owner (16), filter (8), position, tag (16).

use aws_lc_rs::{constant_time, digest, hmac};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::document::Version;
use domain::event::Sequence;
use domain::page::{PageRequest, Window};
use domain::people::CreatedPosition;
use domain::time::Timestamp;
use domain::{Error, Result};
use uuid::Uuid;

use super::connection::Asked;
use super::scalars::Cursor;

/// The first byte of every cursor; another layout gets another number.
const FORM: u8 = 1;
const FILTER: usize = 8;
const HEAD: usize = 2 + 16 + FILTER;
const TAG: usize = 16;

/// What a cursor can be a position in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The event log of a workspace.
    Events = 1,
    /// The works of a workspace.
    Works = 2,
    /// The workspaces of a person.
    Workspaces = 3,
    /// The history of a work.
    Revisions = 4,
    /// The tasks of a workspace.
    Tasks = 5,
    /// A person's main thread in a workspace.
    MainThread = 6,
    /// The thread of a task.
    Thread = 7,
    /// The journal of a task.
    Journal = 8,
    /// The turns of a task.
    Turns = 9,
    /// What a search of a workspace has found.
    Search = 10,
    /// The ledger of a workspace.
    Ledger = 11,
    /// The memories of a workspace that a person may see.
    Memories = 12,
    /// What was not taken into memory of a person's messages.
    Rejections = 13,
}

/// One list, as its cursors name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct List {
    kind: Kind,
    owner: Uuid,
    filter: [u8; FILTER],
}

impl List {
    /// The whole list of this owner.
    pub(crate) fn of(kind: Kind, owner: Uuid) -> Self {
        Self {
            kind,
            owner,
            filter: [0; FILTER],
        }
    }

    /// The same list with only what this filter lets through; an empty text filters nothing.
    pub(crate) fn filtered(self, filter: &str) -> Self {
        let mut short = [0; FILTER];
        if !filter.is_empty() {
            let hash = digest::digest(&digest::SHA256, filter.as_bytes());
            short.copy_from_slice(&hash.as_ref()[..FILTER]);
        }
        Self {
            filter: short,
            ..self
        }
    }

    fn head(&self) -> Vec<u8> {
        let mut bytes = vec![FORM, self.kind as u8];
        bytes.extend(self.owner.as_bytes());
        bytes.extend(self.filter);
        bytes
    }
}

/// A place in a list as bytes.
pub(crate) trait Position: Sized {
    /// The bytes of this place.
    fn write(&self) -> Vec<u8>;
    /// The place that these bytes are.
    fn read(bytes: &[u8]) -> Option<Self>;
}

/// Places that are a plain number.
macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Position for $number {
            fn write(&self) -> Vec<u8> {
                self.to_be_bytes().to_vec()
            }

            fn read(bytes: &[u8]) -> Option<Self> {
                Some(Self::from_be_bytes(bytes.try_into().ok()?))
            }
        }
    )*};
}

numbers!(u32, u64);

impl Position for Sequence {
    fn write(&self) -> Vec<u8> {
        self.0.write()
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        u64::read(bytes).map(Self)
    }
}

impl Position for Version {
    fn write(&self) -> Vec<u8> {
        self.0.write()
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        u64::read(bytes).map(Self)
    }
}

impl Position for CreatedPosition {
    fn write(&self) -> Vec<u8> {
        let mut bytes = self.at.micros().to_be_bytes().to_vec();
        bytes.extend(self.id.as_bytes());
        bytes
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (at, id) = bytes.split_at_checked(8)?;
        Some(Self {
            at: Timestamp::from_micros(i64::from_be_bytes(at.try_into().ok()?)),
            id: Uuid::from_slice(id).ok()?,
        })
    }
}

/// Seals and opens cursors.
#[derive(Clone)]
pub struct CursorKey(hmac::Key);

impl CursorKey {
    /// The key of an installation, made from its secret.
    pub fn new(installation_secret: &[u8]) -> Self {
        let base = hmac::Key::new(hmac::HMAC_SHA256, installation_secret);
        let derived = hmac::sign(&base, b"atelier cursors 1");
        Self(hmac::Key::new(hmac::HMAC_SHA256, derived.as_ref()))
    }

    /// The cursor of a place in a list.
    pub(crate) fn seal(&self, list: &List, position: &impl Position) -> Cursor {
        let mut bytes = list.head();
        bytes.extend(position.write());
        let tag = hmac::sign(&self.0, &bytes);
        bytes.extend(&tag.as_ref()[..TAG]);
        Cursor(URL_SAFE_NO_PAD.encode(bytes))
    }

    /// The place that a cursor of this list stands for.
    pub(crate) fn open<P: Position>(&self, list: &List, cursor: &Cursor) -> Result<P> {
        let refused = || {
            Error::CursorInvalid(
                "this cursor does not belong to this list; use one that the same field gave, with the same filters"
                    .to_owned(),
            )
        };
        let bytes = URL_SAFE_NO_PAD.decode(&cursor.0).map_err(|_| refused())?;
        let (body, tag) = bytes
            .len()
            .checked_sub(TAG)
            .and_then(|end| bytes.split_at_checked(end))
            .ok_or_else(refused)?;
        let expected = hmac::sign(&self.0, body);
        constant_time::verify_slices_are_equal(&expected.as_ref()[..TAG], tag)
            .map_err(|_| refused())?;
        let (head, position) = body.split_at_checked(HEAD).ok_or_else(refused)?;
        if head != list.head() {
            return Err(refused());
        }
        P::read(position).ok_or_else(refused)
    }

    /// The wanted page of a list, from a connection field's arguments.
    pub(crate) fn page<P: Position>(
        &self,
        list: &List,
        first: Option<i32>,
        after: Option<&Cursor>,
    ) -> Result<PageRequest<P>> {
        let after = after.map(|cursor| self.open(list, cursor)).transpose()?;
        PageRequest::try_new(first.map(i64::from), after)
    }

    /// The wanted part of a list that can be read from both ends.
    pub(crate) fn window<P: Position>(&self, list: &List, asked: &Asked) -> Result<Window<P>> {
        let open = |cursor: &Option<Cursor>| {
            let cursor = cursor.as_ref();
            cursor.map(|cursor| self.open(list, cursor)).transpose()
        };
        Window::try_new(
            asked.first.map(i64::from),
            asked.last.map(i64::from),
            open(&asked.after)?,
            open(&asked.before)?,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> CursorKey {
        CursorKey::new(b"a secret of thirty-two bytes ....")
    }

    fn works(owner: Uuid) -> List {
        List::of(Kind::Works, owner)
    }

    fn place() -> CreatedPosition {
        CreatedPosition {
            at: Timestamp::from_micros(1_796_000_000_123_456),
            id: Uuid::now_v7(),
        }
    }

    #[test]
    fn a_cursor_opens_to_its_place_with_a_key_made_anew() {
        let (list, place) = (works(Uuid::now_v7()).filtered("TEXT"), place());
        let cursor = key().seal(&list, &place);
        assert_eq!(
            key()
                .open::<CreatedPosition>(&list, &cursor)
                .expect("opens"),
            place
        );
    }

    #[test]
    fn a_cursor_of_another_list_is_refused() {
        let owner = Uuid::now_v7();
        let cursor = key().seal(&works(owner).filtered("TEXT"), &place());
        let others = [
            works(owner),
            works(owner).filtered("FLOW"),
            works(Uuid::now_v7()).filtered("TEXT"),
            List::of(Kind::Workspaces, owner).filtered("TEXT"),
        ];
        for list in others {
            let error = key()
                .open::<CreatedPosition>(&list, &cursor)
                .expect_err("another list");
            assert!(matches!(error, Error::CursorInvalid(_)), "{list:?}");
        }
    }

    #[test]
    fn a_cursor_that_was_made_up_or_changed_is_refused() {
        let list = List::of(Kind::Events, Uuid::now_v7());
        let sealed = key().seal(&list, &Sequence(41));
        let foreign = CursorKey::new(b"another").seal(&list, &Sequence(41));
        let mut changed = URL_SAFE_NO_PAD.decode(&sealed.0).expect("base64");
        changed[HEAD + 7] = 42;
        let wrong = [
            String::new(),
            "NDI".to_owned(),
            "%%%".to_owned(),
            URL_SAFE_NO_PAD.encode(changed),
            foreign.0,
            format!("{}=", sealed.0),
        ];
        for text in wrong {
            let result = key().open::<Sequence>(&list, &Cursor(text.clone()));
            assert!(matches!(result, Err(Error::CursorInvalid(_))), "{text}");
        }
    }

    #[test]
    fn a_page_is_as_long_as_was_asked_for_and_never_longer_than_the_limit() {
        let list = List::of(Kind::Events, Uuid::now_v7());
        let page = |first| key().page::<Sequence>(&list, first, None);
        assert_eq!(page(None).expect("the default").first, 20);
        assert_eq!(page(Some(100)).expect("the limit").first, 100);
        for wrong in [0, -1, 101] {
            assert!(
                matches!(page(Some(wrong)), Err(Error::Invalid(_))),
                "{wrong}"
            );
        }
    }
}
