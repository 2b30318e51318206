import type { MediaPart } from '../../../canonical/request.ts'
import type { Capabilities } from '../../protocol.ts'

/** This protocol accepts addresses of images and files, and has no sounds. */
export function needsInline({ media }: MediaPart, { images, documents }: Capabilities): boolean {
  switch (media) {
    case 'image':
      return images === 'inline'
    case 'file':
      return documents === 'inline'
    case 'audio':
      return false
  }
}
