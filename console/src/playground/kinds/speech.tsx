import { openAiSnippet } from '../snippets.ts'
import styles from '../playground.module.css'
import { useObjectUrl } from '../use-object-url.ts'
import type { AnswerProps, FormKind } from './kind.ts'
import { useTranslation } from '../../texts/use-translation.ts'

const FORMATS = ['mp3', 'wav', 'opus', 'aac', 'flac']

export const SPEECH: FormKind = {
  form: 'form',
  id: 'speech',
  path: '/v1/audio/speech',
  library: 'OpenAI',
  snippet: openAiSnippet('audio.speech.create', 'answer.write_to_file("speech")'),
  fields: [
    { name: 'text', input: 'lines', initial: '' },
    { name: 'voice', input: 'line', initial: 'alloy' },
    { name: 'format', input: 'choice', choices: FORMATS, initial: 'mp3' },
  ],
  request: (model, { text = '', voice = '', format = '' }) => ({
    path: '/v1/audio/speech',
    body: { model, input: text, voice: voice.trim(), response_format: format },
  }),
  Answer,
}

function Answer({ file }: AnswerProps) {
  return file === undefined ? null : <Sound of={file} />
}

function Sound({ of: file }: { readonly of: Blob }) {
  const { t } = useTranslation()
  const url = useObjectUrl(file)
  return <audio className={styles.sound} src={url} controls aria-label={t('playground.sound')} />
}
