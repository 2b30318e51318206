/** Kling's codes: in the body of a refused call, and beside status 200. */
import { isJsonObject, type JsonValue } from '../../core/json.ts'
import {
  classifyFailure,
  type FailureClass,
  type FailureKind,
  type UpstreamFailure,
  withHint,
} from '../../core/routing/failure.ts'
import type { VideoFailure } from '../video.ts'
import { taskClassOf } from '../video-forms/failure.ts'
import { numberIn, textIn } from '../video-forms/json.ts'

/** 1100 to 1102 come with status 429 and are about money, not rate. */
const CODES: Readonly<Record<number, FailureKind>> = {
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
}

export function classify(failure: UpstreamFailure): FailureClass {
  const code = codeIn(failure.body)
  const kind = code === undefined ? undefined : CODES[code]
  return kind === undefined ? classifyFailure(failure) : withHint(kind, failure)
}

function codeIn(body: JsonValue | undefined): number | undefined {
  return isJsonObject(body) ? numberIn(body['code']) : undefined
}

/** undefined: the call was accepted. */
export function refusalIn(body: JsonValue | undefined): VideoFailure | undefined {
  const code = codeIn(body)
  if (code === undefined || code === 0 || !isJsonObject(body)) return undefined
  return {
    class: taskClassOf(CODES[code] ?? 'overloaded'),
    code: String(code),
    message: textIn(body['message']) ?? '',
    body,
  }
}
