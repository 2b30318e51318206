/** Requests as clients send them, and as somebody sends them who means harm: seeded, without an end. A character is a byte. */
import { type Chance, seededChance } from '../passthrough/test-kit.ts'

export interface RequestCase {
  /** What arrives on one connection. */
  readonly bytes: Buffer
  /** Where it is cut into pieces, ascending. */
  readonly cuts: readonly number[]
  /** How many requests of the plain shape it consists of; undefined: nothing is known of it. */
  readonly plain: number | undefined
  readonly headBytesMax: number
}

export const HEADERS_MAX = 12
const HEAD_BYTES_MAX = 65_536

export function makeRequests(seed: number): RequestCase {
  const chance = seededChance(seed)
  const count = chance.pick([1, 1, 2, 3])
  const isPlain = chance.below(4) === 0
  const headBytesMax = isPlain || chance.below(16) > 0 ? HEAD_BYTES_MAX : 60 + chance.below(300)
  let text = ''
  for (let at = 0; at < count; at += 1)
    text += isPlain || chance.below(3) === 0 ? plainRequest(chance) : oddRequest(chance)
  if (!isPlain) for (let times = chance.below(4); times > 0; times -= 1) text = spoil(text, chance)
  const bytes = Buffer.from(text, 'latin1')
  return { bytes, cuts: cutsOf(text, chance), plain: isPlain ? count : undefined, headBytesMax }
}

const PATHS = [
  '/v1/chat/completions',
  '/v1/messages?beta=true',
  '/v1beta/models/a-1.5:generateContent?key=k&alt=sse',
  '/v1/videos/%2e%2E/x',
  '/',
  '//twice',
  '/a/../b',
  '/?',
  '/?a=?&b=/:@',
  "/~!$&'()*+,;=:@",
  '/v1/responses/resp_0123?include=x%5B%5D',
] as const
/** Each name once; none that has a say in how the connection is read. */
const FIELDS = [
  'Authorization: Bearer sk-0123456789',
  'content-type: application/json',
  'Content-Type:multipart/form-data; boundary=----x',
  'Accept: */*',
  'accept-encoding:   gzip, deflate, br  ',
  'User-Agent: OpenAI/JS 6.0 "quoted" (x; y) {z}',
  'x-empty:',
  'x-blank:    ',
  'X-Colon: a:b::c',
  'content-encoding: gzip',
  "!#$%&'*+-.^_`|~09: odd but lawful",
  'toString: nobody',
  '7: an index',
  'TE: trailers',
  'Trailer: x-sum',
  'Keep-Alive: timeout=5',
  'http2-settings: AAMAAABkAAQ',
  'Cookie: a=1; b=2',
  'X-Forwarded-For: 192.0.2.1, 10.0.0.1',
] as const
const HOSTS = ['Host: gateway', 'host:127.0.0.1:8080', 'HOST: [::1]:80 ', 'Host:', 'hOST: a, b'] as const
const BODIES = [
  '{"model":"m"}',
  '\r\n\r\n',
  '\0\xff\x80',
  '0\r\n\r\n',
  '5\r\nhello\r\n0\r\n\r\n',
  'GET /hidden HTTP/1.1\r\nHost: x\r\n\r\n',
  'POST /hidden HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n',
] as const

/** In the plain shape: it has to be taken. */
function plainRequest(chance: Chance): string {
  const method = chance.pick(['POST', 'POST', 'GET', 'DELETE'])
  const path = chance.pick(PATHS)
  const names = new Set<string>()
  const lines: string[] = []
  for (let left = chance.below(6); left > 0; left -= 1) {
    const line = chance.pick(FIELDS)
    const name = line.slice(0, line.indexOf(':')).toLowerCase()
    if (!names.has(name)) lines.push(line)
    names.add(name)
  }
  if (chance.below(4) === 0) lines.push(chance.pick(['Connection: keep-alive', 'connection:Keep-Alive ']))
  insert(lines, chance.pick(HOSTS), chance)
  const body = chance.below(3) === 0 ? '' : bodyOf(chance)
  if (body !== '' || chance.below(3) === 0)
    insert(lines, `${chance.pick(['Content-Length: ', 'content-length:'])}${body.length}`, chance)
  return `${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`
}

function bodyOf(chance: Chance): string {
  return chance.pick(BODIES).repeat(1 + chance.below(3))
}

function insert(lines: string[], line: string, chance: Chance): void {
  lines.splice(chance.below(lines.length + 1), 0, line)
}

