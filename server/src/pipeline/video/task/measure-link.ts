import { Mp4Reader, type VideoMeasure } from '../../../core/video/mp4.ts'
import { TransportError } from '../../../upstream/remote/read-answer.ts'
import type { Pipeline } from '../../context.ts'
import { linkTimeouts } from '../answer/fetch-video.ts'
import type { OpenTask } from '../order/open-task.ts'
import { vendorOfTask } from './vendor-of-task.ts'
import { trustedHostOf } from '../../attempt/dialect.ts'

type MeasureLinkParts = Pick<Pipeline, 'catalogue' | 'directory' | 'now' | 'streamRemote'>

/** The client waits meanwhile, and the length is only for the log. */
const MEASURE_MS = 15_000
const MEASURE_BYTES_MAX = 64 * 1024 * 1024

/**
 * The length of a video that stays at the provider, if the provider does not report it: its bytes are read until its
 * header is complete. undefined: unknown, which only matters to the log.
 */
export async function measureLink(
  pipeline: MeasureLinkParts,
  open: OpenTask,
  url: string,
): Promise<VideoMeasure | undefined> {
  const vendor = await vendorOfTask(pipeline, open)
  if (vendor.kind === 'missing') return undefined
  const until = pipeline.now() + MEASURE_MS
  const { connectMs, firstByteMs, idleMs } = linkTimeouts(vendor.vendor.timeouts)
  const opened = await pipeline.streamRemote(url, {
    trustedHost: trustedHostOf(vendor),
    headers: {},
    timeouts: {
      connectMs: Math.min(connectMs, MEASURE_MS / 3),
      firstByteMs: Math.min(firstByteMs, MEASURE_MS / 3),
      idleMs: Math.min(idleMs, MEASURE_MS / 3),
    },
  })
  if (opened.kind === 'refused') return undefined
  const { answer } = opened
  if (answer.status !== 200) {
    answer.abort()
    return undefined
  }
  const reader = new Mp4Reader()
  let bytes = 0
  try {
    // Leaving the loop closes the connection.
    for await (const chunk of answer.body) {
      reader.push(chunk)
      bytes += chunk.byteLength
      if (reader.over || bytes > MEASURE_BYTES_MAX || pipeline.now() > until) break
    }
  } catch (error) {
    if (!(error instanceof TransportError)) throw error
  }
  return reader.end()
}
