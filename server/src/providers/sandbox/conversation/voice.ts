import type { JsonObject } from '../../../core/json.ts'
import type { OfflineChunk } from '../../../core/offline-answer.ts'
import type { Reply } from './compose.ts'
import type { Prompt } from './prompt.ts'

/** The sandbox in one protocol: it reads a request and writes a reply. */
export interface Voice {
  readPrompt(body: JsonObject): Prompt
  /** `body` is the request's, for protocols that echo its settings. */
  whole(reply: Reply, stamp: Stamp, body: JsonObject): JsonObject
  stream(reply: Reply, stamp: Stamp, body: JsonObject): Iterable<OfflineChunk>
  /** The answer of the protocol's token count; undefined: it has none. */
  count(inputTokens: number): JsonObject | undefined
  /** An error in the protocol's own format. */
  error(message: string, status: number, code: string, stamp: Stamp): JsonObject
}

/** What makes an answer unique: passed in, so that the sandbox stays a pure function. */
export interface Stamp {
  /** Letters and digits. */
  readonly id: string
  /** Unix seconds. */
  readonly createdAt: number
}
