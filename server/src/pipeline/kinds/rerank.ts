import { isJsonArray } from '../../core/canonical/json-text.ts'
import { isJsonObject, type JsonValue } from '../../core/json.ts'
import type { RequestText } from '../../core/metering/request-text.ts'
import { ONE_CALL } from '../../core/metering/quantities.ts'
import { wholeAnswerForm } from '../../core/passthrough/answers/compiled-answers.ts'
import { requestForm } from '../../core/passthrough/requests/request-form.ts'
import { callAndImages, estimateInput } from '../stages/estimate.ts'
import type { EndpointKind } from './kind.ts'
import { inputUsageReader, textIn } from './read-input.ts'

/** Vendors bill a query over up to this many documents as one call. */
const DOCUMENTS_PER_REQUEST = 100
const BYTES_PER_TOKEN = 4

/**
 * Documents ordered by relevance to a query. Cohere's form and Jina's differ only in names that are not read here;
 * Cohere's SDK calls `/v2/rerank`. The model reads the query with each document, and vendors count it that way.
 */
export const RERANK: EndpointKind = {
  id: 'rerank',
  flow: 'exchange',
  paths: [
    { methods: ['POST'], path: '/v1/rerank', protocol: 'rerank' },
    { methods: ['POST'], path: '/v2/rerank', protocol: 'rerank' },
  ],
  chains: ['rerank'],
  counts: callAndImages,
  estimate: (model, call) => ({
    ...estimateInput(model, call),
    pieces: { ...ONE_CALL, requests: Math.max(1, Math.ceil(call.scan.items / DOCUMENTS_PER_REQUEST)) },
  }),
  form: {
    id: 'rerank',
    requests: requestForm({
      model: 'model',
      query: 'repeated',
      'documents[]': 'item',
      // Pictures in the documents of models that read them.
      'documents[].image': 'unseen-input',
      'documents[].image_url': 'unseen-input',
      'documents[].content[].image_url': 'unseen-input',
      'documents[].content[].video_url': 'unseen-input',
      'query.content[].image_url': 'unseen-input',
      'query.content[].video_url': 'unseen-input',
      // vLLM: one object with many parts, which some of its versions rank one by one.
      'documents.content[]': 'item',
      'documents.content[].image_url': 'unseen-input',
      'documents.content[].video_url': 'unseen-input',
    }),
    answers: wholeAnswerForm(
      { model: 'model', usage: 'usage', 'meta.tokens': 'usage', error: 'error' },
      inputUsageReader,
    ),
    text,
    smallest: { query: 'Hello', documents: ['Hello'] },
  },
}

function text(body: JsonValue): RequestText {
  const { query, documents } = isJsonObject(body) ? body : {}
  const count = isJsonArray(documents) ? documents.length : 0
  const repeats = typeof query === 'string' ? Math.max(0, count - 1) : 0
  const read = textIn([query, documents])
  const repeated = repeats * Math.ceil((typeof query === 'string' ? query.length : 0) / BYTES_PER_TOKEN)
  return { ...read, tokens: (read.tokens ?? 0) + repeated }
}
