/** Puts together what an instance remembers about videos. */
import type { VideoSettings, Videos } from './videos.ts'
import { createWaitingCalls } from './answer/waiting-calls.ts'
import { createPoller, type PollerParts } from './task/poller.ts'
import { createLinkSigner } from './answer/links.ts'
import { createPauses } from './task/pauses.ts'

/** @param pipelineOf the pipeline that videos are made in, asked for once it stands */
export function createVideos(
  settings: VideoSettings,
  now: () => number,
  pipelineOf: () => PollerParts,
): Videos {
  return {
    settings,
    waiting: createWaitingCalls(),
    poller: createPoller(pipelineOf),
    stopping: new AbortController(),
    links: createLinkSigner(settings),
    pauses: createPauses(now),
    creating: new Set(),
    clientsGone: new Set(),
    writing: new Map(),
  }
}
