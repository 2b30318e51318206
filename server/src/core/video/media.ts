/** Images of an order, in any of these forms: file, data address, public address, bare base64. */
import { MEDIA_HEAD_BYTES, typeOfMedia } from '../canonical/media/media-type.ts'
import { type FormValue, isFormFields, isFormFile, isFormList } from './form.ts'
import type { VideoMedia } from './request.ts'

/** Passed in, because pure code would be too slow for a hundred megabytes. undefined: the text is not base64. */
export type DecodeBase64 = (text: string) => Uint8Array | undefined

export type ReadMedia =
  | { readonly kind: 'none' }
  | { readonly kind: 'media'; readonly media: VideoMedia }
  | { readonly kind: 'refused'; readonly message: string }

/** Bare base64 is distinguished from a mistyped address by its length. */
const BARE_BASE64_LENGTH_MIN = 64

/** `field` is named in the refusal. Also accepts the objects the official SDK sends: `{image_url}`, `{file_id}`. */
export function readMedia(value: FormValue | undefined, field: string, decode: DecodeBase64): ReadMedia {
  if (value === undefined || value === null) return { kind: 'none' }
  if (isFormFile(value)) {
    return value.bytes.byteLength === 0 ? { kind: 'none' } : bytesOf(value.bytes, value.mediaType)
  }
  if (typeof value === 'string') return readText(value.trim(), field, decode)
  if (isFormFields(value)) {
    if (value['file_id'] !== undefined) {
      return refused(`${field}.file_id cannot be resolved here: send the file, a data: URL or a public URL`)
    }
    return readMedia(value['image_url'] ?? value['url'] ?? value['b64_json'], field, decode)
  }
  return refused(`${field} must be a file, a data: URL or a public http(s) URL`)
}

/** One image or several; an array as JSON text is accepted too, since forms can only send text. */
export function readMediaList(
  value: FormValue | undefined,
  field: string,
  decode: DecodeBase64,
): readonly ReadMedia[] {
  if (value === undefined) return []
  const list = isFormList(value) ? value : [value]
  return list.map((item) => readMedia(item, field, decode)).filter((read) => read.kind !== 'none')
}

function readText(text: string, field: string, decode: DecodeBase64): ReadMedia {
  if (text === '') return { kind: 'none' }
  if (/^https?:\/\//i.test(text)) return { kind: 'media', media: { kind: 'url', url: text } }
  const data = /^data:([^;,]*)((?:;[^;,]*)*),/i.exec(text)
  if (data !== null) {
    const [head, mediaType = '', parameters = ''] = data
    const bytes = /;base64$/i.test(parameters) ? decode(text.slice(head.length)) : undefined
    return bytes === undefined || bytes.byteLength === 0
      ? refused(`${field} must be a data: URL that holds base64`)
      : bytesOf(bytes, mediaType.toLowerCase())
  }
  const bare = text.length >= BARE_BASE64_LENGTH_MIN ? decode(text) : undefined
  if (bare !== undefined && typeOfMedia(bare.subarray(0, MEDIA_HEAD_BYTES), '', 'image') !== undefined) {
    return bytesOf(bare, '')
  }
  return refused(`${field} must be a file, a data: URL or a public http(s) URL`)
}

/** The first bytes decide the type; if they do not, the declared type is kept and the upstream decides. */
function bytesOf(bytes: Uint8Array, declared: string): ReadMedia {
  const mediaType = typeOfMedia(bytes.subarray(0, MEDIA_HEAD_BYTES), declared, 'image')
  return {
    kind: 'media',
    media: { kind: 'bytes', mediaType: mediaType ?? 'application/octet-stream', bytes },
  }
}

function refused(message: string): ReadMedia {
  return { kind: 'refused', message }
}
