/**
 * The list of inputs that Seedance introduced and MiniMax adopted: text, then images, videos and sounds by their role.
 */
import type { JsonObject } from '../../core/json.ts'
import type { VideoMedia, VideoRequest } from '../../core/video/request.ts'
import { addressOf } from './media.ts'
import type { ClientField } from './place.ts'

export interface ContentLimits {
  readonly imagesMax: number
  readonly videosMax: number
  readonly audiosMax: number
  /** Whether a sound is allowed without an image. */
  readonly audiosAlone: boolean
}

export interface Content {
  readonly items: readonly JsonObject[]
  readonly places: Readonly<Partial<Record<ClientField, JsonObject>>>
  /** Lists that were shortened to the vendor's limit. */
  readonly dropped: readonly ClientField[]
  readonly kind: 'text' | 'frames' | 'references'
}

/** Frames exclude references; a last frame needs a first one; sounds are rarely allowed alone. */
export function contentItems(request: VideoRequest, limits: ContentLimits): Content {
  const { firstFrame, lastFrame } = request
  const text: JsonObject = { type: 'text', text: request.prompt }
  if (firstFrame === undefined) return withReferences(request, text, limits)
  return {
    items: [
      text,
      imageItem(firstFrame, 'first_frame'),
      ...(lastFrame === undefined ? [] : [imageItem(lastFrame, 'last_frame')]),
    ],
    places: { input_reference: {}, image_tail: {} },
    dropped: [],
    kind: 'frames',
  }
}

function withReferences(request: VideoRequest, text: JsonObject, limits: ContentLimits): Content {
  const images = request.referenceImages.slice(0, limits.imagesMax)
  const videos = request.referenceVideos.slice(0, limits.videosMax)
  const seen = images.length + videos.length > 0
  const audios = seen || limits.audiosAlone ? request.referenceAudios.slice(0, limits.audiosMax) : []
  return {
    items: [
      text,
      ...images.map((media) => imageItem(media, 'reference_image')),
      ...videos.map((url) => ({ type: 'video_url', video_url: { url }, role: 'reference_video' })),
      ...audios.map((url) => ({ type: 'audio_url', audio_url: { url }, role: 'reference_audio' })),
    ],
    places: {
      ...(images.length > 0 ? { reference_images: {} } : {}),
      ...(videos.length > 0 ? { reference_videos: {} } : {}),
      ...(audios.length > 0 ? { reference_audios: {} } : {}),
    },
    dropped: [
      ...cut('reference_images', images.length, request.referenceImages.length),
      ...cut('reference_videos', videos.length, request.referenceVideos.length),
      ...cut('reference_audios', audios.length, request.referenceAudios.length),
    ],
    kind: seen || audios.length > 0 ? 'references' : 'text',
  }
}

/** A list that is omitted completely is reported as unsupported. */
function cut(field: ClientField, used: number, given: number): readonly ClientField[] {
  return used > 0 && used < given ? [field] : []
}

function imageItem(media: VideoMedia, role: string): JsonObject {
  return { type: 'image_url', image_url: { url: addressOf(media) }, role }
}
