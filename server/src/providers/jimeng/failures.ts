/** Jimeng's codes, with status 200 or their own status, and those of Volcengine's gateway in front of it, which are in another member. */
import type { JsonValue } from '../../core/json.ts'
import {
  classifyFailure,
  type FailureClass,
  type FailureWords,
  type UpstreamFailure,
} from '../../core/routing/failure.ts'
import { objectAt, rowOf, textIn } from '../video-forms/json.ts'

/** The code of a call that was accepted. */
export const ACCEPTED = '10000'

export const WORDS: FailureWords = {
  50411: 'refused-content',
  50412: 'refused-content',
  50413: 'refused-content',
  50511: 'refused-content',
  50512: 'refused-content',
  50516: 'refused-content',
  50517: 'refused-content',
  50518: 'refused-content',
  50519: 'refused-content',
  50400: 'auth',
  50429: 'rate-limited',
  50430: 'rate-limited',
  50500: 'overloaded',
  50501: 'overloaded',
  signaturedoesnotmatch: 'auth',
  invalidcredential: 'auth',
  invalidaccesskey: 'auth',
  accessdenied: 'auth',
  missingparameter: 'request',
  invalidparameter: 'request',
}

/** In an answer to a poll: these are about the task itself, not about the caller or the service. */
export function blamesTask(code: string): boolean {
  const kind = rowOf(WORDS, code.toLowerCase())
  return kind === undefined || kind === 'request' || kind === 'refused-content'
}

export function codeIn(body: JsonValue | undefined): string | undefined {
  return textIn(objectAt(body)['code']) ?? textIn(objectAt(body, 'ResponseMetadata', 'Error')['Code'])
}

export function messageIn(body: JsonValue | undefined): string | undefined {
  return textIn(objectAt(body)['message']) ?? textIn(objectAt(body, 'ResponseMetadata', 'Error')['Message'])
}

/** Volcengine's own gateway, in front of Jimeng, puts its error into another member. */
export function classify(failure: UpstreamFailure): FailureClass {
  const gate = objectAt(failure.body, 'ResponseMetadata', 'Error')
  const code = textIn(gate['Code'])
  return classifyFailure(code === undefined ? failure : { ...failure, body: { error: { code } } }, WORDS)
}
