/** A provider on the far side of the network, played by a real HTTP server on loopback that does what a test scripts. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ReceivedRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: IncomingHttpHeaders
  /** Exactly the bytes that arrived. */
  readonly body: Buffer
  readonly json: () => unknown
}

export type Answerer = (request: ReceivedRequest, response: ServerResponse) => void | Promise<void>

export interface ScriptedUpstream {
  /** Without a slash at its end. */
  readonly url: string
  readonly requests: ReceivedRequest[]
  /** What every request gets from now on. */
  answer(answerer: Answerer): void
  /** What the next requests get, one each; then `answer` again. */
  script(...answerers: readonly Answerer[]): void
  close(): Promise<void>
}

export async function openScriptedUpstream(): Promise<ScriptedUpstream> {
  const requests: ReceivedRequest[] = []
  const queue: Answerer[] = []
  let standing: Answerer = (_request, response) => {
    response.writeHead(500, { 'content-type': 'application/json' })
    response.end('{"error":{"message":"the test scripted no answer","type":"server_error"}}')
  }
  const server = createServer((request, response) => {
    response.on('error', () => undefined)
    readBody(request).then(
      async (body) => {
        const [path = '/', query = ''] = (request.url ?? '/').split('?')
        const received: ReceivedRequest = {
          method: request.method ?? '',
          path,
          query,
          headers: request.headers,
          body,
          json: () => JSON.parse(body.toString('utf8')),
        }
        requests.push(received)
        await (queue.shift() ?? standing)(received, response)
      },
      () => response.destroy(),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    answer(answerer) {
      standing = answerer
    },
    script(...answerers) {
      queue.push(...answerers)
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** A whole JSON answer. */
export function answerJson(body: unknown, status = 200, headers: Record<string, string> = {}): Answerer {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
}

/** A whole chat completion that says `ok`, with these counts. */
export function answerOk(usage: {
  readonly prompt_tokens: number
  readonly completion_tokens: number
}): Answerer {
  return answerJson({
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'x',
    choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
    usage,
  })
}

/** A stream of server-sent events; each piece is written on its own. */
export function answerStream(
  pieces: readonly (string | Buffer)[],
  headers: Record<string, string> = {},
): Answerer {
  return async (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', ...headers })
    for (const piece of pieces) {
      response.write(piece)
      await turn()
    }
    response.end()
  }
}

/** Writes the pieces, then drops the connection without an end. */
export function cutStream(pieces: readonly (string | Buffer)[]): Answerer {
  return async (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const piece of pieces) {
      response.write(piece)
      await turn()
    }
    await turn()
    response.destroy()
  }
}

/** Takes the request and never says a word. */
export const staySilent: Answerer = () => undefined

/** Drops the connection without an answer. */
export const hangUp: Answerer = (_request, response) => {
  response.destroy()
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function readBody(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => resolve(Buffer.concat(chunks)))
    request.on('error', reject)
  })
}
