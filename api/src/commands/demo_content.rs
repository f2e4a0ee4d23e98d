//! The small workspace of the demo: one film in the making, as a storyboard, a flow, a text, a collection and a picture.
//!
//! Invariants
//! - It is made through the services that everybody uses, as changes of the demo's owner.
//! - It is made once: a workspace that has works is left alone.

use std::io::Cursor;

use anyhow::{Context as _, Result};
use api::assets::receive;
use bytes::Bytes;
use domain::actor::Actor;
use domain::document::{Content, Edge, Editor, Node, Version};
use domain::ids::{UploadId, WorkId, WorkspaceId};
use domain::page::PageRequest;
use domain::people::Caller;
use domain::store::StoreExt as _;
use domain::work::{
    AssetFile, CreateUpload, CreateWork, FinishedUpload, PendingChange, Upload, Work, WorkKind,
};
use futures_util::stream;
use image::{ImageFormat, Rgb, RgbImage};
use serde_json::{Map, Value, json};

use super::services::Services;

/// Fills the owner's workspace, where it is empty.
pub(crate) async fn fill(services: &Services, caller: &Caller) -> Result<()> {
    let reads = services.installation.store.reads();
    let page = PageRequest::try_new(Some(1), None)?;
    let workspaces = reads.list_workspaces_of(caller.user, page).await?;
    let workspace = workspaces
        .rows
        .first()
        .context("the owner has no workspace")?;
    if reads.count_works(workspace.id, &[]).await? > 0 {
        return Ok(());
    }
    let maker = Maker {
        services,
        caller,
        workspace: workspace.id,
    };
    maker.picture("Key art: the lamp room", "key-art").await?;
    maker
        .work(WorkKind::Collection, "Mood and references", collection())
        .await?;
    maker
        .work(WorkKind::Flow, "From script to poster", flow())
        .await?;
    maker
        .work(WorkKind::Text, "The keeper: treatment", text())
        .await?;
    maker
        .work(WorkKind::Storyboard, "The keeper: storyboard", storyboard())
        .await
}

struct Maker<'a> {
    services: &'a Services,
    caller: &'a Caller,
    workspace: WorkspaceId,
}

impl Maker<'_> {
    async fn work(&self, kind: WorkKind, title: &str, content: Content) -> Result<()> {
        let (update, touched) = self.services.documents.seed(&content, kind)?;
        let work = self.new_work(kind, title, None);
        let change = PendingChange {
            actor: self.caller.actor(),
            at: work.created_at,
            update,
            touched,
        };
        let command = CreateWork {
            user: self.caller.user,
            fence: None,
            work,
            content: Some(change),
            idempotency: None,
        };
        self.services.installation.store.run(command).await?;
        Ok(())
    }

    fn new_work(&self, kind: WorkKind, title: &str, asset: Option<AssetFile>) -> Work {
        let now = self.services.installation.clock.now();
        Work {
            id: WorkId::new(),
            workspace: self.workspace,
            kind,
            title: title.to_owned(),
            version: Version(0),
            created_at: now,
            updated_at: now,
            updated_by: self.caller.actor(),
            deleted_at: None,
            asset,
        }
    }

    /// Uploads a picture as a browser would, bar the network.
    async fn picture(&self, title: &str, name: &str) -> Result<()> {
        let bytes = Bytes::from(lighthouse()?);
        let promised = AssetFile {
            sha256: String::new(),
            media_type: "image/png".to_owned(),
            byte_size: bytes.len() as u64,
        };
        let work = self.new_work(WorkKind::Asset, title, Some(promised.clone()));
        let upload = Upload {
            id: UploadId::new(),
            workspace: self.workspace,
            work: work.id,
            user: self.caller.user,
            media_type: promised.media_type,
            byte_size: promised.byte_size,
            created_at: work.created_at,
            finished_at: None,
        };
        let command = CreateUpload {
            caller: *self.caller,
            upload: upload.clone(),
            new_work: Some(work),
        };
        let installation = &self.services.installation;
        installation.store.run(command).await?;
        let body = stream::iter([Ok::<_, std::convert::Infallible>(bytes)]);
        let received = receive(&*installation.blobs, &upload, body)
            .await
            .with_context(|| format!("the picture {name} can not be stored"))?;
        let finished = FinishedUpload {
            upload: upload.id,
            file: received.file,
            at: installation.clock.now(),
        };
        let editor = Editor {
            actor: Actor::Person(self.caller.user),
            idempotency: None,
            fence: None,
        };
        self.services
            .documents
            .finish_upload(upload.work, editor, finished)
            .await?;
        Ok(())
    }
}

