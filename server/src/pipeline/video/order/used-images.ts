/**
 * Which images of an order its vendor is sent at all: the others need not be fetched or published
 * (docs/reference/contract.md#4.4).
 */
import type { VideoMedia, VideoRequest } from '../../../core/video/request.ts'
import type { ImageForm, VideoDialect, VideoSubmit } from '../../../providers/video.ts'

/** Tried with stand-ins: those that are found in what the vendor would be sent are used. */
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
  /** As it may stand in a body. */
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
