//! Uploads: what is refused leaves the asset without bytes, and may be sent again.

use image::ImageFormat;
use serde_json::{Value, json};

use super::{Upload, asset, get, picture, put, register, register_version};
use crate::harness::{Installation, on_both_databases};

on_both_databases![
    an_upload_is_there_once_all_its_bytes_are,
    a_second_upload_to_one_address_is_refused,
    a_replaced_asset_keeps_its_identity_and_gets_a_version,
    truncated_and_lying_uploads_are_refused_and_can_be_mended,
    what_is_too_large_is_refused,
    the_address_of_an_upload_can_not_be_made_up,
];

async fn an_upload_is_there_once_all_its_bytes_are(installation: &Installation) {
    let (server, owner) = installation.open().await;
    let bytes = picture(ImageFormat::Png, 40, 30);
    let upload = register(&owner, "image/png", bytes.len()).await;
    assert!(upload.url.starts_with(server.address()), "{}", upload.url);
    let before = asset(&owner, &upload.work).await;
    assert_eq!(get(&owner, &before["url"], &[]).await.status(), 404);
    assert_eq!(put(&upload, bytes.clone()).await.status(), 201);
    let after = asset(&owner, &upload.work).await;
    assert_eq!(
        (&after["mediaType"], &after["byteSize"], &after["version"]),
        (&json!("image/png"), &json!(bytes.len()), &json!(1))
    );
    assert_eq!(after["sha256"].as_str().map(str::len), Some(64));
    assert_eq!(
        get(&owner, &after["url"], &[])
            .await
            .bytes()
            .await
            .expect("bytes"),
        bytes
    );
    // A process that dies and comes back still has it.
    server.kill();
    let server = installation.start().await;
    let owner = owner.at(&server);
    let again = asset(&owner, &upload.work).await;
    assert_eq!(
        get(&owner, &again["url"], &[])
            .await
            .bytes()
            .await
            .expect("bytes"),
        bytes
    );
}

async fn a_second_upload_to_one_address_is_refused(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let upload = register(&owner, "text/plain", 5).await;
    assert_eq!(put(&upload, "first").await.status(), 201);
    assert_eq!(put(&upload, "other").await.status(), 409);
    let shown = asset(&owner, &upload.work).await;
    assert_eq!(
        get(&owner, &shown["url"], &[])
            .await
            .text()
            .await
            .expect("text"),
        "first"
    );
}

async fn a_replaced_asset_keeps_its_identity_and_gets_a_version(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let first = register(&owner, "text/plain", 5).await;
    assert_eq!(put(&first, "first").await.status(), 201);
    let one = asset(&owner, &first.work).await;
    let second = register_version(&owner, "text/plain", 6, json!(first.work)).await;
    assert_eq!(second.work, first.work);
    assert_eq!(put(&second, "second").await.status(), 201);
    let other = asset(&owner, &first.work).await;
    assert_eq!((&one["version"], &other["version"]), (&json!(1), &json!(2)));
    assert_ne!(one["sha256"], other["sha256"]);
    assert_eq!(
        get(&owner, &other["url"], &[])
            .await
            .text()
            .await
            .expect("text"),
        "second"
    );
}

async fn truncated_and_lying_uploads_are_refused_and_can_be_mended(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let bytes = picture(ImageFormat::Png, 20, 20);
    let upload = register(&owner, "image/png", bytes.len()).await;
    let attempts = [
        ("truncated", bytes[..bytes.len() - 7].to_vec()),
        ("too long", [&bytes[..], b"more"].concat()),
        ("another type", picture(ImageFormat::Jpeg, 20, 20)),
        ("empty", Vec::new()),
        (
            "a page",
            [
                b"<html><script>alert(1)</script>".to_vec(),
                vec![b' '; bytes.len() - 31],
            ]
            .concat(),
        ),
    ];
    for (name, wrong) in attempts {
        let answer = put(&upload, wrong).await;
        assert!(
            answer.status().is_client_error(),
            "{name}: {}",
            answer.status()
        );
        let body: Value = answer.json().await.expect("JSON");
        assert!(body["error"]["message"].is_string(), "{name}: {body}");
        let shown = asset(&owner, &upload.work).await;
        assert_eq!(
            get(&owner, &shown["url"], &[]).await.status(),
            404,
            "{name}"
        );
    }
    assert_eq!(put(&upload, bytes).await.status(), 201);
    for (media_type, content) in [
        ("image/jpeg", "PNG?"),
        ("video/mp4", "text"),
        ("image/svg+xml", "<html></html>"),
    ] {
        let upload = register(&owner, media_type, content.len()).await;
        assert!(
            put(&upload, content).await.status().is_client_error(),
            "{media_type}"
        );
    }
}

async fn what_is_too_large_is_refused(installation: &Installation) {
    let (_server, owner) = installation
        .open_with(&[("ATELIER_MAX_UPLOAD", "1MiB")])
        .await;
    let input = json!({"workspaceId": owner.workspace, "title": "x", "mediaType": "text/plain", "byteSize": (1 << 20) + 1});
    let answer = owner
        .client
        .mutate("createUpload", input, "{ uploadUrl }")
        .await;
    assert!(
        ["PAYLOAD_TOO_LARGE", "BAD_USER_INPUT"].contains(&answer.code()),
        "{}",
        answer.body
    );
    let upload = register(&owner, "text/plain", 10).await;
    let sent = reqwest::Client::new()
        .put(&upload.url)
        .body(vec![b'x'; 8 << 20])
        .send()
        .await;
    // The server may close before it has read everything.
    assert!(sent.is_err() || sent.is_ok_and(|answer| answer.status().is_client_error()));
    let most = register(&owner, "text/plain", 1 << 20).await;
    assert_eq!(put(&most, vec![b'x'; 1 << 20]).await.status(), 201);
}

async fn the_address_of_an_upload_can_not_be_made_up(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let one = register(&owner, "text/plain", 5).await;
    let other = register(&owner, "text/plain", 5).await;
    let (_, signature) = other.url.split_once('?').expect("a signature");
    let (path, own) = one.url.split_once('?').expect("a signature");
    let damaged = format!(
        "{path}?{}",
        own.replace(|letter: char| letter.is_ascii_digit(), "1")
    );
    for url in [format!("{path}?{signature}"), path.to_owned(), damaged] {
        let answer = put(
            &Upload {
                work: one.work.clone(),
                url: url.clone(),
            },
            "stuff",
        )
        .await;
        assert!(
            [401, 403, 404].contains(&answer.status().as_u16()),
            "{url}: {}",
            answer.status()
        );
    }
    assert_eq!(put(&one, "right").await.status(), 201);
}
