/** Transcription by OpenRouter: the sound in base64 in a document, and its text in the format that the client asked for. */
import { expect, test } from 'vitest'
import type { JsonObject } from '../../core/json.ts'
import { openrouterTranscription } from './transcription.ts'

const { rewrite, paths } = openrouterTranscription
/** The beginning of a file in WAV. */
const WAV = Buffer.from('RIFF\0\0\0\0WAVEfmt ')
const sent = (bytes: Uint8Array = WAV) => ({
  files: [{ name: 'file', size: bytes.length, bytes: () => bytes }],
  soundSeconds: 2,
})

test.each<[string, JsonObject, JsonObject, readonly string[]]>([
  ['the sound alone', {}, {}, []],
  [
    'a language and a temperature',
    { language: 'en', temperature: '0.2' },
    { language: 'en', temperature: 0.2 },
    [],
  ],
  ['a temperature that is no number', { temperature: 'warm' }, {}, []],
  ['a format of the answer, which is made here', { response_format: 'text' }, {}, []],
  ['what it has no place for', { prompt: 'names', user: 'u' }, {}, ['prompt', 'user']],
])('%s', (_what, fields, members, dropped) => {
  const rewritten = rewrite?.request({ model: 'a/b', ...fields }, sent())
  expect(rewritten?.body).toEqual({
    model: 'a/b',
    input_audio: { data: WAV.toString('base64'), format: 'wav' },
    ...members,
  })
  expect(rewritten?.dropped).toEqual(dropped)
})

test('sound of a kind that is not known is left to the vendor to refuse', () => {
  const bytes = Buffer.from('no sound at all')
  expect(rewrite?.request({ model: 'a/b' }, sent(bytes)).body).toMatchObject({
    input_audio: { data: bytes.toString('base64'), format: 'wav' },
  })
})

test.each<[string, JsonObject, string | undefined]>([
  ['json', { text: 'Hello' }, '{"text":"Hello","usage":{"type":"duration","seconds":2}}'],
  ['text', { text: 'Hello' }, 'Hello\n'],
  ['json', { error: { message: 'no' } }, undefined],
])('an answer as %s', (format, body, told) => {
  const { context = {} } = rewrite?.request({ model: 'a/b', response_format: format }, sent()) ?? {}
  const sound = rewrite?.sound?.(body, context)
  expect(sound === undefined ? undefined : Buffer.from(sound.bytes).toString()).toBe(told)
})

test('seconds and costs that it reports are not read; tokens are', () => {
  expect(rewrite?.answer({ text: 'Hello', usage: { seconds: 1e9, cost: 1 } }, {})).toEqual({})
  expect(
    rewrite?.answer({ text: 'Hello', usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 } }, {}),
  ).toMatchObject({ usage: { input_tokens: 3, output_tokens: 2 } })
})

test('it translates nothing', () => {
  expect(paths).toEqual(['/v1/audio/transcriptions'])
})
