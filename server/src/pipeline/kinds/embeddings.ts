import { wholeAnswerForm } from '../../core/passthrough/answers/compiled-answers.ts'
import { requestForm } from '../../core/passthrough/requests/request-form.ts'
import { estimateInput } from '../stages/estimate.ts'
import type { EndpointKind } from './kind.ts'
import { inputUsageReader, textOfInput } from './read-input.ts'

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
    answers: wholeAnswerForm({ model: 'model', usage: 'usage', error: 'error' }, inputUsageReader),
    text: textOfInput,
    smallest: { input: 'Hello' },
  },
}
