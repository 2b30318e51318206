/** Why a chain failed, in the upstream's own words, for operators. `upstream/` has masked the credential in them. */
import type { JsonValue } from '../../core/json.ts'
import type { ErrorNote } from '../../core/routing/health.ts'
import { wireOf } from '../kinds/wire.ts'
import { parseJson } from './classify.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { AttemptFailure } from '../exchange/exchange-outcome.ts'
import type { Leg } from './leg.ts'

/** Enough to recognise an error by; vendors may quote whole requests. */
const NOTE_CHARACTERS_MAX = 300
/** How much is read of an error that is not JSON, before markup is removed. */
const TEXT_BYTES_MAX = 2_000
const CODE_CHARACTERS_MAX = 60

interface Noted {
  readonly leg: Leg
  readonly kind: ErrorNote['kind']
  /** Epoch ms. */
  readonly at: number
}

export function noteOfFailure(noted: Noted, failure: AttemptFailure): ErrorNote {
  switch (failure.kind) {
    case 'deadline':
      return noteOf(noted, { message: 'no answer within the time a call may take' })
    case 'transport':
      return noteOf(noted, { message: failure.transport.detail })
    case 'status':
      return noteOfAnswer(noted, failure.status, parseJson(failure.body) ?? textOf(failure.body))
    case 'answer':
      return failure.answer.kind === 'cut'
        ? noteOf(noted, { message: 'the answer did not end properly' })
        : noteOfAnswer(noted, failure.answer.status, failure.answer.raw)
  }
}

/** For an answer that broke after it began. */
export function noteOfEnding(noted: Noted, { trouble }: Pick<Exchange, 'trouble'>): ErrorNote {
  if (trouble?.raw !== undefined) return noteOfAnswer(noted, trouble.status, trouble.raw)
  return noteOf(noted, { message: trouble?.detail ?? 'the answer broke off' })
}

/** For an error body or an error event. */
function noteOfAnswer(noted: Noted, status: number | undefined, raw: JsonValue): ErrorNote {
  const { protocol } = noted.leg.chain
  if (protocol === 'video' || typeof raw === 'string')
    return noteOf(noted, { status, message: typeof raw === 'string' ? raw : '' })
  const { message, code, type } = wireOf(protocol).decodeError(status, raw)
  return noteOf(noted, { status, code: code ?? type, message })
}

function noteOf(
  { kind, at }: Noted,
  told: {
    readonly status?: number | undefined
    readonly code?: string | undefined
    readonly message: string
  },
): ErrorNote {
  return {
    at,
    kind,
    status: told.status,
    code: told.code === undefined ? undefined : shortened(told.code, CODE_CHARACTERS_MAX),
    message: shortened(told.message, NOTE_CHARACTERS_MAX),
  }
}

function shortened(text: string, charactersMax: number): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, charactersMax)
}

function textOf(body: Uint8Array): string {
  const head = body.subarray(0, TEXT_BYTES_MAX)
  return withoutMarkup(Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString('utf8'))
}

/** A vendor's message as kept in the record of an attempt: without markup, shortened. */
export function notedWords(text: string): string {
  return shortened(withoutMarkup(text.slice(0, TEXT_BYTES_MAX)), NOTE_CHARACTERS_MAX)
}

function withoutMarkup(text: string): string {
  return text.replace(/<[^>]*>/g, ' ')
}
