import { isJsonArray } from '../../core/canonical/json-text.ts'
import { NO_USAGE } from '../../core/canonical/usage.ts'
import { isJsonObject, type JsonValue } from '../../core/json.ts'
import { usageReaders } from '../../core/metering/counters.ts'
import type { RequestText } from '../../core/metering/request-text.ts'
import { wholeAnswerForm } from '../../core/passthrough/answers/compiled-answers.ts'
import { type FormRole, pathRequestForm } from '../../core/passthrough/requests/request-form.ts'
import { callAndImages, estimateInput } from '../stages/estimate.ts'
import type { EndpointKind } from './kind.ts'
import { textIn } from './read-input.ts'

/** Pictures, sound and documents: their tokens cannot be counted from the bytes seen here. */
const UNSEEN_PARTS = ['inlineData', 'inline_data', 'fileData', 'file_data']

/**
 * Texts to vectors, in the form of the Gemini API: one at `:embedContent`, many at `:batchEmbedContents`, each with the
 * model's name in its request as well. Chains are those of embeddings.
 */
export const GEMINI_EMBEDDINGS: EndpointKind = {
  id: 'gemini-embeddings',
  flow: 'exchange',
  paths: [
    {
      methods: ['POST'],
      path: '/v1beta/models/{model}:embedContent',
      protocol: 'gemini-embeddings',
      stream: false,
    },
    {
      methods: ['POST'],
      path: '/v1beta/models/{model}:batchEmbedContents',
      protocol: 'gemini-embeddings',
      stream: false,
    },
  ],
  chains: ['embeddings'],
  counts: callAndImages,
  estimate: estimateInput,
  form: {
    id: 'gemini-embeddings',
    requests: pathRequestForm({ ...fieldsOf(''), 'requests[]': 'message', ...fieldsOf('requests[].') }),
    answers: wholeAnswerForm({ usageMetadata: 'usage', error: 'error' }, usageReader()),
    text,
    smallest: { content: { parts: [{ text: 'Hello' }] } },
  },
}

/** The fields of one request, alone or one of several. */
function fieldsOf(request: string): Readonly<Record<string, FormRole>> {
  const unseen = UNSEEN_PARTS.map((name) => [`${request}content.parts[].${name}`, 'unseen-input'] as const)
  return { [`${request}model`]: 'model-resource', ...Object.fromEntries(unseen) }
}

function usageReader() {
  return usageReaders({
    places: { input: ['promptTokenCount', 'totalTokenCount'] },
    toUsage: ({ input }) => ({ ...NO_USAGE, input, output: 0 }),
  })
}

function text(body: JsonValue): RequestText {
  if (!isJsonObject(body)) return textIn([])
  const requests = isJsonArray(body['requests']) ? body['requests'] : [body]
  return textIn(requests.flatMap(readOf))
}

function readOf(request: JsonValue): readonly (JsonValue | undefined)[] {
  if (!isJsonObject(request)) return []
  const { title, content } = request
  return [title, isJsonObject(content) ? content['parts'] : undefined]
}
