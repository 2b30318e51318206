import type { Pipeline } from '../context.ts'
import { lookAgain } from './answer/await-end.ts'
import type { Announcement } from '../../storage/announcement.ts'

type StartVideosParts = Pick<Pipeline, 'now' | 'storage' | 'telemetry' | 'videos'>

/**
 * From here on this instance looks after due tasks, and POSTs that wait hear of tasks other instances look after. Returns how
 * to stop: no further task is taken, and those under way finish their present step.
 */
export function startVideos(pipeline: StartVideosParts): () => Promise<void> {
  const { poller, waiting } = pipeline.videos
  const { background } = pipeline.telemetry
  const onChange = (change: Announcement): void => {
    if (change.kind === 'video') {
      // An operator may have brought its next look forward.
      poller.expect(pipeline.now())
      // What moves in this process is told directly, without a query.
      if (waiting.has(change.id) && !poller.holds(change.id)) {
        background.track(lookAgain(pipeline, change.id), 'read a video task')
      }
    }
    if (change.kind === 'everything') background.track(lookAtAll(pipeline), 'read the awaited video tasks')
  }
  const unsubscribe = pipeline.storage.subscribe(onChange)
  poller.start()
  return async () => {
    unsubscribe()
    pipeline.videos.stopping.abort()
    await poller.stop()
  }
}

/** News may have been lost. One after the other: nobody is in a hurry. */
async function lookAtAll(pipeline: Pick<Pipeline, 'storage' | 'videos'>): Promise<void> {
  for (const id of pipeline.videos.waiting.ids) await lookAgain(pipeline, id)
}
