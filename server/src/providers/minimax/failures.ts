/** MiniMax's codes: `base_resp.status_code`, which may come with status 200, and those of its newer error bodies. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'
import {
  classifyFailure,
  type FailureClass,
  type FailureKind,
  type FailureWords,
  type UpstreamFailure,
  withHint,
} from '../../core/routing/failure.ts'

const CODES: Readonly<Record<number, FailureKind>> = {
  1000: 'overloaded',
  1001: 'overloaded',
  1002: 'rate-limited',
  1004: 'auth',
  1008: 'quota',
  1024: 'overloaded',
  1026: 'refused-content',
  1027: 'refused-content',
  1033: 'overloaded',
  1039: 'rate-limited',
  1041: 'rate-limited',
  1042: 'request',
  1043: 'request',
  2013: 'request',
  2049: 'auth',
  2056: 'quota',
}

export function classify(failure: UpstreamFailure): FailureClass {
  const kind = kindOfCode(codeIn(failure.body))
  return kind === undefined ? classifyFailure(failure, WORDS) : withHint(kind, failure)
}

/** Types of the newer error bodies. A body that it cannot process means refused content. */
const WORDS: FailureWords = {
  bad_request_error: 'request',
  authorized_error: 'auth',
  insufficient_balance_error: 'quota',
  unprocessable_entity_error: 'refused-content',
  server_error: 'overloaded',
}

/** undefined: no code, or an unknown one. */
export function kindOfCode(code: number | undefined): FailureKind | undefined {
  return code === undefined ? undefined : CODES[code]
}

/** undefined: none; 0: success; NaN: unreadable, which is not success. */
export function codeIn(body: JsonValue | undefined): number | undefined {
  const base = isJsonObject(body) ? body['base_resp'] : undefined
  const code = isJsonObject(base) ? base['status_code'] : undefined
  if (code === undefined || typeof code === 'number') return code
  return typeof code === 'string' && /^(?:0|[1-9]\d{0,5})$/.test(code) ? Number(code) : Number.NaN
}

/** The error in OpenAI's form: refusals also come with status 200. undefined: it is not one. */
export function errorIn(body: JsonObject): JsonObject | undefined {
  const code = codeIn(body)
  if (code === undefined || code === 0) return undefined
  const kind = kindOfCode(code)
  const refused = kind === 'request' || kind === 'refused-content'
  const base = body['base_resp']
  return {
    message: isJsonObject(base) ? base['status_msg'] : undefined,
    type: refused ? 'invalid_request_error' : 'api_error',
    base_resp: base,
  }
}

/** Classifies a rewritten answer, whose error has the code. */
export function classifyRewritten(failure: UpstreamFailure): FailureClass {
  const error = isJsonObject(failure.body) ? failure.body['error'] : undefined
  return classify(codeIn(error) === undefined ? failure : { ...failure, body: error })
}
