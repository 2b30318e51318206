/**
 * Reads the order out of a form (docs/reference/contract.md#4.4, #7.1): 40003 empty or unreadable, 40000, 40002, then
 * the key's own limits.
 */
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { ReceivedForm } from '../../../core/video/form.ts'
import type { ReceivedBody } from '../../call.ts'
import type { Pipeline } from '../../context.ts'
import { orderOf, type RawForm } from './read-order.ts'
import type { AuthenticatedVideo, VideoOrder } from '../video-call.ts'

export type ReceiveVideoParts = Pick<Pipeline, 'bodyBudget' | 'conversions' | 'limits'>

export async function receiveVideo(
  pipeline: ReceiveVideoParts,
  call: AuthenticatedVideo,
): Promise<VideoOrder> {
  const body = openBody(pipeline)
  try {
    const form = rawFormOf(await readForm(pipeline, call, body))
    const read = await orderOf(pipeline, form, { ...call, body })
    const { action: _action, readForm: _readForm, contentLength: _length, keyInQuery: _query, ...rest } = call
    return { ...rest, stage: 'received', body, stream: false, ...read }
  } catch (error) {
    body.release()
    throw error
  }
}

/** Of a form, what an order can be read of. */
function rawFormOf(form: ReceivedForm): RawForm {
  switch (form.kind) {
    case 'empty':
      throw new GatewayError(40003)
    case 'unreadable':
      throw new GatewayError(40003, { message: `the request body cannot be read: ${form.detail}` })
    case 'not-json':
      throw new GatewayError(40000, { message: 'the request body is not valid JSON' })
    case 'json':
    case 'multipart':
      return form
  }
}

async function readForm(
  pipeline: Pick<Pipeline, 'limits'>,
  call: AuthenticatedVideo,
  body: Pick<ReceivedBody, 'hold'>,
): Promise<ReceivedForm> {
  const { bodyLimitBytes } = pipeline.limits
  if (call.contentLength !== undefined && call.contentLength > bodyLimitBytes) throw new GatewayError(41301)
  let length = 0
  return call.readForm((bytes) => {
    length += bytes
    if (length > bodyLimitBytes) throw new GatewayError(41301)
    body.hold(bytes)
  })
}

/** Bytes of an order count against the process-wide budget until they have gone upstream. */
function openBody(pipeline: Pick<Pipeline, 'bodyBudget'>): Pick<ReceivedBody, 'hold' | 'release'> {
  let held = 0
  return {
    hold(bytes) {
      pipeline.bodyBudget.take(bytes)
      held += bytes
    },
    release() {
      pipeline.bodyBudget.give(held)
      held = 0
    },
  }
}
