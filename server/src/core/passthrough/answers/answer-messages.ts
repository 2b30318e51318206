import type { AnswerTable } from './answer-table.ts'

/**
 * Messages (docs/protocols.md#messages-streams). An empty text block opens before anything is generated; a thinking
 * block opens when the model has begun, and with hidden thinking nothing else may follow for minutes, so it is not held
 * back.
 */
export const MESSAGES_ANSWERS = {
  stream: {
    fields: {
      type: 'type',
      error: 'error',
      usage: 'usage',
      'message.id': 'message-id',
      'message.model': 'model',
      'message.usage': 'usage-at-start',
      'message.content[]': 'begun',
      'content_block.type': 'block-type',
      'content_block.text': 'text',
      'content_block.thinking': 'text',
      'content_block.name': 'text',
      'delta.text': 'text',
      'delta.thinking': 'text',
      'delta.partial_json': 'text',
      'delta.stop_reason': 'finish',
    },
    events: {
      message_start: 'prelude',
      ping: 'prelude',
      content_block_start: 'block-start',
      content_block_delta: 'content',
      content_block_stop: 'prelude',
      message_delta: 'content',
      message_stop: 'terminator',
      error: 'failure',
    },
    contentPrefix: undefined,
    quietBlocks: ['text'],
    done: 'none',
    finishTerminates: false,
  },
  body: {
    fields: {
      model: 'model',
      error: 'error',
      usage: 'usage',
      'content[]': 'begun',
      'content[].text': 'text',
      'content[].thinking': 'text',
      'content[].name': 'text',
      'content[].input': 'json',
    },
  },
  imageItemType: undefined,
} as const satisfies AnswerTable
