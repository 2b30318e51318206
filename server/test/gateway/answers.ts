/** One answer in each of the four protocols, in the pieces it comes in: text first, then a finish, then what it cost. */

export const PROTOCOLS = ['chat', 'responses', 'messages', 'gemini'] as const
export type ProtocolName = (typeof PROTOCOLS)[number]

/** Vendor kinds that speak them, with a model each knows. */
export const KINDS: Readonly<Record<ProtocolName, readonly [kind: string, forward: string]>> = {
  chat: ['openai', 'gpt-4.1'],
  responses: ['openai', 'gpt-4.1'],
  messages: ['anthropic', 'claude-opus-4-6'],
  gemini: ['google', 'gemini-2.5-flash'],
}

export interface Cost {
  readonly input: number
  readonly output: number
}

export interface StreamedPieces {
  /** Nothing meaningful yet. */
  readonly prelude: string
  /** The visible text. */
  readonly text: string
  /** The rest: the finish, the usage, the last word. */
  readonly end: string
}

const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`
const event = (value: { readonly type: string; readonly [name: string]: unknown }): string =>
  `event: ${value.type}\n${data(value)}`

/** Says `text`, and costs more than it shows. */
export function streamed(protocol: ProtocolName, text: string, { input, output }: Cost): StreamedPieces {
  switch (protocol) {
    case 'chat': {
      const chunk = (choices: unknown, more: object = {}): string =>
        data({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'up', choices, ...more })
      const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output }
      return {
        prelude: chunk([{ index: 0, delta: { role: 'assistant' }, finish_reason: null }]),
        text: chunk([{ index: 0, delta: { content: text }, finish_reason: null }]),
        end: `${chunk([{ index: 0, delta: {}, finish_reason: 'stop' }])}${chunk([], { usage })}data: [DONE]\n\n`,
      }
    }
    case 'responses': {
      const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'up', output: [] }
      const place = { item_id: 'msg_1', output_index: 0, content_index: 0 }
      const part = { type: 'output_text', text, annotations: [] }
      const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [part] }
      const usage = { input_tokens: input, output_tokens: output, total_tokens: input + output }
      const begun = { ...response, status: 'in_progress' }
      const opened = { ...item, status: 'in_progress', content: [] }
      return {
        prelude: event({ type: 'response.created', sequence_number: 0, response: begun }),
        text: [
          { type: 'response.output_item.added', sequence_number: 1, output_index: 0, item: opened },
          {
            type: 'response.content_part.added',
            sequence_number: 2,
            ...place,
            part: { ...part, text: '' },
          },
          { type: 'response.output_text.delta', sequence_number: 3, ...place, delta: text },
        ]
          .map(event)
          .join(''),
        end: [
          { type: 'response.output_text.done', sequence_number: 4, ...place, text },
          { type: 'response.content_part.done', sequence_number: 5, ...place, part },
          { type: 'response.output_item.done', sequence_number: 6, output_index: 0, item },
          {
            type: 'response.completed',
            sequence_number: 7,
            response: { ...response, status: 'completed', output: [item], usage },
          },
        ]
          .map(event)
          .join(''),
      }
    }
    case 'messages': {
      const message = {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'up',
        content: [],
        stop_reason: null,
        usage: { input_tokens: input, output_tokens: 1 },
      }
      return {
        prelude: event({ type: 'message_start', message }),
        text: [
          { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
          { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
        ]
          .map(event)
          .join(''),
        end: [
          { type: 'content_block_stop', index: 0 },
          { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: output } },
          { type: 'message_stop' },
        ]
          .map(event)
          .join(''),
      }
    }
    case 'gemini': {
      const chunk = (candidate: object, more: object = {}): string =>
        data({ candidates: [{ index: 0, ...candidate }], modelVersion: 'up', responseId: 'r', ...more })
      return {
        prelude: ': waiting\n\n',
        text: chunk({ content: { role: 'model', parts: [{ text }] } }),
        end: chunk(
          { content: { role: 'model', parts: [{ text: '' }] }, finishReason: 'STOP' },
          {
            usageMetadata: {
              promptTokenCount: input,
              candidatesTokenCount: output,
              totalTokenCount: input + output,
            },
          },
        ),
      }
    }
  }
}

export function whole(protocol: ProtocolName, text: string, { input, output }: Cost): string {
  switch (protocol) {
    case 'chat':
      return JSON.stringify({
        id: 'c',
        object: 'chat.completion',
        created: 1,
        model: 'up',
        choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
        usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
      })
    case 'responses':
      return JSON.stringify({
        id: 'resp_1',
        object: 'response',
        created_at: 1,
        status: 'completed',
        model: 'up',
        output: [
          {
            id: 'msg_1',
            type: 'message',
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text, annotations: [] }],
          },
        ],
        usage: { input_tokens: input, output_tokens: output, total_tokens: input + output },
      })
    case 'messages':
      return JSON.stringify({
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'up',
        content: [{ type: 'text', text }],
        stop_reason: 'end_turn',
        usage: { input_tokens: input, output_tokens: output },
      })
    case 'gemini':
      return JSON.stringify({
        candidates: [{ index: 0, content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP' }],
        modelVersion: 'up',
        responseId: 'r',
        usageMetadata: {
          promptTokenCount: input,
          candidatesTokenCount: output,
          totalTokenCount: input + output,
        },
      })
  }
}

const PATHS = { chat: 'chat/completions', responses: 'responses', messages: 'messages' } as const

/** Path and body of a call that says `hi`. */
export function hello(
  protocol: ProtocolName,
  model: string,
  { stream, cap = 4_000 }: { readonly stream: boolean; readonly cap?: number },
): { readonly path: string; readonly body: string } {
  const messages = [{ role: 'user', content: 'hi' }]
  switch (protocol) {
    case 'chat':
      return {
        path: `/v1/${PATHS.chat}`,
        body: JSON.stringify({ model, stream, max_completion_tokens: cap, messages }),
      }
    case 'responses':
      return {
        path: `/v1/${PATHS.responses}`,
        body: JSON.stringify({ model, stream, max_output_tokens: cap, input: 'hi' }),
      }
    case 'messages':
      return {
        path: `/v1/${PATHS.messages}`,
        body: JSON.stringify({ model, stream, max_tokens: cap, messages }),
      }
    case 'gemini':
      return {
        path: `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
        body: JSON.stringify({
          contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
          generationConfig: { maxOutputTokens: cap },
        }),
      }
  }
}
