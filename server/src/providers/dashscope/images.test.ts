/** Pictures by Model Studio: at once by newer models, as a task by older ones. */
import { describe, expect, test } from 'vitest'
import { forwardModelId } from '../../core/ids.ts'
import type { JsonObject } from '../../core/json.ts'
import { dashscopeImages } from './images.ts'

const BASE = 'https://dashscope.aliyuncs.com/compatible-mode/v1'
const OWN = 'https://dashscope.aliyuncs.com/api/v1'
const ASKED = {
  prompt: 'red',
  n: 2,
  size: '1024x768',
  negative_prompt: 'blue',
  watermark: false,
  quality: 'high',
}

const { rewrite, tasks } = dashscopeImages

function asked(model: string) {
  const request = rewrite?.request({ ...ASKED, model })
  const formed = dashscopeImages.form({
    baseUrl: BASE,
    forwardModelId: forwardModelId(model),
    operation: 'generate',
    fields: {},
  })
  return { body: request?.body, dropped: request?.dropped, url: formed?.url, headers: formed?.headers }
}

test.each(['qwen-image-plus', 'wan2.6-t2i', 'z-image-turbo'])('%s is asked as in a conversation', (model) => {
  expect(asked(model)).toEqual({
    body: {
      model,
      input: { messages: [{ role: 'user', content: [{ text: 'red' }] }] },
      parameters: { n: 2, size: '1024*768', negative_prompt: 'blue', watermark: false },
    },
    dropped: ['quality'],
    url: `${OWN}/services/aigc/multimodal-generation/generation`,
    headers: {},
  })
})

test.each(['wanx2.1-t2i-turbo', 'wan2.2-t2i-flash', 'wanx-v1'])('%s is asked for a task', (model) => {
  expect(asked(model)).toEqual({
    body: {
      model,
      input: { prompt: 'red', negative_prompt: 'blue' },
      parameters: { n: 2, size: '1024*768', watermark: false },
    },
    dropped: ['quality'],
    url: `${OWN}/services/aigc/text2image/image-synthesis`,
    headers: { 'x-dashscope-async': 'enable' },
  })
})

test.each([
  ['wan2.6-t2i', 1],
  ['wan2.2-t2i-flash', 1],
  ['wanx-v1', 1],
  ['qwen-image-plus', undefined],
])('%s, which has a number of its own, is told that no number is one: %s', (model, n) => {
  for (const said of [{}, { n: null }]) {
    const { parameters = {} } = rewrite?.request({ prompt: 'red', ...said, model }).body ?? {}
    expect(parameters).toEqual(n === undefined ? {} : { n })
  }
})

const ASK = { url: `${OWN}/tasks/t%2F1`, headers: {} }

test.each<[unknown, first: unknown, later: unknown]>([
  ['PENDING', ASK, ASK],
  ['RUNNING', ASK, ASK],
  ['SUCCEEDED', 'over', 'over'],
  ['FAILED', 'over', 'over'],
  ['CANCELED', 'over', 'over'],
  ['UNKNOWN', ASK, 'unclear'],
  [undefined, ASK, 'unclear'],
])('a task that is %s: %o at first, %o later', (status, first, later) => {
  const output: JsonObject = typeof status === 'string' ? { task_status: status } : {}
  const at = { baseUrl: BASE, forwardModelId: forwardModelId('wanx-v1') }
  const order = { output: { task_id: 't/1', ...output } }
  expect(tasks?.read({ body: order, order: undefined, asked: undefined }, at)).toEqual(first)
  expect(tasks?.read({ body: { output }, order, asked: ASK.url }, at)).toEqual(later)
})

test('an answer that names no task is none', () => {
  const at = { baseUrl: BASE, forwardModelId: forwardModelId('wanx-v1') }
  expect(tasks?.read({ body: { output: {} }, order: undefined, asked: undefined }, at)).toBe('unclear')
})

test.each([
  ['wanx2.1-t2i-turbo', true],
  ['wan2.5-t2i-preview', true],
  ['wan2.6-t2i', false],
  ['qwen-image', false],
])('%s makes tasks: %s', (model, makes) => {
  expect(tasks?.isTask(forwardModelId(model))).toBe(makes)
})

describe('an answer', () => {
  const read = (body: JsonObject) => rewrite?.answer(body, {})

  test.each<[string, JsonObject, JsonObject | undefined]>([
    [
      'of a conversation has its pictures',
      { output: { choices: [{ message: { content: [{ image: 'https://p/1' }, { text: 'x' }] } }] } },
      { data: [{ url: 'https://p/1' }] },
    ],
    [
      'of a task has its pictures, and why one is missing',
      {
        output: {
          task_status: 'SUCCEEDED',
          results: [{ url: 'https://p/1' }, { code: 'InternalError', message: 'broken' }],
        },
        usage: { image_count: 1 },
      },
      { data: [{ url: 'https://p/1' }, { error: { code: 'InternalError', message: 'broken' } }] },
    ],
    [
      'of a task that failed is an error',
      { output: { task_status: 'FAILED', code: 'DataInspectionFailed', message: 'no' } },
      { error: { code: 'DataInspectionFailed', message: 'no' } },
    ],
    [
      'of a task that was cancelled is one, too',
      { output: { task_status: 'CANCELED' } },
      { error: { code: 'CANCELED', message: 'CANCELED' } },
    ],
    ['that is none is none', { output: { task_id: 't', task_status: 'UNKNOWN' } }, undefined],
  ])('%s', (_what, body, expected) => {
    expect(read(body)).toEqual(expected)
  })
})