const METHODS = [
  'GET',
  'POST',
  'PUT',
  'HEAD',
  'OPTIONS',
  'CONNECT',
  'PRI',
  'get',
  'Post',
  'GETT',
  'M-SEARCH',
] as const
const TARGETS = [
  '/',
  '*',
  '',
  'x',
  'gateway:443',
  'http://other/v1/messages',
  'HTTPS://other',
  '/a#b',
  '/a b',
  '/a\tb',
  '/\xe4',
  '/\x7f',
  '/%zz',
  '/a\\b',
  '/"a"',
  '/<a>',
  '/{a}|^`[b]',
  '?a',
] as const
const VERSIONS = [
  ' HTTP/1.1',
  ' HTTP/1.1',
  ' HTTP/1.0',
  ' HTTP/0.9',
  ' HTTP/2.0',
  ' HTTP/1.2',
  ' HTTP/1.10',
  ' HTTP/01.1',
  ' http/1.1',
  '  HTTP/1.1',
  ' HTTP/1.1 ',
  '\tHTTP/1.1',
  ' RTSP/1.0',
  '',
] as const
const LENGTHS = [
  '0',
  '5',
  '13',
  '05',
  '00013',
  '+5',
  '-5',
  '-0',
  '0x5',
  '5.0',
  '5e0',
  '5, 5',
  '5,6',
  '5 5',
  '5;',
  '"5"',
  '',
  ' ',
  '\t5',
  '5\t',
  '5\x0b',
  '\xa05',
  '999999999999999',
  '1000000000000000',
  '9007199254740993',
  '18446744073709551615',
  '18446744073709551616',
  '18446744073709551621',
  '5'.repeat(400),
] as const
const CODINGS = [
  'chunked',
  'Chunked',
  'CHUNKED ',
  'xchunked',
  'chunkedx',
  'chunked, chunked',
  'gzip, chunked',
  'chunked, gzip',
  'identity',
  'identity, chunked',
  'gzip',
  '',
  '"chunked"',
  '\tchunked',
  'chunked\x0b',
  'chun ked',
  'chunked;q=1',
  ',chunked',
  'chunked,',
] as const
const SPELLINGS = ['', ' ', '\t', '\0', '\x0b', '\xa0', '-'] as const
const ODD_FIELDS = [
  'Connection: close',
  'Connection: upgrade',
  'Connection: keep-alive, Upgrade',
  'Connection: close, keep-alive',
  'Connection: keep-alive, close',
  'Connection: keep-alive, x-dropped',
  'Connection: keep-alive; x',
  'Connection:',
  'Connection : close',
  'Connection: keep-alive',
  'Connection: keep-alivex',
  'Connection: xkeep-alive',
  'Proxy-Connection: close',
  'Proxy-Connection: keep-alive',
  'Upgrade: websocket',
  'Upgrade: h2c',
  'HTTP2-Settings: AAMAAABkAAQ',
  'Expect: 100-continue',
  'expect: 200-ok',
  'Expect:',
  'Host: other',
  'Host : other',
  'Host\t: other',
  ' Host: folded',
  '\tfolded',
  ' ',
  '\t',
  'no colon at all',
  ': no name',
  ' : no name',
  'x-bare: a\rb',
  'x-bare: a\nHost: b',
  'x-nul: a\0b',
  'x\0: a',
  'x-tab: a\tb',
  'x-tab:\ta',
  'x-high: h\xe4user',
  'x-h\xe4: a',
  'x-del: \x7f',
  'x y: a',
  '"x": a',
  'x(y): a',
  'x@y: a',
  'x/y: a',
  'Constructor: nobody',
  '__proto__: nobody',
  '__PROTO__: nobody',
  'x-request-id: 1',
  'X-Request-Id: 2',
  'Content_Length: 7',
  'Content-Lengthx: 7',
  'xContent-Length: 7',
  'Transfer_Encoding: chunked',
] as const
const LINE_ENDS = ['\n', '\r', '\r\r\n', '\n\r', '\r\n\r\n', ' \r\n', '\r\n '] as const
const BEFORE = ['', '', '', '', '\r\n', '\n', '\r', '\r\n\r\n', ' ', '\0', 'x'] as const

/** Anything that may be unusual is so now and then. */
function oddRequest(chance: Chance): string {
  const rarely = (): boolean => chance.below(6) === 0
  const method = rarely() ? chance.pick(METHODS) : chance.pick(['POST', 'GET', 'DELETE'])
  const target = rarely() ? chance.pick(TARGETS) : chance.pick(PATHS)
  const version = rarely() ? chance.pick(VERSIONS) : ' HTTP/1.1'
  const lines: string[] = []
  for (let left = chance.below(rarely() ? 2 * HEADERS_MAX : 5); left > 0; left -= 1)
    lines.push(chance.below(3) === 0 ? chance.pick(ODD_FIELDS) : chance.pick(FIELDS))
  if (chance.below(30) === 0)
    for (let left = HEADERS_MAX - 4 + chance.below(6); left > 0; left -= 1) lines.push(`x-${left}: a`)
  if (rarely()) lines.push(`x-long: ${'a'.repeat(chance.pick([100, 300, 1_000]))}`)
  if (!rarely()) insert(lines, chance.pick(HOSTS), chance)
  const body = framed(lines, chance)
  const end = (): string => (chance.below(40) === 0 ? chance.pick(LINE_ENDS) : '\r\n')
  const head = `${method} ${target}${version}${end()}${lines.map((line) => `${line}${end()}`).join('')}${end()}`
  return `${chance.pick(BEFORE)}${head}${body}`
}

