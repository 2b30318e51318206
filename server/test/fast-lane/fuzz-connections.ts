/**
 * Connections of the fast lane, whole: requests that follow each other, cut at every kind of place, to calls that answer soon or
 * late or not at all, from clients that read slowly, end their side or vanish. No byte is lost or read twice, every call comes to
 * an end, and answers come in the order of their requests.
 */
import type { FastExchange } from '../../src/http/fast-lane/fast-exchange.ts'
import { checkPlayed, isUncut, type Played } from './check-connection.ts'
import { type ConnectionCase, makeConnection } from './connection-cases.ts'
import { asError } from '../../src/core/errors/as-error.ts'
import { type FakeListener, openFakeListener } from './fake-listener.ts'
import type { FakeSocket, Take } from './fake-socket.ts'
import { PlayedCall, turns } from './played-call.ts'

export interface FuzzConnectionsOptions {
  readonly seed: number
  readonly cases: number
  readonly progress?: (done: number) => void
}

export interface ConnectionCounts {
  /** Requests that were served. */
  served: number
  /** Connections that were handed to Node in the end. */
  handedOver: number
  /** Connections of which no head was cut: what is served of them does not depend on how they arrive. */
  uncut: number
  /** Bodies that were cut. */
  cut: number
}

/** Throws at the first fault, naming its seed. */
export async function fuzzConnections({
  seed,
  cases,
  progress,
}: FuzzConnectionsOptions): Promise<ConnectionCounts> {
  const counts: ConnectionCounts = { served: 0, handedOver: 0, uncut: 0, cut: 0 }
  const stand = new Stand()
  try {
    for (let at = 0; at < cases; at += 1) {
      const made = makeConnection(seed + at)
      const played = await stand.play(made)
      const fault = checkPlayed(made, played)
      if (fault !== undefined) throw new Error(`seed ${seed + at}: ${fault}\n${show(made)}`)
      counts.served += played.calls.length
      counts.handedOver += played.handed === undefined ? 0 : 1
      counts.uncut += isUncut(made) ? 1 : 0
      counts.cut += played.calls.filter(({ bodyEnd }) => bodyEnd === 'cut').length
      if (at % 1_000 === 999) progress?.(at + 1)
    }
  } finally {
    stand.lane.closeAll()
  }
  return counts
}

/** So long nothing has happened when nothing happens any more: longer than anything waits. */
const QUIET_TURNS = 14
/** No case takes as many; one that does has no end. */
const TURNS_MAX = 20_000
/** What is kept of later requests, and one read more. */
const AHEAD_BYTES_MAX = 65_536 + 65_536

/** One lane for all cases, on which one connection is played at a time. */
class Stand {
  readonly #listener: FakeListener
  #case: ConnectionCase = makeConnection(0)
  #calls: PlayedCall[] = []
  #asked = 0
  #handed: Buffer[] | undefined
  #fault: string | undefined
  /** Counts what happens. */
  #events = 0

