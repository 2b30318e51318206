/** A vendor's report of a failed task, for the client: code and message without internal ids. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'
import type { FailureKind } from '../../core/routing/failure.ts'
import type { VideoFailure, VideoStep } from '../video.ts'

export function failedStep(failure: VideoFailure, state: JsonObject): VideoStep {
  const message = withoutIds(failure.message)
  return {
    kind: 'failed',
    failure: { ...failure, message: message === '' ? failure.code : message, body: cleaned(failure.body) },
    state,
  }
}

/** A class of refused calls as the class of a failed task. */
export function taskClassOf(kind: FailureKind): VideoFailure['class'] {
  switch (kind) {
    case 'rate-limited':
      return 'rate'
    case 'overloaded':
      return 'upstream'
    case 'quota':
      return 'quota'
    case 'auth':
      return 'auth'
    case 'not-found':
    case 'request':
      return 'invalid'
    case 'refused-content':
      return 'moderation'
  }
}

/**
 * Removes request, trace and support ids from a message: they identify the operator's account at the vendor
 * (docs/protocols.md#video-6).
 */
export function withoutIds(message: string): string {
  return message
    .replace(
      /[\s(,;[]{0,4}\b(?:request|trace|log)[ _-]?id\b["']?\s{0,2}[:=]?\s{0,2}["']?[\w-]{1,200}["']?[)\]]?\.?/gi,
      '',
    )
    .replace(/\s{0,4}\bsupport codes?\s{0,2}:\s{0,2}\d[\d,\s]{0,200}\.?/gi, '')
    .trim()
}

const ID_MEMBERS = /^(x[_-])?(request|trace|log)[_-]?id$/i

/** No genuine error is nested deeper. */
const DEPTH_MAX = 32

function cleaned(value: JsonValue | undefined, depth = 0): JsonValue | undefined {
  if (typeof value === 'string') return withoutIds(value)
  if (depth > DEPTH_MAX) return undefined
  if (Array.isArray(value)) return value.map((item: JsonValue) => cleaned(item, depth + 1) ?? null)
  if (!isJsonObject(value)) return value
  const kept = Object.entries(value).filter(([name]) => !ID_MEMBERS.test(name))
  return Object.fromEntries(kept.map(([name, member]) => [name, cleaned(member, depth + 1)]))
}
