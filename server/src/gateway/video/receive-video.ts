/** Reads the order out of a form (contract §4.4, §7.1): 40003 empty or unreadable, 40000, 40002, then the key's own limits. */
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { ReceivedForm } from '../../core/video/form.ts'
import { findHolder, presentedKey } from '../authenticate.ts'
import type { ReceivedBody } from '../call.ts'
import type { Gateway } from '../gateway.ts'
import { checkRestrictions } from '../restrictions.ts'
import { orderOf, type RawForm } from './read-order.ts'
import type { AuthenticatedVideo, IncomingVideo, VideoOrder } from './video-call.ts'

export async function authenticateVideo(gateway: Gateway, call: IncomingVideo): Promise<AuthenticatedVideo> {
  const { key, account } = await findHolder(gateway, presentedKey(call), call.at)
  return { ...call, stage: 'authenticated', key, account }
}

export async function receiveVideo(gateway: Gateway, call: AuthenticatedVideo): Promise<VideoOrder> {
  const body = openBody(gateway)
  try {
    const form = rawFormOf(await readForm(gateway, call, body))
    const read = await orderOf(gateway, form, { ...call, body })
    const { action: _action, readForm: _readForm, contentLength: _length, keyInQuery: _query, ...rest } = call
    return { ...rest, stage: 'received', body, stream: false, ...read }
  } catch (error) {
    body.release()
    throw error
  }
}

/** What the key itself forbids, once it is known what is asked for. */
export function restrictVideo(gateway: Gateway, order: VideoOrder): void {
  const { key, account, address, ip, modelId: requested } = order
  checkRestrictions(
    { key, account, address, ip, protocol: order.endpoint.protocol, modelId: requested },
    gateway.catalogue(),
  )
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
  gateway: Gateway,
  call: AuthenticatedVideo,
  body: Pick<ReceivedBody, 'hold'>,
): Promise<ReceivedForm> {
  const { bodyLimitBytes } = gateway.limits
  if (call.contentLength !== undefined && call.contentLength > bodyLimitBytes) throw new GatewayError(41301)
  let length = 0
  return call.readForm((bytes) => {
    length += bytes
    if (length > bodyLimitBytes) throw new GatewayError(41301)
    body.hold(bytes)
  })
}

/** Bytes of an order count against the process-wide budget until they have gone upstream. */
function openBody(gateway: Gateway): Pick<ReceivedBody, 'hold' | 'release'> {
  let held = 0
  return {
    hold(bytes) {
      gateway.bodyBudget.take(bytes)
      held += bytes
    },
    release() {
      gateway.bodyBudget.give(held)
      held = 0
    },
  }
}
