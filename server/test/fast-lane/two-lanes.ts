/** The same bytes sent to a gateway with the fast lane and to one without, and what each answers and asks its upstream. */
import { connect, type Socket } from 'node:net'
import { afterAll, expect, vi } from 'vitest'
import { FastExchange } from '../../src/http/fast-lane/fast-exchange.ts'
import {
  type GatewayOptions,
  openGateway,
  PATIENCE_MS,
  putChain,
  putModel,
  putVendor,
  type TestGateway,
} from '../gateway/gateway.ts'
import { answerOk, openScriptedUpstream, type ScriptedUpstream } from '../gateway/scripted-upstream.ts'

export interface Lane {
  readonly gateway: TestGateway
  readonly upstream: ScriptedUpstream
}

export interface TwoLanes {
  readonly on: Lane
  readonly off: Lane
}

export const OK = answerOk({ prompt_tokens: 1, completion_tokens: 1 })

/** Stands in a request for the key of the gateway that is called, and is as long. */
export const KEY = '{.......the key of the gateway that is called........}'

/** Closed after the last test of the file. */
export async function openTwoLanes(
  environment: Readonly<Record<string, string>> = {},
  options: Pick<GatewayOptions, 'now'> = {},
): Promise<TwoLanes> {
  const open = async (lane: 'on' | 'off'): Promise<Lane> => {
    const upstream = await openScriptedUpstream()
    const gateway = await openGateway({ environment: { SLUICE_FAST_LANE: lane, ...environment }, ...options })
    afterAll(async () => {
      await gateway.close()
      await upstream.close()
    })
    expect(gateway.key.length).toBe(KEY.length)
    await gateway.catalogue(
      ...putVendor('acme', upstream.url),
      putModel('m'),
      putChain({ model: 'm', vendor: 'acme', forward: 'm' }),
    )
    return { gateway, upstream }
  }
  return { on: await open('on'), off: await open('off') }
}

/** A client that sees the bytes, and may leave its side open for ever. */
export class RawClient {
  text = ''
  closed = false
  readonly socket: Socket
  readonly #changed: (() => void)[] = []

  constructor(lane: Lane) {
    const { hostname, port } = new URL(lane.gateway.baseUrl)
    this.socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true })
    this.socket.setNoDelay(true)
    const told = (): void => {
      for (const each of this.#changed.splice(0)) each()
    }
    this.socket.on('data', (bytes) => {
      this.text += bytes.toString('latin1')
      told()
    })
    this.socket.on('end', () => {
      this.closed = true
      told()
    })
    this.socket.on('error', () => undefined)
    this.socket.on('close', () => {
      this.closed = true
      told()
    })
  }

  /** Each in a packet of its own, as far as the system allows. */
  async send(pieces: readonly (string | Buffer)[]): Promise<void> {
    for (const piece of pieces) {
      if (this.socket.destroyed) return
      await new Promise<void>((resolve) => {
        this.socket.write(typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece, () => resolve())
      })
      await turns(3)
    }
  }

  /** Rejects if it has not come about when nothing more is to be expected. */
  async until(holds: (client: RawClient) => boolean): Promise<void> {
    const late = AbortSignal.timeout(PATIENCE_MS)
    while (!holds(this)) {
      if (late.aborted) throw new Error(`never came about; this did: ${this.text.slice(0, 2_000)}`)
      await new Promise<void>((resolve) => {
        this.#changed.push(resolve)
        late.addEventListener('abort', () => resolve(), { once: true })
      })
    }
  }

  ended(): Promise<void> {
    return this.until(({ closed }) => closed)
  }
}

export interface Signal {
  readonly given: Promise<void>
  give(): void
}

export function signal(): Signal {
  let give = (): void => undefined
  const given = new Promise<void>((resolve) => {
    give = resolve
  })
  return { given, give: () => give() }
}

async function turns(count: number): Promise<void> {
  for (let left = count; left > 0; left -= 1) await new Promise((resolve) => setImmediate(resolve))
}

export interface Played {
  /** All that came until the connection was closed, without what differs from one run to the next. */
  readonly text: string
  readonly asked: readonly object[]
  /** Requests that the fast lane answered. */
  readonly fast: number
}

