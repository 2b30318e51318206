import { ALL_FORMATS, BufferSource, EncodedPacketSink, Input } from 'mediabunny'
import { describe, expect, test } from 'vitest'
import { decodeBase64Bytes } from '../../../core/canonical/media/base64.ts'
import { forwardModelId } from '../../../core/ids.ts'
import type { VideoRequest } from '../../../core/video/request.ts'
import type { VideoContext, VideoStep, VideoSubmission } from '../../video.ts'
import { order } from '../../video-forms/testing/order.ts'
import { RECORDINGS } from './recordings.ts'
import { sampleVideo } from './sample-video.ts'
import { recordingNear } from './video-picture.ts'
import { sandboxVideo } from './video.ts'

const BASE = 'https://sandbox.invalid'
const TASK = 'video_0123456789abcdef'

interface Life {
  readonly steps: readonly VideoStep[]
  readonly refused: number | undefined
}

/** What the request pipeline does, without the waiting. */
function live(request: Partial<VideoRequest>, seconds?: number, model = 'sandbox-video'): Life {
  const submission = submit(request, seconds, model)
  let context = contextOf(model)
  const at = 0
  let reply = sandboxVideo.respond?.(submission.request, { taskId: TASK, at })
  if (reply === undefined) throw new Error('the sandbox answers offline')
  if (reply.status > 299) return { steps: [], refused: reply.status }
  let step = sandboxVideo.accepted(reply, context)
  const steps = [step]
  while (step.kind === 'poll') {
    if (steps.length > 1000) throw new Error('never ends')
    context = { ...context, state: step.state }
    reply = sandboxVideo.respond?.(step.request, { taskId: TASK, at })
    if (reply === undefined) throw new Error('the sandbox answers offline')
    step = sandboxVideo.step(reply, context)
    steps.push(step)
  }
  return { steps, refused: undefined }
}

function contextOf(model: string): VideoContext {
  return { baseUrl: BASE, fields: {}, forwardModelId: forwardModelId(model), taskId: TASK, state: {} }
}

function submit(request: Partial<VideoRequest>, seconds?: number, model = 'sandbox-video'): VideoSubmission {
  return sandboxVideo.submit({
    baseUrl: BASE,
    fields: {},
    forwardModelId: forwardModelId(model),
    taskId: TASK,
    request: order(request),
    seconds: seconds ?? sandboxVideo.defaultSeconds(forwardModelId(model), order()),
  })
}

function bytesOf(step: VideoStep | undefined): Uint8Array {
  if (step?.kind !== 'done' || step.result.kind !== 'base64') throw new Error('no bytes')
  const bytes = decodeBase64Bytes(step.result.data)
  if (bytes === undefined) throw new Error('no base64')
  return bytes
}

/** Content of the boxes on a path such as `moov/trak/tkhd`. */
function boxAt(file: Uint8Array, path: string): DataView {
  let view = new DataView(file.buffer, file.byteOffset, file.byteLength)
  for (const wanted of path.split('/')) view = childOf(view, wanted)
  return view
}

function childOf(parent: DataView, wanted: string): DataView {
  for (let at = 0; at < parent.byteLength; at += parent.getUint32(at)) {
    const length = parent.getUint32(at)
    if (typeAt(parent, at) === wanted) {
      return new DataView(parent.buffer, parent.byteOffset + at + 8, length - 8)
    }
  }
  throw new Error(`no ${wanted}`)
}

function typeAt(view: DataView, at: number): string {
  return [4, 5, 6, 7].map((offset) => String.fromCharCode(view.getUint8(at + offset))).join('')
}

function shapeOf(file: Uint8Array): { width: number; height: number; seconds: number } {
  const movie = boxAt(file, 'moov/mvhd')
  const track = boxAt(file, 'moov/trak/tkhd')
  return {
    seconds: movie.getUint32(16) / movie.getUint32(12),
    width: track.getUint32(76) / 0x10000,
    height: track.getUint32(80) / 0x10000,
  }
}

