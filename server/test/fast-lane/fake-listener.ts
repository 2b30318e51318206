/** A fast lane over fake sockets, and what it leaves to Node. */
import { EventEmitter } from 'node:events'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { FastExchange } from '../../src/http/fast-lane/fast-exchange.ts'
import { FastLane, type FastLaneOptions } from '../../src/http/fast-lane/fast-lane.ts'
import { FakeSocket, type Take } from './fake-socket.ts'

export interface FakeListener {
  readonly lane: FastLane
  /** A client connects; `before` sees its connection before the lane does. */
  open(take?: Take, before?: (socket: FakeSocket) => void): FakeSocket
}

export interface FakeListenerOptions extends Partial<Omit<FastLaneOptions, 'serve'>> {
  readonly serve: (exchange: FastExchange, socket: FakeSocket) => boolean
  /** Stands for `node:http`: gets the connections that are left to it. */
  readonly readByNode?: (socket: FakeSocket) => void
}

export function openFakeListener({ serve, readByNode, ...options }: FakeListenerOptions): FakeListener {
  const server = new EventEmitter()
  const sockets = new WeakMap<Socket, FakeSocket>()
  const fakeOf = (socket: Socket): FakeSocket => {
    const fake = sockets.get(socket)
    if (fake === undefined) throw new Error('a socket that nobody opened')
    return fake
  }
  server.on('connection', (socket: Socket) => readByNode?.(fakeOf(socket)))
  const lane = new FastLane(server as unknown as Server, {
    headerLimitBytes: 65_536,
    headersMax: 12,
    headerTimeoutMs: 600_000,
    keepAliveTimeoutMs: 600_000,
    now: () => 0,
    refuseLate: (socket) => socket.destroy(),
    ...options,
    serve: (exchange, socket) => serve(exchange, fakeOf(socket)),
  })
  return {
    lane,
    open(take, before) {
      const fake = new FakeSocket(take)
      before?.(fake)
      sockets.set(fake.asSocket, fake)
      server.emit('connection', fake.asSocket)
      return fake
    },
  }
}
