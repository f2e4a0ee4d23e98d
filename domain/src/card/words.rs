//! What cards say that no model has worded, in the language of their task (T5).

use crate::task::TaskStatus;

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
    /// Asks whether a cost may be paid; what is ordered follows.
    pub cost: &'static str,
    /// Says yes to a cost.
    pub approve: &'static str,
    /// Says no to a cost.
    pub refuse: &'static str,
    /// Asks whether something remembered may be forgotten; what it says follows.
    pub forget: &'static str,
    /// Says yes to that.
    pub permit_forget: &'static str,
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
                cost: "Заказать за эту цену?",
                approve: "Да, заказать",
                refuse: "Нет, не заказывать",
                forget: "Забыть навсегда",
                permit_forget: "Да, забыть",
            },
            Some("zh") => Self {
                done: "已完成，请确认",
                delete: "移到回收站",
                confirm: "确认并继续",
                adjust: "需要调整",
                permit: "是，移动",
                decline: "不，保留",
                cost: "按此价格下单？",
                approve: "是，下单",
                refuse: "不，取消",
                forget: "永久遗忘",
                permit_forget: "是，遗忘",
            },
            _ => Self {
                done: "Done, please look",
                delete: "Move to the bin",
                confirm: "Confirm and continue",
                adjust: "Adjust",
                permit: "Yes, move it",
                decline: "No, keep it",
                cost: "Order this at that price?",
                approve: "Yes, order it",
                refuse: "No, do not order it",
                forget: "Forget for good",
                permit_forget: "Yes, forget it",
            },
        }
    }
}

/// Words of cards about messages that have no place yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoutingWords {
    /// Asks which task a message is for.
    pub which_task: &'static str,
    /// Makes a task of its own of it.
    pub new_task: &'static str,
    /// Lets the task go on that it was meant for.
    pub resume: &'static str,
    /// Asks for another task.
    pub pick_another: &'static str,
    stopped: &'static str,
    archived: &'static str,
    refused: &'static str,
    ask_refused: &'static str,
    gone: &'static str,
}

impl RoutingWords {
    /// The words for a BCP 47 tag; English where there are none.
    pub fn of(language: &str) -> Self {
        match language.split('-').next() {
            Some("ru") => Self {
                which_task: "К какой задаче это относится?",
                new_task: "Новая задача",
                resume: "Возобновить задачу и передать сообщение",
                pick_another: "Выбрать другую задачу",
                stopped: "остановлена",
                archived: "в архиве",
                refused: "задача {status} и не принимает сообщений",
                ask_refused: "Задача «{title}» {status}. Что сделать с вашим сообщением?",
                gone: "«{title}» лежит в корзине. Куда передать ваше сообщение?",
            },
            Some("zh") => Self {
                which_task: "这条消息属于哪个任务？",
                new_task: "新任务",
                resume: "恢复任务并送达消息",
                pick_another: "选择其他任务",
                stopped: "已停止",
                archived: "已归档",
                refused: "任务{status}，不接收消息",
                ask_refused: "任务“{title}”{status}。如何处理您的消息？",
                gone: "“{title}”在回收站中。您的消息交给哪里？",
            },
            _ => Self {
                which_task: "Which task is this for?",
                new_task: "A new task",
                resume: "Resume the task and deliver the message",
                pick_another: "Pick another task",
                stopped: "stopped",
                archived: "archived",
                refused: "the task is {status} and takes no messages",
                ask_refused: "\u{201c}{title}\u{201d} is {status}. What should happen with your message?",
                gone: "\u{201c}{title}\u{201d} lies in the bin. Where should your message go?",
            },
        }
    }

    /// Why a task can not have a message.
    pub fn refused(&self, status: TaskStatus) -> String {
        self.refused.replace("{status}", self.status(status))
    }

    /// Asks what is to be done with a message that a task can not have.
    pub fn ask_refused(&self, title: &str, status: TaskStatus) -> String {
        let text = self.ask_refused.replace("{status}", self.status(status));
        text.replace("{title}", title)
    }

    /// Asks where a message is to go that is about a work in the bin.
    pub fn gone(&self, title: &str) -> String {
        self.gone.replace("{title}", title)
    }

    const fn status(&self, status: TaskStatus) -> &'static str {
        match status {
            TaskStatus::Archived => self.archived,
            _ => self.stopped,
        }
    }
}
