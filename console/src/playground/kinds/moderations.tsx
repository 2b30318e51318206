import { useFormat } from '../../parts/values/format.ts'
import table from '../../parts/lists/table.module.css'
import { recordOf, recordsOf } from '../../parts/values/json.ts'
import { openAiSnippet } from '../snippets.ts'
import type { AnswerProps, FormKind } from './kind.ts'
import { useTranslation } from '../../texts/use-translation.ts'

export const MODERATIONS: FormKind = {
  form: 'form',
  id: 'moderations',
  path: '/v1/moderations',
  library: 'OpenAI',
  snippet: openAiSnippet('moderations.create'),
  fields: [{ name: 'text', input: 'lines', initial: '' }],
  request: (model, { text = '' }) => ({ path: '/v1/moderations', body: { model, input: text } }),
  Answer,
}

/** The categories with their scores, highest first. */
function Answer({ answer }: AnswerProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const [result] = recordsOf(answer['results'])
  const named = recordOf(result?.['categories'])
  const scores = Object.entries(recordOf(result?.['category_scores']))
    .flatMap(([name, score]) => (typeof score === 'number' ? [{ name, score }] : []))
    .toSorted((one, other) => other.score - one.score)
  return (
    <table className={table.table} aria-label={t('playground.categories')}>
      <thead>
        <tr>
          <th>{t('playground.category')}</th>
          <th className={table.number}>{t('playground.score')}</th>
        </tr>
      </thead>
      <tbody>
        {scores.map(({ name, score }) => (
          <tr key={name}>
            <td>
              <code>{name}</code> {named[name] === true && <b>{t('playground.flagged')}</b>}
            </td>
            <td className={table.number}>{format.percent(score, 2)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