fn node(id: &str, kind: &str, fields: Value) -> Node {
    let fields = match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    Node {
        id: id.to_owned(),
        kind: kind.to_owned(),
        order: None,
        fields,
    }
}

fn storyboard() -> Content {
    let shots = [
        (
            "Last light",
            "Wide. A lighthouse on black rocks; the sea is calm, the sky burns out. One window is lit.",
            "wide shot of a lighthouse on basalt rocks at dusk, calm sea, a single lit window, muted teal and amber",
            6,
        ),
        (
            "The stairs",
            "From below. The keeper climbs the spiral stairs with a lantern; the shadow turns faster than she does.",
            "low angle spiral staircase inside a lighthouse, old woman with a lantern, long rotating shadow",
            5,
        ),
        (
            "The lamp room",
            "Close. Hands wipe the lens, slowly, the way one wipes a face.",
            "close-up of weathered hands polishing a fresnel lens, warm lamp light, dust in the air",
            4,
        ),
        (
            "An answer",
            "Over her shoulder. Far out at sea a light answers: two short, one long.",
            "over the shoulder, dark horizon, a distant light blinking at sea, reflections on glass",
            7,
        ),
        (
            "The book",
            "Insert. She writes the hour into the log. The page before is dated forty years ago.",
            "insert of a logbook under lamp light, fresh ink, an old date on the facing page",
            4,
        ),
        (
            "First light",
            "Wide, as in the first shot. The window is dark now. The boat lies at the rocks.",
            "wide shot of a lighthouse at dawn, a small wooden boat at the rocks, pale blue and rose",
            8,
        ),
    ];
    let nodes = (1..)
        .zip(shots)
        .map(|(number, (title, description, prompt, seconds))| {
            let fields = json!({
                "title": title,
                "description": description,
                "prompt": prompt,
                "duration": seconds,
            });
            node(&format!("shot-{number}"), "shot", fields)
        });
    Content {
        nodes: nodes.collect(),
        ..Content::default()
    }
}

fn flow() -> Content {
    let steps = [
        (
            "treatment",
            "text",
            "Treatment",
            "The story in one page",
            0,
            0,
        ),
        (
            "moods",
            "collection",
            "Moods",
            "Colour, light, texture",
            0,
            180,
        ),
        (
            "prompt",
            "prompt",
            "Poster prompt",
            "Joins story and mood into one picture",
            320,
            90,
        ),
        (
            "poster",
            "image",
            "Poster",
            "Portrait, room for the title above",
            640,
            90,
        ),
    ];
    let nodes = steps.map(|(id, kind, title, description, x, y)| {
        let fields = json!({
            "title": title,
            "description": description,
            "position": {"x": x, "y": y},
            "data": {"label": title},
        });
        node(id, kind, fields)
    });
    let edges = [
        ("story", "treatment", "prompt"),
        ("mood", "moods", "prompt"),
        ("picture", "prompt", "poster"),
    ];
    let edges = edges.map(|(id, source, target)| Edge {
        id: id.to_owned(),
        source: source.to_owned(),
        target: target.to_owned(),
        source_port: None,
        target_port: None,
    });
    Content {
        nodes: nodes.into(),
        edges: edges.into(),
        ..Content::default()
    }
}

fn collection() -> Content {
    let items = [
        (
            "salt",
            "Salt and rust",
            "Everything that the sea has touched for forty years: hinges, railings, hands.",
        ),
        (
            "lamp",
            "Lamp light",
            "Warm, narrow, always turning. It never rests on a face for longer than a breath.",
        ),
        (
            "dusk",
            "Dusk palette",
            "Teal shadows, amber windows, a sky that goes from copper to ash.",
        ),
        (
            "silence",
            "Silence",
            "No music before shot four. Wind, steps, the gear of the lamp.",
        ),
    ];
    let nodes = items
        .map(|(id, title, notes)| node(id, "reference", json!({"title": title, "notes": notes})));
    Content {
        nodes: nodes.into(),
        ..Content::default()
    }
}

