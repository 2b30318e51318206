/** Reads the order out of a form (contract §4.4, §7.1): 40003 empty or unreadable, 40000, 40002, then the key's own limits. */
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { modelId, vendorCode } from '../../core/ids.ts'
import { isJsonObject } from '../../core/json.ts'
import { fieldsOfParts, type FormFields, type ReceivedForm } from '../../core/video/form.ts'
import { readOrder } from '../../core/video/read-order.ts'
import { findHolder, presentedKey } from '../authenticate.ts'
import type { ReceivedBody } from '../call.ts'
import type { Gateway } from '../gateway.ts'
import { checkRestrictions } from '../restrictions.ts'
import { decodeBase64 } from './base64.ts'
import { fingerprintOf } from './fingerprint.ts'
import type { AuthenticatedVideo, IncomingVideo, Repeat, VideoOrder } from './video-call.ts'

export async function authenticateVideo(gateway: Gateway, call: IncomingVideo): Promise<AuthenticatedVideo> {
  const { key, account } = await findHolder(gateway, presentedKey(call), call.at)
  return { ...call, stage: 'authenticated', key, account }
}

export async function receiveVideo(gateway: Gateway, call: AuthenticatedVideo): Promise<VideoOrder> {
  const body = openBody(gateway)
  try {
    const form = await readForm(gateway, call, body)
    const { action: _action, readForm: _readForm, contentLength: _length, keyInQuery: _query, ...rest } = call
    return { ...rest, stage: 'received', body, stream: false, ...orderOf(fieldsOf(form), call.headers) }
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

/** The order that fields describe; throws what is wrong with them. */
export function orderOf(
  fields: FormFields,
  headers: VideoOrder['headers'],
): Pick<VideoOrder, 'modelId' | 'user' | 'request' | 'size' | 'dropped' | 'pinned' | 'repeat'> {
  const read = readOrder(fields, decodeBase64)
  if (read.kind === 'refused') {
    throw new GatewayError(read.code, read.message === undefined ? {} : { message: read.message })
  }
  const { model, user, request, size, dropped } = read.order
  const pinned = headers['gw-vendor-code']?.trim()
  return {
    modelId: modelId(model),
    user,
    request,
    size,
    dropped,
    pinned: pinned === undefined || pinned === '' ? undefined : vendorCode(pinned),
    repeat: repeatOf(fields, headers),
  }
}

/** A key longer than this is no key. */
const IDEMPOTENCY_KEY_MAX = 512

function repeatOf(fields: FormFields, headers: VideoOrder['headers']): Repeat {
  const key = headers['idempotency-key']?.trim()
  if (key !== undefined && key.length > IDEMPOTENCY_KEY_MAX) {
    throw new GatewayError(40000, {
      message: `Idempotency-Key may have at most ${IDEMPOTENCY_KEY_MAX} characters`,
    })
  }
  return {
    key: key === '' ? undefined : key,
    bodySha256: fingerprintOf(fields),
    retried: Number(headers['x-stainless-retry-count'] ?? 0) > 0,
  }
}

function fieldsOf(form: ReceivedForm): FormFields {
  switch (form.kind) {
    case 'empty':
      throw new GatewayError(40003)
    case 'unreadable':
      throw new GatewayError(40003, { message: `the request body cannot be read: ${form.detail}` })
    case 'not-json':
      throw new GatewayError(40000, { message: 'the request body is not valid JSON' })
    case 'json':
      if (!isJsonObject(form.value)) {
        throw new GatewayError(40000, { message: 'the request body is not a JSON object' })
      }
      return form.value
    case 'multipart':
      return fieldsOfParts(form.parts)
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
