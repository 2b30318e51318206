/** Kling's codes: in the body of a refused call, and with status 200. */
import { isJsonObject, type JsonValue } from '../../core/json.ts'
import {
  classifyFailure,
  type FailureClass,
  type FailureWords,
  type UpstreamFailure,
} from '../../core/routing/failure.ts'
import type { VideoFailure } from '../video.ts'
import { taskClassOf } from '../video-forms/failure.ts'
import { numberIn, rowOf, textIn } from '../video-forms/json.ts'

/** 1100 to 1102 come with status 429 and concern money, not the rate. */
const WORDS: FailureWords = {
  1000: 'auth',
  1001: 'auth',
  1002: 'auth',
  1003: 'auth',
  1004: 'auth',
  1100: 'quota',
  1101: 'quota',
  1102: 'quota',
  1103: 'auth',
  1200: 'request',
  1201: 'request',
  1202: 'not-found',
  1203: 'not-found',
  1300: 'refused-content',
  1301: 'refused-content',
  1302: 'rate-limited',
  1303: 'rate-limited',
  1304: 'auth',
  5000: 'overloaded',
  5001: 'overloaded',
  5002: 'overloaded',
  risk_control: 'refused-content',
  invalid_input: 'request',
}

/** A failed task has no code, only one of several fixed texts; these are compared as a whole, like codes. */
const FIXED_TEXTS: Readonly<Record<string, 'risk_control' | 'invalid_input'>> = {
  'failure to pass the risk control system': 'risk_control',
  'image pixel is invalid': 'invalid_input',
  'the resolution or aspect ratio of the input image is invalid. please ensure it meets the required specifications.':
    'invalid_input',
}

/** What the text of a failed task stands for; undefined: the vendor's own failure. */
export function codeOfText(message: string): 'risk_control' | 'invalid_input' | undefined {
  return rowOf(FIXED_TEXTS, message.trim().toLowerCase())
}

export function classify(failure: UpstreamFailure): FailureClass {
  return classifyFailure(failure, WORDS)
}

function codeIn(body: JsonValue | undefined): number | undefined {
  return isJsonObject(body) ? numberIn(body['code']) : undefined
}

/** undefined: the call was accepted. */
export function refusalIn(body: JsonValue | undefined): VideoFailure | undefined {
  const code = codeIn(body)
  if (code === undefined || code === 0 || !isJsonObject(body)) return undefined
  return {
    class: taskClassOf(WORDS[String(code)] ?? 'overloaded'),
    code: String(code),
    message: textIn(body['message']) ?? '',
    body,
  }
}
