import { describe, expect, test } from 'vitest'
import type { VideoFailure, VideoResult } from '../video.ts'
import { stepOf, type TaskAnswer, taskWord } from './progress.ts'

const RESULT: VideoResult = { kind: 'link', url: 'https://cdn.example/v.mp4', lastsMs: 1 }
const FAILURE: VideoFailure = { class: 'moderation', code: '1026', message: 'no', body: undefined }

function answer(changes: Partial<TaskAnswer>): TaskAnswer {
  return {
    word: undefined,
    result: undefined,
    failure: undefined,
    poll: { method: 'GET', url: 'https://api.example/t/1', headers: {} },
    afterMs: 5000,
    state: { id: '1' },
    ...changes,
  }
}

describe('status words', () => {
  test.each([
    ['Queueing', 'queued'],
    ['PENDING', 'queued'],
    ['submitted', 'queued'],
    ['Processing', 'in_progress'],
    ['dreaming', 'in_progress'],
    ['succeed', 'done'],
    ['SUCCEEDED', 'done'],
    ['Success', 'done'],
    ['finished', 'done'],
    ['Fail', 'failed'],
    ['canceled', 'cancelled'],
    ['expired', 'expired'],
    ['reticulating', undefined],
    [7, undefined],
    [undefined, undefined],
  ] as const)('%s is %s', (word, meaning) => {
    expect(taskWord(word)).toBe(meaning)
  })
})

describe('a task’s next step', () => {
  test('work goes on', () => {
    expect(stepOf(answer({ word: 'running', progress: 41.6 }))).toEqual({
      kind: 'poll',
      request: { method: 'GET', url: 'https://api.example/t/1', headers: {} },
      afterMs: 5000,
      status: 'in_progress',
      progress: 42,
      state: { id: '1' },
    })
    expect(stepOf(answer({ word: 'queued', progress: 250 }))).toMatchObject({
      status: 'queued',
      progress: 100,
    })
  })

  test('done with a video', () => {
    expect(stepOf(answer({ word: 'succeeded', result: RESULT, secondsProduced: 5.1, size: '1x1' }))).toEqual({
      kind: 'done',
      result: RESULT,
      secondsProduced: 5.1,
      size: '1x1',
      state: { id: '1' },
    })
  })

  test('success without a video is asked again, with an error it is none', () => {
    expect(stepOf(answer({ word: 'success' }))).toMatchObject({ kind: 'unreadable' })
    expect(stepOf(answer({ word: 'success', failure: FAILURE }))).toMatchObject({
      kind: 'failed',
      failure: FAILURE,
    })
  })

  test.each([
    ['failed', 'upstream'],
    ['cancelled', 'cancelled'],
    ['expired', 'expired'],
  ])('%s without a reason has one all the same', (word, expected) => {
    expect(stepOf(answer({ word }))).toMatchObject({
      kind: 'failed',
      failure: { class: expected, code: word },
    })
    expect(stepOf(answer({ word, failure: FAILURE }))).toMatchObject({ failure: { class: 'moderation' } })
  })

  test('an unknown word is work in progress unless a result or an error is there', () => {
    expect(stepOf(answer({ word: 'upscaling' }))).toMatchObject({ kind: 'poll', status: 'in_progress' })
    expect(stepOf(answer({ word: 'upscaling', result: RESULT }))).toMatchObject({ kind: 'done' })
    expect(stepOf(answer({ word: 'upscaling', failure: FAILURE }))).toMatchObject({ kind: 'failed' })
  })

  test('no word at all is no answer', () => {
    expect(stepOf(answer({}))).toMatchObject({ kind: 'unreadable' })
    expect(stepOf(answer({ word: '' }))).toMatchObject({ kind: 'unreadable' })
    expect(stepOf(answer({ result: RESULT }))).toMatchObject({ kind: 'done' })
  })
})
