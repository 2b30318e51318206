import type { MediaPart } from '../../../canonical/request.ts'
import type { Capabilities } from '../../protocol.ts'

/** Chat accepts addresses for images and videos only; documents and sounds are always sent inline. */
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
