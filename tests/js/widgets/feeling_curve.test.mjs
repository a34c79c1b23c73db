import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settle } from '../tavern.mjs';
import { memoryWindow } from '../pages/window.mjs';

const stretch = (/** @type {number} */ day, /** @type {number} */ balance, /** @type {any} */ feeling) => ({
    from: `2026-03-${day}T10:00:00Z`,
    to: `2026-03-${day}T12:00:00Z`,
    balance,
    feeling,
    memory: feeling && `m${day}`,
});
const JOY = { label: 'joy', intensity: 0.5 };
const FEAR = { label: 'fear', intensity: 0.7 };
const OVERVIEW = { memories: 3, permanent: 0, today: 0, habits: 0, felt: null };

/** @param {any[]} stretches */
async function curveOf(stretches) {
    const scene = await memoryWindow({
        answers: {
            'GET /overview': OVERVIEW,
            'GET /people': { people: [] },
            'GET /fading': { memories: [], cursor: null },
            'GET /souls/s1': { id: 's1', name: 'Mira', config: { forgetting: 1, fades: true } },
            'GET /feelings': { stretches },
        },
    });
    await scene.openPage('her');
    const line = scene.page.body.querySelectorAll('.soulmem_curve_line')[0];
    const heights = line?.getAttribute('points')?.split(' ').map(point => Number(point.split(',')[1]));
    return { ...scene, heights };
}

test('the curve rises with what is pleasant and falls with what is not', async () => {
    const { heights, page } = await curveOf([
        stretch(10, 0.5, JOY),
        stretch(11, 0, null),
        stretch(12, -0.25, FEAR),
    ]);
    const [joy, calm, fear] = heights ?? [];
    assert.ok(joy < calm && calm < fear, 'a picture counts from its top');
    assert.ok(Math.abs(calm - joy - 2 * (fear - calm)) < 0.2, 'half as strong is half as far');
    const label = page.get('.soulmem_curve svg').getAttribute('aria-label') ?? '';
    assert.match(label, /Most pleasant: .*10.*, joy\. Most unpleasant: .*12.*, fear, strongly\./);
});

test('the list says the same, and leads to the scene in which a feeling was strongest', async () => {
    const { page, texts, take } = await curveOf([stretch(10, 0.5, JOY), stretch(12, -0.5, FEAR)]);
    const rows = texts('.soulmem_felt');
    assert.equal(rows.length, 2);
    assert.match(rows[0], /10.*: joy$/);
    await page.body.querySelectorAll('.soulmem_felt .soulmem_press')[1].click();
    await settle();
    assert.ok(take('GET /memories/m12'));
    assert.equal(page.get('#soulmem_tab_memories').getAttribute('aria-selected'), 'true');
});

test('stretches that say the same are one line of the list', async () => {
    const { texts } = await curveOf([
        stretch(10, 0.5, JOY),
        stretch(11, 0.4, JOY),
        stretch(12, -0.5, FEAR),
        stretch(13, 0.5, JOY),
    ]);
    const rows = texts('.soulmem_felt');
    assert.equal(rows.length, 3);
    assert.match(rows[0], /10.*11.*: joy$/);
});

test('surprise alone is told in words, on a flat line', async () => {
    const { heights, texts } = await curveOf([
        stretch(10, 0, { label: 'surprise', intensity: 0.2 }),
        stretch(11, 0, null),
    ]);
    assert.equal(new Set(heights).size, 1);
    assert.match(texts('.soulmem_felt')[0], /surprise, a little$/);
});

test('without a feeling, or of a single scene, there is no curve', async () => {
    for (const stretches of [[], [stretch(10, 0.5, JOY)], [stretch(10, 0, null), stretch(11, 0, null)]]) {
        const { heights, texts } = await curveOf(stretches);
        assert.equal(heights, undefined);
        assert.ok(!texts('#soulmem_her_curve').join('').includes('over time'));
    }
});
