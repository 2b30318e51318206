import table from '../../parts/lists/table.module.css'
import { useFormat } from '../../parts/values/format.ts'
import { recordsOf, textOf } from '../../parts/values/json.ts'
import { linesOf } from '../lines.ts'
import { cohereSnippet } from '../snippets.ts'
import type { AnswerProps, FormKind } from './kind.ts'
import { useTranslation } from '../../texts/use-translation.ts'

export const RERANK: FormKind = {
  form: 'form',
  id: 'rerank',
  path: '/v2/rerank',
  library: 'Cohere',
  snippet: cohereSnippet,
  fields: [
    { name: 'query', input: 'line', initial: '' },
    { name: 'documents', input: 'lines', initial: '' },
  ],
  request: (model, { query = '', documents = '' }) => ({
    path: '/v2/rerank',
    body: { model, query, documents: linesOf(documents) },
  }),
  Answer,
}

/** The documents in the model's order. The answer refers to them by their index in the request. */
function Answer({ request, answer }: AnswerProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const documents = Array.isArray(request.body['documents']) ? request.body['documents'] : []
  return (
    <table className={table.table} aria-label={t('playground.ranked')}>
      <thead>
        <tr>
          <th>{t('playground.document')}</th>
          <th className={table.number}>{t('playground.score')}</th>
        </tr>
      </thead>
      <tbody>
        {recordsOf(answer['results']).map(({ index: sent, relevance_score: score }, index) => (
          <tr key={index}>
            <td>{textOf(documents[Number(sent)])}</td>
            <td className={table.number}>{typeof score === 'number' ? format.number(score, 4) : '–'}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
