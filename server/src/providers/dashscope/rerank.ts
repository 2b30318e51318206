/** Rerank in DashScope's own form: the query is in `input`, its options in `parameters`. */
import { isJsonArray } from '../../core/canonical/json-text.ts'
import { isJsonObject } from '../../core/json.ts'
import { plainDocuments } from '../dialects/documents.ts'
import { passedDialect } from '../dialects/passed.ts'
import { renamed } from '../dialects/rename.ts'
import type { FormRewrite, PassedDialect } from '../provider.ts'
import { ofApi } from './address.ts'
import { WORDS } from './failure-words.ts'

const PARAMETERS = { top_n: 'top_n', return_documents: 'return_documents', instruct: 'instruct' }
const PATH = '/api/v1/services/rerank/text-rerank/text-rerank'

const rewrite: FormRewrite = {
  request: ({ model, query, documents = null, ...rest }) => {
    const { members: parameters, dropped } = renamed(rest, PARAMETERS)
    return {
      body: { model, input: { query, documents: plainDocuments(documents) }, parameters },
      dropped,
      context: {},
    }
  },
  answer: ({ output, usage, request_id: id }) => {
    const results = isJsonObject(output) ? output['results'] : undefined
    return isJsonArray(results) ? { id, results, usage } : undefined
  },
}

const passed = passedDialect({ protocol: 'rerank', path: '', words: WORDS, rewrite })

export const dashscopeRerank: PassedDialect = {
  ...passed,
  form: ({ baseUrl, operation }) =>
    operation === 'count-tokens' ? undefined : { method: 'POST', url: ofApi(baseUrl, PATH), headers: {} },
}
