//! The same replies in the words of both providers.

use serde_json::{Value, json};

use super::super::ModelProvider;

/// Whose words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Vendor {
    OpenAi,
    Anthropic,
}

/// Why a reply ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ends {
    Well,
    AtTheLimit,
    Refusing,
}

impl Vendor {
    pub(super) const BOTH: [Self; 2] = [Self::OpenAi, Self::Anthropic];

    pub(super) fn provider(self) -> ModelProvider {
        match self {
            Self::OpenAi => ModelProvider::OpenAi,
            Self::Anthropic => ModelProvider::Anthropic,
        }
    }

    /// A reply of function calls and perhaps a text.
    pub(super) fn reply(self, calls: &[(&str, Value)], text: &str, ends: Ends) -> Value {
        match self {
            Self::OpenAi => openai(calls, text, ends),
            Self::Anthropic => anthropic(calls, text, ends),
        }
    }

    /// A reply that is one call.
    pub(super) fn call(self, name: &str, arguments: Value) -> Value {
        self.reply(&[(name, arguments)], "", Ends::Well)
    }

    /// A reply that is only text.
    pub(super) fn prose(self, text: &str) -> Value {
        self.reply(&[], text, Ends::Well)
    }

    /// What the vendor says when it fails.
    pub(super) fn error(self, message: &str) -> String {
        let error = json!({"type": "some_error", "message": message});
        match self {
            Self::OpenAi => json!({"error": error}),
            Self::Anthropic => json!({"type": "error", "error": error}),
        }
        .to_string()
    }
}

fn openai(calls: &[(&str, Value)], text: &str, ends: Ends) -> Value {
    let calls = calls.iter().enumerate().map(|(index, (name, arguments))| {
        let arguments = match arguments {
            Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        json!({"id": format!("call_{index}"), "type": "function", "function": {"name": name, "arguments": arguments}})
    });
    let calls: Vec<Value> = calls.collect();
    let mut message = json!({"role": "assistant", "content": null});
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    let finish_reason = match ends {
        Ends::AtTheLimit => "length",
        _ if calls.is_empty() => "stop",
        _ => "tool_calls",
    };
    if ends == Ends::Refusing {
        message["refusal"] = json!(text);
    } else if !text.is_empty() {
        message["content"] = json!(text);
    }
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "model": "large-2026",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        "usage": {"prompt_tokens": 120, "completion_tokens": 7, "total_tokens": 127, "prompt_tokens_details": {"cached_tokens": 100}},
    })
}

fn anthropic(calls: &[(&str, Value)], text: &str, ends: Ends) -> Value {
    let mut content = Vec::new();
    if !text.is_empty() {
        content.push(json!({"type": "text", "text": text}));
    }
    for (index, (name, arguments)) in calls.iter().enumerate() {
        content.push(json!({"type": "tool_use", "id": format!("toolu_{index}"), "name": name, "input": arguments}));
    }
    let stop_reason = match ends {
        Ends::AtTheLimit => "max_tokens",
        Ends::Refusing => "refusal",
        Ends::Well if calls.is_empty() => "end_turn",
        Ends::Well => "tool_use",
    };
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "large-2026",
        "content": content, "stop_reason": stop_reason,
        "usage": {"input_tokens": 5, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 15, "output_tokens": 7},
    })
}
