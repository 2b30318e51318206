/**
 * Embeddings by Cohere, in its own form: the one compatible with OpenAI's has no fields for dimensions or for the
 * purpose of a text (docs/protocols.md#embeddings).
 */
import { COHERE_PURPOSE, cohereVectors } from '../dialects/cohere-embeddings.ts'
import { passedDialect } from '../dialects/passed.ts'
import type { FormRewrite, PassedDialect } from '../provider.ts'

const rewrite: FormRewrite = {
  ...cohereVectors,
  request: (asked) => {
    const { body, ...rest } = cohereVectors.request(asked)
    return { body: { model: asked['model'] ?? null, ...body }, ...rest }
  },
}

export const cohereEmbeddings: PassedDialect = passedDialect({
  protocol: 'embeddings',
  path: '/v2/embed',
  rewrite,
  textPurpose: COHERE_PURPOSE,
})
