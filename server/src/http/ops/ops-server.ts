/** The operator's port, seen from the thread that serves calls: it sends heartbeats and answers questions. */
import { Worker } from 'node:worker_threads'
import type { Telemetry } from '../../telemetry/telemetry.ts'
import type { FromOps, Known, ListenError, OpsThreadOptions, Question, ToOps } from './ops-messages.ts'
import type { OpsSource } from './ops-source.ts'

export interface OpsServer {
  readonly port: number
  /** A heartbeat of a process that serves calls. Only if `beats` is `told`. */
  beat(): void
  close(): Promise<void>
}

export interface OpsOptions {
  readonly source: OpsSource
  readonly telemetry: Telemetry
  readonly host: string | undefined
  readonly port: number
  /** After a longer silence `/healthz` answers 503. */
  readonly hungAfterMs: number
  /**
   * `own`: this thread serves calls, so its own event loop is the heartbeat; `told`: others do, and `beat` is called
   * for them.
   */
  readonly beats: 'own' | 'told'
}

const BEAT_MS = 500
/** The page of metrics is its largest value. */
const HEAP_MIB = 64
const REOPEN_MS = 1_000

/** Throws the error of a failed `listen`. */
export async function openOpsServer(options: OpsOptions): Promise<OpsServer> {
  const server = new OpsHost(options)
  const port = await server.open(options.port)
  return { port, beat: () => server.beat(), close: () => server.close() }
}

class OpsHost {
  readonly #options: OpsOptions
  readonly #beat = new SharedArrayBuffer(2 * BigInt64Array.BYTES_PER_ELEMENT)
  readonly #beats = new BigInt64Array(this.#beat)
  #worker: Worker | undefined
  #timer: NodeJS.Timeout | undefined
  #reopening: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: OpsOptions) {
    this.#options = options
    this.#store(0)
    if (options.beats === 'own') this.#beatByItself()
  }

  beat(): void {
    this.#store(0)
  }

  open(port: number): Promise<number> {
    const { host, hungAfterMs, telemetry } = this.#options
    const workerData: OpsThreadOptions = { host, port, beat: this.#beat, hungAfterMs }
    const worker = new Worker(location(), {
      name: 'ops',
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
      execArgv: process.execArgv.filter((flag) => flag.startsWith('--enable-source-maps')),
    })
    this.#worker = worker
    return new Promise((resolve, reject) => {
      let listening: number | undefined
      worker.on('message', (message: FromOps) => {
        switch (message.kind) {
          case 'listening':
            listening = message.port
            resolve(message.port)
            // The listeners for calls keep the process running, this one alone does not.
            worker.unref()
            return
          case 'not-listening':
            reject(listenError(message.error))
            return
          case 'asked':
            telemetry.background.track(this.#tell(worker, message.id, message.what), 'answer the operator')
            return
          case 'not-accepted':
            telemetry.log.error(
              { error: message.message },
              'connections to the operator’s port could not be accepted',
            )
            return
          case 'closed':
            return
        }
      })
      worker.on('error', (error) => {
        reject(error)
        telemetry.log.error({ error }, 'the thread of the operator’s port failed')
      })
      worker.on('exit', () => {
        if (listening !== undefined) this.#reopen(listening)
      })
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#timer)
    clearTimeout(this.#reopening)
    const worker = this.#worker
    if (worker === undefined) return
    worker.ref()
    const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
    say(worker, { kind: 'close' })
    await exited
  }

  /** A thread that ended unexpectedly is replaced on the same port. */
  #reopen(port: number): void {
    this.#worker = undefined
    if (this.#closed) return
    this.#reopening = setTimeout(() => {
      const { background } = this.#options.telemetry
      background.track(
        this.open(port).catch((error: unknown) => {
          this.#reopen(port)
          throw error
        }),
        'open the operator’s port again',
      )
    }, REOPEN_MS)
    this.#reopening.unref()
  }

  async #tell(worker: Worker, id: number, what: Question): Promise<void> {
    say(worker, { kind: 'known', id, known: await this.#known(what) })
  }

  async #known(what: Question): Promise<Known> {
    const { source, telemetry } = this.#options
    try {
      switch (what) {
        case 'readiness':
          return { what, readiness: await source.readiness() }
        case 'metrics':
          return { what, text: await source.metrics(), contentType: telemetry.metrics.contentType }
        case 'chains':
          return { what, troubled: await source.troubledChains() }
      }
    } catch (error) {
      telemetry.log.error({ error, what }, 'the operator could not be answered')
      return { what: 'failed' }
    }
  }

  #beatByItself(): void {
    let last = performance.now()
    this.#timer = setInterval(() => {
      const now = performance.now()
      this.#store(Math.max(0, now - last - BEAT_MS))
      last = now
    }, BEAT_MS)
    this.#timer.unref()
  }

  #store(lagMs: number): void {
    Atomics.store(this.#beats, 0, process.hrtime.bigint())
    Atomics.store(this.#beats, 1, BigInt(Math.round(lagMs)))
  }
}

function say(worker: Worker, message: ToOps): void {
  worker.postMessage(message)
}

function listenError({ message, ...facts }: ListenError): Error {
  return Object.assign(new Error(message), facts)
}

/**
 * Next to the bundle that holds this module; when run from source, the built file is used too, because the oldest Node
 * cannot run TypeScript.
 */
function location(): URL {
  const fromSource = import.meta.url.endsWith('.ts')
  return new URL(fromSource ? '../../../dist/ops-worker.js' : './ops-worker.js', import.meta.url)
}
