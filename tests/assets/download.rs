//! Downloads: parts, caches, signatures, previews.

use image::ImageFormat;
use serde_json::json;

use super::{asset, get, header, picture, upload};
use crate::harness::people::text;
use crate::harness::{Installation, on_sqlite};

on_sqlite![
    parts_and_caches_work_as_http_says,
    a_signed_address_works_without_a_token_and_only_as_it_is,
    pictures_have_previews,
];

async fn parts_and_caches_work_as_http_says(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    let work = upload(&owner, "text/plain", b"0123456789").await;
    let url = asset(&owner, &work).await["url"].clone();
    let whole = get(&owner, &url, &[]).await;
    assert_eq!(
        (whole.status().as_u16(), header(&whole, "accept-ranges")),
        (200, "bytes")
    );
    assert!(header(&whole, "content-type").starts_with("text/plain"));
    assert_eq!(header(&whole, "x-content-type-options"), "nosniff");
    let tag = header(&whole, "etag").to_owned();
    assert!(tag.starts_with('"'), "{tag}");
    assert_eq!(whole.text().await.expect("text"), "0123456789");
    for (range, status, content_range, body) in [
        ("bytes=2-4", 206, "bytes 2-4/10", "234"),
        ("bytes=7-", 206, "bytes 7-9/10", "789"),
        ("bytes=-2", 206, "bytes 8-9/10", "89"),
        ("bytes=0-99", 206, "bytes 0-9/10", "0123456789"),
        ("bytes=10-", 416, "bytes */10", ""),
        ("lines=1-2", 200, "", "0123456789"),
    ] {
        let part = get(&owner, &url, &[("range", range)]).await;
        assert_eq!(
            (part.status().as_u16(), header(&part, "content-range")),
            (status, content_range),
            "{range}"
        );
        if status != 416 {
            assert_eq!(part.text().await.expect("text"), body, "{range}");
        }
    }
    let known = get(&owner, &url, &[("if-none-match", &tag)]).await;
    assert_eq!(known.status(), 304);
    let other = get(
        &owner,
        &url,
        &[("range", "bytes=2-4"), ("if-range", "\"other\"")],
    )
    .await;
    assert_eq!(other.status(), 200);
}

async fn a_signed_address_works_without_a_token_and_only_as_it_is(installation: &Installation) {
    let (server, owner) = installation.open().await;
    let work = upload(&owner, "text/plain", b"signed").await;
    let other = upload(&owner, "text/plain", b"others").await;
    let path = text(&asset(&owner, &work).await["url"]);
    let url = format!("{}{path}", server.address());
    let fetch = async |url: &str| {
        reqwest::get(url)
            .await
            .expect("an answer")
            .status()
            .as_u16()
    };
    assert_eq!(fetch(&url).await, 200);
    let (bare, signature) = path.split_once('?').expect("a signature");
    let other = text(&asset(&owner, &other).await["url"]);
    let (other_bare, _) = other.split_once('?').expect("a signature");
    for wrong in [
        bare.to_owned(),
        format!("{other_bare}?{signature}"),
        format!("{bare}?{}", signature.replace('=', "=1")),
    ] {
        let status = fetch(&format!("{}{wrong}", server.address())).await;
        assert!([401, 403, 404].contains(&status), "{wrong}: {status}");
    }
    assert_eq!(
        get(&owner, &json!(bare), &[]).await.status(),
        200,
        "a token does as well"
    );
}

async fn pictures_have_previews(installation: &Installation) {
    let (_server, owner) = installation.open().await;
    for (media_type, format) in [
        ("image/png", ImageFormat::Png),
        ("image/jpeg", ImageFormat::Jpeg),
        ("image/webp", ImageFormat::WebP),
        ("image/gif", ImageFormat::Gif),
    ] {
        let work = upload(&owner, media_type, &picture(format, 1_500, 500)).await;
        let preview = get(&owner, &asset(&owner, &work).await["previewUrl"], &[]).await;
        assert_eq!(preview.status(), 200, "{media_type}");
        assert!(header(&preview, "content-type").starts_with("image/"));
        let bytes = preview.bytes().await.expect("bytes");
        let image = image::load_from_memory(&bytes).expect("an image");
        assert!(
            image.width() < 1_500 && image.width() > image.height(),
            "{}x{}",
            image.width(),
            image.height()
        );
    }
    let work = upload(&owner, "text/plain", b"no picture").await;
    assert!(asset(&owner, &work).await["previewUrl"].is_null());
}