  constructor() {
    this.#listener = openFakeListener({
      serve: (exchange, socket) => this.#serve(exchange, socket),
      readByNode: (socket) => this.#readByNode(socket),
    })
  }

  get lane(): FakeListener['lane'] {
    return this.#listener.lane
  }

  async play(made: ConnectionCase): Promise<Played> {
    this.#case = made
    this.#calls = []
    this.#asked = 0
    this.#handed = undefined
    this.#fault = undefined
    const socket = this.#listener.open(this.#take())
    socket.onRead = () => this.#note(socket)
    const sent = await this.#send(socket)
    const isEarly = made.end.afterPieces !== Number.POSITIVE_INFINITY
    if (!isEarly) await this.#quiet()
    const isOpen = socket.writable
    if (made.end.how === 'vanishes') socket.vanish()
    else socket.sendEnd()
    await this.#quiet()
    this.#checkEnd(socket)
    return {
      calls: this.#calls,
      handed: this.#handed === undefined ? undefined : Buffer.concat(this.#handed),
      sent,
      isEarly,
      isOpen,
      written: Buffer.concat(socket.written),
      fault: socket.fault === undefined ? this.#fault : String(asError(socket.fault)),
    }
  }

  /** Returns how many bytes were sent. */
  async #send(socket: FakeSocket): Promise<number> {
    const { bytes, cuts, pauses, end } = this.#case
    let from = 0
    for (const [at, to] of [...cuts, bytes.byteLength].entries()) {
      if (at >= end.afterPieces || socket.destroyed) break
      await turns(pauses[at % pauses.length] ?? 0)
      socket.send(bytes.subarray(from, to))
      from = to
    }
    return from
  }

  #take(): Take {
    const { takes } = this.#case
    let written = 0
    return (taken) => {
      const wait = takes[written % takes.length] ?? 0
      written += 1
      this.#events += 1
      if (wait === 0) taken()
      else
        turns(wait).then(taken, (error: unknown) => {
          this.#fault ??= String(error)
        })
    }
  }

  #serve(exchange: FastExchange, socket: FakeSocket): boolean {
    const part = this.#case.parts[this.#asked % this.#case.parts.length]
    this.#asked += 1
    this.#events += 1
    if (this.#handed !== undefined)
      this.#fault ??= 'a request was served after the connection was handed over'
    if (part === undefined || part.kind === 'leaves') return false
    if (socket.destroyed) this.#fault ??= 'a request of a connection that has ended was served'
    const index = this.#calls.length
    const call = new PlayedCall(exchange, part, { index, onChange: () => (this.#events += 1) })
    this.#calls.push(call)
    call.play().catch((error: unknown) => {
      this.#fault ??= String(error)
    })
    return true
  }

  #readByNode(socket: FakeSocket): void {
    if (this.#handed !== undefined) this.#fault ??= 'a connection was handed over twice'
    const handed: Buffer[] = []
    this.#handed = handed
    if (LISTENED.some((event) => socket.listenerCount(event) > 0))
      this.#fault ??= 'the lane listens to a connection that it handed over'
    socket.on('data', (bytes: Buffer) => handed.push(bytes))
    socket.on('end', () => socket.end())
    socket.on('error', () => undefined)
  }

  /** Something arrived: of later requests little is kept. */
  #note(socket: FakeSocket): void {
    this.#events += 1
    if (this.#handed !== undefined) return
    const begun = this.#calls.reduce(
      (sum, { exchange }) => sum + exchange.request.headBytes + exchange.request.bodyBytes,
      0,
    )
    if (socket.bytesRead - begun > AHEAD_BYTES_MAX)
      this.#fault ??= `${socket.bytesRead - begun} bytes of later requests were read`
  }

  /** Until nothing happens any more. */
  async #quiet(): Promise<void> {
    let seen = -1
    let quiet = 0
    for (let left = TURNS_MAX; quiet < QUIET_TURNS; left -= 1) {
      if (left === 0) throw new Error('a case that has no end')
      quiet = seen === this.#events ? quiet + 1 : 0
      seen = this.#events
      await turns(1)
    }
  }

  #checkEnd(socket: FakeSocket): void {
    if (!socket.closed) this.#fault ??= 'the connection stays open though its client has ended'
    for (const call of this.#calls) {
      if (!call.isDone) this.#fault ??= `call ${call.index} never ends`
      if (!call.isClosed) this.#fault ??= `call ${call.index} was not told that its connection has ended`
    }
  }
}

const LISTENED = ['data', 'drain', 'end', 'error', 'close', 'finish'] as const

/** The first of the bytes, and sizes instead of what is answered. */
function show({ bytes, parts, ...others }: ConnectionCase): string {
  const shownParts = parts.map(({ pieces, ...part }) => ({
    ...part,
    pieces: pieces.map(({ length }) => length),
  }))
  const shown = JSON.stringify({ ...others, parts: shownParts })
  return `${JSON.stringify(bytes.toString('latin1', 0, 500))} (${bytes.byteLength} bytes)\n${shown.slice(0, 2_000)}`
}
