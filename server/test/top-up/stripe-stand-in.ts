/** A server that speaks as much of Stripe's API as a top-up needs, and signs webhooks as Stripe does. */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import Stripe from 'stripe'
import { type Answer, readAnswer } from '../gateway/client.ts'

export const WEBHOOK_SECRET = 'whsec_a_secret_of_tests'
export const STRIPE_KEY = 'sk_test_a_key_of_tests'

/** What a checkout was opened with, as its form said. */
export interface OpenedSession {
  readonly id: string
  readonly form: URLSearchParams
  readonly idempotencyKey: string | undefined
  readonly authorization: string | undefined
}

export interface StripeStandIn {
  readonly url: string
  /** Every checkout that was really opened, newest last; a repeated request opens none. */
  readonly sessions: OpenedSession[]
  /** How many requests came. */
  requests(): number
  /** What Stripe says of a checkout when it is asked. */
  tell(checkout: string, session: object): void
  /** The next requests are answered so, one each. */
  failNext(...statuses: readonly number[]): void
  close(): Promise<void>
}

/** What it takes for too little. */
const AMOUNT_MIN = 600

export async function openStripeStandIn(): Promise<StripeStandIn> {
  const sessions: OpenedSession[] = []
  const answers = new Map<string, string>()
  const told = new Map<string, object>()
  const failures: number[] = []
  let requests = 0
  const answerTo = (request: IncomingMessage, form: URLSearchParams): readonly [number, string] => {
    requests += 1
    const failure = failures.shift()
    if (failure !== undefined) return [failure, errorText('api_error', 'internal')]
    const asked = told.get(request.url?.split('/').at(-1) ?? '')
    if (request.method === 'GET' && asked !== undefined) return [200, JSON.stringify(asked)]
    if (request.url !== '/v1/checkout/sessions' || request.method !== 'POST')
      return [404, errorText('invalid_request_error', 'resource_missing')]
    if (Number(form.get('line_items[0][price_data][unit_amount]')) < AMOUNT_MIN)
      return [400, errorText('invalid_request_error', 'amount_too_small')]
    const idempotencyKey = headerOf(request, 'idempotency-key')
    const before = answers.get(idempotencyKey ?? '')
    if (before !== undefined) return [200, before]
    const id = `cs_test_${sessions.length + 1}`
    sessions.push({ id, form, idempotencyKey, authorization: headerOf(request, 'authorization') })
    const url = `https://checkout.stripe.example/${id}`
    const body = { id, object: 'checkout.session', url, expires_at: Number(form.get('expires_at')) }
    answers.set(idempotencyKey ?? '', JSON.stringify(body))
    return [200, JSON.stringify(body)]
  }
  const server = createServer((request, response) => {
    readForm(request).then(
      (form) => {
        const [status, body] = answerTo(request, form)
        response.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_1' }).end(body)
      },
      (error: Error) => response.destroy(error),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    sessions,
    requests: () => requests,
    tell: (checkout, session) => told.set(checkout, session),
    failNext: (...statuses) => failures.push(...statuses),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return new URLSearchParams(text)
}

function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name]
  return typeof value === 'string' ? value : undefined
}

function errorText(type: string, code: string): string {
  return JSON.stringify({ error: { type, code, message: 'refused by a stand-in' } })
}

export interface WebhookOptions {
  /** Epoch ms of the event itself, and of its signature. */
  readonly at: number
  readonly signedAt?: number
  readonly secret?: string
  /** What is sent in place of what was signed. */
  readonly tamper?: (payload: string) => string
}

let events = 0

export async function sendWebhook(
  baseUrl: string,
  { type, object }: { readonly type: string; readonly object: object },
  options: WebhookOptions,
): Promise<Answer> {
  const { at, signedAt = at, secret = WEBHOOK_SECRET, tamper = (text) => text } = options
  events += 1
  const event = {
    id: `evt_${events}`,
    object: 'event',
    type,
    created: Math.floor(at / 1_000),
    data: { object },
  }
  // Laid out as Stripe does: whoever parses and prints it again has other bytes.
  const payload = JSON.stringify(event, undefined, 2)
  const signature = new Stripe(STRIPE_KEY).webhooks.generateTestHeaderString({
    payload,
    secret,
    timestamp: Math.floor(signedAt / 1_000),
  })
  return readAnswer(
    await fetch(`${baseUrl}/api/v1/payments/stripe/webhook`, {
      method: 'POST',
      headers: { 'content-type': 'application/json; charset=utf-8', 'stripe-signature': signature },
      body: tamper(payload),
    }),
  )
}

/** For a gateway whose public address has to be known before it opens. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
