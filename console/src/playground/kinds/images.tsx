import { type JsonRecord, recordsOf, textOf } from '../../parts/values/json.ts'
import { openAiSnippet } from '../snippets.ts'
import styles from '../playground.module.css'
import type { AnswerProps, FormKind } from './kind.ts'
import { useTranslation } from '../../texts/use-translation.ts'

const SIZES = ['1024x1024', '1536x1024', '1024x1536']
const COUNTS = ['1', '2', '3', '4']
/** Models that make variations support only squares. */
const SQUARES = ['1024x1024', '512x512', '256x256']

export const IMAGES: FormKind = {
  form: 'form',
  id: 'images',
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

const EDIT_PATH = '/v1/images/edits'

/** Edits an image by a prompt: all of it, or where the mask is transparent. */
export const IMAGE_EDITS: FormKind = {
  ...IMAGES,
  id: 'image-edits',
  path: EDIT_PATH,
  snippet: openAiSnippet('images.edit'),
  files: [
    { name: 'image', accept: 'image/*' },
    { name: 'mask', accept: 'image/png', optional: true },
  ],
  request: (model, { prompt = '', count = '', size = '' }, files) => ({
    path: EDIT_PATH,
    body: { model, prompt, n: Number(count), size },
    files,
  }),
}

const VARIATION_PATH = '/v1/images/variations'

/** Makes variations of an image. */
export const IMAGE_VARIATIONS: FormKind = {
  ...IMAGES,
  id: 'image-variations',
  path: VARIATION_PATH,
  snippet: openAiSnippet('images.create_variation'),
  fields: [
    { name: 'count', input: 'choice', choices: COUNTS, initial: '1' },
    { name: 'size', input: 'choice', choices: SQUARES, initial: '1024x1024' },
  ],
  files: [{ name: 'image', accept: 'image/png' }],
  request: (model, { count = '', size = '' }, files) => ({
    path: VARIATION_PATH,
    // By default the answer contains URLs, which the page's policy does not load.
    body: { model, n: Number(count), size, response_format: 'b64_json' },
    files,
  }),
}

/** The images; one on another site is a link, as the page's policy does not load it. */
function Answer({ request, answer }: AnswerProps) {
  const { t } = useTranslation()
  // Variations have no prompt: the name of the original is used.
  const prompt = textOf(request.body['prompt']) || (request.files?.['image']?.name ?? '')
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
