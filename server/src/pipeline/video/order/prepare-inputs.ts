/**
 * Images in the form that a vendor accepts: fetched if it needs bytes and the client named an address, published under
 * a signed link if it only accepts addresses.
 */
import { MEDIA_HEAD_BYTES, mayHold, typeOfMedia } from '../../../core/canonical/media/media-type.ts'
import type { VideoMedia, VideoRequest } from '../../../core/video/request.ts'
import type { ImageForm, VideoDialect, VideoSubmit } from '../../../providers/video.ts'
import type { Pipeline } from '../../context.ts'
import { inPieces } from './in-pieces.ts'
import type { ReservedVideo } from '../video-call.ts'

export type PrepareInputsParts = Pick<Pipeline, 'blobs' | 'fetchRemote' | 'now' | 'videos'>

export type PreparedRequest =
  | { readonly kind: 'ready'; readonly request: VideoRequest }
  /** An image cannot be fetched: the message says which and why. */
  | { readonly kind: 'refused'; readonly message: string }

const IMAGE_BYTES_MAX = 32 * 1024 * 1024
const FETCH_TIMEOUT_MS = 20_000
/** Vendors fetch an input when they begin to work on it, which may be after a queue. */
const LINK_LASTS_MS = 6 * 3_600_000

/** Images prepared for one order, so that they are not prepared again for the next chain. */
export interface InputCache {
  readonly fetched: Map<string, VideoMedia>
  /** Published images by the original object. */
  readonly published: Map<VideoMedia, VideoMedia>
}

export function openInputCache(): InputCache {
  return { fetched: new Map(), published: new Map() }
}

/** Images that are not sent to the vendor are left unchanged. */
export async function prepareInputs(
  pipeline: PrepareInputsParts,
  work: { readonly order: ReservedVideo; readonly taskId: string; readonly cache: InputCache },
  { dialect, asked }: { readonly dialect: VideoDialect; readonly asked: VideoSubmit },
): Promise<PreparedRequest> {
  const { request } = work.order
  const forms = dialect.imageForms
  try {
    const made = new Map<VideoMedia, VideoMedia>()
    for (const media of usedImages(dialect, asked))
      made.set(media, await converted(pipeline, work, { media, forms }))
    return { kind: 'ready', request: withImages(request, (image) => made.get(image) ?? image) }
  } catch (error) {
    if (error instanceof UnusableInput) return { kind: 'refused', message: error.message }
    throw error
  }
}

class UnusableInput extends Error {}

interface Wanted {
  readonly media: VideoMedia
  readonly forms: readonly ImageForm[]
}

async function converted(
  pipeline: PrepareInputsParts,
  work: Parameters<typeof prepareInputs>[1],
  { media, forms }: Wanted,
): Promise<VideoMedia> {
  if (forms.includes(media.kind)) return media
  if (media.kind === 'url') return fetched(pipeline, work, media.url)
  const known = work.cache.published.get(media)
  if (known !== undefined) return known
  const published = await publish(pipeline, work.taskId, media, work.cache.published.size)
  work.cache.published.set(media, published)
  return published
}

async function fetched(
  pipeline: Pick<Pipeline, 'fetchRemote'>,
  { order, cache }: Parameters<typeof prepareInputs>[1],
  url: string,
): Promise<VideoMedia> {
  const known = cache.fetched.get(url)
  if (known !== undefined) return known
  const answer = await pipeline.fetchRemote(url, {
    maxBytes: IMAGE_BYTES_MAX,
    timeoutMs: FETCH_TIMEOUT_MS,
    accept: (mediaType) => mayHold(mediaType, 'image'),
    mayKeep(bytes) {
      order.body.hold(bytes)
      return true
    },
  })
  const shown = url.length > 200 ? `${url.slice(0, 200)}…` : url
  if (answer.kind === 'refused') throw new UnusableInput(`${shown} cannot be fetched: ${answer.detail}`)
  const mediaType = typeOfMedia(answer.body.subarray(0, MEDIA_HEAD_BYTES), answer.mediaType, 'image')
  if (mediaType === undefined) throw new UnusableInput(`${shown} is no image`)
  const media: VideoMedia = { kind: 'bytes', mediaType, bytes: answer.body }
  cache.fetched.set(url, media)
  return media
}

async function publish(
  pipeline: PrepareInputsParts,
  taskId: string,
  media: Extract<VideoMedia, { kind: 'bytes' }>,
  index: number,
): Promise<VideoMedia> {
  const key = inputKeyOf(taskId, index)
  await pipeline.blobs.put(key, inPieces(media.bytes), {
    mediaType: media.mediaType,
    maxBytes: media.bytes.byteLength,
  })
  return { kind: 'url', url: pipeline.videos.links.sign(key, pipeline.now() + LINK_LASTS_MS) }
}

/** A published image's key; its task records how many there are. */
export function inputKeyOf(taskId: string, index: number): string {
  return `inputs/${taskId}-${index}`
}

/**
 * Which images of an order are sent to its vendor at all: the others need not be fetched or published
 * (docs/reference/contract.md#4.4). Determined with placeholders: those that appear in the vendor's request are used.
 */
export function usedImages(
  { imageForms: forms, submit }: Pick<VideoDialect, 'imageForms' | 'submit'>,
  asked: VideoSubmit,
): ReadonlySet<VideoMedia> {
  const { request } = asked
  const images = imagesOf(request)
  if (images.every(({ kind }) => forms.includes(kind))) return new Set(images)
  const standIns = new Map(images.map((image, index) => [image, standInFor(image, index, forms)]))
  const tried = withImages(request, (image) => standIns.get(image)?.media ?? image)
  const told = submit({ ...asked, request: tried }).request.body
  const sent = typeof told === 'string' ? Buffer.from(told) : Buffer.from(told ?? '')
  return new Set(images.filter((image) => standIns.get(image)?.marks.some((mark) => sent.includes(mark))))
}

export function withImages(request: VideoRequest, change: (image: VideoMedia) => VideoMedia): VideoRequest {
  const { firstFrame, lastFrame, referenceImages } = request
  return {
    ...request,
    firstFrame: firstFrame === undefined ? undefined : change(firstFrame),
    lastFrame: lastFrame === undefined ? undefined : change(lastFrame),
    referenceImages: referenceImages.map(change),
  }
}

function imagesOf({ firstFrame, lastFrame, referenceImages }: VideoRequest): readonly VideoMedia[] {
  return [firstFrame, lastFrame, ...referenceImages].filter((image) => image !== undefined)
}

interface StandIn {
  readonly media: VideoMedia
  /** Placeholders as they may occur in a body. */
  readonly marks: readonly (string | Buffer)[]
}

const PNG_START = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)

function standInFor(image: VideoMedia, index: number, forms: readonly ImageForm[]): StandIn {
  const form = forms.includes(image.kind) ? image.kind : forms[0]
  if (form !== 'bytes') {
    const url = `https://stand-in.invalid/${index}.png`
    return { media: { kind: 'url', url }, marks: [url] }
  }
  const bytes = Buffer.concat([PNG_START, Buffer.from(`stand-in for image ${index} of the order`)])
  return { media: { kind: 'bytes', mediaType: 'image/png', bytes }, marks: [bytes, bytes.toString('base64')] }
}