describe('a sandbox video', () => {
  test('is ordered, asked for three times with growing progress, then delivered as bytes', () => {
    const { steps } = live({})
    expect(steps.map((step) => step.kind)).toEqual(['poll', 'poll', 'poll', 'done'])
    expect(steps.flatMap((step) => (step.kind === 'poll' ? [step.progress] : []))).toEqual([
      undefined,
      33,
      66,
    ])
    expect(steps.at(-1)).toMatchObject({ secondsProduced: 4, size: '1280x720' })
  })

  test('is the same for the same order', () => {
    expect(live({ seed: 1 })).toEqual(live({ seed: 1 }))
  })

  test.each([
    ['the usual size and length', {}, undefined, { width: 1280, height: 720, seconds: 4 }],
    ['a size', { size: { width: 720, height: 1280 } }, 8, { width: 720, height: 1280, seconds: 8 }],
    ['an odd size', { size: { width: 853, height: 481 } }, 1, { width: 854, height: 480, seconds: 1 }],
    [
      'half a second more',
      { size: { width: 480, height: 480 } },
      2.5,
      { width: 480, height: 480, seconds: 2.5 },
    ],
    ['a ratio', { ratio: '1:1' }, undefined, { width: 720, height: 720, seconds: 4 }],
    ['a ratio of no recording', { ratio: '3:4' }, undefined, { width: 720, height: 1280, seconds: 4 }],
    ['a resolution', { resolution: '480p', ratio: '9:16' }, 4, { width: 480, height: 854, seconds: 4 }],
    ['a size too small', { size: { width: 64, height: 64 } }, 4, { width: 480, height: 480, seconds: 4 }],
    [
      'a size too large',
      { size: { width: 9999, height: 9999 } },
      4,
      { width: 2160, height: 2160, seconds: 4 },
    ],
    ['no size', { size: { width: 0, height: 480 } }, 4, { width: 1280, height: 720, seconds: 4 }],
    ['a length too great', {}, 61, { width: 1280, height: 720, seconds: 4 }],
  ])(
    'has %s as asked, where it can, and tells what it has',
    (_, request: Partial<VideoRequest>, seconds, shape) => {
      const end = live(request, seconds).steps.at(-1)
      expect(shapeOf(bytesOf(end))).toEqual(shape)
      expect(end).toMatchObject({ secondsProduced: shape.seconds, size: `${shape.width}x${shape.height}` })
    },
  )

  test.each([
    ['sandbox:fail', 'upstream'],
    ['sandbox:moderated', 'moderation'],
    ['sandbox:invalid', 'invalid'],
    ['sandbox:quota', 'quota'],
    ['sandbox:expired', 'expired'],
    ['sandbox:cancelled', 'cancelled'],
  ])('with %s in its prompt is accepted and ends as %s', (marker, kind) => {
    expect(live({ prompt: `a kite ${marker}` }).steps.at(-1)).toMatchObject({
      kind: 'failed',
      failure: { class: kind },
    })
  })

  test.each([
    ['sandbox:refused', 400],
    ['sandbox:busy', 429],
    ['sandbox:unpaid', 402],
    ['sandbox:locked', 401],
    ['sandbox:broken', 500],
  ])('with %s in its prompt is refused with %i', (marker, status) => {
    expect(live({ prompt: `${marker}: a kite` }).refused).toBe(status)
  })

  test('of another model is refused', () => {
    expect(live({}, 4, 'other').refused).toBe(404)
  })

  test('with sandbox:link and sandbox:short-link is delivered as a link that lasts, or not', () => {
    expect(live({ prompt: 'sandbox:link' }).steps.at(-1)).toMatchObject({
      result: {
        kind: 'link',
        url: expect.stringMatching(/^https:\/\/sandbox\.invalid\//),
        lastsMs: 604_800_000,
      },
    })
    expect(live({ prompt: 'sandbox:short-link' }).steps.at(-1)).toMatchObject({
      result: { kind: 'link', lastsMs: 3_600_000 },
    })
  })

  test('takes as many polls, as far apart, as its prompt says', () => {
    const { steps } = live({ prompt: 'sandbox:polls=7 sandbox:every=50' })
    expect(steps).toHaveLength(8)
    expect(steps[0]).toMatchObject({ kind: 'poll', afterMs: 50 })
    expect(live({ prompt: 'sandbox:slow' }).steps).toHaveLength(61)
  })

  test('with sandbox:garbled is accepted and then makes no sense', () => {
    expect(live({ prompt: 'sandbox:garbled' }).steps.map((step) => step.kind)).toEqual(['poll', 'unreadable'])
  })

  test('a video it never made is not found', () => {
    const request = { method: 'GET', url: `${BASE}/videos/other?poll=1`, headers: {} } as const
    expect(sandboxVideo.respond?.(request, { taskId: TASK, at: 0 })).toMatchObject({ status: 404 })
  })

  test('takes images without carrying them, and says that it has no place for sounds and videos', () => {
    const bytes = new Uint8Array(1_000_000)
    const submission = submit({
      firstFrame: { kind: 'bytes', mediaType: 'image/png', bytes },
      referenceVideos: ['https://example.com/a.mp4'],
      referenceAudios: ['https://example.com/a.mp3'],
      extras: { style: 'anime', duration: 60 },
    })
    const body: unknown = JSON.parse(String(submission.request.body))
    expect(body).toMatchObject({
      input_reference: { media_type: 'image/png', bytes: 1_000_000 },
      style: 'anime',
    })
    // What is billed is what is sent.
    expect(body).toMatchObject({ seconds: 4 })
    expect(body).not.toHaveProperty('duration')
    expect(submission.dropped).toEqual(['reference_videos', 'reference_audios', 'duration'])
  })
})

describe('the file', () => {
  const file = sampleVideo(recordingNear({ width: 320, height: 180 }), 2)

  test('begins with its type, then its index, then its bytes: it plays while it loads', () => {
    const view = new DataView(file.buffer)
    const types: string[] = []
    for (let at = 0; at < file.byteLength; at += view.getUint32(at)) types.push(typeAt(view, at))
    expect(types).toEqual(['ftyp', 'moov', 'mdat'])
  })

  test('has a key picture every second, and every picture lies where the index says', () => {
    const tables = 'moov/trak/mdia/minf/stbl'
    const keys = boxAt(file, `${tables}/stss`)
    expect([keys.getUint32(4), keys.getUint32(8), keys.getUint32(12)]).toEqual([2, 1, 25])
    const sizes = boxAt(file, `${tables}/stsz`)
    expect(sizes.getUint32(8)).toBe(48)
    let at = boxAt(file, `${tables}/stco`).getUint32(8)
    const view = new DataView(file.buffer)
    for (let frame = 0; frame < 48; frame += 1) {
      const size = sizes.getUint32(12 + frame * 4)
      expect(view.getUint32(at)).toBe(size - 4)
      // Type 5 is a picture decodable alone, type 1 is not.
      expect(view.getUint8(at + 4) & 31).toBe(frame % 24 === 0 ? 5 : 1)
      at += size
    }
    expect(at).toBe(file.byteLength)
  })

  test('of a minute in the largest size stays small', () => {
    expect(sampleVideo(recordingNear({ width: 3840, height: 2160 }), 60).byteLength).toBeLessThan(2_200_000)
  })

  test.each(RECORDINGS)('of $width × $height is read by others, however long', async (recording) => {
    const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(sampleVideo(recording, 9.25)) })
    const track = await input.getPrimaryVideoTrack()
    if (track === null) throw new Error('no track')
    expect(await track.getDecoderConfig()).toMatchObject({
      codec: expect.stringMatching(/^avc1\.42c0/),
      codedWidth: recording.width,
      codedHeight: recording.height,
    })
    expect(await track.computeDuration()).toBe(9.25)
    const keys: number[] = []
    for await (const packet of new EncodedPacketSink(track).packets()) {
      if ((await track.determinePacketType(packet)) === 'key') keys.push(packet.timestamp)
    }
    expect(keys).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  })
})
