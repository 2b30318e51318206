/** The requests of one connection, read as the fast lane does, and by Node's parser (llhttp) as Node's server runs it. */
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { readPlainRequest } from '../../src/http/fast-lane/read-request.ts'
import { type Fields, grouped, HTTPParser } from '../node-parser.ts'
import { HEADERS_MAX, type RequestCase } from './request-cases.ts'

export interface ReadRequest {
  readonly method: string
  readonly target: string
  /** Names in lower case and values. */
  readonly fields: Fields
  /** What of the body has come, a character a byte. */
  body: string
  /** All of it has come. */
  whole: boolean
  /** Why it is answered otherwise than by serving it and then reading the next one. */
  readonly special: () => string | undefined
}

/** As far as they have the plain shape. */
export function readByFastLane({ bytes, headBytesMax }: RequestCase): readonly ReadRequest[] {
  const requests: ReadRequest[] = []
  for (let at = 0; at < bytes.byteLength; ) {
    const request = readPlainRequest(bytes.subarray(at), { headBytesMax, headersMax: HEADERS_MAX })
    if (request === undefined) break
    const { method, path, query, headers, headBytes, bodyBytes } = request
    const from = at + headBytes
    at = from + bodyBytes
    requests.push({
      method,
      target: targetOf(path, query, bytes, from - headBytes),
      fields: headers,
      body: bytes.toString('latin1', from, Math.min(at, bytes.byteLength)),
      whole: at <= bytes.byteLength,
      special: () => undefined,
    })
  }
  return requests
}

/** A question mark with nothing behind it is the only thing that path and query do not tell. */
function targetOf(path: string, query: string, bytes: Buffer, start: number): string {
  const target = query === '' ? path : `${path}?${query}`
  const rest = bytes.toString('latin1', start, start + target.length + 20)
  return query === '' && rest.includes(` ${path}? `) ? `${path}?` : target
}

/** The methods that the fast lane takes, by their numbers in llhttp. */
const METHODS: Readonly<Record<number, string>> = { 0: 'DELETE', 1: 'GET', 3: 'POST' }

/** What was read before the first fault. */
let found: ReadRequest[] = []
let early: string[] = []
let earlyTarget = ''
/** The server reads this connection no further as HTTP/1.1. */
let isOver = false

/** One for all cases, as Node's server uses one parser again for other connections. */
const parser = openParser()

export function readByNode({ bytes, cuts, headBytesMax }: RequestCase): readonly ReadRequest[] {
  found = []
  forget()
  isOver = false
  parser.initialize(HTTPParser.REQUEST, {}, headBytesMax, HTTPParser.kLenientNone)
  let from = 0
  for (const to of [...cuts, bytes.byteLength]) {
    if (isOver) break
    if (to > from && parser.execute(bytes.subarray(from, to)) instanceof Error) break
    from = to
  }
  return found
}

function forget(): void {
  early = []
  earlyTarget = ''
}

/** What the server refuses, or hides from who serves the request. */
function specialOf(raw: readonly string[], fields: Fields): string | undefined {
  if (fields['expect'] !== undefined) return 'an expectation'
  if (typeof fields['host'] !== 'string') return 'no host, or several'
  if (raw.length / 2 > HEADERS_MAX) return 'too many fields'
  const served: Record<string, string> = {}
  for (let at = 0; at + 1 < raw.length; at += 2) message._addHeaderLine?.(raw[at], raw[at + 1], served)
  return sameFields(served, fields) ? undefined : 'fields that are joined or hidden'
}

/** Adds fields as every message of Node does. */
const message: IncomingMessage & { _addHeaderLine?: (name?: string, value?: string, to?: object) => void } =
  new IncomingMessage(new Socket())

export function sameFields(one: Fields, other: Fields): boolean {
  const names = Object.keys(one)
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name])
}

function openParser() {
  const opened = new HTTPParser()
  opened[HTTPParser.kOnHeaders] = (list: string[], target: string) => {
    early = [...early, ...list]
    earlyTarget += target
  }
  opened[HTTPParser.kOnHeadersComplete] = (
    major: number,
    minor: number,
    list: string[] | undefined,
    method: number,
    target: string | undefined,
    _status: unknown,
    _reason: unknown,
    upgrade: boolean,
    keepsAlive: boolean,
  ) => {
    const raw = early.length === 0 ? (list ?? []) : [...early, ...(list ?? [])]
    const fields = grouped(raw)
    const usual = major === 1 && minor === 1 && !upgrade && keepsAlive
    found.push({
      method: METHODS[method] ?? String(method),
      target: earlyTarget + (target ?? ''),
      fields,
      body: '',
      whole: false,
      special: () => (usual ? specialOf(raw, fields) : 'its connection'),
    })
    forget()
    isOver = upgrade
    // As the server has it, which listens for upgrades.
    return upgrade ? 2 : 0
  }
  opened[HTTPParser.kOnBody] = (bytes: Buffer) => {
    const request = found.at(-1)
    if (request !== undefined) request.body += bytes.toString('latin1')
  }
  opened[HTTPParser.kOnMessageComplete] = () => {
    const request = found.at(-1)
    if (request !== undefined) request.whole = true
    forget()
  }
  return opened
}
