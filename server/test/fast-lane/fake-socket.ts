/** A connection without a network. Its client sends pieces, ends its side or vanishes, and takes what is written at its own pace. */
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'

/** How a client takes what is written: it calls `taken` once, at once or later. */
export type Take = (taken: () => void) => void

export class FakeSocket extends Duplex {
  /** All that its client has. */
  readonly written: Buffer[] = []
  /** Bytes that were read from it. */
  bytesRead = 0
  onRead: (() => void) | undefined
  /** The first that a listener threw. */
  fault: unknown
  readonly #take: Take
  /** `undefined`: the client ends its side. */
  readonly #sent: (Buffer | undefined)[] = []
  #isAsked = false

  constructor(take: Take = (taken) => taken()) {
    // As the sockets of an HTTP server are.
    super({ allowHalfOpen: true })
    this.#take = take
  }

  /** As a listener of a server gets it. */
  get asSocket(): Socket {
    return this as unknown as Socket
  }

  get text(): string {
    return Buffer.concat(this.written).toString('latin1')
  }

  /** The client sends bytes, which wait until they are read. */
  send(bytes: Buffer | string): void {
    this.#sent.push(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
    this.#supply()
  }

  sendEnd(): void {
    this.#sent.push(undefined)
    this.#supply()
  }

  vanish(): void {
    this.destroy(new Error('read ECONNRESET'))
  }

  /** As a socket has it. */
  destroySoon(): void {
    if (this.writable) this.end()
    if (this.writableFinished) this.destroy()
    else this.once('finish', () => this.destroy())
  }

  override emit(event: string | symbol, ...given: unknown[]): boolean {
    const [first] = given
    if (event === 'data' && first instanceof Buffer) this.bytesRead += first.byteLength
    try {
      return super.emit(event, ...given)
    } catch (error) {
      this.fault ??= error
      return true
    } finally {
      if (event === 'data') this.onRead?.()
    }
  }

  override _read(): void {
    this.#isAsked = true
    this.#supply()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, taken: () => void): void {
    this.#take(() => {
      if (!this.destroyed) this.written.push(chunk)
      taken()
    })
  }

  #supply(): void {
    if (!this.#isAsked || this.#sent.length === 0 || this.destroyed) return
    this.#isAsked = false
    const [piece] = this.#sent.splice(0, 1)
    this.push(piece ?? null)
  }
}