export type Script = (client: RawClient, lane: Lane) => Promise<void>

/** Plays until the server closes the connection. */
export async function play(lane: Lane, script: Script): Promise<Played> {
  lane.upstream.requests.length = 0
  await lane.gateway.resetHealth()
  const started = vi.spyOn(FastExchange.prototype, 'start')
  const client = new RawClient(lane)
  try {
    await script(client, lane)
    await client.ended()
    await lane.gateway.settled()
    return {
      text: usual(client.text),
      asked: lane.upstream.requests.map(shown),
      fast: started.mock.calls.length,
    }
  } finally {
    client.socket.destroy()
    started.mockRestore()
  }
}

function usual(text: string): string {
  return text
    .replaceAll(/^Date: .*\r$/gim, 'Date: now\r')
    .replaceAll(/^x-request-id: .*\r$/gim, 'x-request-id: id\r')
    .replaceAll(/"request_id":"[^"]*"/g, '"request_id":"id"')
    .replaceAll(/"(id|created)":("[^"]*"|\d+)/g, '"$1":0')
}

function shown({ method, path, query, headers, body }: ScriptedUpstream['requests'][number]): object {
  const { host: _host, ...others } = headers
  return { method, path, query, headers: others, body: body.toString('latin1') }
}

/** Plays to both. */
export async function playBoth({ on, off }: TwoLanes, script: Script): Promise<{ on: Played; off: Played }> {
  return { on: await play(on, script), off: await play(off, script) }
}

/**
 * Expects the same bytes from both, and the same questions to their upstreams. Only `node:http` refuses what is malformed at
 * once, also in front of answers to requests that came before it; without those, too.
 */
export async function expectSame(lanes: TwoLanes, script: Script): Promise<Played> {
  const { on, off } = await playBoth(lanes, script)
  expect(off.fast).toBe(0)
  const refusalAt = off.text.lastIndexOf('HTTP/1.1 4')
  const refusal = off.text.slice(refusalAt)
  if (MALFORMED.test(refusal) && on.text.endsWith(refusal)) {
    expect(on.text.startsWith(off.text.slice(0, refusalAt))).toBe(true)
    return on
  }
  expect(on.text).toBe(off.text)
  expect(answered(on)).toEqual(answered(off))
  return on
}

const MALFORMED =
  /^HTTP\/1\.1 4.*"message":"(?:malformed HTTP|the request headers (?:are too large|did not arrive in time))"/s

/**
 * What came behind an answer that closed the connection may have been begun, and was given up. `node:http` serves requests
 * that came together at once, the fast lane one after the other.
 */
function answered({ text, asked }: Played): readonly string[] {
  const count = text.split('gw-model: m').length - 1
  return asked
    .slice(0, count)
    .map((each) => JSON.stringify(each))
    .sort()
}

/** A head of a request and what follows it; `KEY` is the key. */
export function request(line: string, fields: readonly string[] = [], body = ''): string {
  return `${[`${line} HTTP/1.1`, 'Host: gateway', ...fields].join('\r\n')}\r\n\r\n${body}`
}

export const CHAT = 'POST /v1/chat/completions'
export const KEYED = [`Authorization: Bearer ${KEY}`, 'Content-Type: application/json'] as const
export const question = (content: string, fields: object = {}): string =>
  JSON.stringify({ model: 'm', messages: [{ role: 'user', content }], ...fields })
/** In the plain shape. */
export function call(content: string, fields: readonly string[] = [], more: object = {}): string {
  const body = question(content, more)
  return request(CHAT, [...KEYED, ...fields, `Content-Length: ${body.length}`], body)
}
/** Ends the connection. */
export const LAST = request('GET /v1/models', [`Authorization: Bearer ${KEY}`, 'Connection: close'])

export function withKey(text: string, { gateway }: Lane): string {
  return text.replaceAll(KEY, gateway.key)
}

/** Sends pieces, one after the other. */
export function sends(...pieces: readonly string[]): Script {
  return (client, lane) => client.send(pieces.map((piece) => withKey(piece, lane)))
}

/** How many answers a text holds, by their status lines. */
export function statuses(text: string): readonly number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
}
