/** Rerank by models of Cohere and Amazon: Cohere's second form, which says its version in the document. */
import { isJsonArray } from '../../core/canonical/json-text.ts'
import { plainDocuments } from '../dialects/documents.ts'
import { renamed } from '../dialects/rename.ts'
import type { FormRewrite, PassedDialect } from '../provider.ts'
import { invoked } from './invoke.ts'

const OF_AMAZON = /amazon\.rerank/
const NAMES = { query: 'query', top_n: 'top_n' }
const NAMES_OF_COHERE = { ...NAMES, max_tokens_per_doc: 'max_tokens_per_doc' }

const rewrite: FormRewrite = {
  request: ({ model, documents = null, ...rest }) => {
    const ofAmazon = typeof model === 'string' && OF_AMAZON.test(model)
    const { members, dropped } = renamed(rest, ofAmazon ? NAMES : NAMES_OF_COHERE)
    return {
      body: { ...members, documents: plainDocuments(documents), ...(ofAmazon ? {} : { api_version: 2 }) },
      dropped,
      context: {},
    }
  },
  answer: ({ id, results, meta }) => (isJsonArray(results) ? { id, results, meta } : undefined),
}

export const bedrockRerank: PassedDialect = invoked('rerank', rewrite)
