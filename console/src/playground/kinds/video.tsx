import { useQuery } from '@tanstack/react-query'
import { ApiError } from '../../api/api-error.ts'
import { Loaded } from '../../parts/page/loaded.tsx'
import { isRecord, recordsOf, textOf } from '../../parts/values/json.ts'
import { openAiSnippet } from '../snippets.ts'
import styles from '../playground.module.css'
import { useObjectUrl } from '../use-object-url.ts'
import type { AnswerProps, FormKind } from './kind.ts'
import { useTranslation } from '../../texts/use-translation.ts'

const SIZES = ['1280x720', '720x1280', '1024x1024']

export const VIDEO: FormKind = {
  form: 'form',
  id: 'video',
  path: '/v1/videos',
  library: 'OpenAI',
  snippet: openAiSnippet('videos.create'),
  fields: [
    { name: 'prompt', input: 'lines', initial: '' },
    { name: 'seconds', input: 'number', initial: '5' },
    { name: 'size', input: 'choice', choices: SIZES, initial: '1280x720' },
  ],
  request: (model, { prompt = '', seconds = '', size = '' }) => ({
    path: '/v1/videos',
    body: { model, prompt, seconds, size },
  }),
  progress: readProgress,
  Answer: Player,
}

/** The request is answered when the video is done; until then the key's newest task is that of this request. */
async function readProgress(get: AnswerProps['get']): Promise<number | undefined> {
  const list: unknown = await (await get('/v1/videos?limit=1&order=desc')).json()
  const [task] = isRecord(list) ? recordsOf(list['data']) : []
  const status = task?.['status']
  const isRunning = status === 'queued' || status === 'in_progress'
  return isRunning && typeof task?.['progress'] === 'number' ? task['progress'] : undefined
}

/** The video is loaded from the gateway, with the key: the page's policy allows no other source. */
function Player({ answer, get }: AnswerProps) {
  const { t } = useTranslation()
  const id = textOf(answer['id'])
  const video = useQuery({
    queryKey: ['playground-video', id],
    gcTime: 0,
    retry: false,
    queryFn: async () => {
      const response = await get(`/v1/videos/${encodeURIComponent(id)}/content`)
      if (!response.ok) throw ApiError.of(await response.json(), response)
      return response.blob()
    },
  })
  return (
    <Loaded query={video} height={280}>
      {(blob) => <ShownVideo blob={blob} label={t('playground.video')} />}
    </Loaded>
  )
}

function ShownVideo({ blob, label }: { readonly blob: Blob; readonly label: string }) {
  const url = useObjectUrl(blob)
  return <video className={styles.video} src={url} controls aria-label={label} />
}
