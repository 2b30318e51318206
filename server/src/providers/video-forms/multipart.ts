/** `multipart/form-data` bodies as bytes. */

import type { JsonValue } from '../../core/json.ts'
import type { VideoMedia } from '../../core/video/request.ts'

export type FormPart =
  | { readonly name: string; readonly text: string }
  | {
      readonly name: string
      readonly file: Extract<VideoMedia, { kind: 'bytes' }>
      readonly filename: string
    }

/** `boundary` must not occur in any part: it is derived from a new id. */
export function multipartBody(parts: readonly FormPart[], boundary: string): Uint8Array {
  const encoder = new TextEncoder()
  const chunks = parts.flatMap((part) => [
    encoder.encode(`--${boundary}\r\n${headOf(part)}\r\n\r\n`),
    'text' in part ? encoder.encode(part.text) : part.file.bytes,
    encoder.encode('\r\n'),
  ])
  return joined([...chunks, encoder.encode(`--${boundary}--\r\n`)])
}

/** A JSON value as form parts: members and items in brackets, scalars as text, as OpenAI's own clients write them. */
export function partsOf(name: string, value: JsonValue | undefined): readonly FormPart[] {
  if (value === undefined || value === null) return []
  if (typeof value !== 'object') return [{ name, text: String(value) }]
  if (Array.isArray(value)) return value.flatMap((item: JsonValue) => partsOf(`${name}[]`, item))
  return Object.entries(value).flatMap(([member, inner]) => partsOf(`${name}[${member}]`, inner))
}

/** A file's name for a form, with the extension of its type: some servers rely on it. */
export function filenameOf(mediaType: string): string {
  const subtype = mediaType.split('/')[1]?.split(/[;+]/)[0] ?? 'bin'
  return `reference.${subtype === 'jpeg' ? 'jpg' : subtype}`
}

function headOf(part: FormPart): string {
  const name = `content-disposition: form-data; name="${quoted(part.name)}"`
  if ('text' in part) return name
  return `${name}; filename="${quoted(part.filename)}"\r\ncontent-type: ${part.file.mediaType}`
}

/** Escaped as in browsers: a line end or quote would break out of the header. */
function quoted(text: string): string {
  return text.replace(/\r/g, '%0D').replace(/\n/g, '%0A').replace(/"/g, '%22')
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(chunks.reduce((total, chunk) => total + chunk.length, 0))
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return whole
}
