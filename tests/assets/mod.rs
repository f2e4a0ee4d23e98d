//! Assets: bytes come in once, whole and honest, and go out safely.

mod download;
mod hostile;
mod upload;

use image::{ImageFormat, RgbImage};
use reqwest::Response;
use serde_json::{Value, json};

use crate::harness::Person;
use crate::harness::people::text;

/// An asset that waits for its bytes.
struct Upload {
    work: String,
    url: String,
}

/// Registers an upload.
async fn register(owner: &Person, media_type: &str, size: usize) -> Upload {
    register_version(owner, media_type, size, Value::Null).await
}

/// Registers an upload, perhaps as a new version of an asset.
async fn register_version(owner: &Person, media_type: &str, size: usize, work: Value) -> Upload {
    let input = json!({
        "workspaceId": owner.workspace, "title": "picture", "mediaType": media_type, "byteSize": size, "workId": work,
    });
    let made = owner
        .client
        .change("createUpload", input, "{ uploadUrl asset { id } }")
        .await;
    Upload {
        work: text(&made["asset"]["id"]),
        url: text(&made["uploadUrl"]),
    }
}

/// Sends bytes without a token: the address is signed.
async fn put(upload: &Upload, bytes: impl Into<reqwest::Body>) -> Response {
    reqwest::Client::new()
        .put(&upload.url)
        .body(bytes)
        .send()
        .await
        .expect("an answer")
}

/// What an asset shows.
async fn asset(owner: &Person, work: &str) -> Value {
    let query = "query ($id: ID!) { node(id: $id) { ... on Asset { version mediaType byteSize sha256 url previewUrl title
      history { nodes { toVersion summary } } } } }";
    owner.client.run(query, json!({"id": work})).await["node"].clone()
}

/// Fetches a path below the server's address, with the person's token.
async fn get(owner: &Person, path: &Value, headers: &[(&'static str, &str)]) -> Response {
    let url = format!("{}{}", owner.client.address(), text(path));
    let mut request = owner
        .client
        .http()
        .get(url)
        .bearer_auth(owner.client.secret());
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.send().await.expect("an answer")
}

/// A header of an answer.
fn header<'a>(response: &'a Response, name: &str) -> &'a str {
    response
        .headers()
        .get(name)
        .map_or("", |value| value.to_str().expect("ASCII"))
}

/// A picture of this size.
fn picture(format: ImageFormat, width: u32, height: u32) -> Vec<u8> {
    let image = RgbImage::from_fn(width, height, |x, y| {
        image::Rgb([x as u8, y as u8, (x * y) as u8])
    });
    let mut bytes = std::io::Cursor::new(Vec::new());
    image.write_to(&mut bytes, format).expect("is written");
    bytes.into_inner()
}

/// Registers an upload and sends the bytes.
async fn upload(owner: &Person, media_type: &str, bytes: &[u8]) -> String {
    let upload = register(owner, media_type, bytes.len()).await;
    let answer = put(&upload, bytes.to_vec()).await;
    assert_eq!(answer.status(), 201, "{media_type}");
    upload.work
}
