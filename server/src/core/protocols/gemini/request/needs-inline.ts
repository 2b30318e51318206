import type { MediaPart } from '../../../canonical/request.ts'
import type { Capabilities } from '../../protocol.ts'

/** Google fetches only what was uploaded to it, unless the chain says otherwise. */
export function needsInline({ media }: MediaPart, { images, documents, audio }: Capabilities): boolean {
  switch (media) {
    case 'image':
      return images === 'inline'
    case 'file':
      return documents === 'inline'
    case 'audio':
      return audio
  }
}
