/**
 * Google's embed calls over vendors of embeddings: unchanged if the vendor speaks them, else converted in both
 * directions.
 */
import { isJsonArray } from '../../../core/canonical/json-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.ts'
import type { FormRewrite, RewrittenRequest, TextPurpose } from '../../provider.ts'

/** `vendor`: the conversion between OpenAI's form and the vendor's own, if that differs. */
export function overEmbeddings(
  vendor: FormRewrite | undefined,
  purpose: TextPurpose | undefined,
): FormRewrite {
  const refuses = vendor?.refuses
  return {
    ...(refuses === undefined
      ? {}
      : { refuses: (body, sent) => refuses(toEmbeddings(body, purpose).body, sent) }),
    request: (body) => {
      const { body: asked, dropped, context } = toEmbeddings(body, purpose)
      const sent: RewrittenRequest = vendor?.request(asked) ?? { body: asked, dropped: [], context: {} }
      return {
        body: sent.body,
        dropped: [...dropped, ...sent.dropped],
        context: { ...context, vendor: sent.context },
      }
    },
    answer: (body, { one, vendor: context }) => {
      const told = vendor === undefined ? body : vendor.answer(body, isJsonObject(context) ? context : {})
      return told === undefined ? undefined : fromEmbeddings(told, one === true)
    },
  }
}

const PURPOSES = ['taskType', 'task_type']
/** Fields without a counterpart in OpenAI's form. */
const WITHOUT_COUNTERPART = [...PURPOSES, 'title']

/**
 * One call of OpenAI's form has one number of dimensions. What it cannot express, such as an image or different
 * dimensions, is sent in the field where it would belong, so that the vendor refuses it and does not produce something
 * else.
 */
function toEmbeddings(
  { model = null, ...body }: JsonObject,
  purpose: TextPurpose | undefined,
): RewrittenRequest {
  const many = body['requests']
  const requests: readonly JsonValue[] = many === undefined ? [body] : isJsonArray(many) ? many : [many]
  const inputs = requests.map(inputOf)
  const sizes = [...new Set(requests.map(dimensionsOf))]
  const [size = null] = sizes
  const dimensions = sizes.length > 1 ? sizes : size
  const said = purposeOf(requests, purpose)
  const left = said === undefined ? WITHOUT_COUNTERPART : ['title']
  const where = many === undefined ? '' : 'requests[].'
  const [input = null] = inputs
  return {
    body: {
      model,
      input: many === undefined ? input : inputs,
      ...(dimensions === null ? {} : { dimensions }),
      ...said,
    },
    dropped: left
      .filter((name) => requests.some((request) => isJsonObject(request) && (request[name] ?? null) !== null))
      .map((name) => `${where}${name}`),
    context: { one: many === undefined },
  }
}

function inputOf(request: JsonValue): JsonValue {
  const content = isJsonObject(request) ? (request['content'] ?? null) : request
  const parts = isJsonObject(content) ? content['parts'] : undefined
  // Google also accepts a single part that is not in a list.
  const all: readonly JsonValue[] = isJsonArray(parts) ? parts : parts === undefined ? [] : [parts]
  const texts = all.map((part) => (isJsonObject(part) ? part['text'] : undefined))
  const readable = texts.filter((one): one is string => typeof one === 'string')
  return readable.length === all.length && all.length > 0 ? readable.join('') : content
}

function dimensionsOf(request: JsonValue): JsonValue {
  if (!isJsonObject(request)) return null
  return request['outputDimensionality'] ?? request['output_dimensionality'] ?? null
}

/**
 * The purpose of the texts, as the vendor names it; undefined: it has none, or one call cannot express it for all
 * texts.
 */
function purposeOf(requests: readonly JsonValue[], purpose: TextPurpose | undefined): JsonObject | undefined {
  const asked = [...new Set(requests.map(taskTypeOf))]
  const [task] = asked
  if (purpose === undefined || asked.length > 1 || typeof task !== 'string') return undefined
  if (purpose.words === 'the same') return { [purpose.member]: task }
  const word = Object.hasOwn(purpose.words, task) ? purpose.words[task] : undefined
  return word === undefined ? undefined : { [purpose.member]: word }
}

function taskTypeOf(request: JsonValue): JsonValue {
  if (!isJsonObject(request)) return null
  return request['taskType'] ?? request['task_type'] ?? null
}

/** `one`: the call is answered with a single vector. */
function fromEmbeddings({ data, usage }: JsonObject, one: boolean): JsonObject | undefined {
  if (!isJsonArray(data)) return undefined
  const vectors = data
    .filter(isJsonObject)
    .toSorted((left, right) => placeOf(left) - placeOf(right))
    .map((item) => ({ values: item['embedding'] ?? null }))
  const [first] = vectors
  if (one && first === undefined) return undefined
  return { ...(one ? { embedding: first ?? null } : { embeddings: vectors }), ...reportedUsage(usage) }
}

function placeOf({ index }: JsonObject): number {
  return typeof index === 'number' ? index : 0
}

function reportedUsage(usage: JsonValue | undefined): JsonObject {
  if (!isJsonObject(usage)) return {}
  const tokens = [usage['prompt_tokens'], usage['total_tokens'], usage['input_tokens']].find(
    (count) => typeof count === 'number',
  )
  return tokens === undefined ? {} : { usageMetadata: { promptTokenCount: tokens, totalTokenCount: tokens } }
}
