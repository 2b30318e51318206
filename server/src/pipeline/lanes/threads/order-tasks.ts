/** Video orders with large images. The data stays in shared memory, so that no image is copied twice. */
import type { VideoMedia, VideoRequest } from '../../../core/video/request.ts'
import { providerOf } from '../../../providers/index.ts'
import { type OrderRead, readOrderForm } from '../../video/order/order-form.ts'
import type { OrderTask, SubmitTask, Submitted } from './work.ts'

export function readFarOrder({ form }: OrderTask): OrderRead {
  const read = readOrderForm(form)
  if (read.kind === 'misordered') return read
  return { ...read, order: { ...read.order, request: shared(read.order.request) } }
}

function shared(request: VideoRequest): VideoRequest {
  return {
    ...request,
    firstFrame: request.firstFrame && sharedMedia(request.firstFrame),
    lastFrame: request.lastFrame && sharedMedia(request.lastFrame),
    referenceImages: request.referenceImages.map(sharedMedia),
  }
}

function sharedMedia(media: VideoMedia): VideoMedia {
  if (media.kind === 'url' || media.bytes.buffer instanceof SharedArrayBuffer) return media
  const bytes = new Uint8Array(new SharedArrayBuffer(media.bytes.byteLength))
  bytes.set(media.bytes)
  return { ...media, bytes }
}

/** The request as bytes, which are transferred. */
export function submitFar({ vendorKind, input }: SubmitTask): Submitted {
  const dialect = providerOf(vendorKind)?.video
  if (dialect === undefined) throw new Error(`a vendor of kind ${vendorKind} makes no videos`)
  const submission = dialect.submit(input)
  const { body, ...request } = submission.request
  if (body === undefined) return { ...submission, kind: 'submitted' }
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  return { ...submission, kind: 'submitted', request: { ...request, body: bytes } }
}
