import type { MediaPart } from '../../../canonical/request.ts'
import type { Capabilities } from '../../protocol.ts'

/** Chat has an address for images and videos only; a document or a sound is always in the request. */
export function needsInline(
  { media, source }: MediaPart,
  { images, documents, audio }: Capabilities,
): boolean {
  switch (media) {
    case 'image':
      return images === 'inline'
    case 'file':
      return documents !== 'none' && !isVideo(source)
    case 'audio':
      return audio
  }
}

function isVideo(source: MediaPart['source']): boolean {
  return source.kind === 'url' && source.mediaType?.startsWith('video/') === true
}
