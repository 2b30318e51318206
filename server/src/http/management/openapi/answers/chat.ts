/**
 * Answers of chat completions. The protocol has no complete definition: besides the fields of its document there are
 * those that vendors add, so that answers passed on unchanged match the description.
 */
import type { JsonObject } from '../../../../core/json.ts'
import {
  among,
  anyJson,
  closed,
  count,
  decimal,
  described,
  either,
  exactly,
  flag,
  list,
  mapOf,
  maybe,
  named,
  nothing,
  text,
  typed,
  whole,
} from './words.ts'

const promptDetails = closed(
  {},
  {
    cached_tokens: maybe(count),
    cache_write_tokens: count,
    cache_creation_tokens: count,
    cached_creation_tokens: count,
    text_tokens: maybe(count),
    audio_tokens: maybe(count),
    image_tokens: maybe(count),
    video_tokens: maybe(count),
  },
)

const completionDetails = closed(
  {},
  {
    reasoning_tokens: maybe(count),
    text_tokens: maybe(count),
    audio_tokens: maybe(count),
    image_tokens: maybe(count),
    accepted_prediction_tokens: maybe(count),
    rejected_prediction_tokens: maybe(count),
  },
)

const usage = closed(
  { prompt_tokens: count, completion_tokens: count, total_tokens: count },
  {
    prompt_tokens_details: maybe(promptDetails),
    completion_tokens_details: maybe(completionDetails),
    cached_tokens: maybe(count),
    reasoning_tokens: maybe(count),
    prompt_cache_hit_tokens: count,
    prompt_cache_miss_tokens: count,
    queue_time: maybe(decimal),
    prompt_time: maybe(decimal),
    completion_time: maybe(decimal),
    total_time: maybe(decimal),
    num_sources_used: count,
    num_search_queries: count,
    audio_prompt_tokens: count,
    citation_tokens: count,
    search_context_size: text,
    cost_in_usd_ticks: count,
    cost: either(decimal, mapOf(decimal)),
    cost_details: mapOf(maybe(decimal)),
    is_byok: flag,
    server_tool_use: maybe(mapOf(count)),
  },
)

const tokenLogprob = {
  token: text,
  logprob: decimal,
  bytes: maybe(list(count)),
}

const tokenLogprobs = maybe(
  list(
    closed({ token: text, logprob: decimal }, { ...tokenLogprob, top_logprobs: list(closed(tokenLogprob)) }),
  ),
)

const logprobs = maybe(closed({ content: tokenLogprobs }, { refusal: tokenLogprobs }))

const finishReason = among(
  'stop',
  'length',
  'tool_calls',
  'content_filter',
  'function_call',
  'model_length',
  'max_tokens',
  'sensitive',
  'eos',
  'end_turn',
  'stop_sequence',
  'error',
  'insufficient_system_resource',
)

const filtered = closed(
  { filtered: flag },
  { severity: text, detected: flag, citation: closed({}, { URL: text, license: text }) },
)
const filterResults = mapOf(filtered)
const promptFilterResults = list(closed({ prompt_index: count, content_filter_results: filterResults }))

const annotation = typed('url_citation', {
  url_citation: closed({ url: text }, { title: text, start_index: whole, end_index: whole, content: text }),
})

/** A signature in the gateway's envelope, or the vendor's own field; sent back with the call. */
const extraContent = mapOf(mapOf(text))

const reasoningDetail = either(
  typed(
    'reasoning.text',
    {},
    { text: maybe(text), signature: maybe(text), index: count, id: maybe(text), format: maybe(text) },
  ),
  typed(
    'reasoning.summary',
    {},
    { summary: text, signature: maybe(text), index: count, id: maybe(text), format: maybe(text) },
  ),
  typed('reasoning.encrypted', { data: text }, { index: count, id: maybe(text), format: maybe(text) }),
)

const image = typed('image_url', { image_url: closed({ url: text }) }, { index: count })

const reasoningFields = {
  reasoning_content: maybe(text),
  reasoning: maybe(text),
  reasoning_details: list(reasoningDetail),
}

const functionCall = closed({ name: text, arguments: text })

const toolCall = either(
  closed(
    { id: text, function: functionCall },
    { type: exactly('function'), index: count, extra_content: extraContent },
  ),
  typed(
    'custom',
    { id: text, custom: closed({ name: text, input: text }) },
    { index: count, extra_content: extraContent },
  ),
)

const message = closed(
  { role: exactly('assistant') },
  {
    content: maybe(text),
    refusal: maybe(text),
    tool_calls: maybe(list(toolCall)),
    function_call: maybe(functionCall),
    annotations: maybe(list(annotation)),
    audio: maybe(closed({ id: text, data: text, expires_at: whole, transcript: text })),
    images: list(image),
    ...reasoningFields,
  },
)

