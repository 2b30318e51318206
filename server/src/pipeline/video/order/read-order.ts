import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { modelId, vendorCode } from '../../../core/ids.ts'
import type { FormPart, ReceivedForm } from '../../../core/video/form.ts'
import type { ReceivedBody } from '../../call.ts'
import { isNear } from '../../lanes/threads/conversions.ts'
import { sharedBody } from '../../lanes/threads/shared-body.ts'
import type { Pipeline } from '../../context.ts'
import { type OrderForm, type OrderRead, readOrderForm } from './order-form.ts'
import type { AuthenticatedVideo, Repeat, VideoOrder } from '../video-call.ts'

/** A form as received; of a document, its pieces. */
export type RawForm =
  | { readonly kind: 'json' | 'chat'; readonly chunks: readonly Uint8Array[]; readonly length: number }
  | { readonly kind: 'multipart'; readonly parts: readonly FormPart[] }

/** The owner of an order, and where its bytes are counted. */
export interface OrderSource extends Pick<VideoOrder, 'headers' | 'account'> {
  readonly body: Pick<ReceivedBody, 'hold' | 'release'>
}

export type OrderOfForm = Pick<
  VideoOrder,
  'modelId' | 'user' | 'request' | 'size' | 'dropped' | 'pinned' | 'repeat'
>

/** The order that a form describes; a large one is parsed in a thread. Throws if it is invalid. */
export async function orderOf(
  pipeline: Pick<Pipeline, 'conversions'>,
  form: RawForm,
  source: OrderSource,
): Promise<OrderOfForm> {
  const read = await readForm(pipeline, form, source)
  if (read.kind === 'misordered')
    throw new GatewayError(read.code, read.message === undefined ? {} : { message: read.message })
  const { model, user, request, size, dropped } = read.order
  const pinned = source.headers['gw-vendor-code']?.trim()
  return {
    modelId: modelId(model),
    user,
    request,
    size,
    dropped,
    pinned: pinned === undefined || pinned === '' ? undefined : vendorCode(pinned),
    repeat: repeatOf(read.bodySha256, source.headers),
  }
}

async function readForm(
  { conversions }: Pick<Pipeline, 'conversions'>,
  form: RawForm,
  source: OrderSource,
): Promise<OrderRead> {
  const size = { bytes: form.kind === 'multipart' ? bytesOfParts(form.parts) : form.length, values: 0 }
  if (isNear(size)) {
    await conversions.turn(size)
    return readOrderForm(form.kind === 'multipart' ? form : { ...form, body: Buffer.concat(form.chunks) })
  }
  const hold = (bytes: number): void => source.body.hold(bytes)
  const shared: OrderForm =
    form.kind === 'multipart'
      ? form
      : { kind: form.kind, body: await sharedBody({ hold, memo: {}, ...form }) }
  const read = await conversions.run({ kind: 'order', form: shared }, { accountId: source.account.id })
  if (read.kind !== 'ordered' && read.kind !== 'misordered')
    throw new Error(`an order was read as ${read.kind}`)
  return read
}

function bytesOfParts(parts: readonly FormPart[]): number {
  return parts.reduce(
    (sum, { value }) => sum + (typeof value === 'string' ? value.length : value.bytes.byteLength),
    0,
  )
}

/** Longest key; a longer one is refused. */
const IDEMPOTENCY_KEY_MAX = 512

/** undefined: there is none. Throws 40000 for one that is too long. */
export function idempotencyKeyOf(headers: VideoOrder['headers']): string | undefined {
  const key = headers['idempotency-key']?.trim()
  if (key !== undefined && key.length > IDEMPOTENCY_KEY_MAX) {
    throw new GatewayError(40000, {
      message: `Idempotency-Key may have at most ${IDEMPOTENCY_KEY_MAX} characters`,
    })
  }
  return key === '' ? undefined : key
}

function repeatOf(bodySha256: string, headers: VideoOrder['headers']): Repeat {
  return {
    key: idempotencyKeyOf(headers),
    bodySha256,
    retried: Number(headers['x-stainless-retry-count'] ?? 0) > 0,
  }
}

export type ReceiveVideoParts = Pick<Pipeline, 'bodyBudget' | 'conversions' | 'limits'>

/**
 * Reads the order out of a form (docs/reference/contract.md#4.4, #7.1): 40003 empty or unreadable, 40000, 40002, then
 * the key's own limits.
 */
export async function receiveVideo(
  pipeline: ReceiveVideoParts,
  call: AuthenticatedVideo,
): Promise<VideoOrder> {
  const body = openBody(pipeline)
  try {
    const form = rawFormOf(await receiveForm(pipeline, call, body))
    const read = await orderOf(pipeline, form, { ...call, body })
    const { action: _action, readForm: _readForm, contentLength: _length, keyInQuery: _query, ...rest } = call
    return { ...rest, stage: 'received', body, stream: false, ...read }
  } catch (error) {
    body.release()
    throw error
  }
}

/** The part of a form that an order is read from. */
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

async function receiveForm(
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

/** Bytes of an order count against the process-wide budget until they were sent upstream. */
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
