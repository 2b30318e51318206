/** Failures as the synchronous answer reports them and the record keeps them (docs/reference/contract.md#D-video-25). */
import { ERRORS, type ErrorCode } from '../../../core/errors/catalogue.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.ts'
import { errorWords, retryHintMs } from '../../../core/routing/failure.ts'
import type { VideoTaskError } from '../../../core/video/task.ts'
import type { VideoFailure, VideoReply } from '../../../providers/video.ts'

type Acceptance = Pick<VideoTaskError, 'accepted'>

/** The gateway's own error. */
export function gatewayFailure(
  code: ErrorCode,
  more: {
    readonly message?: string
    readonly upstreamBody?: JsonValue | undefined
    readonly retryAfterMs?: number | undefined
  } & Acceptance = {},
): VideoTaskError {
  const { status } = ERRORS[code]
  const message = more.message ?? ERRORS[code].message
  return {
    status,
    code: String(code),
    gatewayCode: code,
    message,
    body: more.upstreamBody,
    ...(more.retryAfterMs === undefined ? {} : { retryAfterMs: more.retryAfterMs }),
    ...(more.accepted === undefined ? {} : { accepted: more.accepted }),
  }
}

/** A create call the vendor refused with a status: its own error, unless it is about the platform's credential. */
export function refusedCreate(
  { reply, text }: { readonly reply: VideoReply; readonly text: () => string },
  credential: 'own' | 'platform',
): VideoTaskError {
  const { status, body } = reply
  if (credential === 'platform' && isCredentialRefusal(status)) {
    return gatewayFailure(50201, { upstreamBody: body ?? text() })
  }
  const [code = String(status)] = errorWords(body)
  const message = messageOf(body) ?? `the provider answered with status ${status}`
  return {
    status,
    code,
    message,
    body: isJsonObject(body) ? body : errorBody({ message, code }, text()),
    ...(status === 429 ? { retryAfterMs: retryHintMs(reply) ?? 1_000 } : {}),
  }
}

/** A task that failed according to its vendor; there is no status, so one is chosen by the kind of failure. */
export function failedTask(
  failure: VideoFailure,
  { credential, accepted }: { readonly credential: 'own' | 'platform' } & Required<Acceptance>,
): VideoTaskError {
  const { code, message, body } = failure
  const ours = failure.class === 'quota' || failure.class === 'auth'
  if (ours && credential === 'platform') {
    return gatewayFailure(50201, { upstreamBody: body ?? { code, message }, accepted })
  }
  return {
    status: STATUS[failure.class],
    code,
    message,
    body: errorBody({ message, code }, body),
    accepted,
    ...(failure.class === 'rate' ? { retryAfterMs: 1_000 } : {}),
  }
}

const STATUS: Readonly<Record<VideoFailure['class'], number>> = {
  moderation: 400,
  invalid: 400,
  rate: 429,
  quota: 402,
  auth: 403,
  upstream: 502,
  expired: 502,
  cancelled: 502,
}

export function isCredentialRefusal(status: number): boolean {
  return status === 401 || status === 402 || status === 403
}

/** `type` marks this as the provider's error, not the gateway's (docs/reference/contract.md#2.7). */
function errorBody(
  { message, code }: { readonly message: string; readonly code: string },
  upstream: JsonValue | undefined,
): JsonObject {
  return {
    message,
    error: { message, type: 'upstream_error', code },
    ...(upstream === undefined || upstream === '' ? {} : { upstream_body: upstream }),
  }
}

/** The message of an error body, wherever vendors put it. */
export function messageOf(body: JsonValue | undefined): string | undefined {
  if (!isJsonObject(body)) return undefined
  const error = isJsonObject(body['error']) ? body['error'] : body
  for (const name of ['message', 'msg', 'detail', 'error']) {
    const text = error[name]
    if (typeof text === 'string' && text !== '') return text
  }
  return undefined
}
