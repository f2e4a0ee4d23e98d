//! Nobody finds what is not theirs, whatever stands in it and whatever is asked.

use domain::ids::WorkspaceId;
use domain::people::Caller;
use domain::search::SearchIndex as _;
use search::EmbedderChoice;
use std::collections::HashSet;
use std::sync::Arc;
use uuid::Uuid;

use crate::house::{House, eventually, on_both_databases};
use crate::meanings::Bags;

on_both_databases!(equal_texts_of_two_workspaces_and_of_two_people_never_meet);

const WORDS: [&str; 12] = [
    "red",
    "blue",
    "poster",
    "плакат",
    "маяк",
    "серия",
    "海报",
    "颜色",
    "film",
    "shot",
    "storyboard",
    "текст",
];

/// Numbers that look random; the seed is printed where a test fails.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 as usize % end
    }

    fn text(&mut self) -> String {
        let count = 1 + self.below(5);
        let words: Vec<&str> = (0..count).map(|_| WORDS[self.below(WORDS.len())]).collect();
        words.join(" ")
    }
}

/// What each of them may find.
#[derive(Default)]
struct Theirs {
    shared: HashSet<Uuid>,
    of_owner: HashSet<Uuid>,
    of_editor: HashSet<Uuid>,
}

async fn equal_texts_of_two_workspaces_and_of_two_people_never_meet(house: House) {
    let seed = Uuid::new_v4().as_u128() as u64 | 1;
    eprintln!("seed {seed}");
    let mut random = Random(seed);
    let search = house.search_with(EmbedderChoice::Other(Arc::new(Bags::new("one"))));
    let editor = house.editor("editor").await;
    let workspaces = [house.workspace, house.workspace().await];
    let mut theirs = [Theirs::default(), Theirs::default()];
    for _ in 0..24 {
        // The same text everywhere, in a form that chance decides.
        let (text, form) = (random.text(), random.below(4));
        for (workspace, theirs) in workspaces.into_iter().zip(&mut theirs) {
            match form {
                0 => theirs
                    .shared
                    .insert(house.task_in(workspace, &text, &text, &[]).await.uuid()),
                1 => theirs
                    .shared
                    .insert(house.work_in(workspace, &text).await.uuid()),
                2 => theirs.of_owner.insert(
                    house
                        .private_message(workspace, house.owner, &text)
                        .await
                        .uuid(),
                ),
                _ => theirs
                    .of_editor
                    .insert(house.private_message(workspace, editor, &text).await.uuid()),
            };
        }
    }
    for (workspace, theirs) in workspaces.into_iter().zip(&theirs) {
        let all: HashSet<Uuid> = theirs.shared.union(&theirs.of_owner).copied().collect();
        eventually("all of it has vectors", async || {
            let request = house.request_in(workspace, &WORDS.join(" ")).await;
            let mut request = request;
            request.limit = 200;
            let answer = search.find(&request).await;
            let found = answer.found.iter().filter(|found| found.vector.is_some());
            found.map(|found| found.id).collect::<HashSet<_>>() == all
        })
        .await;
    }
    let everything: Vec<Uuid> = theirs
        .iter()
        .flat_map(|theirs| [&theirs.shared, &theirs.of_owner, &theirs.of_editor])
        .flatten()
        .copied()
        .collect();
    for _ in 0..60 {
        let text = random.text();
        for (workspace, theirs) in workspaces.into_iter().zip(&theirs) {
            let asking = Asking {
                house: &house,
                search: &search,
                workspace,
            };
            asking
                .check(house.owner, &text, &theirs.of_owner, theirs, &everything)
                .await;
            asking
                .check(editor, &text, &theirs.of_editor, theirs, &everything)
                .await;
        }
    }
    house.leave(search).await;
}

struct Asking<'a> {
    house: &'a House,
    search: &'a search::Search,
    workspace: WorkspaceId,
}

impl Asking<'_> {
    /// Asks freely, and by the ids of everything that there is.
    async fn check(
        &self,
        who: Caller,
        text: &str,
        own: &HashSet<Uuid>,
        theirs: &Theirs,
        everything: &[Uuid],
    ) {
        for among in [Vec::new(), everything.to_vec()] {
            let mut request = self.house.request_in(self.workspace, text).await;
            request.user = who.user;
            request.limit = 200;
            request.among = among;
            for found in self.house.ask(self.search, request).await.found {
                let may = theirs.shared.contains(&found.id) || own.contains(&found.id);
                assert!(may, "{text} finds {found:?}");
            }
        }
    }
}
