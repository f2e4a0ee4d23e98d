//! What a provider's message means: the call of the function that was asked for, or what is wrong instead.
//!
//! Invariants
//! - A reply that broke off is no call, unless its JSON came to its end.
//! - What is wrong is said in words for the model; what it said instead is kept in part, for the journal.
//! - Arguments hold no NUL, which `PostgreSQL` can not store, and no null in place of a member that may be left out.
//!
//! Not here: the form of one provider's messages (`openai`, `anthropic`), whether arguments fit their schema
//! ([`check`]); courtesy to models that write the call as text excepted.

use serde_json::Value;

use super::functions::check;
use super::schema;
use super::{Function, ModelError, ModelReply, ModelUsage};

/// How many characters of a misfit are kept.
const KEPT: usize = 4_000;

/// A provider's message in the form that is common to all.
#[derive(Debug, Default)]
pub(super) struct Message {
    /// The function calls, in order.
    pub(super) calls: Vec<Call>,
    /// What was said beside them.
    pub(super) text: String,
    /// Why the message ended.
    pub(super) ending: Ending,
    /// The model that wrote it.
    pub(super) model: String,
    /// What it cost.
    pub(super) usage: ModelUsage,
}

/// A function call as the provider passed it on.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) name: String,
    /// A text that holds JSON, or the arguments themselves.
    pub(super) arguments: Value,
}

/// Why a message ended.
#[derive(Debug, Default)]
pub(super) enum Ending {
    /// The model had finished.
    #[default]
    Whole,
    /// It met the limit of output tokens.
    Cut,
    /// The model, or a filter over it, would not answer; in its words.
    Refused(String),
}

impl Message {
    /// The reply that the message is.
    pub(super) fn read(self, function: Function) -> Result<ModelReply, ModelError> {
        if let Ending::Refused(words) = &self.ending {
            let words = cut(words, KEPT);
            return Err(ModelError::Refused(if words.is_empty() {
                "the model would not answer".to_owned()
            } else {
                format!("the model would not answer: {words}")
            }));
        }
        match self.arguments(function) {
            Ok(arguments) => Ok(ModelReply {
                arguments: tidy(function, arguments),
                model: self.model,
                usage: self.usage,
            }),
            Err((problem, said)) => Err(ModelError::Misfit {
                problem,
                said: cut(&said, KEPT),
                usage: self.usage,
            }),
        }
    }

    /// The arguments of the first call of this function, or what is wrong and what was said instead.
    fn arguments(&self, function: Function) -> Result<Value, (String, String)> {
        let name = function.name();
        let Some(call) = self.calls.iter().find(|call| call.name == name) else {
            return self.written_call(function);
        };
        let is_cut = matches!(self.ending, Ending::Cut);
        match &call.arguments {
            Value::String(text) => parse(text).map_err(|error| {
                let problem = if text.trim().is_empty() && !is_cut {
                    format!("the call of `{name}` has no arguments")
                } else if is_cut || error.is_eof() {
                    broke_off(name)
                } else {
                    format!("the arguments of `{name}` are no JSON: {error}")
                };
                (problem, text.clone())
            }),
            // Providers that parse for themselves close what broke off.
            arguments if is_cut => Err((broke_off(name), arguments.to_string())),
            arguments => Ok(arguments.clone()),
        }
    }

    /// A call that the model wrote as text, as models do that were not trained to call.
    fn written_call(&self, function: Function) -> Result<Value, (String, String)> {
        let name = function.name();
        if let Some(arguments) = written(&self.text)
            && check(function, &arguments).is_ok()
        {
            return Ok(arguments);
        }
        let problem = if matches!(self.ending, Ending::Cut) {
            broke_off(name)
        } else if let Some(other) = self.calls.first() {
            let other = cut(&other.name, 60);
            format!("you called `{other}`, which was not asked for; call `{name}` once")
        } else if self.text.trim().is_empty() {
            format!("the reply is empty; call `{name}` once")
        } else {
            format!(
                "you answered with prose; call `{name}` once and put what you have to say into its arguments"
            )
        };
        let other = self.calls.first().map(|call| call.arguments.to_string());
        Err((problem, other.unwrap_or_else(|| self.text.clone())))
    }
}

