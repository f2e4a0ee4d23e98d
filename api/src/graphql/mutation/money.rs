//! Amounts of money that clients name.

use async_graphql::{InputObject, MaybeUndefined};
use domain::{Error, Result};

use crate::graphql::model::money::CURRENCY;
use crate::graphql::scalars::Int64;

/// An amount.
#[derive(InputObject)]
pub(super) struct MoneyInput {
    /// Millionths of the currency unit, 0 or more.
    micros: Int64,
    /// Code of ISO 4217: USD, which is meant where none is given.
    currency: Option<String>,
}

impl MoneyInput {
    /// The amount in micros of the only currency.
    pub(super) fn micros(&self) -> Result<u64> {
        if self
            .currency
            .as_deref()
            .is_some_and(|code| code != CURRENCY)
        {
            return Err(Error::Invalid(format!(
                "amounts are in {CURRENCY} here, and this one is in another currency"
            )));
        }
        u64::try_from(self.micros.0)
            .map_err(|_| Error::Invalid("an amount is 0 or more".to_owned()))
    }
}

/// A limit that null takes away.
#[expect(
    clippy::option_option,
    reason = "absent, null and given are three wishes"
)]
pub(super) fn limit(given: MaybeUndefined<MoneyInput>) -> Result<Option<Option<u64>>> {
    Ok(match given {
        MaybeUndefined::Undefined => None,
        MaybeUndefined::Null => Some(None),
        MaybeUndefined::Value(money) => Some(Some(money.micros()?)),
    })
}
