//! What cards say that no model has worded, in the language of their task (T5).

/// Words of a card in one language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CardWords {
    /// Asks whether what is done is right; the title of the item follows.
    pub done: &'static str,
    /// Asks whether a work may go to the bin; its title follows.
    pub delete: &'static str,
    /// Says yes, and that the task goes on.
    pub confirm: &'static str,
    /// Says that something is to be changed first.
    pub adjust: &'static str,
    /// Says yes to what can not be undone.
    pub permit: &'static str,
    /// Says no.
    pub decline: &'static str,
}

impl CardWords {
    /// The words for a BCP 47 tag; English where there are none.
    pub fn of(language: &str) -> Self {
        match language.split('-').next() {
            Some("ru") => Self {
                done: "Готово, посмотрите",
                delete: "Переместить в корзину",
                confirm: "Принять и продолжить",
                adjust: "Исправить",
                permit: "Да, переместить",
                decline: "Нет, оставить",
            },
            Some("zh") => Self {
                done: "已完成,请确认",
                delete: "移到回收站",
                confirm: "确认并继续",
                adjust: "需要调整",
                permit: "是,移动",
                decline: "不,保留",
            },
            _ => Self {
                done: "Done, please look",
                delete: "Move to the bin",
                confirm: "Confirm and continue",
                adjust: "Adjust",
                permit: "Yes, move it",
                decline: "No, keep it",
            },
        }
    }
}
