/** Every schema of `components`, by its name. */
import type { JsonObject } from '../../../../core/json.ts'
import { CHAT_ANSWERS } from './chat.ts'
import { ERROR_ANSWERS } from './errors.ts'
import { GEMINI_ANSWERS } from './gemini.ts'
import { MESSAGES_ANSWERS } from './messages.ts'
import { RESPONSES_ANSWERS } from './responses.ts'
import { VIDEO_ANSWERS } from './videos.ts'

export const SCHEMAS: JsonObject = {
  ...ERROR_ANSWERS,
  ...CHAT_ANSWERS,
  ...RESPONSES_ANSWERS,
  ...MESSAGES_ANSWERS,
  ...GEMINI_ANSWERS,
  ...VIDEO_ANSWERS,
}
