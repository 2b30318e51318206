/** The way to a database, in the hands of a test. */
import { connect, createServer, type Server, type Socket } from 'node:net'

/** A way to the database that a test can cut. */
export class Cable {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  /** Those of them on the side of the database. */
  readonly #far = new Set<Socket>()
  #target: { readonly host: string; readonly port: number }
  #isCut = false
  #isPaused = false

  constructor(target: { readonly host: string; readonly port: number }) {
    this.#target = target
    this.#server = createServer((near) => this.#join(near))
  }

  async open(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('the cable has no port')
    return address.port
  }

  cut(): void {
    this.#isCut = true
    for (const socket of this.#sockets) socket.destroy()
  }

  mend(): void {
    this.#isCut = false
    this.#isPaused = false
    for (const socket of this.#sockets) socket.resume()
  }

  /** Nothing gets through any more, and nobody is told. */
  pause(): void {
    this.#isPaused = true
    for (const socket of this.#sockets) socket.pause()
  }

  /** What is asked gets through, and no answer comes back. */
  holdAnswers(): void {
    for (const socket of this.#far) socket.pause()
  }

  /** Where connections lead from now on. */
  lead(port: number): void {
    this.#target = { ...this.#target, port }
  }

  async close(): Promise<void> {
    this.cut()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #join(near: Socket): void {
    if (this.#isCut) {
      near.destroy()
      return
    }
    const far = connect(this.#target.port, this.#target.host)
    this.#far.add(far)
    far.on('close', () => this.#far.delete(far))
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(socket)
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        this.#sockets.delete(socket)
        other.destroy()
      })
      socket.pipe(other)
    }
    if (this.#isPaused) this.pause()
  }
}
