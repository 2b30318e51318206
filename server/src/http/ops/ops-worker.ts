/**
 * The operator's port in a thread of its own: it answers while the thread that serves calls is busy, and reports how
 * long that one has been silent. Never reachable for clients, so it requires no key.
 */
import { createServer, type ServerResponse } from 'node:http'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { listen, rarely } from '../listen.ts'
import {
  answerChains,
  answerHealth,
  answerMetrics,
  answerReadiness,
  json,
  type MainThread,
  type OpsAnswer,
  WAYS,
} from './ops-answers.ts'
import type { FromOps, Known, OpsThreadOptions, Question, ToOps } from './ops-messages.ts'

/** Longer than the interval of regular probes, or they would find closed connections. */
const KEEP_ALIVE_MS = 75_000
/** Longer than asking several processes takes. */
const ASK_MS_MAX = 3_000
/** A thread that is silent for this long is not waited for. */
const PATIENCE_MS = 1_000
const LOOK_MS = 100
/** Probes come every few seconds; more requests than this are not probes. */
const WAITING_MAX = 256

class OpsThread {
  readonly #port: MessagePort
  readonly #options: OpsThreadOptions
  readonly #beat: BigInt64Array
  readonly #waiting = new Map<number, (known: Known) => void>()
  readonly #last = new Map<Question, { readonly known: Known; readonly at: bigint }>()
  #nextId = 1
  readonly #server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    const [path = '/'] = (request.url ?? '/').split('?')
    this.#answer(request.method ?? 'GET', path).then(
      (answer) => send(response, answer),
      () => send(response, json(500, { error: 'the answer could not be made' })),
    )
  })

  constructor(port: MessagePort, options: OpsThreadOptions) {
    this.#port = port
    this.#options = options
    this.#beat = new BigInt64Array(options.beat)
  }

  open(): void {
    const { host, port } = this.#options
    const onLost = rarely(
      ({ message }) => this.#say({ kind: 'not-accepted', message }),
      () => performance.now(),
    )
    listen(this.#server, { port, host }, onLost).then(
      (taken) => this.#say({ kind: 'listening', port: taken }),
      (error: NodeJS.ErrnoException & { address?: string; port?: number }) => {
        const { message, code, syscall, address, port: wanted } = error
        this.#say({ kind: 'not-listening', error: { message, code, syscall, address, port: wanted } })
        this.#port.close()
      },
    )
    this.#port.on('message', (message: ToOps) => {
      if (message.kind === 'close') this.#close()
      else this.#waiting.get(message.id)?.(message.known)
    })
  }

  #close(): void {
    this.#server.close(() => {
      this.#say({ kind: 'closed' })
      this.#port.close()
    })
    this.#server.closeAllConnections()
  }

  async #answer(method: string, path: string): Promise<OpsAnswer> {
    if (method !== 'GET' && method !== 'HEAD') return json(405, { error: 'this port takes GET only' })
    const way = WAYS[path]
    if (way === undefined)
      return json(404, { error: 'this port has /healthz, /readyz, /metrics and /chains' })
    switch (way) {
      case 'health':
        return answerHealth(this.#main(), this.#options.hungAfterMs)
      case 'readiness': {
        const { known, fresh } = await this.#ask('readiness')
        return answerReadiness(known, { fresh, silentMs: this.#main().silentMs })
      }
      case 'metrics': {
        const { known, ageMs } = await this.#ask('metrics')
        return answerMetrics(known, { ageMs, main: this.#main() })
      }
      case 'chains':
        return answerChains((await this.#ask('chains')).known)
    }
  }

  /** The serving thread's present answer, or its last one if it is busy. */
  async #ask(
    what: Question,
  ): Promise<{ readonly known: Known | undefined; readonly fresh: boolean; readonly ageMs: number }> {
    const known = await this.#told(what)
    if (known !== undefined) {
      this.#last.set(what, { known, at: process.hrtime.bigint() })
      return { known, fresh: true, ageMs: 0 }
    }
    const last = this.#last.get(what)
    return { known: last?.known, fresh: false, ageMs: last === undefined ? 0 : msSince(last.at) }
  }

  #told(what: Question): Promise<Known | undefined> {
    if (this.#waiting.size >= WAITING_MAX) return Promise.resolve(undefined)
    const id = this.#nextId++
    return new Promise((resolve) => {
      let waited = 0
      const finish = (known: Known | undefined): void => {
        clearInterval(look)
        this.#waiting.delete(id)
        resolve(known)
      }
      const look = setInterval(() => {
        waited += LOOK_MS
        if (waited >= ASK_MS_MAX || this.#main().silentMs > PATIENCE_MS) finish(undefined)
      }, LOOK_MS)
      this.#waiting.set(id, finish)
      this.#say({ kind: 'asked', id, what })
    })
  }

  #main(): MainThread {
    return { silentMs: msSince(Atomics.load(this.#beat, 0)), lagMs: Number(Atomics.load(this.#beat, 1)) }
  }

  #say(message: FromOps): void {
    this.#port.postMessage(message)
  }
}

const NS_PER_MS = 1_000_000n

function msSince(at: bigint): number {
  return Math.max(0, Number((process.hrtime.bigint() - at) / NS_PER_MS))
}

function send(response: ServerResponse, { status, contentType, body }: OpsAnswer): void {
  const allow = status === 405 ? { allow: 'GET, HEAD' } : {}
  response.writeHead(status, { 'content-type': contentType, ...allow })
  response.end(body)
}

if (parentPort === null) throw new Error('the operator’s port runs as a worker thread')
new OpsThread(parentPort, workerData as OpsThreadOptions).open()
