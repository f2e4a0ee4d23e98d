//! Files that are made to do harm: never run in a browser, never blown up in memory.

use image::ImageFormat;
use serde_json::json;

use super::{asset, get, header, picture, put, register, upload};
use crate::harness::people::text;
use crate::harness::{Installation, on_sqlite};

on_sqlite![
    active_content_is_never_served_as_such,
    pictures_that_blow_up_have_no_preview_and_do_no_harm,
];

const SVG: &[u8] = br#"<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>"#;

async fn active_content_is_never_served_as_such(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    for (media_type, bytes) in [
        ("image/svg+xml", SVG),
        ("text/html", b"<!doctype html><script>alert(1)</script>"),
        (
            "application/xhtml+xml",
            b"<html xmlns=\"http://www.w3.org/1999/xhtml\"/>",
        ),
        ("text/javascript", b"alert(1)"),
    ] {
        let input = json!({"workspaceId": owner.workspace, "title": "x", "mediaType": media_type, "byteSize": bytes.len()});
        let answer = owner
            .client
            .mutate("createUpload", input, "{ uploadUrl asset { id } }")
            .await;
        if answer.body.get("errors").is_some() {
            assert_eq!(answer.code(), "BAD_USER_INPUT", "{media_type}");
            continue;
        }
        let made = answer.data()["createUpload"].clone();
        let work = text(&made["asset"]["id"]);
        let upload = super::Upload {
            work: work.clone(),
            url: text(&made["uploadUrl"]),
        };
        if !put(&upload, bytes.to_vec()).await.status().is_success() {
            continue;
        }
        let served = get(&owner, &asset(&owner, &work).await["url"], &[]).await;
        assert_eq!(
            header(&served, "x-content-type-options"),
            "nosniff",
            "{media_type}"
        );
        let is_attached = header(&served, "content-disposition").starts_with("attachment");
        let policy = header(&served, "content-security-policy");
        assert!(
            is_attached || policy.contains("sandbox"),
            "{media_type}: {:?}",
            served.headers()
        );
        assert!(!policy.contains("allow-scripts"), "{policy}");
    }
}

async fn pictures_that_blow_up_have_no_preview_and_do_no_harm(installation: &Installation) {
    let (server, owner) = installation.open().await;
    // 30,000 by 30,000 pixels in a header, over a few bytes.
    let mut png = picture(ImageFormat::Png, 8, 8);
    png[16..24].copy_from_slice(&[0, 0, 0x75, 0x30, 0, 0, 0x75, 0x30]);
    let checksum = checksum(&png[12..29]);
    png[29..33].copy_from_slice(&checksum.to_be_bytes());
    let mut gif = picture(ImageFormat::Gif, 8, 8);
    gif[6..10].copy_from_slice(&[0xff, 0xff, 0xff, 0xff]);
    for (media_type, bytes) in [("image/png", png), ("image/gif", gif)] {
        let upload = register(&owner, media_type, bytes.len()).await;
        let status = put(&upload, bytes).await.status();
        let shown = asset(&owner, &upload.work).await;
        if status.is_success() && shown["previewUrl"].is_string() {
            let preview = get(&owner, &shown["previewUrl"], &[]).await;
            assert!(
                preview.status().is_client_error(),
                "{media_type}: {}",
                preview.status()
            );
        }
        assert!(
            server.peak_resident_bytes() < 300 << 20,
            "{media_type}: {} bytes",
            server.peak_resident_bytes()
        );
    }
    let work = upload(&owner, "image/png", &picture(ImageFormat::Png, 50, 50)).await;
    assert_eq!(
        get(&owner, &asset(&owner, &work).await["previewUrl"], &[])
            .await
            .status(),
        200
    );
}

/// The checksum of a PNG chunk (CRC-32), over its type and data.
fn checksum(bytes: &[u8]) -> u32 {
    let mut register = u32::MAX;
    for byte in bytes {
        register ^= u32::from(*byte);
        for _ in 0..8 {
            let carry = if register & 1 == 1 { 0xedb8_8320 } else { 0 };
            register = (register >> 1) ^ carry;
        }
    }
    !register
}
