import { useTranslation } from 'react-i18next'
import { type JsonRecord, recordsOf, textOf } from '../json.ts'
import { openAiSnippet } from '../snippets.ts'
import styles from '../playground.module.css'
import type { AnswerProps, FormKind } from './kind.ts'

const SIZES = ['1024x1024', '1536x1024', '1024x1536']
const COUNTS = ['1', '2', '3', '4']

export const IMAGES: FormKind = {
  form: 'form',
  id: 'images',
  label: 'Images',
  path: '/v1/images/generations',
  library: 'OpenAI',
  snippet: openAiSnippet('images.generate'),
  fields: [
    { name: 'prompt', input: 'lines', initial: '' },
    { name: 'count', input: 'choice', choices: COUNTS, initial: '1' },
    { name: 'size', input: 'choice', choices: SIZES, initial: '1024x1024' },
  ],
  request: (model, { prompt = '', count = '', size = '' }) => ({
    path: '/v1/images/generations',
    body: { model, prompt, n: Number(count), size },
  }),
  Answer,
}

/** The pictures; one that lies elsewhere is a link, since the page fetches nothing from foreign places. */
function Answer({ request, answer }: AnswerProps) {
  const { t } = useTranslation()
  const prompt = textOf(request.body['prompt'])
  return (
    <ul className={styles.images} aria-label={t('playground.images')}>
      {recordsOf(answer['data']).map((image, index) => (
        <li key={index}>
          {image['b64_json'] === undefined ? (
            <a className={styles.link} href={textOf(image['url'])} target="_blank" rel="noreferrer">
              {t('playground.imageElsewhere')}
            </a>
          ) : (
            <img
              src={`data:image/${typeOf(answer)};base64,${textOf(image['b64_json'])}`}
              alt={textOf(image['revised_prompt']) || prompt}
            />
          )}
        </li>
      ))}
    </ul>
  )
}

function typeOf(answer: JsonRecord): string {
  return textOf(answer['output_format']) || 'png'
}
