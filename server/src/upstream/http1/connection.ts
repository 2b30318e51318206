/** One HTTP/1.1 connection to an origin, used by one call after the other. */
import type { Socket } from 'node:net'
import { asError } from '../../core/errors/as-error.ts'
import type { AnswerHandler, Flow, Transport, TransportRequest } from '../connect/transport.ts'
import { AnswerParser, type AnswerSink } from './answer-parser.ts'
import type { Dial } from './dial.ts'
import type { AnswerHead } from './parse-head.ts'
import { formHead, Upload } from './upload.ts'

/**
 * From this size on, bytes are handed over with the buffer they were read into, so that large answers are not copied.
 */
const HAND_OVER_BYTES = 32_768

/** What the connections of one thread share. */
export interface ConnectionRoom {
  /** Sockets are read into it one at a time; what is kept is copied before the next read. */
  readonly readBuffer: Buffer
  readonly turns: Turns
}

export interface ConnectionPlace {
  /** With its port, as written in requests. */
  readonly host: string
  readonly dial: Dial
}

export class Connection implements Transport, Flow, AnswerSink {
  idleMsMax = 0
  readonly #place: ConnectionPlace
  readonly #room: ConnectionRoom
  readonly #onClose: () => void
  readonly #parser = new AnswerParser(this)
  #socket: Socket | undefined
  /** It can be written to. */
  #ready = false
  #call: Call | undefined
  #upload: Upload | undefined
  #paused = false
  /** The bytes being parsed. */
  #bytes: Buffer
  /** The last read returned so much that the next one gets its own buffer. */
  #manyBytes = false
  /** Where in them the bytes of a body stand that have not been given yet. */
  #from = 0
  #until = 0
  #destroyed = false

  /** @param onClose called when its socket closed while no call was in progress */
  constructor(place: ConnectionPlace, room: ConnectionRoom, onClose: () => void) {
    this.#place = place
    this.#room = room
    this.#onClose = onClose
    this.#bytes = room.readBuffer
  }

  get reusable(): boolean {
    return this.#ready && this.#call === undefined && this.idleMsMax > 0
  }

