import type { ProtocolId } from '../catalogue.ts'
import type { UsageReader } from './counters.ts'
import { createChatUsageReader } from './usage-chat.ts'
import { createGeminiUsageReader } from './usage-gemini.ts'
import { createMessagesUsageReader } from './usage-messages.ts'
import { createResponsesUsageReader } from './usage-responses.ts'

/** Reads the usage objects of one answer, one after the other, in its protocol's format. */
export const USAGE_READERS = {
  chat: createChatUsageReader,
  responses: createResponsesUsageReader,
  messages: createMessagesUsageReader,
  gemini: createGeminiUsageReader,
} as const satisfies Record<ProtocolId, () => UsageReader>
