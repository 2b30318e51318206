import { textOf } from '../json.ts'
import styles from '../playground.module.css'
import { openAiSnippet } from '../snippets.ts'
import type { AnswerProps, FormKind } from './kind.ts'

export const TRANSCRIPTION: FormKind = {
  form: 'form',
  id: 'transcription',
  label: 'Transcription',
  path: '/v1/audio/transcriptions',
  library: 'OpenAI',
  snippet: openAiSnippet('audio.transcriptions.create'),
  fields: [],
  accept: 'audio/*,video/*',
  request: (model, _, file) => ({
    path: '/v1/audio/transcriptions',
    body: { model, response_format: 'json' },
    ...(file === undefined ? {} : { file }),
  }),
  Answer,
}

function Answer({ answer }: AnswerProps) {
  return <p className={styles.written}>{textOf(answer['text'])}</p>
}
