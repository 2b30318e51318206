/** A plain HTTP client for tests: what the wire carries, without an SDK's opinions. */
import { request as httpRequest } from 'node:http'

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The parsed body; an empty object when it is no JSON. */
  readonly body: AnswerBody
}

export interface AnswerBody {
  readonly code?: number
  readonly message?: string
  readonly error?: {
    readonly message?: string
    readonly type?: string
    readonly code?: string
    readonly request_id?: string
  }
  readonly data?: unknown
  readonly [name: string]: unknown
}

export async function postJson(
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return readAnswer(
    await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    }),
  )
}

export async function get(url: string, headers: Record<string, string> = {}): Promise<Answer> {
  return readAnswer(await fetch(url, { headers }))
}

export async function readAnswer(response: Response): Promise<Answer> {
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: parse(text) }
}

function parse(text: string): AnswerBody {
  try {
    return JSON.parse(text) as AnswerBody
  } catch (error) {
    if (error instanceof SyntaxError) return {}
    throw error
  }
}

export interface RawRequest {
  readonly method?: string
  readonly headers?: Record<string, string>
  /** Written one after the other, each as its own packet as far as the kernel allows. */
  readonly pieces?: readonly (string | Uint8Array)[]
  /** Leave the request open after the pieces. */
  readonly unfinished?: boolean
}

/** A request whose body is written piece by piece, and whose answer may come before its end. */
export function sendRaw(
  url: string,
  { method = 'POST', headers = {}, pieces = [], unfinished = false }: RawRequest,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8')
        const answered = new Headers()
        for (const [name, value] of Object.entries(response.headers)) answered.set(name, String(value))
        resolve({ status: response.statusCode ?? 0, headers: answered, text, body: parse(text) })
        request.destroy()
      })
    })
    request.on('error', reject)
    request.flushHeaders()
    writeAll(request, pieces).then(() => {
      if (!unfinished) request.end()
    }, reject)
  })
}

async function writeAll(
  request: { write(piece: string | Uint8Array): boolean },
  pieces: readonly (string | Uint8Array)[],
): Promise<void> {
  for (const piece of pieces) {
    request.write(piece)
    await new Promise((resolve) => setImmediate(resolve))
  }
}
