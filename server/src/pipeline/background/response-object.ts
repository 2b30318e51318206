/** Reads a response object that is made in the background, and shows it while it runs. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'

export type RunningStatus = 'queued' | 'in_progress'
export type FinalStatus = 'completed' | 'incomplete' | 'failed' | 'cancelled'

const RUNNING: ReadonlySet<string> = new Set<RunningStatus>(['queued', 'in_progress'])
const FINAL: ReadonlySet<string> = new Set<FinalStatus>(['completed', 'incomplete', 'failed', 'cancelled'])
/** Ids are put into addresses and into the store unchanged. */
const RESPONSE_ID = /^[\x21-\x7e]{1,256}$/

/** undefined: not a response, or without a status. */
export function readResponse(body: JsonValue | undefined):
  | {
      readonly response: JsonObject
      readonly id: string
      readonly status: RunningStatus | FinalStatus
    }
  | undefined {
  if (!isJsonObject(body)) return undefined
  const { id, status } = body
  if (typeof id !== 'string' || !RESPONSE_ID.test(id) || typeof status !== 'string') return undefined
  if (isRunning(status) || isFinal(status)) return { response: body, id, status }
  return undefined
}

export function isRunning(status: string): status is RunningStatus {
  return RUNNING.has(status)
}

export function isFinal(status: string): status is FinalStatus {
  return FINAL.has(status)
}

/** The response as it is shown while it runs: what exists of it already is not shown before it is charged. */
export function shownRunning(response: JsonObject, status: RunningStatus): JsonObject {
  return {
    ...response,
    status,
    output: [],
    usage: null,
    error: null,
    incomplete_details: null,
    ...('completed_at' in response ? { completed_at: null } : {}),
  }
}

/** A response that ended without an answer of the upstream's. */
export function shownFailed(
  response: JsonObject,
  error: { readonly code: string; readonly message: string },
): JsonObject {
  return { ...shownRunning(response, 'in_progress'), status: 'failed', error }
}
