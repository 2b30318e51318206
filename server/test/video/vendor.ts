/**
 * Two vendors on one loopback server that remember what they were asked to make: one in OpenAI's form, which gives its video
 * away for the key only, and one in Kling's, which can be asked by the gateway's own id. Each tells when it has come to a
 * certain moment, so that a test can strike just then.
 */
import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** `image`: the order's picture is asked for, which comes before the order. */
export type Moment = 'image' | 'ordered' | 'polled' | 'half the video' | 'the whole video'

export interface Vendor {
  readonly url: string
  readonly video: Buffer
  /** Orders that arrived. */
  readonly orders: readonly string[]
  /** Called once, when the next request comes to that moment; before `ordered` is answered, after the others. */
  at(moment: Moment, strike: () => Promise<void>): void
  close(): Promise<void>
}

const VIDEO_BYTES = 3_000_000
/** A task is done when it was asked about this often. */
const POLLS = 3

export async function openVendor(): Promise<Vendor> {
  const vendor = new LoopbackVendor()
  await vendor.open()
  return vendor
}

class LoopbackVendor implements Vendor {
  readonly video = randomBytes(VIDEO_BYTES)
  readonly orders: string[] = []
  readonly #polls = new Map<string, number>()
  readonly #server = createServer((request, response) => {
    this.#answer(request, response).catch(() => response.destroy())
  })
  #strike: { readonly moment: Moment; readonly run: () => Promise<void> } | undefined

  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo
    return `http://127.0.0.1:${port}`
  }

  at(moment: Moment, run: () => Promise<void>): void {
    this.#strike = { moment, run }
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve())
      this.#server.closeAllConnections()
    })
  }

  async #reached(moment: Moment): Promise<void> {
    const strike = this.#strike
    if (strike?.moment !== moment) return
    this.#strike = undefined
    await strike.run()
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '/').split('?')[0] ?? '/'
    const body = await readBody(request)
    if (path === '/picture.png') {
      await this.#reached('image')
      sendBytes(response, 'image/png', PNG)
    } else if (request.method === 'POST') await this.#order(path, body, response)
    else if (path.endsWith('/content')) await this.#sendVideo(response)
    else await this.#tell(path, response)
  }

  async #order(path: string, body: Buffer, response: ServerResponse): Promise<void> {
    const kling = path.startsWith('/kling/')
    // Kling's own id is not needed here: both forms of its polls take the gateway's.
    const sent = kling ? (JSON.parse(body.toString('utf8')) as { external_task_id: string }) : undefined
    const id = sent?.external_task_id ?? `made_${this.orders.length}`
    this.orders.push(id)
    this.#polls.set(id, 0)
    await this.#reached('ordered')
    if (kling) sendJson(response, { code: 0, data: { task_id: id, task_status: 'submitted' } })
    else sendJson(response, { id, object: 'video', status: 'queued' })
  }

  async #tell(path: string, response: ServerResponse): Promise<void> {
    const id = path.split('/').at(-1) ?? ''
    const polls = (this.#polls.get(id) ?? Number.NaN) + 1
    if (Number.isNaN(polls)) {
      response.writeHead(404, { 'content-type': 'application/json' })
      response.end('{"error":{"message":"no such task"}}')
      return
    }
    this.#polls.set(id, polls)
    const done = polls >= POLLS
    if (path.startsWith('/kling/')) {
      const videos = [{ url: 'https://videos.example/1.mp4', duration: '4' }]
      const task_status = done ? 'succeed' : 'processing'
      sendJson(response, {
        code: 0,
        data: { task_id: id, task_status, task_result: { videos: done ? videos : [] } },
      })
    } else sendJson(response, { id, object: 'video', status: done ? 'completed' : 'in_progress' })
    await this.#reached('polled')
  }

  async #sendVideo(response: ServerResponse): Promise<void> {
    response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': this.video.length })
    const half = this.video.length >> 1
    await write(response, this.video.subarray(0, half))
    await this.#reached('half the video')
    response.end(this.video.subarray(half))
    if (this.#strike?.moment !== 'the whole video') return
    await new Promise((resolve) => response.once('close', resolve))
    await this.#reached('the whole video')
  }
}

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

function sendJson(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

function sendBytes(response: ServerResponse, type: string, bytes: Buffer): void {
  response.writeHead(200, { 'content-type': type, 'content-length': bytes.length })
  response.end(bytes)
}

/** Resolves when the bytes have left, or nobody takes them any more. */
function write(response: ServerResponse, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    response.write(bytes, () => resolve())
    response.once('close', () => resolve())
  })
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
