/**
 * The endpoints that are calls, described for the document. They are not routes of the framework: their bodies are
 * passed on byte for byte, so this describes what the gateway reads and does not limit what a client may send.
 */
import type { JsonObject } from '../../../core/json.ts'
import { CHAT_EVENT, CHAT_WHOLE } from './answers/chat.ts'
import { CALL_ERROR, GATEWAY_ERROR, GEMINI_ERROR, MESSAGES_ERROR } from './answers/errors.ts'
import { GEMINI_COUNT, GEMINI_EVENT, GEMINI_WHOLE } from './answers/gemini.ts'
import { MESSAGES_COUNT, MESSAGES_EVENT, MESSAGES_WHOLE } from './answers/messages.ts'
import {
  RESPONSES_COUNT,
  RESPONSES_DELETED,
  RESPONSES_EVENT,
  RESPONSES_INPUT,
  RESPONSES_WHOLE,
} from './answers/responses.ts'
import { VIDEO, VIDEO_DELETED, VIDEO_LIST } from './answers/videos.ts'
import {
  any,
  COUNTING,
  type DescribedCall,
  GENERATING,
  KEY_CODES,
  list,
  MODEL,
  object,
  open,
  PLACE_CODES,
  pathParameter,
  STREAM,
  text,
  whole,
} from './call-words.ts'
import { PASSED_CALLS } from './passed-calls.ts'

const header = (name: string, description: string): JsonObject => ({
  name,
  in: 'header',
  required: false,
  description,
  schema: text,
})

/** Headers read on every call (docs/reference/contract.md#4.1, #4.4). */
const CALL_HEADERS: readonly JsonObject[] = [
  header('Gw-App-Id', 'Source application for the log; absent: told from User-Agent.'),
  header('Gw-Custom-Id', 'The client’s own id for the log.'),
  header('Gw-Vendor-Code', 'Only chains of this vendor.'),
]

const VIDEO_ID = pathParameter('video_id', 'Valid for 24 hours.')
const RESPONSE_ID = pathParameter('response_id', 'Of a response that was stored.')

const STORED_RESPONSES = [40000, ...KEY_CODES, 40400, ...PLACE_CODES]
const MAKING_VIDEOS = [...GENERATING, 40004, 40401]
const STORED_VIDEOS = [40000, ...KEY_CODES, 40402, ...PLACE_CODES]

