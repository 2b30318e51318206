import { EventEmitter } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import type { GatewayError } from '../core/errors/gateway-error.ts'
import { addressGroup } from './request-head.ts'
import { Connections } from './connections.ts'

const PROXY = '10.0.0.1'

interface Peer extends EventEmitter {
  readonly remoteAddress: string
  destroyed: boolean
  ended: boolean
}

function edge(bounds: { connections?: number; perAddress?: number } = {}) {
  const refused: GatewayError[] = []
  const connections = new Connections({
    connectionsMax: bounds.connections ?? 100,
    connectionsPerAddressMax: bounds.perAddress ?? 100,
    isProxy: (address) => address === PROXY,
    clientAddress: ({ headers }) => String(headers['x-forwarded-for'] ?? PROXY),
    refuse: (_socket, error) => refused.push(error),
  })
  const connect = (remoteAddress = '192.0.2.1'): Peer => {
    const peer: Peer = Object.assign(new EventEmitter(), {
      remoteAddress,
      destroyed: false,
      ended: false,
      destroy: () => {
        peer.destroyed = true
        peer.emit('close')
      },
      end: () => {
        peer.ended = true
      },
    })
    connections.opened(peer as unknown as Socket)
    return peer
  }
  const ask = (peer: Peer, forwardedFor?: string) => {
    const response = Object.assign(new EventEmitter(), { headersSent: false, shouldKeepAlive: true })
    const headers = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor }
    const refusal = connections.begun({ socket: peer, headers } as unknown as IncomingMessage, response)
    const finish = (): void => {
      response.emit('finish')
      response.emit('close')
    }
    return { response, refusal, finish }
  }
  return { connections, refused, connect, ask }
}

describe('ten thousand connections of one address', () => {
  test('are refused beyond the bound, and another address is served', () => {
    const { connections, refused, connect } = edge({ perAddress: 5 })
    for (let at = 0; at < 10_000; at += 1) connect('192.0.2.1')
    expect([connections.count, refused.length]).toEqual([5, 9_995])
    expect([refused[0]?.status, refused[0]?.code]).toEqual([429, 42908])
    connect('192.0.2.2')
    expect(connections.count).toBe(6)
  })

  test('of one IPv6 network count as one', () => {
    const { connections, connect } = edge({ perAddress: 2 })
    for (const host of ['1', '2', '3']) connect(`2001:db8:1:2::${host}`)
    connect('2001:db8:1:3::1')
    expect(connections.count).toBe(3)
  })

  test('give their place back when they end', () => {
    const { connections, connect } = edge({ perAddress: 1 })
    connect().emit('close')
    connect()
    expect(connections.count).toBe(1)
  })

  test('of all addresses together are bounded', () => {
    const { refused, connect } = edge({ connections: 2 })
    for (const host of [1, 2, 3]) connect(`192.0.2.${host}`)
    expect([refused[0]?.status, refused[0]?.code]).toEqual([503, 50301])
  })
})

describe('behind a proxy that is believed', () => {
  test('the proxy may hold any number, and the requests of each client count', () => {
    const { connections, connect, ask } = edge({ perAddress: 2 })
    const peers = Array.from({ length: 5 }, () => connect(PROXY))
    expect(connections.count).toBe(5)
    const greedy = peers.slice(0, 3).map((peer) => ask(peer, '198.51.100.7'))
    expect(greedy.map(({ refusal }) => refusal?.code)).toEqual([undefined, undefined, 42908])
    const [, , , fourth, fifth] = peers
    expect(fourth && ask(fourth, '198.51.100.8').refusal).toBeUndefined()
    greedy[0]?.finish()
    expect(fifth && ask(fifth, '198.51.100.7').refusal).toBeUndefined()
  })
})

test('requests sent ahead on one connection are bounded, and the connection ends', () => {
  const { connect, ask } = edge()
  const peer = connect()
  const asked = Array.from({ length: 33 }, () => ask(peer))
  expect(asked.filter(({ refusal }) => refusal !== undefined)).toHaveLength(1)
  expect(asked.at(-1)?.response.shouldKeepAlive).toBe(false)
})

describe('while the process stops', () => {
  test('every answer ends its connection, also one that is being made', () => {
    const { connections, connect, ask } = edge()
    const [before, after] = [connect(), connect()]
    const running = ask(before)
    connections.drain()
    expect([running.response.shouldKeepAlive, ask(after).response.shouldKeepAlive]).toEqual([false, false])
  })

  test.each([
    ['of a client that was answered is ended at once', undefined, true],
    ['of a proxy is waited for: the next request may be on its way', '198.51.100.7', false],
  ])('an idle connection %s', (_what, forwardedFor, ends) => {
    const { connections, connect, ask } = edge()
    const peer = connect()
    ask(peer, forwardedFor).finish()
    connections.drain()
    connections.endIdle('direct')
    expect([peer.destroyed, connections.expecting]).toEqual([ends, ends ? 0 : 1])
    connections.endIdle('all')
    expect(peer.destroyed).toBe(true)
  })

  test('a connection that has just come is waited for', () => {
    const { connections, connect } = edge()
    const peer = connect()
    connections.endIdle('direct')
    expect([peer.destroyed, connections.expecting]).toEqual([false, 1])
  })

  test('an answer whose head promised to go on ends its connection with its last byte', () => {
    const { connections, connect, ask } = edge()
    const peer = connect()
    const stream = ask(peer, '198.51.100.7')
    stream.response.headersSent = true
    connections.drain()
    expect(connections.expecting).toBe(1)
    connections.endIdle('all')
    expect([peer.destroyed, peer.ended]).toEqual([false, false])
    stream.finish()
    expect(peer.ended).toBe(true)
  })
})

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
  ['', ''],
])('%s belongs to %s', (address, group) => {
  expect(addressGroup(address)).toBe(group)
})
