import { NO_USAGE } from '../../core/canonical/usage.ts'
import { isJsonArray } from '../../core/canonical/json-text.ts'
import { isJsonObject, type JsonValue } from '../../core/json.ts'
import { usageReaders } from '../../core/metering/counters.ts'
import type { RequestText } from '../../core/metering/request-text.ts'
import { wholeAnswerForm } from '../../core/passthrough/answers/compiled-answers.ts'
import { requestForm } from '../../core/passthrough/requests/request-scan.ts'
import { estimateInput } from '../stages/estimate.ts'
import type { EndpointKind } from './kind.ts'

/** Texts made into vectors. Only the input is paid for; the vectors go to the client as they came, numbers or base64. */
export const EMBEDDINGS: EndpointKind = {
  id: 'embeddings',
  flow: 'exchange',
  paths: [{ methods: ['POST'], path: '/v1/embeddings', protocol: 'embeddings' }],
  chains: ['embeddings'],
  counts: () => ({ requests: 1, images: 0, videos: 0, videoSeconds: 0 }),
  estimate: estimateInput,
  form: {
    id: 'embeddings',
    requests: requestForm({
      model: 'model',
      user: 'user',
      // Servers of models that read pictures: nobody knows here what is behind an address.
      'input[].image': 'unseen-input',
      'input[].image_url': 'unseen-input',
    }),
    answers: wholeAnswerForm(
      { model: 'model', usage: 'usage', error: 'error' },
      usageReaders({
        places: { input: ['prompt_tokens', 'total_tokens'] },
        toUsage: ({ input }) => ({ ...NO_USAGE, input, output: 0 }),
      }),
    ),
    text,
    smallest: { input: 'Hello' },
  },
}

/** A text, texts, tokens, or lists of tokens; objects of vendors that take more than text. */
function text(body: JsonValue): RequestText {
  const texts: string[] = []
  let tokens = 0
  const pending: (JsonValue | undefined)[] = isJsonObject(body) ? [body['input']] : []
  while (pending.length > 0) {
    const value = pending.pop()
    if (typeof value === 'string') texts.push(value)
    else if (typeof value === 'number') tokens += 1
    else if (isJsonArray(value)) for (const item of value.toReversed()) pending.push(item)
    else if (isJsonObject(value)) pending.push(value['text'])
  }
  return { texts, messages: 0, media: 0, tokens }
}
