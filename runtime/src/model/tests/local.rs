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
    settings.limits.output_tokens = Some(200);
    settings.limits.request_time = Duration::from_mins(4);
    settings.retry.time = Duration::from_mins(4);
    Some(settings)
}

/// Asks the real model, once more if its reply was a misfit, and prints what it said; says whether it was a call that fits.
async fn ask_real_model(client: &Arc<dyn ModelClient>, mut request: ModelRequest) -> bool {
    for _ in 0..2 {
        match client.ask(&request).await {
            Ok(reply) => {
                eprintln!("{} {:?} {}", reply.model, reply.usage, reply.arguments);
                assert!(reply.usage.input > 0 && reply.usage.output > 0);
                return check(request.function, &reply.arguments).is_ok();
            }
            Err(ModelError::Misfit {
                problem,
                said,
                usage,
            }) => {
                eprintln!("a misfit: {problem} {usage:?} {said}");
                request.messages.push(message(Speaker::User, &problem));
            }
            Err(error) => panic!("it can not be asked: {error}"),
        }
    }
    false
}

/// A small model may lose itself in an open object, and then it is cut; where all is fixed, its call fits.
#[tokio::test]
async fn a_real_model_answers_with_calls() {
    let Some(settings) = settings_of_real_model() else {
        eprintln!("ATELIER_TEST_LLM is not set: no real model is asked");
        return;
    };
    let client = client(&settings).expect("the settings are good");
    let mut summarize = request();
    summarize.function = Function::SummarizeSegment;
    summarize.messages[1].text =
        "Summarise: the person asked for six posters in blue. Two are done.".to_owned();
    assert!(ask_real_model(&client, summarize).await);

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