const GENERATE: readonly DescribedCall[] = [
  {
    method: 'post',
    path: '/v1/chat/completions',
    tag: 'Calls',
    summary: 'Call a model, chat completions protocol',
    description:
      'Fields the gateway does not know go to the upstream as they are. With `stream: true` the answer is a stream of ' +
      '`data:` lines that ends with `data: [DONE]`. A video model answers with a video.',
    request: open(
      {
        model: MODEL,
        messages: list(open({ role: text, content: any })),
        stream: STREAM,
        max_tokens: whole,
        temperature: { type: 'number' },
        top_p: { type: 'number' },
        tools: list(object),
        tool_choice: any,
        response_format: object,
        stop: any,
        user: text,
      },
      ['model', 'messages'],
    ),
    answer: CHAT_WHOLE,
    event: CHAT_EVENT,
    error: CALL_ERROR,
    codes: GENERATING,
  },
  {
    method: 'post',
    path: '/v1/responses',
    tag: 'Calls',
    summary: 'Call a model, responses protocol',
    description:
      'Also at the gateway address. With `stream: true`: `response.*` events, then `data: [DONE]`.',
    request: open(
      {
        model: MODEL,
        input: { anyOf: [text, list(object)] },
        instructions: text,
        stream: STREAM,
        max_output_tokens: whole,
        tools: list(object),
        reasoning: object,
        previous_response_id: { type: ['string', 'null'] },
        store: { type: ['boolean', 'null'] },
        background: {
          type: ['boolean', 'null'],
          description:
            'Answers at once with a queued response, which is read and cancelled by its id. Where no provider of the model can, with `store: false` and with `stream: true` it is 400.',
        },
        user: text,
      },
      ['model', 'input'],
    ),
    answer: RESPONSES_WHOLE,
    event: RESPONSES_EVENT,
    error: CALL_ERROR,
    codes: GENERATING,
  },
  {
    method: 'post',
    path: '/v1/messages',
    tag: 'Calls',
    summary: 'Call a model, messages protocol',
    description:
      'Also at the gateway address, where `x-api-key` is read too. Streams end with `message_stop`.',
    request: open(
      {
        model: MODEL,
        max_tokens: whole,
        messages: list(object),
        system: any,
        stream: STREAM,
        tools: list(object),
      },
      ['model', 'max_tokens', 'messages'],
    ),
    answer: MESSAGES_WHOLE,
    event: MESSAGES_EVENT,
    error: MESSAGES_ERROR,
    codes: GENERATING,
  },
  {
    method: 'post',
    path: '/v1beta/models/{model}:generateContent',
    tag: 'Calls',
    summary: 'Call a model, Gemini protocol',
    description: '`x-goog-api-key` is read too.',
    parameters: [pathParameter('model', 'Platform model id.')],
    request: open({ contents: list(object), systemInstruction: object, generationConfig: object }, [
      'contents',
    ]),
    answer: GEMINI_WHOLE,
    error: GEMINI_ERROR,
    codes: GENERATING,
  },
  {
    method: 'post',
    path: '/v1beta/models/{model}:streamGenerateContent',
    tag: 'Calls',
    summary: 'Call a model with a streamed answer, Gemini protocol',
    description: 'With `alt=sse` server-sent events, else one JSON array.',
    parameters: [
      pathParameter('model', 'Platform model id.'),
      { name: 'alt', in: 'query', required: false, schema: { enum: ['sse', 'json'] } },
    ],
    request: open({ contents: list(object) }, ['contents']),
    answer: list(GEMINI_EVENT),
    event: GEMINI_EVENT,
    error: GEMINI_ERROR,
    codes: GENERATING,
  },
]

const COUNT: readonly DescribedCall[] = [
  {
    method: 'post',
    path: '/v1/responses/input_tokens',
    tag: 'Counting',
    summary: 'Count the tokens of a responses request',
    description: 'Nothing is charged.',
    request: open({ model: MODEL, input: any }, ['model']),
    answer: RESPONSES_COUNT,
    error: CALL_ERROR,
    codes: COUNTING,
  },
  {
    method: 'post',
    path: '/v1/messages/count_tokens',
    tag: 'Counting',
    summary: 'Count the tokens of a messages request',
    description: 'Nothing is charged.',
    request: open({ model: MODEL, messages: list(object) }, ['model', 'messages']),
    answer: MESSAGES_COUNT,
    error: MESSAGES_ERROR,
    codes: COUNTING,
  },
  {
    method: 'post',
    path: '/v1beta/models/{model}:countTokens',
    tag: 'Counting',
    summary: 'Count the tokens of a Gemini request',
    description: 'Nothing is charged.',
    parameters: [pathParameter('model', 'Platform model id.')],
    request: open({ contents: list(object) }),
    answer: GEMINI_COUNT,
    error: GEMINI_ERROR,
    codes: COUNTING,
  },
]

