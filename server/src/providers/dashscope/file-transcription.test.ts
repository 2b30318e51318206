import { describe, expect, test } from 'vitest'
import { forwardModelId } from '../../core/ids.ts'
import type { JsonObject } from '../../core/json.ts'
import { fileBody, fileErrorIn, fileTasks, heardInFile, isOfFiles } from './file-transcription.ts'
import { dashscopeTranscription } from './transcription.ts'
import { placeIn } from './uploads.ts'

const BASE = 'https://dashscope.aliyuncs.com/compatible-mode/v1'
const OF_TASKS = 'https://dashscope.aliyuncs.com/api/v1/services/audio/asr/transcription'
const AT_ONCE = 'https://dashscope.aliyuncs.com/api/v1/services/aigc/multimodal-generation/generation'

test.each<[string, string | undefined]>([
  ['paraformer-v2', OF_TASKS],
  ['paraformer-8k-v1', OF_TASKS],
  ['paraformer-mtl-v1', OF_TASKS],
  ['fun-asr', OF_TASKS],
  ['fun-asr-2025-11-07', OF_TASKS],
  ['fun-asr-mtl', OF_TASKS],
  ['sensevoice-v1', OF_TASKS],
  ['qwen3-asr-flash-filetrans', OF_TASKS],
  ['qwen3-asr-flash-filetrans-2025-11-17', OF_TASKS],
  ['qwen-audio-3.1-asr-flash-filetrans', OF_TASKS],
  ['fun-asr-flash-2026-06-15', AT_ONCE],
  ['qwen3-asr-flash', AT_ONCE],
  ['qwen-audio-asr', AT_ONCE],
  ['paraformer-realtime-v2', undefined],
  ['fun-asr-realtime', undefined],
  ['fun-asr-flash-streaming', undefined],
])('%s is asked at %s', (model, url) => {
  const forwardModel = forwardModelId(model)
  const formed = dashscopeTranscription.form({
    baseUrl: BASE,
    forwardModelId: forwardModel,
    operation: 'generate',
    fields: {},
  })
  expect(formed?.url).toBe(url)
  if (url !== undefined) expect(isOfFiles(model)).toBe(url === OF_TASKS)
})

test('the host of another region is asked for a place there', () => {
  const asked = dashscopeTranscription.uploads?.ask({
    baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    forwardModelId: forwardModelId('fun-asr'),
  })
  expect(asked?.url).toBe('https://dashscope-intl.aliyuncs.com/api/v1/uploads?action=getPolicy&model=fun-asr')
})

const GRANT: JsonObject = {
  upload_host: 'https://store.example',
  upload_dir: 'd',
  policy: 'p',
  signature: 's',
  oss_access_key_id: 'i',
  x_oss_object_acl: 'private',
  x_oss_forbid_overwrite: 'true',
}
const file = (beginning: string, size = 4) => ({
  id: 'call1',
  size,
  beginning: Buffer.from(beginning, 'latin1'),
})

describe('a place', () => {
  test.each([
    ['RIFF', 'call1.wav'],
    ['fLaC', 'call1.flac'],
    ['OggS', 'call1.ogg'],
    ['\u0000\u0000\u0000\u0020ftypM4A ', 'call1.m4a'],
    ['nothing known', 'call1'],
    ['', 'call1'],
  ])('of a file that begins %j is named %s', (beginning, name) => {
    expect(placeIn({ data: GRANT }, file(beginning))).toMatchObject({
      kind: 'open',
      fileName: name,
      address: `oss://d/${name}`,
      fields: { key: `d/${name}` },
    })
  })

  test.each(Object.keys(GRANT))('without %s is none', (name) => {
    expect(placeIn({ data: { ...GRANT, [name]: null } }, file(''))).toBeUndefined()
  })

  test.each([null, [], 'x', 7])('%j is none', (data) => {
    expect(placeIn({ data }, file(''))).toBeUndefined()
  })

  test.each([
    [1_048_576, 'open'],
    [1_048_577, 'closed'],
  ])('of one mebibyte for a file of %d bytes is %s', (size, kind) => {
    expect(placeIn({ data: { ...GRANT, max_file_size_mb: 1 } }, file('', size))?.kind).toBe(kind)
  })
})

