import { recordsOf } from '../../parts/values/json.ts'
import { linesOf } from '../lines.ts'
import { openAiSnippet } from '../snippets.ts'
import { useFormat } from '../../parts/values/format.ts'
import table from '../../parts/lists/table.module.css'
import type { AnswerProps, FormKind } from './kind.ts'
import { useTranslation } from '../../texts/use-translation.ts'

export const EMBEDDINGS: FormKind = {
  form: 'form',
  id: 'embeddings',
  path: '/v1/embeddings',
  library: 'OpenAI',
  snippet: openAiSnippet('embeddings.create'),
  fields: [{ name: 'texts', input: 'lines', initial: '' }],
  request: (model, { texts = '' }) => ({
    path: '/v1/embeddings',
    // Numbers, so that the page can read them; by default libraries ask for base64.
    body: { model, input: linesOf(texts), encoding_format: 'float' },
  }),
  Answer,
}

/** Each text with its vector and its similarity to the first. */
function Answer({ request, answer }: AnswerProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const texts = Array.isArray(request.body['input']) ? request.body['input'] : []
  const vectors = recordsOf(answer['data']).map(({ embedding }) =>
    Array.isArray(embedding) ? embedding.filter((each) => typeof each === 'number') : [],
  )
  return (
    <table className={table.table} aria-label={t('playground.vectors')}>
      <thead>
        <tr>
          <th>{t('playground.fields.texts')}</th>
          <th className={table.number}>{t('playground.dimensions')}</th>
          <th className={table.number}>{t('playground.nearness')}</th>
        </tr>
      </thead>
      <tbody>
        {vectors.map((vector, index) => (
          <tr key={index}>
            <td>
              <span className={table.first}>{String(texts[index] ?? '')}</span>
              <span className={table.second}>
                <code>
                  {vector
                    .slice(0, 3)
                    .map((each) => each.toFixed(4))
                    .join(', ')}{' '}
                  …
                </code>
              </span>
            </td>
            <td className={table.number}>{format.number(vector.length)}</td>
            <td className={table.number}>{format.number(nearness(vectors[0] ?? [], vector), 3)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** The cosine of the angle between two vectors. */
function nearness(one: readonly number[], other: readonly number[]): number {
  const product = (a: readonly number[], b: readonly number[]): number =>
    a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0)
  const lengths = Math.sqrt(product(one, one) * product(other, other))
  return lengths === 0 ? 0 : product(one, other) / lengths
}