const STORED: readonly DescribedCall[] = [
  {
    method: 'get',
    path: '/v1/responses/{response_id}',
    tag: 'Stored responses',
    summary: 'Read a stored response',
    description:
      'Of the same API key. One that is made in the background has no `output` before it is finished and charged; `stream=true` is refused for it.',
    parameters: [RESPONSE_ID],
    answer: RESPONSES_WHOLE,
    error: CALL_ERROR,
    codes: STORED_RESPONSES,
  },
  {
    method: 'delete',
    path: '/v1/responses/{response_id}',
    tag: 'Stored responses',
    summary: 'Delete a stored response',
    description:
      'What continues it keeps its own copy of the conversation. One that runs in the background is cancelled first.',
    parameters: [RESPONSE_ID],
    answer: RESPONSES_DELETED,
    error: CALL_ERROR,
    codes: STORED_RESPONSES,
  },
  {
    method: 'get',
    path: '/v1/responses/{response_id}/input_items',
    tag: 'Stored responses',
    summary: 'List the input of a stored response',
    description: 'Page by page.',
    parameters: [RESPONSE_ID],
    answer: RESPONSES_INPUT,
    error: CALL_ERROR,
    codes: STORED_RESPONSES,
  },
  {
    method: 'post',
    path: '/v1/responses/{response_id}/cancel',
    tag: 'Stored responses',
    summary: 'Cancel a response that runs in the background',
    description:
      'What was made of it is charged. A finished one is returned as it is; one that was never in the background is refused.',
    parameters: [RESPONSE_ID],
    answer: RESPONSES_WHOLE,
    error: CALL_ERROR,
    codes: STORED_RESPONSES,
  },
]

const videoFields: JsonObject = {
  model: MODEL,
  prompt: text,
  seconds: { type: 'string', description: 'Declared length; what is billed.' },
  size: { type: 'string', description: '<width>x<height>' },
  input_reference: {
    type: 'string',
    description: 'Address or data: URL of the first frame; in a form, a file.',
  },
}

const VIDEOS: readonly DescribedCall[] = [
  {
    method: 'post',
    path: '/v1/videos',
    tag: 'Videos',
    summary: 'Make a video',
    description:
      'Answers when the video is made: allow at least 30 minutes. With `Prefer: respond-async` it answers 202 at once. ' +
      'The same Idempotency-Key joins the task it began. Other fields go to the vendor as they are.',
    parameters: [
      header('Idempotency-Key', 'The same key and body never begin a second task.'),
      header('Prefer', '`respond-async`: answer at once, then poll.'),
    ],
    request: open(videoFields, ['model', 'prompt']),
    multipart: open(videoFields, ['model', 'prompt']),
    answer: VIDEO,
    also: {
      '202': {
        description: 'Accepted: the video is not made yet.',
        content: { 'application/json': { schema: VIDEO } },
      },
    },
    error: CALL_ERROR,
    codes: MAKING_VIDEOS,
  },
  {
    method: 'get',
    path: '/v1/videos',
    tag: 'Videos',
    summary: 'List videos of the last 24 hours',
    description: 'Of this key.',
    answer: VIDEO_LIST,
    error: GATEWAY_ERROR,
    codes: STORED_VIDEOS,
  },
  {
    method: 'get',
    path: '/v1/videos/{video_id}',
    tag: 'Videos',
    summary: 'Read a video task',
    description: 'Of this key.',
    parameters: [VIDEO_ID],
    answer: VIDEO,
    error: GATEWAY_ERROR,
    codes: STORED_VIDEOS,
  },
  {
    method: 'get',
    path: '/v1/videos/{video_id}/content',
    tag: 'Videos',
    summary: 'Download a video',
    description: '409 while it is being made, 410 when the vendor no longer has it.',
    parameters: [VIDEO_ID],
    answer: { type: 'string', format: 'binary' },
    answerType: 'video/mp4',
    error: GATEWAY_ERROR,
    codes: STORED_VIDEOS,
  },
  {
    method: 'delete',
    path: '/v1/videos/{video_id}',
    tag: 'Videos',
    summary: 'Delete a video',
    description: 'Refused with 409 while it is being made.',
    parameters: [VIDEO_ID],
    answer: VIDEO_DELETED,
    error: GATEWAY_ERROR,
    codes: STORED_VIDEOS,
  },
]

export const CALLS: readonly DescribedCall[] = [
  ...GENERATE,
  ...PASSED_CALLS,
  ...COUNT,
  ...STORED,
  ...VIDEOS,
].map((call) =>
  call.method === 'post' && call.request !== undefined
    ? { ...call, parameters: [...(call.parameters ?? []), ...CALL_HEADERS] }
    : call,
)
