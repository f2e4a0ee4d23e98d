//! The provider `anthropic`: the Messages API.
//!
//! Invariants
//! - The system messages at the beginning are the system prompt; later ones, which this API has no place for, are said as a user's.
//! - Neighbours of one speaker are one message of several blocks, a user speaks first, and no block is blank: the API refuses all else.
//! - The cache ends once behind the stable prefix and once behind the summaries.
//!
//! Not here: the way there (`endpoint`), what a message means (`reply`).

use async_trait::async_trait;
use serde_json::{Value, json};

use super::endpoint::Endpoint;
use super::reply::{Call, Ending, Message};
use super::settings::{ModelSettings, Models, SettingsError};
use super::{ModelClient, ModelError, ModelReply, ModelRequest, ModelUsage, Speaker};

const BASE_URL: &str = "https://api.anthropic.com";
const VERSION: &str = "2023-06-01";

/// The API wants to know a limit; this much every model of today can say.
const OUTPUT_TOKENS: u32 = 8_192;

/// Said by the user where a model has spoken first.
const OPENING: &str = "(The beginning of the conversation is left out.)";

/// The Messages API.
#[derive(Debug)]
pub(super) struct Anthropic {
    endpoint: Endpoint,
    models: Models,
    output_tokens: u32,
}

impl Anthropic {
    pub(super) fn try_new(settings: &ModelSettings) -> Result<Self, SettingsError> {
        let url = settings.address(BASE_URL, "v1/messages")?;
        Ok(Self {
            endpoint: Endpoint::try_new(settings, url)?
                .with_header("anthropic-version", VERSION)
                .with_key("x-api-key", "")?,
            models: settings.models()?,
            output_tokens: settings.limits.output_tokens.unwrap_or(OUTPUT_TOKENS),
        })
    }

    fn body(&self, request: &ModelRequest) -> Value {
        let function = request.function;
        let (system, messages) = conversation(request);
        json!({
            "model": self.models.of(request),
            "max_tokens": self.output_tokens,
            "system": system,
            "messages": messages,
            "tools": [{
                "name": function.name(),
                "description": function.description(),
                "input_schema": function.parameters(),
            }],
            "tool_choice": {"type": "tool", "name": function.name()},
        })
    }
}

#[async_trait]
impl ModelClient for Anthropic {
    fn provider(&self) -> &'static str {
        "anthropic"
    }

    async fn ask(&self, request: &ModelRequest) -> Result<ModelReply, ModelError> {
        let answer = self.endpoint.post(request, &self.body(request)).await?;
        message(&answer).read(request.function)
    }
}

/// The blocks of the system prompt, and the messages after them.
fn conversation(request: &ModelRequest) -> (Vec<Value>, Vec<Value>) {
    let messages = &request.messages;
    let leading = messages
        .iter()
        .take_while(|message| message.speaker == Speaker::System);
    // A request needs a message: the last one of nothing but rules becomes it.
    let leading = leading.count().min(messages.len().saturating_sub(1));
    let mut system = Vec::new();
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        if message.text.trim().is_empty() {
            continue;
        }
        let mut block = json!({"type": "text", "text": message.text});
        if index == 0 || index == request.summaries {
            block["cache_control"] = json!({"type": "ephemeral"});
        }
        if index < leading {
            system.push(block);
            continue;
        }
        let role = match message.speaker {
            Speaker::System | Speaker::User => "user",
            Speaker::Assistant => "assistant",
        };
        if turns.is_empty() && role == "assistant" {
            turns.push(("user", vec![json!({"type": "text", "text": OPENING})]));
        }
        match turns.last_mut() {
            Some((last, blocks)) if *last == role => blocks.push(block),
            _ => turns.push((role, vec![block])),
        }
    }
    let turns = turns.into_iter();
    let turns = turns.map(|(role, blocks)| json!({"role": role, "content": blocks}));
    (system, turns.collect())
}

fn message(answer: &Value) -> Message {
    let blocks = || answer["content"].as_array().into_iter().flatten();
    let of_kind = |kind: &'static str| blocks().filter(move |block| block["type"] == kind);
    let calls = of_kind("tool_use").map(|block| Call {
        name: block["name"].as_str().unwrap_or_default().to_owned(),
        arguments: block["input"].clone(),
    });
    let text: String = of_kind("text")
        .filter_map(|block| block["text"].as_str())
        .collect();
    let ending = match answer["stop_reason"].as_str() {
        Some("refusal") => Ending::Refused(text.clone()),
        Some("max_tokens" | "model_context_window_exceeded") => Ending::Cut,
        _ => Ending::Whole,
    };
    Message {
        calls: calls.collect(),
        text,
        ending,
        model: answer["model"].as_str().unwrap_or_default().to_owned(),
        usage: usage(&answer["usage"]),
    }
}

/// This API counts what it reads from the cache and writes to it beside the rest of the input.
fn usage(counts: &Value) -> ModelUsage {
    let count = |name: &str| counts[name].as_u64().unwrap_or(0);
    let cached = count("cache_read_input_tokens");
    let beside = cached.saturating_add(count("cache_creation_input_tokens"));
    ModelUsage {
        input: count("input_tokens").saturating_add(beside),
        cached,
        output: count("output_tokens"),
    }
}
