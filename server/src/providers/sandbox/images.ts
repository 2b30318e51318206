/** Squares of one colour, chosen by the prompt: whole, or in steps as a stream. */
import type { JsonObject, JsonValue } from '../../core/json.ts'
import type { OfflineAnswer, OfflineChunk } from '../../core/offline-answer.ts'
import type { OfflineRequest, PassedDialect } from '../provider.ts'
import { SANDBOX_IMAGE_MODEL } from './models.ts'
import { plainPng } from './png.ts'
import { parseBody } from './respond.ts'
import { type Answered, Mistake, oneModel } from './respond-one.ts'
import { countTokens } from './tokens.ts'

const IMAGES_MAX = 10
const PARTS_MAX = 3
const TOKENS_PER_IMAGE = 272

const whole = oneModel({
  protocol: 'images',
  path: '/images/generations',
  model: SANDBOX_IMAGE_MODEL,
  answer: (body, { createdAt }) => made(body, createdAt),
})

export const sandboxImages: PassedDialect = { ...whole, respond }

function respond(request: OfflineRequest): OfflineAnswer {
  const { form } = request
  return form === undefined
    ? answerTo(request, parseBody(request.body) ?? {})
    : answerTo({ ...request, body: [new TextEncoder().encode(JSON.stringify(bodyOf(form)))] }, bodyOf(form))
}

/** The fields of a form as JSON. A variation has no prompt. */
function bodyOf({ fields }: NonNullable<OfflineRequest['form']>): JsonObject {
  const numbers = ['n', 'partial_images'].flatMap((name) => {
    const value = fields.get(name)
    return value === undefined ? [] : [[name, Number(value)] as const]
  })
  const stream = fields.get('stream')?.toLowerCase() === 'true'
  return { prompt: fields.get('prompt') ?? 'another one', stream, ...Object.fromEntries(numbers) }
}

function answerTo(request: OfflineRequest, body: JsonObject): OfflineAnswer {
  const answer = whole.respond?.(request)
  if (answer === undefined) throw new Error('the sandbox answers by itself')
  if (body['stream'] !== true || answer.status !== 200) return answer
  return {
    ...answer,
    headers: { ...answer.headers, 'content-type': 'text/event-stream' },
    chunks: events(body, Math.floor(request.at / 1_000), request.form === undefined ? 'generation' : 'edit'),
  }
}

function made(body: JsonObject, createdAt: number): Answered {
  const { prompt } = body
  const count = body['n'] ?? 1
  if (typeof prompt !== 'string' || prompt === '')
    return new Mistake("'prompt' must be a text.", 'invalid_prompt')
  if (!isCount(count, IMAGES_MAX)) return new Mistake(`'n' must be from 1 to ${IMAGES_MAX}.`, 'invalid_n')
  return {
    created: createdAt,
    data: Array.from({ length: count }, (_, index) => ({ b64_json: pictureOf(prompt, index) })),
    usage: usageOf(prompt, count),
  }
}

function* events(body: JsonObject, createdAt: number, what: 'generation' | 'edit'): Iterable<OfflineChunk> {
  const prompt = typeof body['prompt'] === 'string' ? body['prompt'] : ''
  const parts = isCount(body['partial_images'] ?? 0, PARTS_MAX) ? Number(body['partial_images']) : 0
  for (let index = 0; index < parts; index += 1)
    yield event(`image_${what}.partial_image`, {
      b64_json: pictureOf(prompt, index + 1),
      created_at: createdAt,
      partial_image_index: index,
    })
  yield event(`image_${what}.completed`, {
    b64_json: pictureOf(prompt, 0),
    created_at: createdAt,
    usage: usageOf(prompt, 1),
  })
}

function event(type: string, data: JsonObject): OfflineChunk {
  return { data: `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`, afterMs: 0 }
}

function usageOf(prompt: string, images: number): JsonObject {
  const input = countTokens([prompt])
  const output = images * TOKENS_PER_IMAGE
  return {
    input_tokens: input,
    input_tokens_details: { text_tokens: input, image_tokens: 0 },
    output_tokens: output,
    total_tokens: input + output,
  }
}

function pictureOf(prompt: string, index: number): string {
  let state = index
  for (const letter of prompt) state = (state * 31 + letter.charCodeAt(0)) & 0xffffff
  return plainPng([state >> 16, (state >> 8) & 0xff, state & 0xff])
}

function isCount(value: JsonValue, most: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= most
}