const choiceFields = {
  logprobs,
  content_filter_results: filterResults,
  native_finish_reason: maybe(text),
  stop_reason: maybe(either(text, whole)),
  matched_stop: maybe(either(text, whole)),
  token_ids: maybe(list(whole)),
}

const searchResult = closed(
  { title: text, url: text },
  { date: maybe(text), last_updated: maybe(text), snippet: text, source: text, id: either(text, whole) },
)

/** Fields besides the answer itself, whole and streamed. */
const surroundings = {
  system_fingerprint: maybe(text),
  service_tier: maybe(text),
  provider: text,
  citations: maybe(list(text)),
  search_results: maybe(list(searchResult)),
  images: list(closed({ image_url: text }, { origin_url: text, title: text, height: whole, width: whole })),
  related_questions: maybe(list(text)),
  prompt_filter_results: maybe(promptFilterResults),
  usage_breakdown: maybe(anyJson),
  request_id: text,
}

const metadata = maybe(mapOf(text))

const completion = closed(
  {
    id: text,
    object: exactly('chat.completion'),
    created: whole,
    model: text,
    choices: list(closed({ index: count, message, finish_reason: finishReason }, choiceFields)),
  },
  {
    usage,
    ...surroundings,
    metadata,
    x_groq: closed({ id: text }, { seed: whole, usage: maybe(anyJson) }),
    prompt_logprobs: nothing,
    prompt_token_ids: nothing,
    kv_transfer_params: nothing,
  },
)

const deltaOfCall = (kind: 'function' | 'custom', said: JsonObject): JsonObject =>
  closed(
    { [kind]: closed({}, { name: maybe(text), ...said }) },
    { index: count, id: maybe(text), type: maybe(exactly(kind)), extra_content: extraContent },
  )

const delta = closed(
  {},
  {
    role: maybe(exactly('assistant')),
    content: maybe(text),
    refusal: maybe(text),
    tool_calls: maybe(
      list(either(deltaOfCall('function', { arguments: text }), deltaOfCall('custom', { input: text }))),
    ),
    function_call: closed({}, { name: text, arguments: text }),
    annotations: list(annotation),
    audio: closed({}, { id: text, data: text, expires_at: whole, transcript: text }),
    images: list(image),
    ...reasoningFields,
  },
)

const chunk = closed(
  {
    id: text,
    created: whole,
    model: text,
    choices: list(
      closed({ index: count, delta }, { ...choiceFields, finish_reason: maybe(finishReason), message }),
    ),
  },
  {
    object: among('chat.completion.chunk', 'chat.completion.done', ''),
    usage: maybe(usage),
    ...surroundings,
    obfuscation: text,
    x_groq: closed(
      {},
      {
        id: text,
        seed: whole,
        error: text,
        usage: maybe(
          closed(
            { prompt_tokens: count, completion_tokens: count, total_tokens: count },
            {
              queue_time: decimal,
              prompt_time: decimal,
              completion_time: decimal,
              total_time: decimal,
              prompt_tokens_details: promptDetails,
              completion_tokens_details: completionDetails,
            },
          ),
        ),
      },
    ),
  },
)

/** The answer of a video model called over chat (docs/reference/contract.md#4.4). */
const videoLink = closed({ id: text, url: text, seconds: text, size: text, expires_at: whole })
const noTokens = closed({
  prompt_tokens: exactly(0),
  completion_tokens: exactly(0),
  total_tokens: exactly(0),
})
const videoHead = { id: text, created: whole, model: text }

const videoCompletion = closed({
  ...videoHead,
  object: exactly('chat.completion'),
  status: exactly('done'),
  video: videoLink,
  choices: list(
    closed({
      index: exactly(0),
      message: closed({ role: exactly('assistant'), content: text }),
      finish_reason: exactly('stop'),
    }),
  ),
  usage: noTokens,
})

const videoChunk = closed(
  {
    ...videoHead,
    object: exactly('chat.completion.chunk'),
    status: among('queued', 'in_progress', 'completed', 'done'),
    progress: { ...count, maximum: 100 },
    choices: list(
      closed({
        index: exactly(0),
        delta: closed({}, { role: exactly('assistant'), content: text }),
        finish_reason: maybe(exactly('stop')),
      }),
    ),
  },
  { video: videoLink, usage: noTokens },
)

export const CHAT_ANSWERS: JsonObject = {
  ChatCompletion: described('A chat completion object.', completion),
  ChatCompletionChunk: described('What one `data:` line of a chat stream holds.', chunk),
  VideoCompletion: described('The answer of a video model that was called by chat.', videoCompletion),
  VideoCompletionChunk: described('The progress of such a video.', videoChunk),
}

export const CHAT_WHOLE = either(named('ChatCompletion'), named('VideoCompletion'))
export const CHAT_EVENT = either(
  named('ChatCompletionChunk'),
  named('VideoCompletionChunk'),
  named('StreamError'),
)
