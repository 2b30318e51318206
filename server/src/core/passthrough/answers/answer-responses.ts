import type { AnswerTable } from './answer-table.ts'

/**
 * Responses (docs/protocols.md#responses-streams): every event names its type; the first two or three only say that the
 * request was accepted.
 */
export const RESPONSES_ANSWERS = {
  stream: {
    fields: {
      type: 'type',
      error: 'error',
      delta: 'text',
      'item.type': 'item-type',
      'item.result': 'item-result',
      'item.name': 'text',
      item: 'item',
      sequence_number: 'sequence-number',
      'response.id': 'answer-id',
      'response.model': 'model',
      'response.usage': 'usage',
      'response.error': 'error',
      'response.output[].content[].text': 'text-again',
      'response.output[].summary[].text': 'text-again',
      'response.output[].arguments': 'text-again',
      'response.output[].input': 'text-again',
    },
    events: {
      'response.created': 'prelude',
      'response.queued': 'prelude',
      'response.in_progress': 'prelude',
      'response.audio.delta': 'prelude',
      'response.output_item.done': 'item-done',
      'response.completed': 'terminator',
      'response.incomplete': 'terminator',
      'response.failed': 'failure',
      error: 'failure',
    },
    contentPrefix: 'response.',
    quietBlocks: [],
    done: 'added',
    finishTerminates: false,
  },
  body: {
    fields: {
      id: 'answer-id',
      model: 'model',
      error: 'error',
      usage: 'usage',
      'output[]': 'item',
      'output[].type': 'item-type',
      'output[].result': 'item-result',
      'output[].name': 'text',
      'output[].arguments': 'text',
      'output[].input': 'text',
      'output[].content[].text': 'text',
      'output[].content[].refusal': 'text',
      'output[].summary[].text': 'text',
    },
  },
  imageItemType: 'image_generation_call',
} as const satisfies AnswerTable
