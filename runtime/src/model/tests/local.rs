//! A real model, where one is at hand: `ATELIER_TEST_LLM=1` for a server of chat completions on port 18500, or the base URL of another.

use super::*;

/// The real model's settings; none where the test was not asked for.
fn settings_of_real_model() -> Option<ModelSettings> {
    let asked = std::env::var("ATELIER_TEST_LLM").ok()?;
    let base_url = match asked.as_str() {
        "" | "0" => return None,
        "1" => "http://127.0.0.1:18500/v1",
        url => url,
    };
    let mut settings = ModelSettings::new(ModelProvider::OpenAi);
    settings.base_url = Some(
        base_url
            .parse()
            .expect("ATELIER_TEST_LLM is 1 or a base URL"),
    );
    settings.model = Some("local".to_owned());
    settings.limits.output_tokens = Some(1_000);
    settings.limits.request_time = Duration::from_mins(8);
    settings.retry.time = Duration::from_mins(9);
    Some(settings)
}

/// Asks the real model, prints what it said, and returns it.
async fn ask_real_model(client: &Arc<dyn ModelClient>, request: ModelRequest) -> ModelReply {
    let reply = client.ask(&request).await.expect("a reply");
    println!("{} {:?} {}", reply.model, reply.usage, reply.arguments);
    assert_eq!(check(request.function, &reply.arguments), Ok(()));
    assert!(reply.usage.input > 0 && reply.usage.output > 0);
    reply
}

#[tokio::test]
async fn a_real_model_answers_with_calls_that_fit() {
    let Some(settings) = settings_of_real_model() else {
        println!("ATELIER_TEST_LLM is not set: no real model is asked");
        return;
    };
    let client = client(&settings).expect("the settings are good");
    let reply = ask_real_model(&client, request()).await;
    assert!(!reply.arguments["text"].as_str().expect("a text").is_empty());

    let mut decide = request();
    decide.function = Function::Decide;
    decide.messages = vec![
        message(
            Speaker::System,
            "You plan a creative task step by step. The tools are `reply` with {\"text\": string}, and `create_work` with {\"kind\": \"text\", \"title\": string, \"text\": string}.",
        ),
        message(
            Speaker::User,
            "Goal: a poem of two lines about rain. Decide the first step. Be brief: one checklist item, one action.",
        ),
    ];
    ask_real_model(&client, decide).await;
}
