/**
 * What fetched bytes are. Servers mislabel what they serve, and upstreams refuse a wrongly labelled image, so the first
 * bytes take precedence over the header.
 */
import type { MediaPart } from '../request.ts'

/** Bytes `typeOfMedia` looks at. */
export const MEDIA_HEAD_BYTES = 16

/** Whether an answer of this media type is worth reading for such a part. */
export function mayHold(mediaType: string, media: MediaPart['media']): boolean {
  if (UNTELLING.has(mediaType)) return true
  switch (media) {
    case 'image':
      return mediaType.startsWith('image/') && mediaType !== 'image/svg+xml'
    case 'audio':
      return mediaType.startsWith('audio/')
    case 'file':
      return isFile(mediaType)
  }
}

/** The media type of what was fetched; `undefined` when it is nothing such a part can hold. */
export function typeOfMedia(
  head: Uint8Array,
  declared: string,
  media: MediaPart['media'],
): string | undefined {
  const type = signatureOf(head) ?? SYNONYMS[declared] ?? declared
  return !UNTELLING.has(type) && mayHold(type, media) ? type : undefined
}

/** Documents that are plain text: every protocol can carry them as text. */
export function isTextual(mediaType: string): boolean {
  return mediaType.startsWith('text/') || mediaType === 'application/json' || mediaType === 'application/xml'
}

/** Generic types, from servers that do not know the type. */
const UNTELLING: ReadonlySet<string> = new Set(['application/octet-stream', 'binary/octet-stream', ''])

const SYNONYMS: Readonly<Record<string, string | undefined>> = {
  'image/jpg': 'image/jpeg',
  'image/pjpeg': 'image/jpeg',
  'image/x-png': 'image/png',
  'application/x-pdf': 'application/pdf',
}

function isFile(mediaType: string): boolean {
  return (
    isTextual(mediaType) ||
    mediaType.startsWith('image/') ||
    mediaType.startsWith('audio/') ||
    mediaType.startsWith('video/') ||
    mediaType === 'application/pdf' ||
    mediaType === 'application/x-pdf'
  )
}

const SIGNATURES: readonly (readonly [type: string, at: number, text: string])[] = [
  ['image/png', 0, '\u0089PNG\r\n\u001a\n'],
  ['image/jpeg', 0, '\u00ff\u00d8\u00ff'],
  ['image/gif', 0, 'GIF8'],
  ['image/webp', 8, 'WEBP'],
  ['application/pdf', 0, '%PDF-'],
]

function signatureOf(head: Uint8Array): string | undefined {
  return SIGNATURES.find(([, at, text]) => startsAt(head, at, text))?.[0]
}

function startsAt(head: Uint8Array, at: number, text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    if (head[at + index] !== text.charCodeAt(index)) return false
  }
  return true
}
