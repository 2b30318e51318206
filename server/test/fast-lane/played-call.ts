/** A call as the fast lane sees one: it reads its body or does not, answers in one of the forms, and notes what it is told. */
import { setImmediate as turn } from 'node:timers/promises'
import type { BodyReader, WireListener } from '../../src/http/calls/wire.ts'
import type { FastExchange } from '../../src/http/fast-lane/fast-exchange.ts'

export interface Part {
  /** `leaves` leaves it to Node. */
  readonly kind: 'answers' | 'refuses unread' | 'leaves'
  readonly form: 'length' | 'chunked' | 'none'
  readonly pieces: readonly (Buffer | string)[]
  /** Turns of the event loop that it waits in front of each step. */
  readonly waits: number
  /** Reading of the body stops for that many turns after each piece; 0: never. */
  readonly pauses: number
  /** Its answer ends the connection. */
  readonly closes: boolean
  /** It breaks its answer off after so many pieces. */
  readonly breaksAfter: number | undefined
}

/** How long the rest of an unread request is read, in turns. */
const LINGER_TURNS = 6

export class PlayedCall implements BodyReader, WireListener {
  readonly exchange: FastExchange
  readonly index: number
  /** What came of the body. */
  readonly body: Buffer[] = []
  bodyEnd: 'arrived' | 'cut' | undefined
  /** It asked for the body. */
  reads = false
  /** All of the answer was handed over. */
  isFinished = false
  isClosed = false
  /** Its answer said that the connection ends. */
  saidClose = false
  /** It did all that it does. */
  isDone = false
  isBroken = false
  /** What it was told that contradicts what it had been told. */
  fault: string | undefined
  readonly #part: Part
  #isPaused = false
  readonly #onChange: () => void
  #changed: (() => void)[] = []

  constructor(exchange: FastExchange, part: Part, place: { readonly index: number; onChange(): void }) {
    this.exchange = exchange
    this.index = place.index
    this.#part = part
    this.#onChange = () => place.onChange()
    exchange.listen(this)
    exchange.once('finish', () => {
      if (this.isFinished || this.isClosed) this.#fail('its answer was finished twice, or after its end')
      this.isFinished = true
    })
    exchange.once('close', () => {
      if (!this.isClosed) this.#fail('its end was told to others only')
    })
  }

  /** Never rejects. */
  async play(): Promise<void> {
    try {
      await this.#play()
    } catch (error) {
      this.#fail(String(error))
    }
    this.isDone = true
    this.#told()
  }

  take(chunk: Buffer): void {
    if (this.#isPaused) this.#fail('its body went on while it was paused')
    if (this.bodyEnd !== undefined) this.#fail('its body went on after its end')
    this.body.push(chunk)
    this.#told()
    if (this.#part.pauses > 0) this.#pause()
  }

  arrived(): void {
    if (this.bodyEnd !== undefined) this.#fail('its body ended twice')
    this.bodyEnd = 'arrived'
    this.#told()
  }

  /** Also called when the connection ends after the body. */
  cut(): void {
    this.bodyEnd ??= 'cut'
    this.#told()
  }

  closed(): void {
    if (this.isClosed) this.#fail('it ended twice')
    this.isClosed = true
    this.#told()
  }

  drained(): void {
    this.#told()
  }

  /** What its whole answer holds. */
  get said(): Buffer {
    const { form, pieces } = this.#part
    return form === 'none' ? Buffer.alloc(0) : Buffer.concat(pieces.map((piece) => Buffer.from(piece)))
  }

  async #play(): Promise<void> {
    const { exchange } = this
    await turns(this.#part.waits)
    if (this.#part.kind === 'answers') {
      this.reads = true
      exchange.read(this)
      while (this.bodyEnd === undefined) await this.#change()
      await turns(this.#part.waits)
    }
    this.#start()
    await this.#writeAll()
    if (this.isBroken) return
    exchange.end()
    if (!exchange.requestRead) await this.#linger()
  }

  #start(): void {
    const { form, closes } = this.#part
    if (closes) this.exchange.shouldKeepAlive = false
    const isUnread = !this.exchange.requestRead
    this.saidClose = closes || isUnread
    this.exchange.start(form === 'none' ? 204 : 200, {
      'x-index': this.index,
      ...(form === 'length' ? { 'content-length': this.said.byteLength } : {}),
      ...(isUnread ? { connection: 'close' } : {}),
    })
  }

  async #writeAll(): Promise<void> {
    for (const [at, piece] of this.#part.pieces.entries()) {
      if (at === this.#part.breaksAfter) {
        this.isBroken = true
        return this.exchange.destroy()
      }
      if (!this.exchange.write(piece) && !this.isClosed) await this.#change()
      await turns(this.#part.waits)
      this.#onChange()
    }
  }

  async #linger(): Promise<void> {
    let isOver = false
    this.exchange.discard(
      () => this.#onChange(),
      () => {
        isOver = true
      },
    )
    await turns(LINGER_TURNS)
    this.isBroken = !this.isFinished
    if (!isOver) this.exchange.destroy()
  }

  #pause(): void {
    this.#isPaused = this.exchange.bytesLeft > 0
    this.exchange.pause()
    const goOn = async (): Promise<void> => {
      await turns(this.#part.pauses)
      this.#isPaused = false
      this.exchange.resume()
      this.#onChange()
    }
    goOn().catch((error: unknown) => this.#fail(String(error)))
  }

  /** Of anything that it is told. */
  #change(): Promise<void> {
    return new Promise((resolve) => this.#changed.push(resolve))
  }

  #told(): void {
    this.#onChange()
    for (const each of this.#changed.splice(0)) each()
  }

  #fail(fault: string): void {
    this.fault ??= `call ${this.index}: ${fault}`
  }
}

export async function turns(count: number): Promise<void> {
  for (let left = count; left > 0; left -= 1) await turn()
}
