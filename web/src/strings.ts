/**
 * Every word that the studio shows, in three languages.
 *
 * Invariants
 * - The type makes a missing translation an error of the build.
 */

export const LANGUAGES = ['en', 'ru', 'zh'] as const;
export type Language = (typeof LANGUAGES)[number];

const table = {
  languageName: { en: 'English', ru: 'Русский', zh: '中文' },
  language: { en: 'Language', ru: 'Язык', zh: '语言' },
  signIn: { en: 'Sign in', ru: 'Войти', zh: '登录' },
  signOut: { en: 'Sign out', ru: 'Выйти', zh: '退出' },
  token: { en: 'Token', ru: 'Токен', zh: '令牌' },
  tokenHint: {
    en: 'Open the link that the server printed when it started, or paste a token here.',
    ru: 'Откройте ссылку, которую сервер напечатал при запуске, или вставьте токен сюда.',
    zh: '请打开服务器启动时显示的链接，或在此粘贴令牌。',
  },
  tokenRefused: {
    en: 'The server does not accept this token any more.',
    ru: 'Сервер больше не принимает этот токен.',
    zh: '服务器不再接受此令牌。',
  },
  workspace: { en: 'Workspace', ru: 'Пространство', zh: '工作区' },
  noWorkspaces: {
    en: 'You are not a member of a workspace yet.',
    ru: 'Вы пока не состоите ни в одном пространстве.',
    zh: '您还不是任何工作区的成员。',
  },
  works: { en: 'Works', ru: 'Работы', zh: '作品' },
  noWorks: { en: 'No works yet.', ru: 'Работ пока нет.', zh: '还没有作品。' },
  chooseWork: { en: 'Choose a work on the left.', ru: 'Выберите работу слева.', zh: '请在左侧选择作品。' },
  newWork: { en: 'New work', ru: 'Новая работа', zh: '新建作品' },
  title: { en: 'Title', ru: 'Название', zh: '标题' },
  kind: { en: 'Kind', ru: 'Вид', zh: '类型' },
  create: { en: 'Create', ru: 'Создать', zh: '创建' },
  more: { en: 'Show more', ru: 'Показать ещё', zh: '显示更多' },
  STORYBOARD: { en: 'Storyboard', ru: 'Раскадровка', zh: '故事板' },
  TEXT: { en: 'Text', ru: 'Текст', zh: '文本' },
  FLOW: { en: 'Flow', ru: 'Схема', zh: '流程图' },
  COLLECTION: { en: 'Collection', ru: 'Коллекция', zh: '合集' },
  ASSET: { en: 'Asset', ru: 'Файл', zh: '素材' },
  shot: { en: 'Shot', ru: 'Кадр', zh: '镜头' },
  addShot: { en: 'Add a shot', ru: 'Добавить кадр', zh: '添加镜头' },
  removeShot: { en: 'Remove', ru: 'Удалить', zh: '删除' },
  removeShotQuestion: {
    en: 'Remove this shot and what is written in it?',
    ru: 'Удалить этот кадр и всё, что в нём написано?',
    zh: '删除此镜头及其中的内容？',
  },
  moveLeft: { en: 'Move left', ru: 'Сдвинуть влево', zh: '左移' },
  moveRight: { en: 'Move right', ru: 'Сдвинуть вправо', zh: '右移' },
  description: { en: 'Description', ru: 'Описание', zh: '描述' },
  prompt: { en: 'Prompt', ru: 'Промпт', zh: '提示词' },
  noShots: { en: 'No shots yet.', ru: 'Кадров пока нет.', zh: '还没有镜头。' },
  emptyWork: { en: 'Nothing here yet.', ru: 'Здесь пока пусто.', zh: '这里还是空的。' },
  here: { en: 'Here now', ru: 'Сейчас здесь', zh: '在线' },
  you: { en: 'you', ru: 'вы', zh: '您' },
  somebody: { en: 'somebody', ru: 'кто-то', zh: '某人' },
  readOnly: { en: 'You may read this work.', ru: 'Вам доступно только чтение.', zh: '您只能阅读此作品。' },
  connecting: { en: 'Connecting…', ru: 'Подключение…', zh: '正在连接…' },
  connected: { en: 'Connected', ru: 'Подключено', zh: '已连接' },
  disconnected: {
    en: 'No connection; what you type is kept and sent when it is back.',
    ru: 'Нет связи; введённое сохранится и уйдёт, когда она вернётся.',
    zh: '连接中断；您输入的内容会保留，恢复后发送。',
  },
  refused: {
    en: 'The server refused the connection.',
    ru: 'Сервер отказал в подключении.',
    zh: '服务器拒绝了连接。',
  },
  unavailable: {
    en: 'The server does not answer.',
    ru: 'Сервер не отвечает.',
    zh: '服务器没有响应。',
  },
  retry: { en: 'Try again', ru: 'Повторить', zh: '重试' },
  loading: { en: 'Loading…', ru: 'Загрузка…', zh: '正在加载…' },
  notFound: { en: 'There is no such work.', ru: 'Такой работы нет.', zh: '没有这个作品。' },
  download: { en: 'Download', ru: 'Скачать', zh: '下载' },
  notUploaded: {
    en: 'The bytes of this asset have not arrived yet.',
    ru: 'Содержимое этого файла ещё не загружено.',
    zh: '此素材的内容尚未上传。',
  },
  nodes: { en: 'Nodes', ru: 'Узлы', zh: '节点' },
  edges: { en: 'Edges', ru: 'Связи', zh: '连线' },
} satisfies Record<string, Record<Language, string>>;

export type Word = keyof typeof table;

/** The word in a language. */
export function say(word: Word, language: Language): string {
  return table[word][language];
}

/** All words, for the tests. */
export const words = table;

const KEY = 'atelier.language';

/** The language that was chosen here, or the browser's, or English. */
export function preferredLanguage(): Language {
  const wanted = [localStorage.getItem(KEY) ?? '', ...navigator.languages];
  for (const tag of wanted) {
    const found = LANGUAGES.find((language) => tag.toLowerCase().split('-')[0] === language);
    if (found) return found;
  }
  return 'en';
}

/** Remembers the language for the next visit. */
export function rememberLanguage(language: Language): void {
  localStorage.setItem(KEY, language);
}
