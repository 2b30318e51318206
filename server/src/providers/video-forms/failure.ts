/** A vendor's word that a task failed, fit for a client: its code and message, without its internal ids. */
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
 * Request, trace and support ids out of a message: they name the operator's account at the vendor to whoever reads them
 * (reference §5.7).
 */
export function withoutIds(message: string): string {
  return message
    .replace(/[\s(,;[]*\b(?:request|trace|log)[ _-]?id\b["']?\s*[:=]?\s*["']?[\w-]+["']?[)\]]?\.?/gi, '')
    .replace(/\s*\bsupport codes?\s*:\s*\d[\d,\s]*\.?/gi, '')
    .trim()
}

const ID_MEMBERS = /^(x[_-])?(request|trace|log)[_-]?id$/i

function cleaned(value: JsonValue | undefined): JsonValue | undefined {
  if (typeof value === 'string') return withoutIds(value)
  if (Array.isArray(value)) return value.map((item: JsonValue) => cleaned(item) ?? null)
  if (!isJsonObject(value)) return value
  const kept = Object.entries(value).filter(([name]) => !ID_MEMBERS.test(name))
  return Object.fromEntries(kept.map(([name, member]) => [name, cleaned(member)]))
}