/** A body, and lines that say how long it is, and perhaps something else. */
function framed(lines: string[], chance: Chance): string {
  const body = chance.below(3) === 0 ? '' : bodyOf(chance)
  const lengthName = `Content${spelled('-', chance)}Length${spelled('', chance)}:`
  const codingName = `Transfer${spelled('-', chance)}Encoding${spelled('', chance)}:`
  const kind = chance.below(8)
  if (kind < 3) insert(lines, `Content-Length: ${body.length}`, chance)
  if (kind === 2 || kind === 3) insert(lines, `${lengthName} ${chance.pick(LENGTHS)}`, chance)
  if (kind === 4) insert(lines, `Content-Length:${chance.pick(LENGTHS)}`, chance)
  if (kind === 5 || kind === 6) insert(lines, `${codingName} ${chance.pick(CODINGS)}`, chance)
  if (kind === 6) insert(lines, `Content-Length: ${chance.pick([String(body.length), ...LENGTHS])}`, chance)
  return kind >= 5 && chance.below(2) === 0 ? chunked(body, chance) : body
}

function spelled(usual: string, chance: Chance): string {
  return chance.below(8) === 0 ? chance.pick(SPELLINGS) : usual
}

function chunked(body: string, chance: Chance): string {
  const size = chance.pick(['', '0', '0x', ' ', '+']) + body.length.toString(16)
  const chunk = body === '' ? '' : `${size}${chance.pick(['', '', ';a=b'])}\r\n${body}\r\n`
  return `${chunk}0\r\n${chance.pick(['', '', 'x-sum: 1\r\n', 'Content-Length: 9\r\n'])}\r\n`
}

const TOKENS = [
  '\r',
  '\n',
  '\r\n',
  '\r\n\r\n',
  '\n\n',
  '\0',
  ' ',
  '\t',
  ':',
  ',',
  ';',
  '0',
  '1',
  '-',
  '+',
  '\x0b',
  '\x7f',
  '\x85',
  '\xff',
  'Content-Length: 5\r\n',
  'content-length:0\r\n',
  'Content-Length : 5\r\n',
  'Transfer-Encoding: chunked\r\n',
  'transfer-encoding:\r\n chunked\r\n',
  'Connection: close\r\n',
  'Connection: upgrade\r\nUpgrade: x\r\n',
  'Expect: 100-continue\r\n',
  'Host: other\r\n',
  '__proto__: x\r\n',
  ' folded\r\n',
  '0\r\n\r\n',
  'GET / HTTP/1.1\r\n',
  ' HTTP/1.1\r\n',
] as const

/** Where a spoiled byte matters: about the ends of lines, and about colons. */
function spoil(text: string, chance: Chance): string {
  const anywhere = chance.below(text.length + 1)
  const mark = text.indexOf(chance.pick(['\n', '\n', ':', ' ']), anywhere)
  const at =
    mark === -1 || chance.below(3) === 0 ? anywhere : Math.max(0, mark + chance.pick([-2, -1, 0, 1, 2]))
  const replace = (length: number, by: string): string => text.slice(0, at) + by + text.slice(at + length)
  switch (chance.below(8)) {
    case 0:
      return replace(1, String.fromCharCode(chance.below(256)))
    case 1:
      return replace(1, String.fromCharCode((text.charCodeAt(at) ^ (1 << chance.below(8))) & 0xff))
    case 2:
      return replace(1 + chance.below(3), '')
    case 3:
      return text.slice(0, at)
    case 4: {
      const from = chance.below(text.length + 1)
      return replace(0, text.slice(from, from + chance.below(60)))
    }
    default:
      return replace(chance.below(2), chance.pick(TOKENS))
  }
}

function cutsOf(text: string, chance: Chance): readonly number[] {
  const kind = chance.below(64)
  if (kind < 32) return []
  if (kind === 32) return Array.from({ length: text.length }, (_, at) => at + 1)
  if (kind < 48) {
    const end = text.indexOf('\r\n\r\n')
    return end === -1 ? [] : [end + chance.pick([0, 1, 2, 3, 4, 4, 4, 5])].filter((at) => at <= text.length)
  }
  const places = Array.from({ length: 1 + chance.below(6) }, () => chance.below(text.length + 1))
  return places.sort((one, other) => one - other)
}
