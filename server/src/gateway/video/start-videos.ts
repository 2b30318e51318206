import type { Announcement } from '../../storage/storage.ts'
import type { Gateway } from '../gateway.ts'
import { lookAgain } from './await-end.ts'

/**
 * From here on this instance looks after due tasks, and POSTs that wait hear of tasks other instances look after. Returns how
 * to stop: no further task is taken, and those under way finish their present step.
 */
export function startVideos(gateway: Gateway): () => Promise<void> {
  const { poller, waiting } = gateway.videos
  const { background } = gateway.telemetry
  const onChange = (change: Announcement): void => {
    if (change.kind === 'video') {
      // An operator may have brought its next look forward.
      poller.expect(gateway.now())
      // What moves in this process is told directly, without a query.
      if (waiting.has(change.id) && !poller.holds(change.id)) {
        background.track(lookAgain(gateway, change.id), 'read a video task')
      }
    }
    if (change.kind === 'everything') background.track(lookAtAll(gateway), 'read the awaited video tasks')
  }
  const unsubscribe = gateway.storage.subscribe(onChange)
  poller.start(gateway)
  return async () => {
    unsubscribe()
    gateway.videos.stopping.abort()
    await poller.stop()
  }
}

/** News may have been lost. One after the other: nobody is in a hurry. */
async function lookAtAll(gateway: Gateway): Promise<void> {
  for (const id of gateway.videos.waiting.ids) await lookAgain(gateway, id)
}
