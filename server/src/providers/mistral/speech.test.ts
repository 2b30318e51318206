/** Speech by Mistral: a voice by its id, and samples of four bytes that become two. */
import { expect, test } from 'vitest'
import type { JsonObject } from '../../core/json.ts'
import { mistralSpeech } from './speech.ts'

const { rewrite } = mistralSpeech

test.each<[string, JsonObject, JsonObject, readonly string[]]>([
  ['a voice by its name', { voice: 'jane' }, { voice_id: 'jane' }, []],
  ['a voice by its id', { voice: { id: 'jane' } }, { voice_id: 'jane' }, []],
  ['its own name of a voice', { voice: 'alloy', voice_id: 'jane' }, { voice_id: 'jane' }, []],
  ['a recording to speak like', { ref_audio: 'AAAA' }, { ref_audio: 'AAAA' }, []],
  [
    'what it has no place for',
    { voice: 'jane', instructions: 'gently', speed: 1.2, stream: true },
    { voice_id: 'jane' },
    ['instructions', 'speed', 'stream'],
  ],
])('%s', (_what, asked, members, dropped) => {
  expect(rewrite?.request({ model: 'm', input: 'Hi', ...asked })).toEqual({
    body: { model: 'm', input: 'Hi', ...members, response_format: 'mp3', stream: false },
    dropped,
    context: { format: 'mp3', events: false },
  })
})

const sound = (bytes: Buffer, format: string | null) =>
  rewrite?.sound?.({ audio_data: bytes.toString('base64') }, { format, events: false })

test.each([
  ['mp3', 'audio/mpeg'],
  ['wav', 'audio/wav'],
  ['flac', 'audio/flac'],
  ['opus', 'audio/opus'],
  ['constructor', 'application/octet-stream'],
  [null, 'application/octet-stream'],
])('the format %s is %s', (format, type) => {
  const bytes = Buffer.from([1, 2, 3])
  const made = sound(bytes, format)
  expect([made?.type, Buffer.from(made?.bytes ?? [])]).toEqual([type, bytes])
})

test('samples are whole numbers of two bytes, and none is louder than can be', () => {
  const fractions = [0, 1, -1, 0.5, 7, -7, Number.NaN]
  const given = Buffer.alloc(fractions.length * 4)
  for (const [at, fraction] of fractions.entries()) given.writeFloatLE(fraction, at * 4)
  const made = sound(given, 'pcm')
  const bytes = Buffer.from(made?.bytes ?? [])
  expect(made?.type).toBe('audio/pcm')
  expect(fractions.map((_one, at) => bytes.readInt16LE(at * 2))).toEqual([
    0, 32_767, -32_767, 16_384, 32_767, -32_767, 0,
  ])
  expect(sound(given.subarray(1), 'pcm')).toBeUndefined()
})