  dispatch(request: TransportRequest, handler: AnswerHandler): void {
    let head: string
    try {
      head = formHead(this.#place.host, request)
    } catch (error) {
      queueMicrotask(() => handler.onResponseError(undefined, asError(error)))
      return
    }
    this.#call = { request, handler, head, written: false }
    if (this.#socket === undefined) {
      this.#open()
      return
    }
    this.#socket.ref()
    this.#room.turns.wait(this.#write)
  }

  destroy(): void {
    this.#destroyed = true
    this.#call = undefined
    this.#close()
  }

  // The three below are called by the exchange.

  pause(): void {
    this.#paused = true
    this.#socket?.pause()
  }

  resume(): void {
    if (!this.#paused) return
    this.#paused = false
    this.#socket?.resume()
  }

  abort(): void {
    this.destroy()
  }

  // The two below are called by the parser.

  head(head: AnswerHead): void {
    this.idleMsMax = head.keepMs
    this.#call?.handler.onResponseStart(this, head.status, head.headers)
  }

  /**
   * All that one read brings is given at once: some upstreams send a chunk for each word, and every piece costs the
   * gateway a write of its own. What stands between the chunks is overwritten.
   */
  body(from: number, until: number): void {
    if (this.#from === this.#until) {
      this.#from = from
      this.#until = until
      return
    }
    this.#bytes.copyWithin(this.#until, from, until)
    this.#until += until - from
  }

  #open(): void {
    const { dial } = this.#place
    const socket = dial.open({ buffer: this.#nextBuffer, callback: this.#onRead })
    this.#socket = socket
    socket
      .once(dial.readyEvent, () => {
        if (socket !== this.#socket) return
        this.#ready = true
        this.#write()
      })
      .on('drain', () => this.#upload?.pump())
      .on('end', () => this.#onEnd(socket))
      .on('error', (error) => this.#lose(socket, error))
      .on('close', () => this.#lose(socket, new Error('the connection was closed')))
  }

  readonly #nextBuffer = (): Buffer =>
    this.#manyBytes ? Buffer.allocUnsafeSlow(this.#room.readBuffer.byteLength) : this.#room.readBuffer

  readonly #write = (): void => {
    const call = this.#call
    const socket = this.#socket
    // The call was aborted meanwhile, or waits for another socket because this one was closed.
    if (call === undefined || socket === undefined || !this.#ready || call.written) return
    call.handler.onRequestStart(this)
    if (this.#call !== call) return
    call.written = true
    this.#parser.start(call.request.method)
    this.#upload = new Upload(socket, call.request.body ?? [], {
      progress: () => call.handler.onRequestProgress(),
      fail: (error) => this.#fail(error),
    })
    this.#upload.begin(call.head, call.request.bodyLength)
  }

  readonly #onRead = (length: number, buffer: Uint8Array): boolean => {
    // Unrequested bytes must not become the answer to the next call.
    if (this.#call?.written !== true) {
      if (this.#socket !== undefined) this.#lose(this.#socket, new Error('bytes that nobody asked for'))
      return true
    }
    try {
      const used = this.#parse(bufferOf(buffer, length))
      this.#manyBytes = length >= HAND_OVER_BYTES && !this.#parser.over
      if (this.#parser.over) this.#finish(used === length)
    } catch (error) {
      this.#fail(asError(error))
    }
    return true
  }

  /** @returns how many of the bytes belong to the answer; what came before an error of syntax is given, too */
  #parse(bytes: Buffer): number {
    this.#bytes = bytes
    this.#from = this.#until
    try {
      return this.#parser.push(bytes)
    } finally {
      if (this.#until > this.#from)
        this.#call?.handler.onResponseData(this, this.#takeOut(this.#from, this.#until))
    }
  }

  #takeOut(from: number, until: number): Buffer {
    const isOwn = this.#bytes.buffer !== this.#room.readBuffer.buffer
    if (isOwn && until - from >= HAND_OVER_BYTES) return this.#bytes.subarray(from, until)
    const chunk = Buffer.allocUnsafe(until - from)
    this.#bytes.copy(chunk, 0, from, until)
    return chunk
  }

  #onEnd(socket: Socket): void {
    if (socket !== this.#socket) return
    if (this.#call?.written === true && this.#parser.finish()) this.#finish(false)
    else this.#lose(socket, new Error('the other side closed the connection'))
  }

  /** @param clean the answer ended exactly with the bytes */
  #finish(clean: boolean): void {
    const call = this.#call
    if (call === undefined) return
    const settled = this.#upload?.done === true && this.#socket?.writableLength === 0
    this.#call = undefined
    if (settled) call.request.onBodySent?.()
    if (clean && settled && this.idleMsMax > 0) {
      this.#upload = undefined
      this.resume()
      this.#socket?.unref()
    } else this.#close()
    try {
      call.handler.onResponseEnd()
    } catch (error) {
      call.handler.onResponseError(this, asError(error))
    }
  }

  #fail(error: Error): void {
    const call = this.#call
    this.#call = undefined
    this.#close()
    call?.handler.onResponseError(this, error)
  }

  /** The socket has closed. A call of which nothing was written uses a new one, unless this one was never connected. */
  #lose(socket: Socket, error: Error): void {
    if (socket !== this.#socket) return
    const stood = this.#ready
    if (this.#call === undefined) {
      this.#close()
      if (!this.#destroyed) this.#onClose()
    } else if (stood && !this.#call.written) {
      this.#close()
      this.#open()
    } else this.#fail(error)
  }

  #close(): void {
    this.#parser.stop()
    this.#upload?.stop()
    this.#upload = undefined
    this.#socket?.destroy()
    this.#socket = undefined
    this.#ready = false
    this.#paused = false
    this.#manyBytes = false
  }
}

interface Call {
  readonly request: TransportRequest
  readonly handler: AnswerHandler
  readonly head: string
  /** From now on the upstream may have received the request. */
  written: boolean
}

function bufferOf(bytes: Uint8Array, length: number): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, length)
}

/**
 * Makes requests wait for the next poll of all sockets, together. Since the last poll an idle connection may have been
 * closed, or may have received unrequested bytes; a request written before the next poll would fail, or take those
 * bytes for its answer.
 */
export class Turns {
  #waiting: (() => void)[] = []

  wait(go: () => void): void {
    if (this.#waiting.length === 0) setImmediate(this.#run)
    this.#waiting.push(go)
  }

  readonly #run = (): void => {
    const waiting = this.#waiting
    this.#waiting = []
    for (const go of waiting) go()
  }
}
