//! `generate`: orders a picture, film, sound or body. The order is stored; a person is asked where a person must be.

use async_trait::async_trait;
use domain::error::{Error, Result};
use domain::ids::WorkId;
use domain::job::{Job, JobPlace, JobState, OrderJob, Ordered, order_id};
use domain::media::MediaKind;
use domain::store::StoreExt as _;
use domain::task::Task;
use domain::turn::Risk;
use domain::work::Work;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::shown;
use crate::context::cut;
use crate::tools::arguments::{object, read, text, texts, work, work_ids};
use crate::tools::identity::card_id;
use crate::tools::{Invocation, Ran, Tool, ToolSpec};

/// Characters of a prompt.
const PROMPT: usize = 10_000;
/// References of one order.
const REFERENCES: usize = 16;
/// Characters of all parameters as JSON.
const PARAMETERS: usize = 10_000;

pub(super) struct Generate(ToolSpec);

#[derive(Deserialize)]
struct Arguments {
    kind: String,
    prompt: String,
    #[serde(default)]
    references: Vec<String>,
    provider: Option<String>,
    #[serde(default)]
    parameters: Map<String, Value>,
    item_id: Option<String>,
    place: Option<Place>,
}

#[derive(Deserialize)]
struct Place {
    work_id: String,
    node_id: String,
    field: String,
}

impl Default for Generate {
    fn default() -> Self {
        let place = json!({
            "type": "object", "required": ["work_id", "node_id", "field"],
            "description": "Where the id of the result is written when it is done.",
            "properties": {"work_id": text("A structured work."), "node_id": text("A node of it."), "field": text("A field of the node.")},
        });
        let properties = json!({
            "kind": {"type": "string", "enum": ["image", "video", "audio", "model_3d"]},
            "prompt": {"type": "string", "maxLength": PROMPT, "description": "What it should be. It stands on its own."},
            "references": texts("Assets that it should resemble, the most important first."),
            "provider": text("Who makes it; the preferred one where none is named."),
            "parameters": {"type": "object", "description": "What else the provider takes; `model` chooses another of its models."},
            "item_id": text("The item of the checklist that it is for."),
            "place": place,
        });
        Self(ToolSpec {
            name: "generate",
            domain: "generation",
            risk: Risk::Paid,
            idempotent: true,
            description: "Orders a picture, film, sound or 3D body, and returns at once; the task wakes when it is done. Independent orders \
                          of one step are made in parallel. Where the cost needs a person's yes, a card asks for it.",
            parameters: object(&["kind", "prompt"], properties),
        })
    }
}

#[async_trait]
impl Tool for Generate {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn objection(&self, _task: &Task, arguments: &Value) -> Option<String> {
        let arguments: Arguments = read(arguments).ok()?;
        if arguments.prompt.trim().is_empty() {
            return Some("`prompt` is empty; say what it should be".to_owned());
        }
        if arguments.references.len() > REFERENCES {
            return Some(format!("`references` has more than {REFERENCES} works"));
        }
        let size = Value::Object(arguments.parameters).to_string().len();
        (size > PARAMETERS).then(|| format!("`parameters` are larger than {PARAMETERS} characters"))
    }

    async fn run(&self, invocation: &Invocation<'_>) -> Result<Ran> {
        let arguments: Arguments = read(&invocation.call.arguments)?;
        let kind = MediaKind::from_tool_name(&arguments.kind)
            .ok_or_else(|| Error::Invalid(format!("`{}` is no kind", arguments.kind)))?;
        let media = &invocation.services.media;
        let model = arguments.parameters.get("model").and_then(Value::as_str);
        let wanted = (arguments.provider.as_deref(), model);
        let (provider, offer) = match media.providers.choose(kind, wanted) {
            Ok(chosen) => chosen,
            Err(missing) => return Ok(Ran::failed(missing, None)),
        };
        let mut job = arguments.order(invocation, kind).await?;
        job.provider = provider.name().to_owned();
        // Prices are a model's: what was weighed is what is ordered.
        job.parameters["model"] = json!(offer.name);
        let command = OrderJob {
            fence: invocation.fence,
            step: invocation.step,
            job,
            price: offer.price,
            card: card_id(invocation.call.id),
        };
        let ordered = invocation.services.store.run(command).await?;
        Ok(match ordered {
            Ordered::Refused(why) => Ran::failed(why, None),
            Ordered::Stored(job) => {
                let mut result = shown(&job);
                if job.state == JobState::AwaitingApproval {
                    result["waiting_for"] = json!(card_id(invocation.call.id));
                }
                Ran::done(result)
            }
        })
    }
}

impl Arguments {
    /// The order, before anybody has approved it.
    async fn order(&self, invocation: &Invocation<'_>, kind: MediaKind) -> Result<Job> {
        let references = work_ids(invocation, &self.references).await?;
        self.check_references(invocation, &references).await?;
        let at = invocation.at;
        Ok(Job {
            id: order_id(invocation.call.id),
            workspace: invocation.task.workspace,
            task: invocation.task.id,
            call: invocation.call.id,
            provider: String::new(),
            kind,
            prompt: self.prompt.clone(),
            references,
            parameters: Value::Object(self.parameters.clone()),
            item: self.item_id.clone(),
            place: self.place(invocation).await?,
            state: JobState::AwaitingApproval,
            progress: 0,
            upstream: None,
            price: 0,
            reserved: 0,
            spent: 0,
            submitted_at: None,
            made: None,
            outputs: Vec::new(),
            error: None,
            attempts: 0,
            due_at: None,
            settled_at: None,
            is_cancel_asked: false,
            created_at: at,
            updated_at: at,
        })
    }

    async fn check_references(&self, invocation: &Invocation<'_>, ids: &[WorkId]) -> Result<()> {
        let reads = invocation.services.store.reads();
        let works = reads.list_works_by_id(ids).await?;
        let is_file = |work: &&Work| {
            let file = work.asset.as_ref();
            file.is_some_and(|file| !file.sha256.is_empty())
        };
        match works.iter().find(|work| !is_file(work)) {
            Some(work) => Err(Error::Invalid(format!(
                "work {} is no asset with a file; a reference is one",
                work.id
            ))),
            None => Ok(()),
        }
    }

    /// The place must be there now: an order that nobody could put anywhere is not paid for.
    async fn place(&self, invocation: &Invocation<'_>) -> Result<Option<JobPlace>> {
        let Some(place) = &self.place else {
            return Ok(None);
        };
        let work = work(invocation, &place.work_id).await?;
        if !work.kind.is_structured() {
            return Err(Error::Invalid(format!(
                "work {} has no nodes to place a result in",
                work.id
            )));
        }
        if place.field.is_empty() || ["type", "order"].contains(&place.field.as_str()) {
            return Err(Error::Invalid(format!(
                "`{}` is no field for a result; `image` is one",
                cut(&place.field, 60)
            )));
        }
        let contents = invocation
            .services
            .documents
            .contents(&[work.id], None)
            .await?;
        let has_node = contents
            .first()
            .is_some_and(|content| content.nodes.iter().any(|node| node.id == place.node_id));
        if !has_node {
            return Err(Error::NotFound(format!(
                "node {} of work {}",
                cut(&place.node_id, 60),
                work.id
            )));
        }
        Ok(Some(JobPlace {
            work: work.id,
            node: place.node_id.clone(),
            field: place.field.clone(),
        }))
    }
}
