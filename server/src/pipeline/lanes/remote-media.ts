/**
 * Fetches what a client named by address and a chain needs as bytes: bounded in number, size and time, guarded by
 * `upstream/remote/fetch-remote.ts`, counted with the call's own body, and once per call however many chains are tried.
 */
import { isTextual, MEDIA_HEAD_BYTES, mayHold, typeOfMedia } from '../../core/canonical/media/media-type.ts'
import type { RemoteMedia } from '../../core/canonical/media/remote-media.ts'
import type { MediaSource } from '../../core/canonical/request.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { RemoteAnswer } from '../../upstream/remote/fetch-remote.ts'
import type { FetchedBytes } from '../body-memo.ts'
import type { ReservedCall } from '../call.ts'
import type { Pipeline } from '../context.ts'

/** Vendors accept at most about this many images in a request. */
const ADDRESSES_MAX = 100
/** Gemini's limit for all inline data; the others accept less per piece. */
const FILE_BYTES_MAX = 20 * 1024 * 1024
/** Limit for one call; base64 adds a third. */
const CALL_BYTES_MAX = 64 * 1024 * 1024
const FETCH_TIMEOUT_MS = 20_000
const PARALLEL_MAX = 6

export type FetchedMedia =
  | { readonly kind: 'fetched'; readonly sources: ReadonlyMap<string, MediaSource> }
  /** One of them cannot be fetched: the message says which and why. */
  | { readonly kind: 'refused'; readonly message: string }

/** Throws 50301 if the process has no memory for their bytes. */
export async function fetchMedia(
  pipeline: Pick<Pipeline, 'fetchRemote'>,
  call: ReservedCall,
  wanted: readonly RemoteMedia[],
): Promise<FetchedMedia> {
  if (wanted.length > ADDRESSES_MAX) {
    return { kind: 'refused', message: `at most ${ADDRESSES_MAX} addresses can be fetched for one request` }
  }
  const known = (call.body.memo.fetched ??= { sources: new Map(), bytes: 0 })
  const missing = wanted.filter(({ url }) => !known.sources.has(url))
  let failure: string | undefined
  await inParallel(missing, async (media) => {
    if (failure !== undefined) return
    const outcome = await fetchOne(pipeline, call, { media, known })
    if (outcome.kind === 'refused') failure ??= outcome.message
    else known.sources.set(media.url, outcome.source)
  })
  return failure === undefined
    ? { kind: 'fetched', sources: known.sources }
    : { kind: 'refused', message: failure }
}

/**
 * Images that a vendor made and stores at these addresses, in base64, within the same limits. Those that cannot be
 * fetched are omitted.
 */
export async function fetchPictures(
  pipeline: Pick<Pipeline, 'fetchRemote'>,
  call: Pick<ReservedCall, 'body'>,
  urls: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const known = (call.body.memo.fetched ??= { sources: new Map(), bytes: 0 })
  const found = new Map<string, string>()
  await inParallel([...new Set(urls)].slice(0, ADDRESSES_MAX), async (url) => {
    const outcome = await fetchOne(pipeline, call, { media: { url, media: 'image' }, known }).catch(noRoomFor)
    if (outcome?.kind === 'fetched' && outcome.source.kind === 'base64') found.set(url, outcome.source.data)
  })
  return found
}

/** The image has been made all the same, and its client gets the address. */
function noRoomFor(error: unknown): undefined {
  if (!(error instanceof GatewayError)) throw error
}

type Outcome =
  | { readonly kind: 'fetched'; readonly source: MediaSource }
  | { readonly kind: 'refused'; readonly message: string }

async function fetchOne(
  pipeline: Pick<Pipeline, 'fetchRemote'>,
  call: Pick<ReservedCall, 'body'>,
  { media, known }: { readonly media: RemoteMedia; readonly known: FetchedBytes },
): Promise<Outcome> {
  let noRoom: unknown
  const answer = await pipeline.fetchRemote(media.url, {
    maxBytes: FILE_BYTES_MAX,
    timeoutMs: FETCH_TIMEOUT_MS,
    accept: (mediaType) => mayHold(mediaType, media.media),
    mayKeep(bytes) {
      known.bytes += bytes
      if (known.bytes > CALL_BYTES_MAX) return false
      try {
        call.body.hold(bytes)
        return true
      } catch (error) {
        noRoom = error
        return false
      }
    },
  })
  if (noRoom instanceof GatewayError) throw noRoom
  if (answer.kind === 'refused') return { kind: 'refused', message: sentence(media.url, reasonOf(answer)) }
  return sourceOf(answer, media)
}

function sourceOf(
  { body, mediaType }: Extract<RemoteAnswer, { kind: 'fetched' }>,
  { url, media }: RemoteMedia,
): Outcome {
  if (body.byteLength === 0)
    return { kind: 'refused', message: sentence(url, 'the address returned nothing') }
  const type = typeOfMedia(body.subarray(0, MEDIA_HEAD_BYTES), mediaType, media)
  if (type === undefined) {
    return { kind: 'refused', message: sentence(url, `the address returned ${mediaType.slice(0, 100)}`) }
  }
  if (media === 'file' && isTextual(type)) {
    return { kind: 'fetched', source: { kind: 'text', text: body.toString('utf8') } }
  }
  return {
    kind: 'fetched',
    source: { kind: 'base64', mediaType: type, data: body.toString('base64') },
  }
}

function reasonOf({ reason, detail }: Extract<RemoteAnswer, { kind: 'refused' }>): string {
  return reason === 'no-room'
    ? `the addresses of one request may hold at most ${CALL_BYTES_MAX} bytes together`
    : detail
}

/** Addresses come from clients and go into messages, so they are shortened. */
function sentence(url: string, reason: string): string {
  return `${url.length > 200 ? `${url.slice(0, 200)}…` : url} cannot be fetched: ${reason}`
}

/** Runs the work over all items, a few at a time; the first error is thrown when all that began have ended. */
async function inParallel<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const queue = items.values()
  const runner = async (): Promise<void> => {
    for (const item of queue) await work(item)
  }
  const runners = Array.from({ length: Math.min(PARALLEL_MAX, items.length) }, runner)
  const ended = await Promise.allSettled(runners)
  for (const end of ended) if (end.status === 'rejected') throw end.reason
}
