/** Speech by Grok: OpenAI's request under the vendor's own names. */
import { expect, test } from 'vitest'
import type { JsonObject } from '../../core/json.ts'
import { xaiSpeech } from './speech.ts'

const { rewrite } = xaiSpeech

test.each<[string, JsonObject, JsonObject, readonly string[]]>([
  ['a voice by its name', { voice: 'eve' }, { voice_id: 'eve' }, []],
  ['a voice by its id', { voice: { id: 'eve' } }, { voice_id: 'eve' }, []],
  ['its own name of a voice', { voice: 'alloy', voice_id: 'ara' }, { voice_id: 'ara' }, []],
  ['a format', { response_format: 'wav' }, { output_format: { codec: 'wav' } }, []],
  [
    'its own format and language',
    { output_format: { codec: 'mulaw', sample_rate: 8_000 }, language: 'en' },
    { output_format: { codec: 'mulaw', sample_rate: 8_000 }, language: 'en' },
    [],
  ],
  ['a speed', { speed: 1.2 }, { speed: 1.2 }, []],
  ['what it has no place for', { instructions: 'gently', user: 'u' }, {}, ['instructions', 'user']],
])('%s', (_what, asked, members, dropped) => {
  expect(rewrite?.request({ model: 'grok-tts', input: 'Hi', ...asked })).toEqual({
    body: { text: 'Hi', language: 'auto', output_format: { codec: 'mp3' }, ...members },
    dropped,
    context: {},
  })
})

test.each<[string, JsonObject, string | undefined]>([
  ['no format', {}, undefined],
  ['a format that it has', { response_format: 'pcm' }, undefined],
  ['a format that it lacks', { response_format: 'opus' }, 'response_format: '],
  ['events', { stream_format: 'sse' }, 'stream_format: '],
  ['bytes as they are made', { stream_format: 'audio' }, undefined],
])('asked for %s', (_what, body, said) => {
  const why = rewrite?.refuses?.(body, { files: [], soundSeconds: 0 })
  expect(why?.slice(0, said?.length)).toBe(said)
})
