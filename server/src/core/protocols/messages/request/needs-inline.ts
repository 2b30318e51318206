import type { MediaPart } from '../../../canonical/request.ts'
import type { Capabilities } from '../../protocol.ts'

/** This protocol has addresses for images and PDF documents, and no sounds; its other hosts take bytes only. */
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
