/** Images, sounds and files between chat's content parts and the canonical form. */
import { dataUrl, sourceOfFile, sourceOfUrl } from '../../../canonical/media/data-url.ts'
import type { CacheMark, MediaPart, MediaSource } from '../../../canonical/request.ts'
import type { JsonObject } from '../../../json.ts'
import { objectOf, wordOf } from '../../read-json.ts'

/** `image_url` holds an object, or, at several vendors, the address itself. */
export function decodeImage(part: JsonObject, cache: CacheMark | undefined): MediaPart | undefined {
  const image = objectOf(part.image_url)
  const url = wordOf(part.image_url) ?? wordOf(image?.url)
  if (url === undefined) return undefined
  return media({ kind: 'image', source: sourceOfUrl(url), cache, detail: detailOf(image?.detail) })
}

/** Qwen, z.ai and Moonshot accept videos in this form; the canonical form treats them as files. */
export function decodeVideo(part: JsonObject, cache: CacheMark | undefined): MediaPart | undefined {
  const url = wordOf(part.video_url) ?? wordOf(objectOf(part.video_url)?.url)
  if (url === undefined) return undefined
  const source = sourceOfUrl(url)
  const typed: MediaSource = source.kind === 'url' ? { ...source, mediaType: 'video/mp4' } : source
  return media({ kind: 'file', source: typed, cache })
}

export function decodeAudio(part: JsonObject, cache: CacheMark | undefined): MediaPart | undefined {
  const audio = objectOf(part.input_audio)
  const data = wordOf(audio?.data)
  const format = wordOf(audio?.format)
  if (data === undefined || format === undefined) return undefined
  return media({ kind: 'audio', source: { kind: 'base64', mediaType: `audio/${format}`, data }, cache })
}

export function decodeFile(part: JsonObject, cache: CacheMark | undefined): MediaPart | undefined {
  const file = objectOf(part.file) ?? part
  const filename = wordOf(file.filename)
  const id = wordOf(file.file_id)
  const data = wordOf(file.file_data)
  if (data !== undefined)
    return media({ kind: 'file', source: sourceOfFile(data, filename), filename, cache })
  return id === undefined
    ? undefined
    : media({ kind: 'file', source: { kind: 'file-id', id }, filename, cache })
}

function detailOf(value: unknown): MediaPart['detail'] {
  return value === 'auto' || value === 'low' || value === 'high' || value === 'original' ? value : undefined
}

interface MediaFields {
  readonly kind: MediaPart['media']
  readonly source: MediaSource
  readonly cache: CacheMark | undefined
  readonly detail?: MediaPart['detail']
  readonly filename?: string | undefined
}

function media({ kind, source, cache, detail, filename }: MediaFields): MediaPart {
  const mark = cache === undefined ? {} : { cache }
  return { type: 'media', media: kind, source, detail, filename, ...mark }
}

/** The part of a request; `undefined` if chat cannot express it. */
export function encodeMedia(part: MediaPart): JsonObject | undefined {
  switch (part.media) {
    case 'image':
      return encodeImage(part)
    case 'audio':
      return encodeAudio(part)
    case 'file':
      return encodeFile(part)
  }
}

function encodeImage({ source, detail }: MediaPart): JsonObject | undefined {
  const url = urlOf(source)
  if (url === undefined) return undefined
  // Only the responses protocol has `original`.
  const level = detail === 'original' ? 'high' : detail
  return { type: 'image_url', image_url: { url, ...(level === undefined ? {} : { detail: level }) } }
}

function encodeAudio({ source }: MediaPart): JsonObject | undefined {
  if (source.kind !== 'base64') return undefined
  return { type: 'input_audio', input_audio: { data: source.data, format: audioFormat(source.mediaType) } }
}

function audioFormat(mediaType: string): string {
  const name = mediaType.slice(mediaType.indexOf('/') + 1)
  if (name === 'mpeg') return 'mp3'
  return name === 'x-wav' || name === 'wave' ? 'wav' : name
}

function encodeFile({ source, filename }: MediaPart): JsonObject | undefined {
  switch (source.kind) {
    case 'base64': {
      const address = dataUrl(source.mediaType, source.data)
      if (source.mediaType.startsWith('video/')) return { type: 'video_url', video_url: { url: address } }
      const name = filename ?? (source.mediaType === 'application/pdf' ? 'document.pdf' : 'document')
      return { type: 'file', file: { filename: name, file_data: address } }
    }
    case 'text':
      return { type: 'text', text: filename === undefined ? source.text : `${filename}\n${source.text}` }
    case 'url':
      return source.mediaType?.startsWith('video/')
        ? { type: 'video_url', video_url: { url: source.url } }
        : undefined
    case 'file-id':
      return undefined
  }
}

function urlOf(source: MediaSource): string | undefined {
  switch (source.kind) {
    case 'base64':
      return dataUrl(source.mediaType, source.data)
    case 'url':
      return source.url
    case 'text':
    case 'file-id':
      return undefined
  }
}
