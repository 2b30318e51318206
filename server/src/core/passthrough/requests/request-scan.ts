/**
 * What the gateway reads from a request body as its bytes arrive: the names for routing and logs, and what determines the
 * hold. Everything else is only checked to be JSON (docs/reference/contract.md#1-32, #1-33).
 */
import type { ProtocolId } from '../../catalogue.ts'
import { type JsonFailure, type JsonKind, SCAN_DEPTH_MAX } from '../json-scanner.ts'
import { SpanReader } from '../span-reader.ts'
import { REQUEST_FORMS, type RequestForm } from './request-form.ts'
import { RequestReading } from './request-reading.ts'
import type { RefusedRequest, RequestScan, ScannedRequest } from './scanned-request.ts'

/** Each is replaced separately; no real client writes the name even twice. */
const MODEL_SPANS_MAX = 16
/** Limits of a body besides its size. A refusal names the setting. */
export interface BodyBounds {
  /** Members of objects and items of arrays, at every depth. */
  readonly bodyMembersMax: number
  /** Items of `messages`, `input` or `contents`. */
  readonly bodyMessagesMax: number
  /** Containers open at once. */
  readonly bodyDepthMax: number
}

/** For bodies that were checked before. */
const UNBOUNDED: BodyBounds = {
  bodyMembersMax: Number.POSITIVE_INFINITY,
  bodyMessagesMax: Number.POSITIVE_INFINITY,
  bodyDepthMax: SCAN_DEPTH_MAX,
}

export interface RequestScanner {
  /** False once the body is known to be refused; pushing more is harmless. */
  push(chunk: Uint8Array): boolean
  end(): RequestScan
}

/** `bounds` absent: only the scanner's own depth limit applies. */
export function createRequestScanner(
  of: ProtocolId | RequestForm,
  bounds: BodyBounds = UNBOUNDED,
): RequestScanner {
  const form = typeof of === 'string' ? REQUEST_FORMS[of] : of
  const reading = new RequestReading()
  const reader = new SpanReader(form.tree, reading, bounds.bodyDepthMax)
  reading.reader = reader
  let excess: RefusedRequest | undefined
  return {
    push(chunk) {
      if (excess !== undefined) return false
      const goesOn = reader.push(chunk) && isObject(reader.rootKind)
      excess = goesOn ? (excessOf(reader.values, reading, bounds) ?? ambiguityOf(reader, reading)) : undefined
      return goesOn && excess === undefined
    },
    end() {
      if (excess !== undefined) return excess
      if (reader.length === 0) return refuse(40000, 'the request body is empty')
      reader.end()
      if (reader.rootKind !== undefined && !isObject(reader.rootKind)) {
        return refuse(40000, 'the request body must be a JSON object')
      }
      const { failure } = reader
      if (failure !== undefined) return refuse(40000, unreadable(failure, bounds))
      const scanned = reading.scanned(reader.length, reader.values)
      return form.modelPlace === 'path' ? scanned : withModel(scanned)
    },
  }
}

/** Checked after each piece, so that a body far beyond a bound is not read to its end. */
function excessOf(values: number, reading: RequestReading, bounds: BodyBounds): RefusedRequest | undefined {
  // The document itself is not a member.
  if (values - 1 > bounds.bodyMembersMax) {
    return refuse(
      40000,
      `the request body holds more than ${bounds.bodyMembersMax} members and items (SLUICE_BODY_MEMBERS_LIMIT)`,
    )
  }
  if (reading.messages > bounds.bodyMessagesMax) {
    return refuse(
      40000,
      `the request body holds more than ${bounds.bodyMessagesMax} messages (SLUICE_BODY_MESSAGES_LIMIT)`,
    )
  }
  return reading.names > MODEL_SPANS_MAX
    ? refuse(40000, `the request body names its model more than ${MODEL_SPANS_MAX} times`)
    : undefined
}

/** What upstreams might read differently, so that they would make another call than the one that is charged. */
function ambiguityOf(
  { lookAlike }: SpanReader,
  { streamIsClear }: RequestReading,
): RefusedRequest | undefined {
  if (lookAlike !== undefined)
    return refuse(40000, `${JSON.stringify(lookAlike)}: field names are lower case`)
  return streamIsClear ? undefined : refuse(40000, 'stream must be true or false')
}

function unreadable({ reason, offset }: JsonFailure, { bodyDepthMax }: BodyBounds): string {
  const setting =
    reason.startsWith('more than') && bodyDepthMax < SCAN_DEPTH_MAX ? ' (SLUICE_BODY_DEPTH_LIMIT)' : ''
  return setting === ''
    ? `the request body is not valid JSON: ${reason} at byte ${offset}`
    : `the request body holds ${reason}${setting}`
}

function isObject(kind: JsonKind | undefined): boolean {
  return kind === undefined || kind === 'object'
}

function withModel(scanned: ScannedRequest): RequestScan {
  if (scanned.modelSpans.length === 0) return refuse(40002, 'model is required')
  if (scanned.model === undefined) return refuse(40002, 'model must be a string')
  if (scanned.model === '') return refuse(40002, 'model must not be empty')
  return scanned
}

function refuse(code: 40000 | 40002, message: string): RefusedRequest {
  return { kind: 'refused', code, message }
}