fn text() -> Content {
    let text = "# The keeper\n\n\
        A lighthouse that no ship needs any more. The keeper lights it all the same, every evening, and writes the hour \
        into a book.\n\n\
        ## What happens\n\n\
        One evening a light out at sea answers. Two short, one long: the signal that she agreed on, forty years ago, \
        with somebody who went out and did not come back. She does not call anybody. She wipes the lens, and waits.\n\n\
        ## Tone\n\n\
        Quiet, precise, never sentimental. The camera keeps its distance until shot three, and goes back to it in the last \
        one.\n\n\
        ## Open\n\n\
        - Do we see who is in the boat?\n\
        - How old is the date in the book, exactly?\n";
    Content {
        text: text.to_owned(),
        ..Content::default()
    }
}

const WIDTH: u32 = 1_280;
const HEIGHT: u32 = 720;

/// A lighthouse at dusk, drawn point by point.
fn lighthouse() -> Result<Vec<u8>> {
    let picture = RgbImage::from_fn(WIDTH, HEIGHT, |x, y| Rgb(colour(x as f32, y as f32)));
    let mut png = Cursor::new(Vec::new());
    picture.write_to(&mut png, ImageFormat::Png)?;
    Ok(png.into_inner())
}

fn colour(x: f32, y: f32) -> [u8; 3] {
    const HORIZON: f32 = 500.0;
    const LAMP: (f32, f32) = (860.0, 190.0);
    let (across, down) = (x - LAMP.0, y - LAMP.1);
    let tower = 34.0 + (y - LAMP.1) * 0.07;
    let is_lamp = across.hypot(down) < 16.0;
    let is_tower = across.abs() < tower && (212.0..560.0).contains(&y);
    let is_roof = across.abs() < (y - 140.0) * 1.1 && (140.0..172.0).contains(&y);
    let is_rock = y > 545.0 + (across / 90.0).powi(2) * 9.0 + (x / 17.0).sin() * 7.0;
    if is_lamp {
        return [255, 236, 178];
    }
    if is_roof || is_rock {
        return [14, 20, 28];
    }
    if is_tower {
        let is_band = ((y - 212.0) / 70.0) as u32 % 2 == 1;
        let side = 1.0 - (across / tower + 1.0) * 0.28;
        return if is_band {
            shade([140, 62, 52], side)
        } else {
            shade([206, 196, 180], side)
        };
    }
    let beam = (1.0 - (down + across * 0.16).abs() / (10.0 + across.abs() * 0.09)).clamp(0.0, 1.0);
    let glow = (1.0 - across.hypot(down) / 420.0).clamp(0.0, 1.0);
    let light = (beam * if across < 0.0 { 0.55 } else { 0.2 } + glow * 0.4).min(1.0);
    let base = if y < HORIZON {
        mix([24, 44, 66], [214, 128, 82], (y / HORIZON).powi(2))
    } else {
        let ripple = ((y * 0.9).sin() * (x / 31.0).cos() + 1.0) * 0.08;
        mix(
            [122, 92, 84],
            [12, 28, 40],
            (y - HORIZON) / (HEIGHT as f32 - HORIZON) + ripple,
        )
    };
    mix(base, [255, 222, 160], light)
}

fn mix(from: [u8; 3], to: [u8; 3], share: f32) -> [u8; 3] {
    let share = share.clamp(0.0, 1.0);
    std::array::from_fn(|channel| {
        (f32::from(from[channel]) * (1.0 - share) + f32::from(to[channel]) * share) as u8
    })
}

fn shade(colour: [u8; 3], share: f32) -> [u8; 3] {
    mix([0, 0, 0], colour, share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_picture_is_a_png_of_its_size() {
        let picture = image::load_from_memory(&lighthouse().expect("drawn")).expect("a picture");
        assert_eq!((picture.width(), picture.height()), (WIDTH, HEIGHT));
    }

    #[test]
    fn every_edge_of_the_flow_joins_two_of_its_nodes() {
        let flow = flow();
        let has = |id: &str| flow.nodes.iter().any(|node| node.id == id);
        assert!(
            flow.edges
                .iter()
                .all(|edge| has(&edge.source) && has(&edge.target))
        );
    }
}
