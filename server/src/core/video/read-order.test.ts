import { describe, expect, test } from 'vitest'
import { fieldsOfChat } from './chat-order.ts'
import { fieldsOfParts, type FormFields } from './form.ts'
import { type ReadOrder, declaredSeconds, orderSeconds, readOrder } from './read-order.ts'

const decode = (text: string): Uint8Array | undefined =>
  /^[A-Za-z0-9+/]+=*$/.test(text) ? Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0)) : undefined
const ORDER = { model: 'm', prompt: 'a cat' }

function request(fields: FormFields) {
  const read = readOrder({ ...ORDER, ...fields }, decode)
  if (read.kind === 'refused') throw new Error(read.message)
  return read.order.request
}

describe('names of a form', () => {
  const part = (name: string, value = 'x') => ({ name, value })
  test.each([
    ['a plain one', [part('a')], { a: 'x' }],
    ['an object', [part('a[b]'), part('a[c]', 'y')], { a: { b: 'x', c: 'y' } }],
    ['an array', [part('a[]'), part('a[]', 'y')], { a: ['x', 'y'] }],
    ['an array by its places', [part('a[1]', 'y'), part('a[0]')], { a: ['x', 'y'] }],
    ['an array of objects', [part('a[0][b]'), part('a[1][b]', 'y')], { a: [{ b: 'x' }, { b: 'y' }] }],
    ['one that comes twice', [part('a'), part('a', 'y')], { a: ['x', 'y'] }],
    ['brackets that do not fit', [part('a[b'), part('c]d')], { 'a[b': 'x', 'c]d': 'x' }],
    ['a name of the language', [part('__proto__[polluted]')], { ['__proto__']: { polluted: 'x' } }],
  ])('%s', (_name, parts, expected) => {
    const fields = fieldsOfParts(parts)
    expect(JSON.stringify(fields)).toBe(JSON.stringify(expected))
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })
})

describe('an order', () => {
  test.each<[name: string, fields: FormFields, expected: Partial<ReadOrder>]>([
    ['without anything', {}, { kind: 'refused', code: 40000 }],
    ['without a prompt', { model: 'm' }, { kind: 'refused', code: 40000 }],
    ['without a model', { prompt: 'a cat' }, { kind: 'refused', code: 40002 }],
    ['whose model is no text', { prompt: 'a cat', model: { id: 'm' } }, { kind: 'refused', code: 40002 }],
    ['with both', ORDER, { kind: 'order' }],
  ])('%s', (_name, fields, expected) => {
    expect(readOrder(fields, decode)).toMatchObject(expected)
  })

  test.each([
    ['seconds', { seconds: 8 }, { seconds: '8' }],
    ['their other names, after the first', { duration: '5', seconds: '8' }, { seconds: '8' }],
    ['a size', { size: '1280X720' }, { size: { width: 1280, height: 720 } }],
    ['a ratio by any name', { aspectRatio: '16:9' }, { ratio: '16:9' }],
    ['what is not wanted', { negativePrompt: 'dogs' }, { negativePrompt: 'dogs' }],
    ['a flag as a form has it', { sound: 'off' }, { generateAudio: false }],
    ['a flag as JSON has it', { watermark: true }, { watermark: true }],
    ['a seed as a form has it', { seed: '42' }, { seed: 42 }],
    [
      'addresses, one or many',
      { reference_videos: 'https://a.example/v' },
      { referenceVideos: ['https://a.example/v'] },
    ],
    ['no addresses inside', { reference_audios: ['file:///etc/passwd'] }, { referenceAudios: [] }],
    ['what nobody knows', { style: { name: 'noir' }, n2: 2 }, { extras: { style: { name: 'noir' }, n2: 2 } }],
    [
      'a known name with a vendor’s own value',
      { audio: { voice: 'x' } },
      { extras: { audio: { voice: 'x' } }, generateAudio: undefined },
    ],
    [
      'nothing that routes or reports',
      { stream: true, webhook: 'https://x.example', n: 3, user: 'u' },
      { extras: {} },
    ],
  ])('holds %s', (_name, fields, expected) => {
    expect(request(fields as FormFields)).toMatchObject(expected)
  })

  test('says what it withheld', () => {
    const read = readOrder({ ...ORDER, callback_url: 'https://x.example', off_peak: true }, decode)
    expect(read.kind === 'order' && read.order.dropped).toEqual(['callback_url', 'off_peak'])
  })
})

test.each([
  'Seconds',
  'seconds ',
  'DURATION',
  'n_seconds',
  'video-length',
  'Model',
  'model_name',
  'N',
  'n_variants',
  'numberOfVideos',
  'sampleCount',
  'num frames',
  'Ｓize',
  'Resolution',
])('%j is withheld and named: an upstream may take it for what is billed', (name) => {
  const read = readOrder({ ...ORDER, seconds: '4', [name]: '60' }, decode)
  if (read.kind === 'refused') throw new Error(read.message)
  expect(read.order.dropped).toEqual([name])
  expect(read.order.request).toMatchObject({ seconds: '4', extras: {} })
})

describe('a chat call as an order', () => {
  const user = (content: unknown) => ({ role: 'user', content })
  test.each([
    ['text', [user('a cat')], 'a cat'],
    ['the last user message', [user('a dog'), { role: 'assistant', content: 'ok' }, user('a cat')], 'a cat'],
    [
      'all its text',
      [
        user([
          { type: 'text', text: 'a' },
          { type: 'text', text: 'cat' },
        ]),
      ],
      'a\ncat',
    ],
    ['nothing', [], undefined],
  ])('%s', (_name, messages, prompt) => {
    expect(fieldsOfChat({ model: 'm', messages: messages as never })['prompt']).toBe(prompt)
  })

  test('settings of a conversation are no fields of an order', () => {
    const fields = fieldsOfChat({
      model: 'm',
      messages: [],
      temperature: 1,
      tools: [],
      duration: 5,
      style: 'noir',
    })
    expect(Object.keys(fields).sort()).toEqual(['duration', 'model', 'prompt', 'style'])
  })
})

describe('declared seconds', () => {
  test.each([
    ['5', 5],
    ['7.5', 7.5],
    ['0', undefined],
    ['-1', undefined],
    ['8s', undefined],
    ['1', 1],
    ['0.999999', undefined],
    ['0.000001', undefined],
    ['1e3', 1_000],
    ['+4', 4],
    ['1_2', 12],
    ['0x10', 16],
    ['１２', 12],
    ['1.1', 1.1],
    ['4.0000001', 4],
    ['1.2.3', undefined],
    ['Infinity', undefined],
    ['1e99', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('%s is %s', (text, seconds) => {
    expect(declaredSeconds(text)).toBe(seconds)
  })

  test.each([
    [
      'absent: billed, shown and sent as the default [D-video-18] [D-video-19]',
      undefined,
      { billed: 6, shown: '6', sent: 6 },
    ],
    ['declared: billed, shown and sent as they are', '9', { billed: 9, shown: '9', sent: 9 }],
    [
      'no number: sent as they are, billed at the default [D-video-20] [D-video-21]',
      'long',
      { billed: 6, shown: '6', sent: undefined },
    ],
    [
      'left to the vendor: the default, so that price and video agree',
      '-1',
      { billed: 6, shown: '6', sent: 6 },
    ],
  ])('%s', (_name, text, expected) => {
    expect(orderSeconds(text, 6)).toEqual(expected)
  })
})
