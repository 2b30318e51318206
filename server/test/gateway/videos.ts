/** What tests about videos share: prices by the second, videos, forms as clients send them, vendors that play along. */
import type { Pricing } from '../../src/core/catalogue.ts'
import { sampleVideo as makeVideo } from '../../src/providers/sandbox/video/sample-video.ts'
import { recordingNear } from '../../src/providers/sandbox/video/video-picture.ts'
import { type Answer, readAnswer } from './client.ts'
import { PATIENCE_MS } from './gateway.ts'
import type { Answerer, ReceivedRequest, ScriptedUpstream } from './scripted-upstream.ts'

/** Half a yuan a second: at 1000 Credits a yuan, 500 Credits. */
export const VIDEO_PRICES: Pricing = {
  currency: 'CNY',
  billingModes: ['video_second'],
  inputPrice: null,
  outputPrice: null,
  cacheInputPrice: null,
  cacheOutputPrice: null,
  cacheWritePrice: null,
  cacheWrite1hPrice: null,
  requestPrice: null,
  imagePrice: null,
  videoPrice: '0.5',
  characterPrice: null,
  audioSecondPrice: null,
}

/** A video of that many seconds that plays. */
export function sampleVideo(seconds: number): Buffer {
  return Buffer.from(makeVideo(recordingNear({ width: 320, height: 180 }), seconds))
}

/** The smallest PNG there is. */
export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

export interface FormField {
  readonly name: string
  readonly value: string | Buffer
  readonly type?: string
}

/** A form as browsers and SDKs send it. */
export async function postForm(
  url: string,
  fields: readonly FormField[],
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const form = new FormData()
  for (const { name, value, type = 'application/octet-stream' } of fields) {
    if (typeof value === 'string') form.append(name, value)
    else form.append(name, new Blob([value], { type }), 'unknown_file')
  }
  return readAnswer(await fetch(url, { method: 'POST', headers: { ...headers }, body: form }))
}

/** What the next answers to a poll are; the last one stays. */
export interface Play {
  /** Answers to the create call; absent: it is accepted. */
  readonly create?: Answerer
  readonly polls: readonly unknown[]
}

/** Ark as this pipeline meets it: a task resource and a public link at its end. */
export function playArk(vendor: ScriptedUpstream, { create, polls }: Play): void {
  let asked = 0
  vendor.answer((request, response) => {
    if (request.method === 'POST') return (create ?? json({ id: 'cgt-1' }))(request, response)
    const answer = polls[Math.min(asked, polls.length - 1)]
    asked += 1
    return json(answer)(request, response)
  })
}

export const ARK = {
  queued: { id: 'cgt-1', status: 'queued' },
  running: { id: 'cgt-1', status: 'running' },
  done: (url: string, duration = 5) => ({
    id: 'cgt-1',
    status: 'succeeded',
    content: { video_url: url },
    duration,
  }),
  failed: {
    id: 'cgt-1',
    status: 'failed',
    error: { code: 'InternalServiceError', message: 'the kiln broke' },
  },
  moderated: {
    id: 'cgt-1',
    status: 'failed',
    error: { code: 'OutputVideoSensitiveContentDetected', message: 'not this' },
  },
} as const

/** OpenAI's own form, whose video is behind the key. */
export function playSora(
  vendor: ScriptedUpstream,
  video: Buffer,
  polls: readonly string[] = ['in_progress', 'completed'],
): void {
  let asked = 0
  vendor.answer((request, response) => {
    if (request.method === 'POST')
      return json({ id: 'video_up', object: 'video', status: 'queued' })(request, response)
    if (request.path.endsWith('/content')) {
      response.writeHead(200, { 'content-type': 'video/mp4' })
      response.end(video)
      return undefined
    }
    const status = polls[Math.min(asked, polls.length - 1)]
    asked += 1
    return json({ id: 'video_up', object: 'video', status, progress: status === 'completed' ? 100 : 40 })(
      request,
      response,
    )
  })
}

/** Requests that would make a task. */
export function creates(vendor: ScriptedUpstream): readonly ReceivedRequest[] {
  return vendor.requests.filter(({ method }) => method === 'POST')
}

function json(body: unknown): Answerer {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  }
}

/** Resolves when it has happened. */
export async function eventually(condition: () => boolean | Promise<boolean>): Promise<void> {
  const limit = Date.now() + PATIENCE_MS
  while (!(await condition())) {
    if (Date.now() > limit) throw new Error('it did not happen')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
