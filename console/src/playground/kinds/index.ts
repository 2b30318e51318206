import { CHAT } from './chat.ts'
import { EMBEDDINGS } from './embeddings.tsx'
import { GEMINI } from './gemini.ts'
import { IMAGE_EDITS, IMAGE_VARIATIONS, IMAGES } from './images.tsx'
import type { Kind } from './kind.ts'
import { MESSAGES } from './messages.ts'
import { MODERATIONS } from './moderations.tsx'
import { RERANK } from './rerank.tsx'
import { RESPONSES } from './responses.ts'
import { SPEECH } from './speech.tsx'
import { TRANSCRIPTION, TRANSLATION } from './transcription.tsx'
import { VIDEO } from './video.tsx'

/** In display order. */
export const KINDS: readonly Kind[] = [
  CHAT,
  RESPONSES,
  MESSAGES,
  GEMINI,
  EMBEDDINGS,
  RERANK,
  MODERATIONS,
  IMAGES,
  IMAGE_EDITS,
  IMAGE_VARIATIONS,
  SPEECH,
  TRANSCRIPTION,
  TRANSLATION,
  VIDEO,
]

/** The kinds that a model's endpoints support. */
export function kindsOf({ endpoints }: { readonly endpoints: readonly string[] }): readonly Kind[] {
  return KINDS.filter(({ path }) => endpoints.includes(path))
}
