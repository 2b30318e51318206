import type { TransportFailure, UpstreamHead, UpstreamSink } from '../upstream.ts'

export type Outcome = { readonly kind: 'end' } | { readonly kind: 'fail'; readonly failure: TransportFailure }

/** Keeps everything it receives and throws on calls out of order. */
export class CollectingSink implements UpstreamSink {
  readonly heads: UpstreamHead[] = []
  readonly chunks: Uint8Array[] = []
  readonly outcome: Promise<Outcome>
  /** Called after each chunk was kept. */
  onData: (sink: CollectingSink) => void = () => undefined
  onHead: (sink: CollectingSink) => void = () => undefined
  over = false
  #finish: (outcome: Outcome) => void = () => undefined

  constructor() {
    this.outcome = new Promise((resolve) => {
      this.#finish = resolve
    })
  }

  get text(): string {
    return Buffer.concat(this.chunks).toString()
  }

  get length(): number {
    return this.chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0)
  }

  head(head: UpstreamHead): void {
    this.#expectRunning('head')
    if (this.heads.length > 0) throw new Error('a second head')
    this.heads.push(head)
    this.onHead(this)
  }

  data(chunk: Uint8Array): void {
    this.#expectRunning('data')
    if (this.heads.length === 0) throw new Error('data before a head')
    if (chunk.byteLength === 0) throw new Error('empty data')
    this.chunks.push(chunk)
    this.onData(this)
  }

  end(): void {
    this.#expectRunning('end')
    this.over = true
    this.#finish({ kind: 'end' })
  }

  fail(failure: TransportFailure): void {
    this.#expectRunning('fail')
    this.over = true
    this.#finish({ kind: 'fail', failure })
  }

  #expectRunning(what: string): void {
    if (this.over) throw new Error(`${what} after the end`)
  }
}
