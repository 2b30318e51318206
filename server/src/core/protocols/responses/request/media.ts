/** Images and files between this protocol's input parts and the canonical form. */
import { dataUrl, sourceOfFile, sourceOfUrl } from '../../../canonical/media/data-url.ts'
import type { MediaPart, MediaSource } from '../../../canonical/request.ts'
import type { JsonObject } from '../../../json.ts'
import { type Maybe, objectOf, wordOf } from '../../read-json.ts'

export function decodeImage(part: JsonObject): MediaPart | undefined {
  const url = wordOf(part.image_url) ?? wordOf(objectOf(part.image_url)?.url)
  const id = wordOf(part.file_id)
  const source = url === undefined ? fileId(id) : sourceOfUrl(url)
  if (source === undefined) return undefined
  return { type: 'media', media: 'image', source, detail: detailOf(part.detail), filename: undefined }
}

export function decodeFile(part: JsonObject): MediaPart | undefined {
  const filename = wordOf(part.filename)
  const data = wordOf(part.file_data)
  const url = wordOf(part.file_url)
  const source = data === undefined ? fileAddress(url, wordOf(part.file_id)) : sourceOfFile(data, filename)
  if (source === undefined) return undefined
  return { type: 'media', media: 'file', source, detail: undefined, filename }
}

export function decodeAudio(part: JsonObject): MediaPart | undefined {
  const audio = objectOf(part.input_audio)
  const data = wordOf(audio?.data)
  const format = wordOf(audio?.format)
  if (data === undefined || format === undefined) return undefined
  const source: MediaSource = { kind: 'base64', mediaType: `audio/${format}`, data }
  return { type: 'media', media: 'audio', source, detail: undefined, filename: undefined }
}

function fileAddress(url: string | undefined, id: string | undefined): MediaSource | undefined {
  return url === undefined ? fileId(id) : { kind: 'url', url, mediaType: undefined }
}

function fileId(id: string | undefined): MediaSource | undefined {
  return id === undefined ? undefined : { kind: 'file-id', id }
}

function detailOf(value: Maybe): MediaPart['detail'] {
  return value === 'auto' || value === 'low' || value === 'high' || value === 'original' ? value : undefined
}

/** The input part; `undefined` where the protocol has none (sounds). */
export function encodeMedia(part: MediaPart): JsonObject | undefined {
  switch (part.media) {
    case 'image':
      return encodeImage(part)
    case 'file':
      return encodeFile(part)
    case 'audio':
      return undefined
  }
}

function encodeImage({ source, detail }: MediaPart): JsonObject | undefined {
  const level = detail === undefined ? {} : { detail }
  switch (source.kind) {
    case 'base64':
      return { type: 'input_image', image_url: dataUrl(source.mediaType, source.data), ...level }
    case 'url':
      return { type: 'input_image', image_url: source.url, ...level }
    case 'file-id':
    case 'text':
      return undefined
  }
}

function encodeFile({ source, filename }: MediaPart): JsonObject | undefined {
  const named = filename === undefined ? {} : { filename }
  switch (source.kind) {
    case 'base64':
      return {
        type: 'input_file',
        filename: filename ?? (source.mediaType === 'application/pdf' ? 'document.pdf' : 'document'),
        file_data: dataUrl(source.mediaType, source.data),
      }
    case 'url':
      return { type: 'input_file', file_url: source.url, ...named }
    case 'text':
      return {
        type: 'input_text',
        text: filename === undefined ? source.text : `${filename}\n${source.text}`,
      }
    case 'file-id':
      return undefined
  }
}
