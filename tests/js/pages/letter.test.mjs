import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFileSync } from 'node:fs';
import { createSay } from '../../../extension_js/src/base/strings.js';
import { letterLines, quoted } from '../../../extension_js/src/pages/letter.js';
import { settle } from '../tavern.mjs';
import { ENGLISH, say } from '../texts.mjs';
import { memory, memoryWindow } from './window.mjs';

const thing = (/** @type {object} */ about) => ({
    id: 'k1',
    kind: /** @type {const} */ ('promise'),
    about: 'Alice',
    speaker: 'Alice',
    quote: 'I will mend the roof.',
    memory: 'm7',
    said_at: '2026-01-02T12:00:00Z',
    location: null,
    until: null,
    ...about,
});
const PARTS = {
    who: 'Mira',
    you: 'Alice',
    since: '1 January 2026',
    memories: 38,
    known: [
        thing({}),
        thing({ kind: 'fact', quote: 'I cannot swim.', location: 'the pier' }),
        thing({ kind: 'fact', quote: 'I live in Tarn.', until: '2026-01-05T00:00:00Z' }),
    ],
    own: [thing({ quote: 'I will not tell Marta.' })],
    dear: ['Alice: I came back.'],
    fading: [],
    felt: { label: 'joy', intensity: 0.7 },
};

test('a letter tells what is known and promised, with day and place, and nothing that is past', () => {
    assert.deepEqual(letterLines(PARTS, say, 'en-GB'), [
        'Dear Alice,',
        'You ask what I remember of you. Since 1 January 2026 I have kept 38 memories.',
        'This I know of you:',
        '“I cannot swim.” (2 January 2026, the pier)',
        'This you promised:',
        '“I will mend the roof.” (2 January 2026)',
        'This I promised:',
        '“I will not tell Marta.” (2 January 2026)',
        'This weighs most with me:',
        'Alice: “I came back.”',
        'This I felt last: joy, strongly.',
        'Ask me again. I would rather remember it with you.',
        'Mira',
    ]);
});

test('a letter is Chinese in a Chinese page', () => {
    const address = new URL('../../../extension_js/i18n/zh-cn.json', import.meta.url);
    const chinese = JSON.parse(readFileSync(address, 'utf8'));
    const sayChinese = createSay(ENGLISH, (english, key) => (key && chinese[key]) ?? english);
    const lines = letterLines(PARTS, sayChinese, 'zh-CN');
    assert.equal(lines[0], '亲爱的Alice：');
    assert.equal(lines[3], '“I cannot swim.”（2026年1月2日，the pier）');
    assert.equal(lines.at(-2), '下次再问我吧，我更愿意和你一起回想。');
});

test('the button shows the letter, which is saved as a file; where copying is refused it says so', async () => {
    const { openPage, page, shown, take } = await memoryWindow({
        answers: {
            'GET /overview': { memories: 38, permanent: 0, today: 0, habits: 0, felt: null },
            'GET /people': { people: [] },
            'GET /souls/s1/known': { known: [thing({})], cursor: null },
            'GET /fading': { memories: [], cursor: null },
            'GET /memories': { memories: [memory({ text: 'The oak fell.' })], cursor: null },
            'GET /souls/s1': { id: 's1', name: 'Mira', config: {} },
        },
    });
    await openPage('her');
    take('GET /souls/s1/known');
    await page.get('#soulmem_letter').click();
    await settle();
    const asked = take('GET /souls/s1/known').map(({ query }) => [query.get('about'), query.get('kind')]);
    assert.deepEqual(asked, [['Alice', null], ['Mira', 'promise']]);
    const letter = page.get('#soulmem_letter_page').textContent;
    assert.ok(letter.includes('“I will mend the roof.”') && letter.includes('The oak fell.'));
    await page.get('#soulmem_letter_copy').click();
    await settle();
    assert.equal(shown.toasts.at(-1)?.[1], say('letter_not_copied'));
    await page.get('#soulmem_letter_save').click();
    const [[name, content]] = shown.downloads;
    assert.equal(name, 'SoulMem - Mira.txt');
    assert.ok((await content.text()).startsWith('Dear Alice,'));
});

test('a memory is quoted without gestures, without who writes, and with one pair of marks', () => {
    const names = ['Mira', 'Alice'];
    assert.equal(quoted('Mira: "A whistle!" *She turns.*', names), '"A whistle!" She turns.');
    assert.equal(quoted('Mira: A whistle!', names), '“A whistle!”');
    assert.equal(quoted('Alice: *nods* Yes.', names), 'Alice: “nods Yes.”');
    assert.equal(quoted('One thing: I stay.', names), '“One thing: I stay.”');
});
