/** A provider that streams one token at a time and remembers when it sent each, so that a charge can be held against it. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One token of the tokenizers in use, and four characters long: counted or estimated, it is one. */
const TOKEN = ' the'
export const INPUT_TOKENS = 10

export interface CountingUpstream {
  /** Without a slash at its end. */
  readonly url: string
  /** When the tokens of a call left, epoch ms, by the call's `user`. */
  sent(user: string): readonly number[]
  close(): Promise<void>
}

interface Order {
  readonly user: string
  readonly stream?: boolean
  /** Tokens to send: all that may be. */
  readonly max_tokens: number
  readonly pause_ms?: number
}

export async function openCountingUpstream(): Promise<CountingUpstream> {
  const sent = new Map<string, number[]>()
  const server = createServer((request, response) => {
    response.on('error', () => undefined)
    readOrder(request).then(
      (order) => {
        const times: number[] = []
        sent.set(order.user, times)
        if (order.stream === true) stream(order, response, times)
        else answer(order, response, times)
      },
      () => response.destroy(),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent: (user) => sent.get(user) ?? [],
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function answer({ max_tokens: tokens }: Order, response: ServerResponse, times: number[]): void {
  for (let count = 0; count < tokens; count++) times.push(Date.now())
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(
    JSON.stringify({
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'm-1',
      choices: [
        { index: 0, message: { role: 'assistant', content: TOKEN.repeat(tokens) }, finish_reason: 'stop' },
      ],
      usage: usageOf(tokens),
    }),
  )
}

function stream(
  { max_tokens: tokens, pause_ms = 20 }: Order,
  response: ServerResponse,
  times: number[],
): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const timer = setInterval(() => {
    if (times.length < tokens) {
      times.push(Date.now())
      response.write(chunk({ choices: [{ index: 0, delta: { content: TOKEN }, finish_reason: null }] }))
      return
    }
    clearInterval(timer)
    response.write(chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }))
    response.end(`${chunk({ choices: [], usage: usageOf(tokens) })}data: [DONE]\n\n`)
  }, pause_ms)
  response.on('close', () => clearInterval(timer))
}

const usageOf = (tokens: number) => ({
  prompt_tokens: INPUT_TOKENS,
  completion_tokens: tokens,
  total_tokens: INPUT_TOKENS + tokens,
})

const chunk = (fields: object): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm-1', ...fields })}\n\n`

async function readOrder(request: IncomingMessage): Promise<Order> {
  const chunks: Buffer[] = []
  for await (const piece of request) chunks.push(piece as Buffer)
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as Order
}
