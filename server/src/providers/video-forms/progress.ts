/**
 * What a vendor's status word, result and error together mean. Words are compared without case against explicit sets; an
 * unknown word means work in progress unless the answer has a result or an error (docs/protocols.md#video-5).
 */
import type { HttpRequest } from '../../core/http-request.ts'
import type { JsonObject, JsonValue } from '../../core/json.ts'
import type { VideoFailure, VideoResult, VideoStep } from '../video.ts'
import { failedStep } from './failure.ts'

export type TaskWord = 'queued' | 'in_progress' | 'done' | 'failed' | 'cancelled' | 'expired'

const WORDS: Readonly<Record<TaskWord, readonly string[]>> = {
  queued: [
    'queued',
    'queueing',
    'queuing',
    'in_queue',
    'pending',
    'preparing',
    'submitted',
    'submitting',
    'created',
    'starting',
    'throttled',
    'scheduled',
    'waiting',
    'not_start',
  ],
  in_progress: ['in_progress', 'processing', 'running', 'generating', 'dreaming', 'rendering', 'started'],
  done: ['succeed', 'succeeded', 'success', 'completed', 'complete', 'done', 'finished'],
  failed: ['failed', 'fail', 'failure', 'error', 'rejected'],
  cancelled: ['cancelled', 'canceled', 'aborted'],
  expired: ['expired', 'timeout', 'timed_out', 'not_found'],
}

const meanings: ReadonlyMap<string, TaskWord> = new Map(
  wordsOf('queued').concat(
    wordsOf('in_progress'),
    wordsOf('done'),
    wordsOf('failed'),
    wordsOf('cancelled'),
    wordsOf('expired'),
  ),
)

function wordsOf(meaning: TaskWord): readonly (readonly [string, TaskWord])[] {
  return WORDS[meaning].map((word) => [word, meaning] as const)
}

/** undefined: the word is in no set. */
export function taskWord(word: JsonValue | undefined): TaskWord | undefined {
  return typeof word === 'string' ? meanings.get(word.trim().toLowerCase()) : undefined
}

export interface TaskAnswer {
  readonly word: JsonValue | undefined
  readonly result: VideoResult | undefined
  /** The error in the answer; undefined: there is none. */
  readonly failure: VideoFailure | undefined
  /** The next poll, while the task is not over. */
  readonly poll: HttpRequest
  readonly afterMs: number
  readonly state: JsonObject
  readonly progress?: number | undefined
  readonly secondsProduced?: number | undefined
  readonly size?: string | undefined
}

export function stepOf(answer: TaskAnswer): VideoStep {
  const { word, result, failure, state } = answer
  const meaning = taskWord(word)
  switch (meaning) {
    case 'queued':
    case 'in_progress':
      return pollOf(answer, meaning)
    case 'done':
      if (result !== undefined) return doneOf(answer, result)
      if (failure !== undefined) return failedStep(failure, state)
      return { kind: 'unreadable', detail: 'finished, but without a video' }
    case 'failed':
    case 'cancelled':
    case 'expired':
      return failedStep(failure ?? withoutReason(meaning), state)
    case undefined:
      if (result !== undefined) return doneOf(answer, result)
      if (failure !== undefined) return failedStep(failure, state)
      if (typeof word === 'string' && word !== '') return pollOf(answer, 'in_progress')
      return { kind: 'unreadable', detail: 'an answer without a status' }
  }
}

function pollOf(answer: TaskAnswer, status: 'queued' | 'in_progress'): VideoStep {
  const { poll, afterMs, state, progress } = answer
  return { kind: 'poll', request: poll, afterMs, status, progress: percentOf(progress), state }
}

function doneOf({ secondsProduced, size, state }: TaskAnswer, result: VideoResult): VideoStep {
  return { kind: 'done', result, secondsProduced, size, state }
}

function percentOf(progress: number | undefined): number | undefined {
  return progress === undefined ? undefined : Math.min(100, Math.max(0, Math.round(progress)))
}

function withoutReason(meaning: 'failed' | 'cancelled' | 'expired'): VideoFailure {
  return {
    class: meaning === 'failed' ? 'upstream' : meaning,
    code: meaning,
    message: `the task has ${meaning === 'failed' ? 'failed' : `been ${meaning}`} upstream, without a reason`,
    body: undefined,
  }
}
