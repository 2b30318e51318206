/** Puts together what an instance remembers about videos. */
import type { VideoSettings, Videos } from './videos.ts'
import { createWaitingCalls } from './answer/waiting-calls.ts'
import { lookAfter } from './task/look-after.ts'
import { createPoller } from './task/poller.ts'
import type { ApplyStepParts } from './task/apply-step.ts'
import { openTask } from './order/open-task.ts'
import { createLinkSigner } from './answer/links.ts'
import { createPauses } from './task/pauses.ts'

/** @param pipelineOf the pipeline that videos are made in, asked for once it stands */
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
      lookAfter: (task) => lookAfter(pipelineOf(), openTask(task)),
    }),
    stopping: new AbortController(),
    links: createLinkSigner(settings),
    pauses: createPauses(now),
    creating: new Set(),
    clientsGone: new Set(),
    writing: new Map(),
  }
}
