import { wholeAnswerForm } from '../../core/passthrough/answers/compiled-answers.ts'
import { requestForm } from '../../core/passthrough/requests/request-form.ts'
import { callAndImages, estimateInput } from '../stages/estimate.ts'
import type { EndpointKind } from './kind.ts'
import { inputUsageReader, textOfInput } from './read-input.ts'

/** Texts to vectors. Only the input is charged; the vectors go to the client as received, numbers or base64. */
export const EMBEDDINGS: EndpointKind = {
  id: 'embeddings',
  flow: 'exchange',
  paths: [{ methods: ['POST'], path: '/v1/embeddings', protocol: 'embeddings' }],
  chains: ['embeddings'],
  counts: callAndImages,
  estimate: estimateInput,
  form: {
    id: 'embeddings',
    requests: requestForm({
      model: 'model',
      user: 'user',
      // For servers with models that read pictures: the gateway cannot see what an address refers to.
      'input[].image': 'unseen-input',
      'input[].image_url': 'unseen-input',
    }),
    answers: wholeAnswerForm({ model: 'model', usage: 'usage', error: 'error' }, inputUsageReader),
    text: textOfInput,
    smallest: { input: 'Hello' },
  },
}
