/**
 * A workspace with something of everything in it, in a language: made through the studio's own server and its agent.
 *
 * Invariants
 * - Nothing is drawn for a picture: works, orders, cards, memories and bookings come about as they do for anybody.
 */
import { lighthouse } from './bodies.mjs';
import { until } from './harness.mjs';

const WORDS = {
  en: {
    room: 'The night city',
    texts: ['Treatment', 'From script to poster', 'Moods'],
    board: 'Make a storyboard of six shots about a fox in a night city',
    film: 'Make a short film of three shots about a lighthouse keeper',
    dear: 'Make a short film of two shots about a night tram',
    question: 'What can you do?',
    say: 'Please remember that our brand is green',
    memories: ['I prefer short sentences and no exclamation marks', 'The fox has a torn left ear', 'We deliver on the last Friday of each month'],
    correction: 'The fox has a torn right ear',
  },
  ru: {
    room: 'Ночной город',
    texts: ['Тритмент', 'От сценария к плакату', 'Настроения'],
    board: 'Сделай раскадровку из шести кадров про лису в ночном городе',
    film: 'Сделай короткометражку из трёх кадров про смотрителя маяка',
    dear: 'Сделай короткометражку из двух кадров про ночной трамвай',
    question: 'Что ты умеешь?',
    say: 'Запомни, что наш бренд зелёный',
    memories: ['Я предпочитаю короткие предложения без восклицательных знаков', 'У лисы порвано левое ухо', 'Мы сдаём работу в последнюю пятницу месяца'],
    correction: 'У лисы порвано правое ухо',
  },
  zh: {
    room: '夜晚的城市',
    texts: ['大纲', '从剧本到海报', '氛围'],
    board: '做一个六个镜头的故事板，讲夜晚城市里的狐狸',
    film: '做一个三个镜头的短片，讲灯塔看守人',
    dear: '做一个两个镜头的短片，讲夜间电车',
    question: '你能做什么？',
    say: '请记住我们的品牌是绿色',
    memories: ['我喜欢短句，不要感叹号', '狐狸的左耳有缺口', '我们每月最后一个星期五交付'],
    correction: '狐狸的右耳有缺口',
  },
};
const CENT = 10_000;

async function flowOf(site, workspaceId, title) {
  const nodes = [
    ['Script', 'text', 0, -90, { description: 'Six scenes, one lamp' }],
    ['Moods', 'collection', 0, 110, { description: 'Salt, rust, lamp light' }],
    ['Prompt', 'prompt', 310, 0, { description: 'What goes into the next one', state: 'done' }],
    ['Poster', 'image', 620, -90, { description: 'Portrait, wide margins', state: 'running' }],
    ['Larger', 'upscale', 930, -90, { state: 'queued' }],
    ['Bed of sound', 'audio', 620, 130, { state: 'failed' }],
    ['Delivery', 'output', 1240, 0, {}],
  ].map(([title, type, x, y, fields]) => ({ id: title, type, fields: { title, position: { x, y }, ...fields } }));
  const edges = [
    ['Script', 'Prompt', 'text'],
    ['Moods', 'Prompt', 'reference'],
    ['Prompt', 'Poster', 'prompt'],
    ['Moods', 'Poster', 'reference'],
    ['Poster', 'Larger'],
    ['Prompt', 'Bed of sound'],
    ['Larger', 'Delivery'],
    ['Bed of sound', 'Delivery'],
  ].map(([source, target, targetPort]) => ({ source, target, ...(targetPort && { targetPort }) }));
  return site.makeWork(workspaceId, 'FLOW', title, { nodes, edges });
}

async function worksOf(site, workspaceId, [treatmentTitle, flowTitle, moodsTitle]) {
  const text = '# The keeper\n\nA **lighthouse** on black rocks; the sea is calm.\n\n- dusk\n- dawn\n\n> Two short, one long.';
  const items = ['Salt and rust', 'Lamp light', 'Dusk'].map((title) => ({ fields: { title, notes: 'Warm, narrow, always turning.' } }));
  return {
    treatment: await site.makeWork(workspaceId, 'TEXT', treatmentTitle, { text }),
    flow: await flowOf(site, workspaceId, flowTitle),
    collection: await site.makeWork(workspaceId, 'COLLECTION', moodsTitle, { nodes: items }),
    model: await site.upload(workspaceId, 'lighthouse.glb', lighthouse()),
  };
}

/** A film whose pictures are all made; another that waits for a look at its hero; one that waits for money. */
async function filmsOf(site, workspaceId, { film, dear }) {
  await site.setBudget(workspaceId, { limit: 500 * CENT, perOperationLimit: 50 * CENT, dailyLimit: 400 * CENT });
  const made = await site.makeTask(workspaceId, film, { autonomy: 'RUN_UNTIL_DONE' });
  const status = 'query Q($id: ID!) { node(id: $id) { ... on Task { status works { work { id kind } } } } }';
  await until(async () => (await site.api(status, { id: made })).node.status, 'DELIVERED');
  const looked = await site.makeTask(workspaceId, dear, { budget: { micros: 100 * CENT } });
  await site.answer((await site.openCard(looked, ['CHECKPOINT'])).id, 'confirm');
  await until(async () => (await site.openCard(looked, ['CHECKPOINT'])).works.length > 0, true);
  await site.setBudget(workspaceId, { perOperationLimit: 2 * CENT });
  const paid = await site.makeTask(workspaceId, `${dear} 2`, { budget: { micros: 100 * CENT } });
  await site.answer((await site.openCard(paid, ['CHECKPOINT'])).id, 'confirm');
  await site.openCard(paid, ['APPROVE_COST']);
  const { works } = (await site.api(status, { id: made })).node;
  return { made, looked, paid, filmBoard: works.find(({ work }) => work.kind === 'STORYBOARD').work.id };
}

async function memoriesOf(site, workspaceId, { memories: [preference, fact, shared], correction }) {
  await site.remember(workspaceId, preference, { kind: 'PREFERENCE' });
  const id = await site.remember(workspaceId, fact, { scope: 'WORKSPACE' });
  await site.remember(workspaceId, shared, { scope: 'WORKSPACE' });
  const correct = 'mutation M($input: CorrectMemoryInput!) { correctMemory(input: $input) { memory { id } } }';
  await site.api(correct, { input: { memoryId: id, content: correction } });
}

export async function furnish(site, language) {
  const words = WORDS[language];
  const workspaceId = await site.makeWorkspace(words.room);
  const post = 'mutation M($input: PostMessageInput!) { postMessage(input: $input) { message { id } } }';
  for (const text of [words.question, words.say]) await site.api(post, { input: { workspaceId, text } });
  const works = await worksOf(site, workspaceId, words.texts);
  const films = await filmsOf(site, workspaceId, words);
  await memoriesOf(site, workspaceId, words);
  await site.api(post, { input: { workspaceId, text: words.board } });
  const read = 'query Q($id: ID!) { workspace(id: $id) { openCards { task { id title works { work { id } } } } } }';
  const others = [films.looked, films.paid];
  let task = null;
  await until(async () => {
    const cards = (await site.api(read, { id: workspaceId })).workspace.openCards;
    task = cards.find((card) => card.task && !others.includes(card.task.id) && card.task.works.length > 0)?.task ?? null;
    return task !== null;
  }, true);
  return { workspaceId, taskId: task.id, board: task.works[0].work.id, ...works, ...films };
}