/// At most so many characters of a text, with a mark where it was longer.
pub(super) fn cut(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn broke_off(name: &str) -> String {
    format!(
        "the reply broke off before its end, as it does at the limit of output tokens; call `{name}` again with shorter texts and fewer things at once"
    )
}

/// Some models put their JSON into a text once more.
fn parse(text: &str) -> Result<Value, serde_json::Error> {
    let value: Value = serde_json::from_str(text)?;
    match &value {
        Value::String(inner) => Ok(serde_json::from_str(inner).unwrap_or(value)),
        _ => Ok(value),
    }
}

/// JSON that is all of a text, or all of its first fenced block; what a model thought aloud before it does not count.
fn written(text: &str) -> Option<Value> {
    let said = text.rsplit("</think>").next().unwrap_or(text).trim();
    if let Ok(value) = serde_json::from_str(said) {
        return Some(value);
    }
    let (_, block) = said.split_once("```")?;
    let (block, _) = block.split_once("```")?;
    let block = block.strip_prefix("json").unwrap_or(block);
    serde_json::from_str(block).ok()
}

/// Mends what means the same, and what the database can not hold.
fn tidy(function: Function, mut arguments: Value) -> Value {
    schema::tidy(function.parameters(), &mut arguments);
    replace_nul(&mut arguments);
    arguments
}

fn replace_nul(value: &mut Value) {
    match value {
        Value::String(text) if text.contains('\0') => *text = text.replace('\0', "\u{fffd}"),
        Value::Array(items) => items.iter_mut().for_each(replace_nul),
        Value::Object(members) => {
            if members.keys().any(|name| name.contains('\0')) {
                let old = std::mem::take(members);
                members.extend(
                    old.into_iter()
                        .map(|(name, value)| (name.replace('\0', "\u{fffd}"), value)),
                );
            }
            members.values_mut().for_each(replace_nul);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn called(arguments: Value) -> Message {
        let name = "answer".to_owned();
        Message {
            calls: vec![Call { name, arguments }],
            ..Message::default()
        }
    }

    fn arguments(message: Message) -> Value {
        message.read(Function::Answer).expect("a call").arguments
    }

    #[test]
    fn a_null_that_may_be_left_out_is_left_out_and_no_other() {
        let message = called(json!({"text": null, "data": null, "more": null}));
        assert_eq!(arguments(message), json!({"text": null, "more": null}));
        let message = called(json!({"text": "a", "data": {"b": null}}));
        assert_eq!(
            arguments(message),
            json!({"text": "a", "data": {"b": null}})
        );
    }

    #[test]
    fn nul_characters_do_not_get_through() {
        let message = called(json!(
            "{\"text\": \"a\\u0000b\", \"data\": {\"c\\u0000\": [\"\\u0000\"]}}"
        ));
        assert_eq!(
            arguments(message),
            json!({"text": "a\u{fffd}b", "data": {"c\u{fffd}": ["\u{fffd}"]}})
        );
    }

    #[test]
    fn json_within_json_is_read() {
        assert_eq!(
            arguments(called(json!("\"{\\\"text\\\": \\\"a\\\"}\""))),
            json!({"text": "a"})
        );
    }

    #[test]
    fn a_call_that_was_written_as_text_is_taken_if_it_fits() {
        for text in [
            "{\"text\": \"a\"}",
            "Here it is:\n```json\n{\"text\": \"a\"}\n```\nGood luck!",
            "<think>What about {}?</think>\n{\"text\": \"a\"}",
        ] {
            let message = Message {
                text: text.to_owned(),
                ..Message::default()
            };
            assert_eq!(arguments(message), json!({"text": "a"}), "{text}");
        }
    }

    #[test]
    fn long_prose_is_kept_in_part() {
        let message = Message {
            text: "ы".repeat(10_000),
            ..Message::default()
        };
        let Err(ModelError::Misfit { said, .. }) = message.read(Function::Answer) else {
            panic!("prose is a misfit");
        };
        assert_eq!(said.chars().count(), KEPT + 1);
    }
}