describe('a task', () => {
  const order = { output: { task_id: 't', task_status: 'PENDING' } }
  const read = (output: JsonObject, first: JsonObject | undefined = order) =>
    fileTasks.read(
      { body: { output }, order: first, asked: undefined },
      { baseUrl: BASE, forwardModelId: forwardModelId('fun-asr') },
    )
  const poll = { url: 'https://dashscope.aliyuncs.com/api/v1/tasks/t', headers: {} }
  const link = { transcription_url: 'https://r.example/1' }

  test.each<[string, JsonObject, unknown]>([
    ['that waits is asked for', { task_status: 'PENDING' }, poll],
    ['that runs is asked for', { task_status: 'RUNNING' }, poll],
    [
      'that has ended tells where its text lies',
      { task_status: 'SUCCEEDED', results: [link] },
      { result: link.transcription_url },
    ],
    [
      'of Qwen tells it elsewhere',
      { task_status: 'SUCCEEDED', result: link },
      { result: link.transcription_url },
    ],
    ['without a text is over', { task_status: 'SUCCEEDED', results: [] }, 'over'],
    [
      'whose address is none is over',
      { task_status: 'SUCCEEDED', results: [{ transcription_url: 7 }] },
      'over',
    ],
    ['that failed is over', { task_status: 'FAILED', code: 'x' }, 'over'],
    ['that was cancelled is over', { task_status: 'CANCELED' }, 'over'],
    ['that nobody knows says nothing', { task_status: 'UNKNOWN' }, 'unclear'],
    ['whose state is a riddle says nothing', { task_status: 7, results: [link] }, 'unclear'],
  ])('%s', (_what, output, step) => {
    expect(read(output)).toEqual(step)
  })

  test('whose id holds a path is asked for by it all the same', () => {
    const step = fileTasks.read(
      {
        body: { output: { task_id: '../../v1/keys?x', task_status: 'PENDING' } },
        order: undefined,
        asked: undefined,
      },
      { baseUrl: BASE, forwardModelId: forwardModelId('fun-asr') },
    )
    expect(step).toEqual({
      url: 'https://dashscope.aliyuncs.com/api/v1/tasks/..%2F..%2Fv1%2Fkeys%3Fx',
      headers: {},
    })
  })

  test.each<[string, JsonObject, unknown]>([
    ['says why', { output: { task_status: 'FAILED', code: 'A', message: 'b' } }, { code: 'A', message: 'b' }],
    [
      'says why of its file',
      {
        output: {
          task_status: 'SUCCEEDED',
          results: [{ subtask_status: 'FAILED', code: 'A', message: 'b' }],
        },
      },
      { code: 'A', message: 'b' },
    ],
    [
      'of Qwen says why',
      { output: { task_status: 'FAILED', result: { code: 'A' } } },
      { code: 'A', message: 'A' },
    ],
    ['says nothing', { output: { task_status: 'FAILED' } }, { code: 'FAILED', message: 'FAILED' }],
    [
      'heard nobody speak',
      { output: { task_status: 'FAILED', results: [{ code: 'SUCCESS_WITH_NO_VALID_FRAGMENT' }] } },
      undefined,
    ],
    [
      'has not failed',
      { output: { task_status: 'SUCCEEDED', results: [{ subtask_status: 'SUCCEEDED' }] } },
      undefined,
    ],
  ])('that %s', (_what, body, error) => {
    expect(fileErrorIn(body)).toEqual(error)
  })
})

describe('what was heard', () => {
  const plain = { words: false, marks: false }

  test.each<[string, JsonObject]>([
    ['a document of another kind', { a: 1 }],
    ['no list', { transcripts: 'x' }],
    ['a text that is none', { transcripts: [{ text: 7 }] }],
    ['a task', { output: { task_status: 'SUCCEEDED' } }],
  ])('is not known by %s', (_what, body) => {
    expect(heardInFile(body, plain)).toBeUndefined()
  })

  test('of several channels is put together', () => {
    const transcripts = [
      { text: 'a' },
      { text: 'b', sentences: [{ text: 'b', begin_time: 1_500, end_time: 2_000, language: 'en' }] },
    ]
    expect(heardInFile({ transcripts }, plain)).toEqual({
      text: 'a\nb',
      language: 'en',
      segments: [{ text: 'b', start: 1.5, end: 2 }],
    })
  })

  test('leaves out times that are none', () => {
    const sentences = [{ text: 'a' }, { text: 'b', begin_time: '1', end_time: 2 }, 7, null]
    expect(heardInFile({ transcripts: [{ text: 'x', sentences }] }, plain)).toMatchObject({
      text: 'x',
      segments: [],
    })
  })

  test('keeps what looks like a mark where the model makes none', () => {
    expect(heardInFile({ transcripts: [{ text: 'a <|b|>' }] }, plain)?.text).toBe('a <|b|>')
  })
})

test('a language is only said to models that take one', () => {
  const asked = { language: 'zh', itn: undefined, words: false }
  expect(fileBody({ model: 'paraformer-v2', ...asked }).members['parameters']).toEqual({
    channel_id: [0],
    language_hints: ['zh'],
  })
  expect(fileBody({ model: 'paraformer-8k-v2', ...asked })).toEqual({
    members: { input: {}, parameters: { channel_id: [0] } },
    dropped: ['language'],
  })
})
