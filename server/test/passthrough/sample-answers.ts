import type { ProtocolId } from '../../src/core/catalogue.ts'

/** Small answers in each protocol's own words, as the upstreams write them, for the tests of the taps. */
export interface SampleStream {
  readonly protocol: ProtocolId
  readonly events: readonly object[]
  /** input, cached input, output */
  readonly usage: readonly [number | undefined, number | undefined, number]
}

const chunk = (rest: object): object => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_770_000_000,
  model: 'vendor-model-2026-01-01',
  system_fingerprint: 'fp_1',
  ...rest,
})

const choice = (delta: object, finish: string | null = null): object => ({
  choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
})

const response = (status: string, rest: object = {}): object => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1_770_000_000,
  status,
  error: null,
  model: 'vendor-model-2026-01-01',
  metadata: { model: 'not this one' },
  output: [],
  usage: null,
  ...rest,
})

export const SAMPLE_STREAMS = {
  chat: {
    protocol: 'chat',
    events: [
      chunk({ ...choice({ role: 'assistant', content: '', refusal: null }), usage: null }),
      chunk({ ...choice({ content: 'Hello' }), usage: null }),
      chunk({ ...choice({ content: ' "wörld" 🎈' }), usage: null }),
      chunk({ ...choice({}, 'stop'), usage: null }),
      chunk({
        choices: [],
        usage: {
          prompt_tokens: 20,
          completion_tokens: 9,
          total_tokens: 29,
          prompt_tokens_details: { cached_tokens: 12 },
        },
      }),
    ],
    usage: [8, 12, 9],
  },
  responses: {
    protocol: 'responses',
    events: [
      { type: 'response.created', sequence_number: 0, response: response('in_progress') },
      { type: 'response.in_progress', sequence_number: 1, response: response('in_progress') },
      {
        type: 'response.output_item.added',
        sequence_number: 2,
        output_index: 0,
        item: { id: 'msg_1', type: 'message', content: [] },
      },
      {
        type: 'response.output_text.delta',
        sequence_number: 3,
        item_id: 'msg_1',
        output_index: 0,
        content_index: 0,
        delta: 'Hello',
        logprobs: [],
      },
      { type: 'response.output_text.done', sequence_number: 4, item_id: 'msg_1', text: 'Hello' },
      {
        type: 'response.completed',
        sequence_number: 5,
        response: response('completed', {
          output: [{ id: 'msg_1', type: 'message', content: [{ type: 'output_text', text: 'Hello' }] }],
          usage: {
            input_tokens: 20,
            input_tokens_details: { cached_tokens: 12 },
            output_tokens: 9,
            total_tokens: 29,
          },
        }),
      },
    ],
    usage: [8, 12, 9],
  },
  messages: {
    protocol: 'messages',
    events: [
      {
        type: 'message_start',
        message: {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'vendor-model-2026-01-01',
          content: [],
          stop_reason: null,
          usage: {
            input_tokens: 8,
            cache_read_input_tokens: 12,
            cache_creation_input_tokens: 0,
            output_tokens: 3,
          },
        },
      },
      { type: 'ping' },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: 9 },
      },
      { type: 'message_stop' },
    ],
    usage: [8, 12, 9],
  },
  gemini: {
    protocol: 'gemini',
    events: [
      {
        candidates: [{ content: { parts: [{ text: 'Hel' }], role: 'model' }, index: 0 }],
        usageMetadata: {
          promptTokenCount: 20,
          cachedContentTokenCount: 12,
          candidatesTokenCount: 2,
          totalTokenCount: 22,
        },
        modelVersion: 'vendor-model-2026-01-01',
      },
      {
        candidates: [{ content: { parts: [{ text: 'lo' }], role: 'model' }, finishReason: 'STOP', index: 0 }],
        usageMetadata: {
          promptTokenCount: 20,
          cachedContentTokenCount: 12,
          candidatesTokenCount: 4,
          thoughtsTokenCount: 5,
          totalTokenCount: 29,
        },
        modelVersion: 'vendor-model-2026-01-01',
      },
    ],
    usage: [8, 12, 9],
  },
} as const satisfies Record<ProtocolId, SampleStream>

/** SSE as the protocol's upstreams frame it; `lineEnd` for those that differ. */
export function framed(
  protocol: ProtocolId,
  payloads: readonly (object | string)[],
  lineEnd = protocol === 'gemini' ? '\r\n' : '\n',
): string {
  const named = protocol === 'responses' || protocol === 'messages'
  return payloads
    .map((payload) => {
      const data = typeof payload === 'string' ? payload : JSON.stringify(payload)
      const type = /"type":\s*"([^"]+)"/.exec(data)?.[1]
      const event = named && type !== undefined ? `event: ${type}${lineEnd}` : ''
      return `${event}data: ${data}${lineEnd}${lineEnd}`
    })
    .join('')
}

/** The whole stream of a sample, with the terminator its upstream sends. */
export function sampleStream(protocol: ProtocolId, lineEnd?: string): string {
  const { events } = SAMPLE_STREAMS[protocol]
  return framed(protocol, protocol === 'chat' ? [...events, '[DONE]'] : events, lineEnd)
}
