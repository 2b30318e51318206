/** What clients send and what the upstream answers: the same bytes for everybody who is compared. */

export const MODES = {
  small: { prefix: '/small', model: 'bench-small', stream: false },
  body: { prefix: '/body', model: 'bench-body', stream: false },
  stream: { prefix: '/stream', model: 'bench-stream', stream: true },
  slow: { prefix: '/slow', model: 'bench-slow', stream: true },
  unread: { prefix: '/unread', model: 'bench-unread', stream: true },
  megabyte: { prefix: '/megabyte', model: 'bench-megabyte', stream: false },
  // The same two by clients of embeddings.
  'embed-small': { prefix: '/embed-small', model: 'bench-embed-small', stream: false, kind: 'embeddings' },
  'embed-megabyte': {
    prefix: '/embed-megabyte',
    model: 'bench-embed-megabyte',
    stream: false,
    kind: 'embeddings',
  },
  'image-small': { prefix: '/image-small', model: 'bench-image-small', stream: false, kind: 'images' },
}
/** Modes whose answers come from nginx: small, and the same for all. */
export const isWhole = (mode) => !MODES[mode].stream && mode !== 'body'
/** The upstream's own name of each model; the gateway puts the platform's in its place. */
export const UPSTREAM_MODEL = 'upstream-model-2026-01-01'
const CALL_PATHS = {
  chat: '/v1/chat/completions',
  embeddings: '/v1/embeddings',
  images: '/v1/images/generations',
}
/** Where clients of a mode call, below the base address. */
export const callPathOf = (mode) => CALL_PATHS[MODES[mode].kind ?? 'chat']
export const pathOf = (mode) => `${MODES[mode].prefix}${callPathOf(mode)}`

const SMALL_ANSWER_BYTES = 1_200
export const LARGEST_BYTES = 100 * 1_048_576
const MEGABYTE = 1_000_000
const BODY_BYTES = 5 * MEGABYTE

/** About 1.2 KB, with usage. */
export function smallAnswer() {
  const answer = (content) =>
    JSON.stringify({
      id: 'chatcmpl-bench0000000000000000000000',
      object: 'chat.completion',
      created: 1_767_225_600,
      model: UPSTREAM_MODEL,
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content, refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: {
        prompt_tokens: 60,
        completion_tokens: 180,
        total_tokens: 240,
        prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
      },
      service_tier: 'default',
      system_fingerprint: 'fp_bench',
    })
  return answer(prose(SMALL_ANSWER_BYTES - answer('').length))
}

/** As long as the small answer: one vector. */
export function embeddingAnswer() {
  const answer = (embedding) =>
    JSON.stringify({
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding }],
      model: UPSTREAM_MODEL,
      usage: { prompt_tokens: 240, total_tokens: 240 },
    })
  return answer('A'.repeat(SMALL_ANSWER_BYTES - answer('').length))
}

/** As long as the small answer: one picture, without usage, so that it is counted and charged as one. */
export function imageAnswer() {
  const answer = (picture) => JSON.stringify({ created: 1_767_225_600, data: [{ b64_json: picture }] })
  return answer('A'.repeat(SMALL_ANSWER_BYTES - answer('').length))
}

/** One event of a stream, with its line ends. */
export function chunkEvent(delta, { finish = null, usage = null } = {}) {
  const chunk = {
    id: 'chatcmpl-bench0000000000000000000000',
    object: 'chat.completion.chunk',
    created: 1_767_225_600,
    model: UPSTREAM_MODEL,
    system_fingerprint: 'fp_bench',
    choices: finish === 'none' ? [] : [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    usage,
  }
  return `data: ${JSON.stringify(chunk)}\n\n`
}

export function smallRequest(model) {
  return JSON.stringify({
    model,
    messages: [
      { role: 'system', content: 'You are a terse assistant.' },
      { role: 'user', content: prose(200) },
    ],
    max_tokens: 400,
    temperature: 0.7,
  })
}

export function streamRequest(model) {
  return JSON.stringify({
    model,
    messages: [{ role: 'user', content: prose(200) }],
    max_tokens: 400,
    stream: true,
    stream_options: { include_usage: true },
  })
}

/** A million bytes of one text. */
export const megabyteRequest = (model) =>
  JSON.stringify({ model, messages: [{ role: 'user', content: prose(MEGABYTE) }], max_tokens: 400 })

export const embedSmallRequest = (model) => JSON.stringify({ model, input: prose(350) })

export const imageSmallRequest = (model) =>
  JSON.stringify({ model, prompt: prose(300), n: 1, size: '1024x1024' })

export const embedMegabyteRequest = (model) => JSON.stringify({ model, input: prose(MEGABYTE) })

/** 5 MB: half an image as base64, half a long conversation with line ends and quotes to escape. */
export function largeRequest(model) {
  const half = BODY_BYTES / 2
  const image = Buffer.alloc((half * 3) / 4, 'sluice bench image ').toString('base64')
  const turns = []
  for (let bytes = 0; bytes < half; bytes += 2_100) {
    const role = turns.length % 2 === 0 ? 'user' : 'assistant'
    turns.push({ role, content: `${prose(1_900)}\n"quoted"\n\tconst x = { a: [1, 2.0, 3e4] };\n` })
  }
  return JSON.stringify({
    model,
    messages: [
      ...turns,
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is in this picture?' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${image}` } },
        ],
      },
    ],
    max_tokens: 400,
  })
}

/** As large as a body may be, and nearly all of it one string. */
export function largestRequest(model) {
  const request = (content) =>
    JSON.stringify({ model, messages: [{ role: 'user', content }], max_tokens: 400 })
  return request(prose(LARGEST_BYTES - request('').length))
}

const SENTENCE = 'The quick brown fox jumps over the lazy dog while the kettle sings in the kitchen. '
const prose = (length) => SENTENCE.repeat(Math.ceil(length / SENTENCE.length)).slice(0, length)
