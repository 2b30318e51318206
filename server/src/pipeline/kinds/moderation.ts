import { wholeAnswerForm } from '../../core/passthrough/answers/compiled-answers.ts'
import { requestForm } from '../../core/passthrough/requests/request-form.ts'
import { callAndImages, estimateInput } from '../stages/estimate.ts'
import type { EndpointKind } from './kind.ts'
import { inputUsageReader, textOfInput } from './read-input.ts'

/** Whether texts and pictures violate rules. Mostly billed by call, or free; few vendors report usage. */
export const MODERATION: EndpointKind = {
  id: 'moderation',
  flow: 'exchange',
  paths: [{ methods: ['POST'], path: '/v1/moderations', protocol: 'moderation' }],
  chains: ['moderation'],
  counts: callAndImages,
  estimate: estimateInput,
  form: {
    id: 'moderation',
    requests: requestForm({ model: 'model', user: 'user', 'input[].image_url': 'unseen-input' }),
    answers: wholeAnswerForm({ model: 'model', usage: 'usage', error: 'error' }, inputUsageReader),
    text: textOfInput,
    smallest: { input: 'Hello' },
  },
}
