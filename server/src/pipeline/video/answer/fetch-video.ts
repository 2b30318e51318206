/**
 * Copies a finished video to the gateway's own store: if the vendor delivers bytes, if its link needs a credential, or
 * if the link expires before the record does (docs/reference/contract.md#4.4). Streamed, limited in size, measured as
 * it passes.
 */
import type { Timeouts } from '../../../core/catalogue.ts'
import { Mp4Reader, type VideoMeasure } from '../../../core/video/mp4.ts'
import { backOffMs } from '../../../core/video/schedule.ts'
import { decodeRequest, type FinishedResult } from '../../../core/video/task-detail.ts'
import { type StreamedAnswer, TransportError, openStream } from '../../../upstream/remote/read-answer.ts'
import { redirectOf } from '../../../upstream/remote/stream-remote.ts'
import type { Pipeline } from '../../context.ts'
import { endCompleted, endFailed, type MadeVideo, type EndTaskParts } from '../task/end-task.ts'
import { inPieces } from '../order/in-pieces.ts'
import { type OpenTask, type OpenTaskParts, changeTask } from '../order/open-task.ts'
import { callOf } from '../order/send-to-vendor.ts'
import { gatewayFailure } from '../task/task-error.ts'
import { vendorOfTask } from '../task/vendor-of-task.ts'
import type { TaskVendor } from '../task/task-dialect.ts'
import { trustedHostOf } from '../../attempt/dialect.ts'

export type FetchVideoParts = EndTaskParts &
  OpenTaskParts &
  Pick<Pipeline, 'catalogue' | 'directory' | 'draw' | 'streamRemote' | 'upstream'>

/** Ten minutes in 4k; no vendor sells longer ones by the second. */
const VIDEO_BYTES_MAX = 4 * 1024 * 1024 * 1024
const TRIES_MAX = 6
/** A vendor's 404 for the file counts only the second time: file stores may lag behind records, but not for minutes. */
const TRIES_GONE_MAX = 2
const RETRY_AFTER_MS = 5_000
const TRIES = { long: TRIES_MAX, short: TRIES_GONE_MAX, none: 0 } as const
const MEDIA_TYPE = 'video/mp4'

/** One attempt; if it fails, the poller makes the next. */
export async function fetchVideo(pipeline: FetchVideoParts, open: OpenTask): Promise<void> {
  const { result } = open.detail
  if (result === undefined) throw new Error(`task ${open.task.id} has nothing to fetch`)
  try {
    const vendor = await vendorOfTask(pipeline, open)
    if (vendor.kind === 'missing') throw new FetchFailure(vendor.reason)
    const answer = await openSource(pipeline, vendor, result.source)
    const stored = await store(pipeline, open, untilStop(pipeline, answer))
    await endCompleted(pipeline, open, madeOf(stored, result))
  } catch (error) {
    if (isFetchFailure(error)) {
      const gone = error instanceof FetchFailure && error.gone
      return tryLater(pipeline, open, { result, reason: error.message, patience: gone ? 'short' : 'long' })
    }
    // The gateway's own store failed: the video itself has not failed before its deadline.
    if (pipeline.now() < open.detail.deadlineAt) throw error
    await tryLater(pipeline, open, { result, reason: 'it could not be stored', patience: 'none' })
  }
}

