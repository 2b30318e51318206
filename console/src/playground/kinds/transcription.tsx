import { textOf } from '../../parts/values/json.ts'
import styles from '../playground.module.css'
import { openAiSnippet } from '../snippets.ts'
import type { AnswerProps, FormKind } from './kind.ts'

const RECORDING: FormKind['files'] = [{ name: 'file', accept: 'audio/*,video/*' }]

/** Transcribes speech in its own language. */
export const TRANSCRIPTION: FormKind = {
  form: 'form',
  id: 'transcription',
  path: '/v1/audio/transcriptions',
  library: 'OpenAI',
  snippet: openAiSnippet('audio.transcriptions.create'),
  fields: [],
  files: RECORDING,
  request: (model, _, files) => ({
    path: '/v1/audio/transcriptions',
    body: { model, response_format: 'json' },
    files,
  }),
  Answer,
}

/** Translates speech to English. */
export const TRANSLATION: FormKind = {
  ...TRANSCRIPTION,
  id: 'translation',
  path: '/v1/audio/translations',
  snippet: openAiSnippet('audio.translations.create'),
  request: (model, _, files) => ({
    path: '/v1/audio/translations',
    body: { model, response_format: 'json' },
    files,
  }),
}

function Answer({ answer }: AnswerProps) {
  return <p className={styles.written}>{textOf(answer['text'])}</p>
}
