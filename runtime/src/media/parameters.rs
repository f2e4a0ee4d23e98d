//! What a call's parameters may say to an upstream.
//!
//! Invariants
//! - A price is that of one: how many are made is never a model's to say, because it is never asked about.

use domain::job::Job;
use serde_json::{Map, Value};

/// Names under which upstreams take how many they make.
const COUNTS: [&str; 6] = [
    "n",
    "num_images",
    "num_outputs",
    "number_of_images",
    "number_of_outputs",
    "batch_size",
];

/// The parameters of an order, without the model, which is the provider's to name, and without how many.
pub(super) fn of_one(job: &Job) -> Map<String, Value> {
    let given = job.parameters.as_object().into_iter().flatten();
    given
        .filter(|(name, _)| *name != "model" && !COUNTS.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use domain::time::Timestamp;
    use serde_json::json;

    use super::*;
    use crate::media::tests::job;

    #[test]
    fn an_order_is_for_one_whatever_its_parameters_say() {
        let mut order = job(Timestamp::from_micros(0));
        order.parameters = json!({"model": "m", "n": 10, "num_outputs": 4, "size": "1024x1024"});
        assert_eq!(Value::Object(of_one(&order)), json!({"size": "1024x1024"}));
    }
}
