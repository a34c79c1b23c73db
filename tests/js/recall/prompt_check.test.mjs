import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPromptCheck } from '../../../extension_js/src/recall/prompt_check.js';

test('the last line that was injected is looked for, once', () => {
    const check = createPromptCheck(() => 'auto');
    const nowhere = () => assert.fail('no macro was to place it');
    assert.equal(check.check('a prompt', nowhere), false, 'nothing to look for');
    check.expect({ episodes: 'Memories:\nThe key hangs. ' });
    assert.equal(check.check('Memories: The key hangs. And so on.', nowhere), true);
    assert.equal(check.isMissing(), false);
    check.expect({ episodes: 'Memories:\nThe key hangs.' });
    assert.equal(check.check('Memories: nothing', nowhere), true);
    assert.equal(check.isMissing(), true);
    assert.equal(check.check('Memories: nothing', nowhere), false);
    assert.equal(check.isMissing(), true, 'as before');
    check.expect({});
    assert.equal(check.check('anything', nowhere), false);
});

test('where macros were to place it, the sections that the prompt lacks are told', () => {
    const check = createPromptCheck(() => 'macro');
    const lacking = /** @type {string[][]} */ ([]);
    const texts = { facts: 'Knows:\nThe key hangs.', episodes: 'Recalls:\nThe mill burnt.' };
    check.expect(texts);
    assert.equal(
        check.check('nothing', sections => lacking.push(sections)),
        true,
    );
    check.expect(texts);
    check.check('The key hangs.', sections => lacking.push(sections));
    check.expect(texts);
    check.check('The key hangs. The mill burnt.', sections => lacking.push(sections));
    assert.deepEqual(lacking, [['facts', 'episodes'], ['episodes']]);
    assert.equal(check.isNowhere(), false);
    assert.equal(check.isMissing(), false);
});

test('nowhere is known until a prompt has something of it, or the user places memories elsewhere', () => {
    let position = /** @type {import('../../../extension_js/src/base/types.js').Position} */ ('macro');
    const check = createPromptCheck(() => position);
    const lacks = () => {};
    check.expect({ facts: 'Knows:\nThe key hangs.', episodes: 'Recalls:\nThe mill burnt.' });
    check.check('nothing', lacks);
    assert.equal(check.isNowhere(), true);
    assert.equal(check.isMissing(), false);
    position = 'auto';
    assert.equal(check.isNowhere(), false);
    position = 'macro';
    check.expect({ facts: 'Knows:\nThe key hangs.', episodes: 'Recalls:\nThe mill burnt.' });
    check.check('The mill burnt.', lacks);
    assert.equal(check.isNowhere(), false, 'some of it is placed');
});