/** The answer's bytes, until this instance stops. */
async function* untilStop(
  pipeline: Pick<Pipeline, 'videos'>,
  answer: StreamedAnswer,
): AsyncGenerator<Uint8Array> {
  const { signal } = pipeline.videos.stopping
  const abort = (): void => answer.abort()
  signal.addEventListener('abort', abort)
  try {
    if (signal.aborted) abort()
    yield* answer.body
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

export async function storeBase64(
  pipeline: FetchVideoParts,
  open: OpenTask,
  video: { readonly data: string } & Pick<FinishedResult, 'secondsProduced' | 'size'>,
): Promise<void> {
  try {
    const stored = await store(pipeline, open, inPieces(Buffer.from(video.data, 'base64')))
    await endCompleted(pipeline, open, madeOf(stored, video))
  } catch (error) {
    // The vendor returns the same video again on request.
    if (!(error instanceof FetchFailure) && pipeline.now() < open.detail.deadlineAt) throw error
    const message = 'the finished video could not be stored'
    await endFailed(pipeline, open, gatewayFailure(50201, { message, accepted: true }))
  }
}

/** The vendor, its link or the network failed; anything else is a fault of the gateway. */
class FetchFailure extends Error {
  /** The vendor says that the file does not exist. */
  readonly gone: boolean

  constructor(message: string, what: 'gone' | 'not now' = 'not now') {
    super(message)
    this.name = 'FetchFailure'
    this.gone = what === 'gone'
  }
}

function isFetchFailure(error: unknown): error is FetchFailure | TransportError {
  return error instanceof FetchFailure || error instanceof TransportError
}

/**
 * Links are fetched without a credential and through the address guard; the vendor's own requests are signed and go only
 * to the vendor.
 */
async function openSource(
  pipeline: Pick<Pipeline, 'streamRemote' | 'upstream'>,
  vendor: TaskVendor,
  source: FinishedResult['source'],
): Promise<StreamedAnswer> {
  const { timeouts } = vendor.vendor
  if (source.kind === 'link') return openLink(pipeline, vendor, source.url)
  const request = decodeRequest(source.request, (text) => Buffer.from(text, 'base64'))
  const answer = await openStream(
    (call, sink) => pipeline.upstream.open(call, sink),
    callOf(vendor, { request, timeouts }),
  )
  const location = redirectOf(answer, request.url)
  if (location === undefined) return judged(answer)
  answer.abort()
  return openLink(pipeline, vendor, location)
}

async function openLink(
  pipeline: Pick<Pipeline, 'streamRemote'>,
  vendor: TaskVendor,
  url: string,
): Promise<StreamedAnswer> {
  const opened = await pipeline.streamRemote(url, {
    trustedHost: trustedHostOf(vendor),
    headers: {},
    timeouts: linkTimeouts(vendor.vendor.timeouts),
  })
  if (opened.kind === 'refused') throw new FetchFailure(opened.detail)
  return judged(opened.answer)
}

export function linkTimeouts({ connectMs, firstByteMs, idleMs }: Timeouts): Timeouts {
  return { connectMs, firstByteMs: Math.min(firstByteMs, 60_000), idleMs }
}

/** Vendors' file stores use all kinds of content types for videos, but text is not a video. */
function judged(answer: StreamedAnswer): StreamedAnswer {
  const type = String(answer.headers['content-type'] ?? '').toLowerCase()
  if (answer.status === 200 && !/^(text\/|application\/(json|xml))/.test(type)) return answer
  answer.abort()
  throw new FetchFailure(
    answer.status === 200
      ? `the address returned ${type.slice(0, 60)}`
      : `the address answered ${answer.status}`,
    answer.status === 404 || answer.status === 410 ? 'gone' : 'not now',
  )
}

interface StoredVideo {
  readonly blob: NonNullable<MadeVideo['blob']>
  readonly measure: VideoMeasure
}

async function store(
  pipeline: Pick<Pipeline, 'blobs'>,
  { task }: OpenTask,
  body: AsyncIterable<Uint8Array>,
): Promise<StoredVideo> {
  const reader = new Mp4Reader()
  const key = blobKeyOf(task.id)
  const { bytes, sha256 } = await pipeline.blobs.put(key, measured(body, reader), {
    mediaType: MEDIA_TYPE,
    maxBytes: VIDEO_BYTES_MAX,
  })
  if (bytes === 0) throw new FetchFailure('the video is empty')
  return { blob: { key, bytes, sha256 }, measure: reader.end() }
}

export function blobKeyOf(taskId: string): string {
  return `videos/${taskId}.mp4`
}

async function* measured(body: AsyncIterable<Uint8Array>, reader: Mp4Reader): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    reader.push(chunk)
    yield chunk
  }
}

/** The file itself is the best source for its length. */
function madeOf(
  { blob, measure }: StoredVideo,
  told: Pick<FinishedResult, 'secondsProduced' | 'size'>,
): MadeVideo {
  return {
    url: undefined,
    blob,
    secondsProduced: measure.seconds ?? told.secondsProduced,
    size: pictureSize(measure) ?? told.size,
  }
}

export function pictureSize(measure: VideoMeasure | undefined): string | undefined {
  const { width, height } = measure ?? {}
  return width === undefined || height === undefined ? undefined : `${width}x${height}`
}

/**
 * The video exists and will be billed upstream: if it cannot be copied, its link is given to the client while it is
 * valid. If its file does not exist any more, nothing is charged.
 */
async function tryLater(
  pipeline: FetchVideoParts,
  open: OpenTask,
  {
    result,
    reason,
    patience,
  }: {
    readonly result: FinishedResult
    readonly reason: string
    readonly patience: keyof typeof TRIES
  },
): Promise<void> {
  const failures = open.task.failuresInRow + 1
  pipeline.telemetry.log.warn(
    { taskId: open.task.id, reason, failures },
    'a finished video could not be fetched',
  )
  if (failures < TRIES[patience]) {
    const wait = backOffMs(
      { afterMs: RETRY_AFTER_MS, ageMs: 0, draw: pipeline.draw() },
      failures - 1,
      undefined,
    )
    await changeTask(pipeline, open, {
      failuresInRow: failures,
      dueAt: pipeline.now() + Math.ceil(wait * pipeline.videos.settings.pace),
      lastAnswer: reason.slice(0, 200),
    })
    return
  }
  if (patience === 'short') return endFailed(pipeline, open, gatewayFailure(50210, { accepted: true }))
  if (result.source.kind === 'link') {
    const { secondsProduced, size } = result
    return endCompleted(pipeline, open, { url: result.source.url, blob: undefined, secondsProduced, size })
  }
  const message = `the finished video could not be fetched from the provider: ${reason}`
  return endFailed(pipeline, open, gatewayFailure(50201, { message, accepted: true }))
}
