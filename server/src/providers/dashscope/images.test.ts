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

const { rewrite, askAgain } = dashscopeImages

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
  ['PENDING', `${OWN}/tasks/t%2F1`],
  ['RUNNING', `${OWN}/tasks/t%2F1`],
  ['SUCCEEDED', undefined],
  ['FAILED', undefined],
  ['UNKNOWN', undefined],
])('a task that is %s is asked for at %s', (task_status, url) => {
  expect(askAgain?.({ output: { task_id: 't/1', task_status } }, { baseUrl: BASE })?.url).toBe(url)
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
    ['that is none is none', { output: { task_id: 't', task_status: 'UNKNOWN' } }, undefined],
  ])('%s', (_what, body, expected) => {
    expect(read(body)).toEqual(expected)
  })
})
