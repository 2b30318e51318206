import type { AnswerRole, AnswerTable } from './answer-table.ts'

/**
 * Fields of one generateContent answer; a stream's events and a whole body have the same shape
 * (docs/protocols.md#gemini-answers).
 */
const ANSWER = {
  error: 'error',
  usageMetadata: 'usage',
  'promptFeedback.blockReason': 'finish',
  'candidates[]': 'choice',
  'candidates[].index': 'choice-index',
  'candidates[].finishReason': 'finish',
  'candidates[].content.parts[]': 'item',
  'candidates[].content.parts[].text': 'text',
  'candidates[].content.parts[].thought': 'item-thought',
  'candidates[].content.parts[].inlineData': 'begun',
  'candidates[].content.parts[].inlineData.mimeType': 'item-image-type',
  'candidates[].content.parts[].functionCall': 'begun',
  'candidates[].content.parts[].functionCall.name': 'text',
  'candidates[].content.parts[].functionCall.args': 'json',
  'candidates[].content.parts[].executableCode.code': 'text',
} as const satisfies Readonly<Record<string, AnswerRole>>

/** Without `alt=sse` a stream comes as one array of answers. */
const IN_ARRAY: Readonly<Record<string, AnswerRole>> = Object.fromEntries(
  Object.entries(ANSWER).map(([path, role]) => [`[].${path}`, role]),
)

export const GEMINI_ANSWERS = {
  stream: {
    fields: ANSWER,
    events: {},
    contentPrefix: undefined,
    quietBlocks: [],
    done: 'none',
    finishTerminates: true,
  },
  body: { fields: { ...ANSWER, ...IN_ARRAY } },
  imageItemType: undefined,
} as const satisfies AnswerTable
