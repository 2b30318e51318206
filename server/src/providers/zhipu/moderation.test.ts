/** Moderation by Zhipu: one input a call, and its findings as OpenAI's clients read them. */
import { expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../core/json.ts'
import { zhipuModeration } from './moderation.ts'

const { rewrite } = zhipuModeration

test.each<[string, JsonValue, JsonValue]>([
  ['a text', 'Hi', 'Hi'],
  ['a list of one text', ['Hi'], 'Hi'],
  ['a text in an object', [{ type: 'text', text: 'Hi' }], 'Hi'],
  [
    'a picture by its address',
    [{ type: 'image_url', image_url: { url: 'https://p/1' } }],
    { type: 'image', url: 'https://p/1' },
  ],
])('%s is sent as the vendor takes it', (_what, input, sent) => {
  expect(rewrite?.refuses?.({ input }, { files: [], soundSeconds: 0 })).toBeUndefined()
  expect(rewrite?.request({ model: 'm', input, user: 'u' })).toEqual({
    body: { model: 'm', input: sent },
    dropped: ['user'],
    context: {},
  })
})

test.each<[string, JsonObject]>([
  ['two texts', { input: ['one', 'two'] }],
  [
    'a text and a picture',
    {
      input: [
        { type: 'text', text: 'x' },
        { type: 'image_url', image_url: { url: 'y' } },
      ],
    },
  ],
  ['nothing', {}],
  ['an empty list', { input: [] }],
  ['a number', { input: [7] }],
  ['a picture without an address', { input: [{ type: 'image_url', image_url: {} }] }],
])('%s are left to another vendor', (_what, body) => {
  expect(rewrite?.refuses?.(body, { files: [], soundSeconds: 0 })).toContain('one text or one picture')
})

const finding = (level: string | null, ...types: string[]) => ({
  content_type: 'text',
  risk_level: level,
  risk_type: types,
})

test.each<[string, readonly JsonValue[], boolean, readonly string[]]>([
  ['nothing against it', [finding('PASS')], false, []],
  ['a risk', [finding('REJECT', 'porn_porn')], true, ['porn_porn']],
  ['a doubt', [finding('PASS', 'normal'), finding('REVIEW', 'ad', 'ad', 'spam')], true, ['ad', 'spam']],
  ['a level that is missing', [finding(null)], true, []],
  ['no findings at all', [], false, []],
])('%s: %#', (_what, found, flagged, names) => {
  const results = rewrite?.answer(
    { id: 'i', result_list: found, usage: { moderation_text: { call_count: 1 } } },
    {},
  )
  expect(results).toMatchObject({
    id: 'i',
    results: [
      {
        flagged,
        categories: Object.fromEntries(names.map((name) => [name, true])),
        result_list: found,
      },
    ],
    usage: { moderation_text: { call_count: 1 } },
  })
})

test('a document without findings is no answer', () => {
  expect(rewrite?.answer({ error: { code: '1301', message: 'no' } }, {})).toBeUndefined()
})
