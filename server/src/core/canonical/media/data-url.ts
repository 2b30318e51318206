/** `data:` addresses: how the OpenAI family carries bytes. */
import type { MediaSource } from '../request.ts'

/** A `data:` address as its bytes, any other as a reference. */
export function sourceOfUrl(url: string): MediaSource {
  if (!url.startsWith('data:')) return { kind: 'url', url, mediaType: undefined }
  const comma = url.indexOf(',')
  const head = url.slice('data:'.length, Math.max(comma, 0))
  if (comma < 0 || !head.endsWith(';base64')) return { kind: 'url', url, mediaType: undefined }
  const mediaType = head.slice(0, -';base64'.length).split(';', 1)[0]
  const named = mediaType === undefined || mediaType === '' ? 'image/png' : mediaType
  return { kind: 'base64', mediaType: named, data: url.slice(comma + 1) }
}

/** The bytes of a file: a `data:` address, or the bare base64 that several clients send instead. */
export function sourceOfFile(data: string, filename: string | undefined): MediaSource {
  const source = sourceOfUrl(data)
  if (source.kind === 'base64' || /^https?:/.test(data)) return source
  const mediaType = filename?.endsWith('.txt') ? 'text/plain' : 'application/pdf'
  return { kind: 'base64', mediaType, data }
}

export function dataUrl(mediaType: string, data: string): string {
  return `data:${mediaType};base64,${data}`
}
