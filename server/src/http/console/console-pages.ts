/**
 * The console's files: for every address below `/console` a page that refers to the files which the address needs, and these
 * files, compressed in advance.
 */
import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { timeOrderedId } from '../../management/new-id.ts'
import type { Background } from '../../telemetry/background.ts'
import { closeUnlessRead } from '../calls/incoming.ts'
import { acceptsEncoding } from '../content-encoding.ts'
import { shownPath } from '../request-head.ts'
import { sendError } from '../send-error.ts'
import { isMissing } from '../../core/errors/error-code.ts'

export interface ConsolePages {
  /** Answers a request for `path`, without a query; false: the path is not the console's. */
  serve(request: IncomingMessage, response: ServerResponse, path: string): boolean
  /** Redirects a browser that requests the root to the console; false: this is no such request. */
  welcome(request: IncomingMessage, response: ServerResponse): boolean
}

const HOME = '/console'
const ASSETS = `${HOME}/assets/`

/**
 * Everything is loaded from this origin, nothing is inline, and the page cannot be framed. The page itself may also
 * create images and videos from a model's answer (`data:`, `blob:`).
 */
const POLICY = [
  "default-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self' blob:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': POLICY,
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cross-origin-opener-policy': 'same-origin',
  vary: 'accept-language',
  // It refers to the files of this release.
  'cache-control': 'no-store',
}

const ASSET_HEADERS = {
  'x-content-type-options': 'nosniff',
  vary: 'accept-encoding',
  // File names contain a hash of their content.
  'cache-control': 'public, max-age=31536000, immutable',
}

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
}

/** In order of preference. */
const ENCODINGS = [
  { name: 'br', suffix: '.br' },
  { name: 'gzip', suffix: '.gz' },
] as const

/** @param folder as built by `npm run build`. Returns undefined if it does not exist: a build without the console. */
export function openConsolePages(folder: URL, background: Background): ConsolePages | undefined {
  const files = listFiles(folder)
  if (!files.has('index.html')) return undefined
  const read = createReader(folder)

  const send = (asked: Asked, { file, headers }: Found): void =>
    background.track(sendFile(asked, read(file), headers), 'serve the console')

  return {
    serve(request, response, path) {
      if (path !== HOME && !path.startsWith(`${HOME}/`)) return false
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        refuse(
          request,
          response,
          new GatewayError(40500, {
            message: `${shownPath(path)} takes GET only`,
            headers: { allow: 'GET' },
          }),
        )
        return true
      }
      const found = find(files, path, request.headers)
      if (found === undefined) refuse(request, response, unknownFile(path))
      else send({ request, response, path }, found)
      return true
    },
    welcome(request, response) {
      response.setHeader('vary', 'accept')
      if (!(request.headers.accept ?? '').includes('text/html')) return false
      closeUnlessRead(request, response)
      response.writeHead(302, { location: HOME, 'content-length': 0 })
      response.end()
      return true
    },
  }
}

interface Asked {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly path: string
}

async function sendFile(
  { request, response, path }: Asked,
  reading: Promise<Buffer>,
  headers: Found['headers'],
): Promise<void> {
  let bytes: Buffer
  try {
    bytes = await reading
  } catch (error) {
    // Another build has taken the place of the one that this process lists.
    if (isMissing(error)) return refuse(request, response, unknownFile(path))
    refuse(request, response, new GatewayError(50000))
    throw error
  }
  closeUnlessRead(request, response)
  response.writeHead(200, { ...headers, 'content-length': bytes.length })
  response.end(request.method === 'HEAD' ? undefined : bytes)
}

interface Found {
  /** Relative to the folder. */
  readonly file: string
  readonly headers: Readonly<Record<string, string>>
}

function find(files: ReadonlySet<string>, path: string, headers: IncomingHttpHeaders): Found | undefined {
  if (path.startsWith(ASSETS))
    return findAsset(files, path.slice(ASSETS.length), String(headers['accept-encoding'] ?? ''))
  const file = findPage(files, path.slice(HOME.length), headers['accept-language'] ?? '')
  return { file, headers: PAGE_HEADERS }
}

/** What the build made of the address, in the language that the browser asks for first; else what stands at every address. */
function findPage(files: ReadonlySet<string>, path: string, accepted: string): string {
  const name = path.replaceAll(/^\/|\/$/g, '') || 'index'
  const file = `pages/${name}.${languageOf(accepted)}.html`
  return files.has(file) ? file : 'index.html'
}

/** As the page itself chooses (`console/src/texts/languages.ts`); browsers send their languages in the order of their wish. */
function languageOf(accepted: string): 'en' | 'zh-CN' {
  const [first] = accepted.toLowerCase().match(/\b(?:en|zh)\b/) ?? []
  return first === 'zh' ? 'zh-CN' : 'en'
}

function findAsset(files: ReadonlySet<string>, name: string, accepted: string): Found | undefined {
  const type = TYPES[name.slice(name.lastIndexOf('.') + 1)]
  const file = `assets/${name}`
  if (type === undefined || !files.has(file)) return undefined
  const headers = { ...ASSET_HEADERS, 'content-type': type }
  const encoding = ENCODINGS.find(
    (each) => acceptsEncoding(accepted, each.name) && files.has(file + each.suffix),
  )
  if (encoding === undefined) return { file, headers }
  return { file: file + encoding.suffix, headers: { ...headers, 'content-encoding': encoding.name } }
}

function listFiles(folder: URL): ReadonlySet<string> {
  try {
    return new Set(
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => name.replaceAll('\\', '/')),
    )
  } catch (error) {
    if (isMissing(error)) return new Set()
    throw error
  }
}

/** Reads each file once: they are small, few, and never change under a running process. */
function createReader(folder: URL): (file: string) => Promise<Buffer> {
  const known = new Map<string, Promise<Buffer>>()
  return (file) => {
    const reading = known.get(file) ?? readFile(new URL(file, folder))
    known.set(file, reading)
    reading.catch(() => known.delete(file))
    return reading
  }
}

/** Another instance may be of a release that has the file, so proxies must not cache this answer. */
function unknownFile(path: string): GatewayError {
  return new GatewayError(40400, {
    message: `${shownPath(path)} does not exist`,
    headers: { 'cache-control': 'no-store' },
  })
}

function refuse(request: IncomingMessage, response: ServerResponse, error: GatewayError): void {
  sendError({ request, response }, error, timeOrderedId(Date.now()))
}
