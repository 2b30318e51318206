import type { Arrival } from '../call.ts'
import type { Asked } from '../kinds/kind.ts'
import type { ClientReply } from '../reply.ts'
import { serveContent } from './answer/serve-content.ts'
import { serveFile } from './answer/serve-file.ts'
import { type ServeOrderParts, serveOrder } from './order/serve-order.ts'
import { serveList, serveRead, serveRemove } from './answer/serve-task.ts'
import type { IncomingVideo, VideoAction } from './video-call.ts'
import {
  type VideoSettings,
  type Videos,
  createLinkSigner,
  createPauses,
  createWaitingCalls,
} from './videos.ts'
import { advanceTask } from './task/advance-task.ts'
import { createPoller } from './task/poller.ts'
import type { ApplyStepParts } from './task/apply-step.ts'
import { openTask } from './order/open-task.ts'
import type { Pipeline } from '../context.ts'
import { refreshTask } from './answer/await-end.ts'
import type { Announcement } from '../../storage/announcement.ts'

/**
 * The path of a request to the video endpoints (docs/reference/contract.md#4.4). Resolves when the answer was sent;
 * never rejects.
 */
export async function serveVideos(
  pipeline: ServeOrderParts,
  arrival: Arrival,
  reply: ClientReply,
): Promise<void> {
  const action = actionOf(arrival.asked)
  const incoming = incomingVideo(arrival, action)
  switch (action.kind) {
    case 'create':
      return serveOrder(pipeline, incoming, reply)
    case 'list':
      return serveList(pipeline, incoming, reply, action)
    case 'read':
      return serveRead(pipeline, incoming, reply, action)
    case 'remove':
      return serveRemove(pipeline, incoming, reply, action)
    case 'content':
      return serveContent(pipeline, incoming, reply, action)
    case 'file':
      return serveFile(pipeline, incoming, reply, action)
  }
}

function incomingVideo({ call, readForm }: Arrival, action: VideoAction): IncomingVideo {
  const { readBody: _readBody, endpoint, ...rest } = call
  return { ...rest, endpoint: { ...endpoint, protocol: 'video' }, action, readForm }
}

function actionOf({ action, values, query, method }: Asked): VideoAction {
  const { video_id: id = '', file: key = '' } = values
  const body = method === 'HEAD' ? 'head-only' : 'wanted'
  switch (action) {
    case 'create':
      return { kind: 'create' }
    case 'list':
      return { kind: 'list', query: new URLSearchParams(query) }
    case 'read':
    case 'remove':
      return { kind: action, id }
    case 'content':
      return { kind: 'content', id, query: new URLSearchParams(query), body }
    case 'file':
      return { kind: 'file', key, query: new URLSearchParams(query), body }
    case undefined:
    default:
      throw new Error(`the path of a video names ${action ?? 'nothing'}`)
  }
}

/**
 * Creates the state that an instance keeps about videos.
 * @param pipelineOf returns the pipeline; called once it exists
 */
export function createVideos(
  settings: VideoSettings,
  now: () => number,
  pipelineOf: () => ApplyStepParts,
): Videos {
  return {
    settings,
    waiting: createWaitingCalls(),
    poller: createPoller({
      partsOf: pipelineOf,
      advanceTask: (task) => advanceTask(pipelineOf(), openTask(task)),
    }),
    stopping: new AbortController(),
    links: createLinkSigner(settings),
    pauses: createPauses(now),
    creating: new Set(),
    clientsGone: new Set(),
    writing: new Map(),
  }
}

type StartVideosParts = Pick<Pipeline, 'now' | 'storage' | 'telemetry' | 'videos'>

/**
 * From here on this instance works on due tasks, and waiting POSTs are notified about tasks of other instances. Returns
 * a function that stops this: no further task is taken, and those in progress finish their present step.
 */
export function startVideos(pipeline: StartVideosParts): () => Promise<void> {
  const { poller, waiting } = pipeline.videos
  const { background } = pipeline.telemetry
  const onChange = (change: Announcement): void => {
    if (change.kind === 'video') {
      // An operator may have scheduled its next poll earlier.
      poller.expect(pipeline.now())
      // Changes made in this process are announced directly, without a query.
      if (waiting.has(change.id) && !poller.holds(change.id)) {
        background.track(refreshTask(pipeline, change.id), 'read a video task')
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

/** Announcements may have been lost. One after the other, because it is not urgent. */
async function lookAtAll(pipeline: Pick<Pipeline, 'storage' | 'videos'>): Promise<void> {
  for (const id of pipeline.videos.waiting.ids) await refreshTask(pipeline, id)
}
