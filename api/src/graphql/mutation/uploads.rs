//! Registering uploads. The bytes go another way: a PUT to the address in the payload.

use async_graphql::{Context, ID, InputObject, Object, Result, SimpleObject};
use domain::Error;
use domain::document::Version;
use domain::ids::{UploadId, WorkId};
use domain::work::{AssetFile, CreateUpload, Upload, Work, WorkKind};

use super::input::id;
use crate::graphql::model::works::Asset;
use crate::graphql::scope::Scope;

/// The longest media type, in characters.
const MEDIA_TYPE_LIMIT: usize = 127;

/// A file to upload. With `workId` the bytes become a new version of that asset. At most the server's upload limit; the type is
/// checked against the content.
#[derive(InputObject)]
struct CreateUploadInput {
    /// The workspace it belongs to.
    workspace_id: ID,
    /// The title of the new asset.
    title: String,
    /// The media type of the bytes, such as `image/png`.
    media_type: String,
    /// How many bytes will come.
    byte_size: i32,
    /// The asset whose next version it is; without it a new one is made.
    work_id: Option<ID>,
    /// Comes back in the payload.
    client_mutation_id: Option<String>,
}

/// A registered upload.
#[derive(SimpleObject)]
struct CreateUploadPayload {
    /// The asset; its bytes are there after the PUT.
    asset: Asset,
    /// Where to PUT the bytes; signed, and short-lived.
    upload_url: String,
    /// As it was given.
    client_mutation_id: Option<String>,
}

/// Registering uploads.
#[derive(Debug, Default)]
pub(crate) struct UploadMutation;

#[Object]
impl UploadMutation {
    /// Registers an upload; PUT the bytes to `uploadUrl`, then the asset is there.
    async fn create_upload(
        &self,
        ctx: &Context<'_>,
        input: CreateUploadInput,
    ) -> Result<CreateUploadPayload> {
        let scope = Scope::of(ctx)?;
        let command = command_of(scope, &input)?;
        let upload_url = scope.services.asset_urls.upload_url(&command.upload);
        let work = scope.run(command).await?;
        Ok(CreateUploadPayload {
            asset: Asset(work.into()),
            upload_url,
            client_mutation_id: input.client_mutation_id,
        })
    }
}

fn command_of(scope: &Scope, input: &CreateUploadInput) -> domain::Result<CreateUpload> {
    let promised = promise(input, scope.services.upload_limit)?;
    let present: Option<WorkId> = input.work_id.as_ref().map(id).transpose()?;
    let upload = Upload {
        id: UploadId::new(),
        workspace: id(&input.workspace_id)?,
        work: present.unwrap_or_default(),
        user: scope.caller.user,
        media_type: promised.media_type.clone(),
        byte_size: promised.byte_size,
        created_at: scope.now(),
        finished_at: None,
    };
    let new_work = present
        .is_none()
        .then(|| new_asset(scope, &upload, &input.title, promised));
    Ok(CreateUpload {
        caller: scope.caller,
        upload,
        new_work,
    })
}

/// What is promised, where the server can take it.
fn promise(input: &CreateUploadInput, limit: u64) -> domain::Result<AssetFile> {
    let byte_size = u64::try_from(input.byte_size)
        .ok()
        .filter(|size| *size > 0)
        .ok_or_else(|| Error::Invalid("`byteSize` is the number of bytes, 1 or more".to_owned()))?;
    if byte_size > limit {
        return Err(Error::TooLarge(format!(
            "a file can have {limit} bytes here, and this one has {byte_size}"
        )));
    }
    Ok(AssetFile {
        sha256: String::new(),
        media_type: media_type(&input.media_type)?,
        byte_size,
    })
}

/// A media type in its normal form: type and subtype in lower case, without the parameters that browsers may add.
fn media_type(given: &str) -> domain::Result<String> {
    let is_name = |name: &str| {
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte))
    };
    let essence = given.split(';').next().unwrap_or_default().trim();
    match essence.split_once('/') {
        Some((kind, subtype))
            if is_name(kind) && is_name(subtype) && essence.len() <= MEDIA_TYPE_LIMIT =>
        {
            Ok(essence.to_ascii_lowercase())
        }
        _ => Err(Error::Invalid(
            "`mediaType` is a type and a subtype, such as image/png".to_owned(),
        )),
    }
}

fn new_asset(scope: &Scope, upload: &Upload, title: &str, promised: AssetFile) -> Work {
    Work {
        id: upload.work,
        workspace: upload.workspace,
        kind: WorkKind::Asset,
        title: title.to_owned(),
        version: Version(0),
        created_at: upload.created_at,
        updated_at: upload.created_at,
        updated_by: scope.caller.actor(),
        deleted_at: None,
        asset: Some(promised),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(media_type: &str, byte_size: i32) -> CreateUploadInput {
        CreateUploadInput {
            workspace_id: ID::from("w"),
            title: "a picture".into(),
            media_type: media_type.into(),
            byte_size,
            work_id: None,
            client_mutation_id: None,
        }
    }

    #[test]
    fn a_promise_names_a_size_within_the_limit_and_a_media_type() {
        let kept = promise(&input("Image/PNG; q=1", 10), 10).expect("fits");
        assert_eq!(
            (kept.media_type.as_str(), kept.byte_size),
            ("image/png", 10)
        );
        assert!(matches!(
            promise(&input("image/png", 11), 10),
            Err(Error::TooLarge(_))
        ));
        for (media_type, size) in [
            ("image/png", 0),
            ("image/png", -1),
            ("png", 1),
            ("image/", 1),
            ("a/b/c", 1),
            (";", 1),
            ("a/b\r\nx: y", 1),
        ] {
            let refused = promise(&input(media_type, size), 10);
            assert!(
                matches!(refused, Err(Error::Invalid(_))),
                "{media_type} {size}"
            );
        }
    }
}
