/** One small request to a vendor's video API and its whole answer: creations, polls, look-ups. */
import type { Timeouts } from '../../../core/catalogue.ts'
import type { HttpRequest } from '../../../core/http-request.ts'
import type { VideoReply } from '../../../providers/video.ts'
import { readWhole, TransportError } from '../../../upstream/remote/read-answer.ts'
import type { TransportFailure, UpstreamCall } from '../../../upstream/upstream.ts'
import type { Pipeline } from '../../context.ts'
import { parseInTurns } from '../../lanes/threads/in-turns.ts'
import type { TaskVendor } from '../task/task-dialect.ts'

/** Some vendors put the whole video into their answer, as base64. */
const ANSWER_BYTES_MAX = 256 * 1024 * 1024

export type SentToVendor =
  | { readonly kind: 'answered'; readonly reply: VideoReply; readonly text: () => string }
  | { readonly kind: 'broken'; readonly failure: TransportFailure }

export interface VendorMessage {
  readonly taskId: string
  readonly request: HttpRequest
  readonly timeouts: Timeouts
}

export async function sendToVendor(
  pipeline: Pick<Pipeline, 'now' | 'upstream'>,
  vendor: TaskVendor,
  message: VendorMessage,
): Promise<SentToVendor> {
  const offline = vendor.dialect.respond?.(message.request, { taskId: message.taskId, at: pipeline.now() })
  if (offline !== undefined) {
    return { kind: 'answered', reply: offline, text: () => JSON.stringify(offline.body ?? null) }
  }
  try {
    const answer = await readWhole(
      (call, sink) => pipeline.upstream.open(call, sink),
      callOf(vendor, message),
      ANSWER_BYTES_MAX,
    )
    const { status, headers, body: bytes } = answer
    const reply = { status, headers, body: await parseInTurns(bytes), bytes }
    return { kind: 'answered', reply, text: () => answer.body.toString('utf8') }
  } catch (error) {
    if (error instanceof TransportError) return { kind: 'broken', failure: error.failure }
    throw error
  }
}

/** The call for `upstream/`, signed with the task's credential. */
export function callOf(
  { dialect, secret }: TaskVendor,
  { request, timeouts }: Pick<VendorMessage, 'request' | 'timeouts'>,
): UpstreamCall {
  const body = typeof request.body === 'string' ? Buffer.from(request.body) : request.body
  return {
    request,
    auth: dialect.auth,
    credential: secret,
    body: body === undefined ? undefined : [body],
    bodyLength: body?.byteLength ?? 0,
    timeouts,
  }
}

/** A poll is answered within seconds or repeated: its time-outs are shorter than those of a creation. */
export function pollTimeouts({ connectMs, firstByteMs, idleMs }: Timeouts): Timeouts {
  return {
    connectMs: Math.min(connectMs, 10_000),
    firstByteMs: Math.min(firstByteMs, 30_000),
    idleMs: Math.min(idleMs, 30_000),
  }
}
