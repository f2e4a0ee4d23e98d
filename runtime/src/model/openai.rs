//! The provider `openai`: any server that speaks chat completions.
//!
//! Invariants
//! - The function is the only tool, and the model is told to call it.
//! - Messages are sent in their order: such providers cache by what requests have in common from their beginning.
//! - What a server leaves out, adds or renames beside the call itself is borne: many speak this with an accent.
//!
//! Not here: the way there (`endpoint`), what a message means (`reply`).

use async_trait::async_trait;
use serde_json::{Value, json};

use super::endpoint::Endpoint;
use super::reply::{Call, Ending, Message};
use super::settings::{ModelSettings, Models, SettingsError};
use super::{ModelClient, ModelError, ModelReply, ModelRequest, ModelUsage, Speaker};

const BASE_URL: &str = "https://api.openai.com/v1";

/// A server of chat completions.
#[derive(Debug)]
pub(super) struct OpenAi {
    endpoint: Endpoint,
    models: Models,
    output_tokens: Option<(&'static str, u32)>,
}

impl OpenAi {
    pub(super) fn try_new(settings: &ModelSettings) -> Result<Self, SettingsError> {
        let url = settings.address(BASE_URL, "chat/completions")?;
        // The vendor renamed the limit and refuses its old name; servers that speak like it know the old one.
        let is_vendor = url.host_str() == Some("api.openai.com");
        let name = if is_vendor {
            "max_completion_tokens"
        } else {
            "max_tokens"
        };
        Ok(Self {
            endpoint: Endpoint::try_new(settings, url)?.with_key("authorization", "Bearer ")?,
            models: settings.models()?,
            output_tokens: settings.limits.output_tokens.map(|limit| (name, limit)),
        })
    }

    fn body(&self, request: &ModelRequest) -> Value {
        let function = request.function;
        let messages = request.messages.iter().map(|message| {
            let role = match message.speaker {
                Speaker::System => "system",
                Speaker::User => "user",
                Speaker::Assistant => "assistant",
            };
            json!({"role": role, "content": message.text})
        });
        let mut body = json!({
            "model": self.models.of(request),
            "messages": messages.collect::<Vec<Value>>(),
            "tools": [{"type": "function", "function": {
                "name": function.name(),
                "description": function.description(),
                "parameters": function.parameters(),
            }}],
            "tool_choice": {"type": "function", "function": {"name": function.name()}},
        });
        if let Some((name, limit)) = self.output_tokens {
            body[name] = json!(limit);
        }
        body
    }
}

#[async_trait]
impl ModelClient for OpenAi {
    fn provider(&self) -> &'static str {
        "openai"
    }

    async fn ask(&self, request: &ModelRequest) -> Result<ModelReply, ModelError> {
        let answer = self.endpoint.post(request, &self.body(request)).await?;
        // Gateways tell of their upstream's failure with status 200.
        if answer["choices"].is_null() && !answer["error"].is_null() {
            let status = answer["error"]["code"]
                .as_u64()
                .filter(|code| (400..600).contains(code));
            let status = status.map_or(502, |code| code as u16);
            return Err(self.endpoint.failure(status, &answer));
        }
        message(&answer).read(request.function)
    }
}

fn message(answer: &Value) -> Message {
    let choice = &answer["choices"][0];
    let said = &choice["message"];
    let calls = said["tool_calls"].as_array().into_iter().flatten();
    let calls = calls.map(|call| Call {
        name: text(&call["function"]["name"]),
        arguments: call["function"]["arguments"].clone(),
    });
    let refusal = said["refusal"].as_str().filter(|words| !words.is_empty());
    let ending = match (choice["finish_reason"].as_str(), refusal) {
        (_, Some(words)) => Ending::Refused(words.to_owned()),
        (Some("content_filter"), None) => {
            Ending::Refused("its content filter stopped it".to_owned())
        }
        (Some("length"), None) => Ending::Cut,
        _ => Ending::Whole,
    };
    Message {
        calls: calls.collect(),
        text: text(&said["content"]),
        ending,
        model: text(&answer["model"]),
        usage: usage(&answer["usage"]),
    }
}

/// A text, or the texts of a list of parts.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect(),
        _ => String::new(),
    }
}

fn usage(counts: &Value) -> ModelUsage {
    let count = |value: &Value| value.as_u64().unwrap_or(0);
    let input = count(&counts["prompt_tokens"]);
    ModelUsage {
        input,
        cached: count(&counts["prompt_tokens_details"]["cached_tokens"]).min(input),
        output: count(&counts["completion_tokens"]),
    }
}
