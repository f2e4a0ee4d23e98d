//! Words by which the offline router tells what a message of the main thread wants.

use std::sync::LazyLock;

/// A list of words and beginnings of words, as [`super::lexicon::Phrase`] reads them.
type List = LazyLock<Vec<&'static str>>;

macro_rules! list {
    ($(#[$doc:meta])* $name:ident, $words:literal) => {
        $(#[$doc])*
        pub(super) static $name: List = LazyLock::new(|| $words.split(", ").collect());
    };
}

list!(
    /// Words that say nothing about where a message belongs: of every sentence, of every wish, numbers and positions.
    NOTHING,
    "a, an, the, and, or, but, of, in, on, at, to, for, from, with, by, it, its, is, are, was, were, be, been, this, that, \
     these, those, there, here, then, than, now, not, no, so, just, only, also, about, out, off, up, down, over, into, \
     you, your, we, our, they, them, their, he, his, she, her, who, what, which, when, where, how, why, has, have, had, \
     do, does, did, done, can, could, will, would, should, may, any, some, all, one, two, three, four, five, six, more, \
     most, make, made, take, put, get, give, want, need, please, new, ok, first, second, third, last, next, same, another, everything, work, \
     wait*, poster, posters, page, pages, и, а, но, или, в, во, на, с, со, к, ко, о, об, от, до, из, за, по, под, над, \
     при, про, для, без, не, ни, что, чтобы, как, так, там, тут, это, эт*, тот, та, те, той, том, тем, он, она, оно, они, \
     его, ее, их, мы, нас, наш*, вы, вас, ваш*, я, мне, меня, мой, моя, ты, был*, быть, есть, будет, уже, еще, все, всё*, \
     всего, потом, теперь, сейчас, когда, пусть, давай, просто, очень, тоже, только, сделай*, делае*, дела*, нуж*, хоч*, \
     один, одна, одно*, одну, два, две, три, четыре, пять, шесть, семь, сорок, двух, трех, пяти, шести, тысяч*, перв*, втор*, трет*, четверт*, \
     последн*, нов*, жд*, лист*, стран*, 的, 了, 是, 在, 我, 你, 他, 她, 它, 们, 这, 那, 个, 把, 给, 要, 就, 也, 都, 和, 跟, 吗, 吧, 呢, 第, 一, 二, \
     三, 四, 五, 六, 七, 八, 九, 十, 两, 成, 改, 里, 上, 下, 不, 有, 想, 别, 再"
);

list!(
    /// Names of languages: a task that is kept in one of them is meant.
    ENGLISH,
    "english, английск*, англоязычн*, 英文, 英语"
);
list!(RUSSIAN, "russian, русск*, русскоязычн*, 俄文, 俄语");
list!(CHINESE, "chinese, китайск*, 中文, 汉语");

/// Latin spellings of Russian letters, longer ones first.
pub(super) const SPELLINGS: &[(&str, &str)] = &[
    ("shch", "щ"),
    ("sch", "щ"),
    ("zh", "ж"),
    ("kh", "х"),
    ("ts", "ц"),
    ("ch", "ч"),
    ("sh", "ш"),
    ("yu", "ю"),
    ("ya", "я"),
    ("a", "а"),
    ("b", "б"),
    ("v", "в"),
    ("g", "г"),
    ("d", "д"),
    ("e", "е"),
    ("z", "з"),
    ("i", "и"),
    ("k", "к"),
    ("l", "л"),
    ("m", "м"),
    ("n", "н"),
    ("o", "о"),
    ("p", "п"),
    ("r", "р"),
    ("s", "с"),
    ("t", "т"),
    ("u", "у"),
    ("f", "ф"),
    ("h", "х"),
    ("y", "ы"),
    ("e", "э"),
    ("y", "й"),
    ("", "ь"),
    ("", "ъ"),
];

list!(
    /// Says that what is wanted is apart from what is there.
    SEPARATE,
    "new task, new project, separate, its own, expansion, sequel, from scratch, another audio, stay as they are, unrelated, новая задача, новую задачу, большое дело, отдельн*, с нуля, \
     заново, не трогай, сама по себе, самостоятельн*, 新任务, 没关系, 两码事, 单独, 重新做, 另外一套, 独立"
);
list!(
    /// Begins something that lasts.
    BEGINS,
    "i want a, i want an, i'd like, i d like, i would like, we host, we open, we start, new project, next spring, next year, \
     next summer, everything up to, new task, хочу, хотим, открываем, запускаем, начинай, начни, затеваем, задумал*, \
     созрел*, большое дело, новая задача, новую задачу, нужен весь, нужна вся, под ключ, 新任务, 想办, 想做, 想给, 想慢慢, 想拍, 想出, \
     帮我弄, 帮我做, 全套, 一套, 明年, 半年, 几个月, 从头"
);
list!(
    /// One thing to look at, and be done.
    SINGLE,
    "quick one, single, just one, only want to see, one picture, one background, one image, one icon, for fun, одну, \
     одной, один, одно, просто, по-быстрому, быстренько, 一张, 一个, 一段, 一幅, 就行, 看看, 随便"
);
list!(
    /// What a generator makes.
    MEDIA,
    "picture, image, texture, icon, wallpaper, sticker, clip, sound, jingle, model, drawing, avatar, картинк*, рисун*, \
     нарисуй, иконк*, обои, стикер*, модель, модельк*, дорожк*, озвучь, клип, аватар*, заставк*, 图, 图标, 动画, 图片, 壁纸, 短片, \
     模型, 声音, 贴纸, 头像, 画"
);
list!(
    /// Asks for a change, whatever else is asked.
    ORDERS,
    "fix, make, add, change, move, remove, replace, swap, put, write, draw, use, cut, kill, thicken, need, добав*, dobav*, \
     убер*, замен*, поменя*, исправ*, сделай*, перекрас*, верни, допиши, подгони, нарисуй, 改, 加, 换, 删, 去掉, 画, 做, 放大, 缩小"
);
list!(
    /// Asks what the agent is able to do: its verbs order nothing.
    ABILITIES,
    "what can you do, what are you able, how can you help, что ты умеешь, что вы умеете, что умеешь, что ты можешь, что вы можете, \
     чем ты можешь, чем вы можете, 能做什么, 会做什么, 可以做什么, 能干什么, 会干什么, 能帮我做什么, 有什么功能, 会什么"
);
list!(
    /// Says what was just shown, and nothing else.
    POINTS,
    "it, them, 这个, 它, она, оно, его, ее, их"
);
list!(
    /// Asks where things stand, and for whom they wait.
    WAITS,
    "wait*, waiting for me, my decision, ждет, ждут, моего решения, от меня, 等我, 我决定"
);
list!(
    PAUSED,
    "paused, on hold, на паузе, отложен*, приостановлен*, 暂停, 搁置"
);
list!(
    /// Words that ask for something to be made.
    MAKES,
    "create, make, start, draw, write, i need, i want, создай*, сделай*, нарисуй*, напиши*, нужен, нужна, нужно, хочу, 做, \
     创建, 制作, 设计, 写, 画, 我要, 我想"
);
