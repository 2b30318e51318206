/** Stripe Checkout: Stripe's payment page, and signed webhooks that report the result. */
import { say } from '../../core/sentences/say.ts'
import type Stripe from 'stripe'
import type { Secret } from '../../core/secret.ts'
import type { SmallFetch } from '../../upstream/remote/small-fetch.ts'
import type { CheckoutOutcome, CheckoutRequest, Notice, NoticeReading, PaymentDriver } from '../driver.ts'
import { readStripeEvent, readStripeSession } from './stripe-events.ts'

export interface StripeSettings {
  readonly key: Secret
  readonly webhookSecret: Secret
  /** Address of the API, for a substitute; undefined: Stripe's own. */
  readonly url: string | undefined
}

export const STRIPE_ORIGIN = 'https://api.stripe.com'
/** Older webhooks may be replays (Stripe's own default). */
const TOLERANCE_SECONDS = 300
const TIMEOUT_MS = 10_000
const RETRIES = 2

export async function openStripe(settings: StripeSettings, fetchSmall: SmallFetch): Promise<PaymentDriver> {
  // Loaded only if payments are configured.
  const { Stripe: Client } = await import('stripe')
  const { protocol, hostname, port } = new URL(settings.url ?? STRIPE_ORIGIN)
  const client = new Client(settings.key.unwrap(), {
    httpClient: Client.createFetchHttpClient(platformFetch(fetchSmall)),
    protocol: protocol === 'http:' ? 'http' : 'https',
    host: hostname,
    ...(port === '' ? {} : { port }),
    timeout: TIMEOUT_MS,
    maxNetworkRetries: RETRIES,
    telemetry: false,
  })
  const failureOf = (error: unknown): Stripe.errors.StripeError => {
    if (error instanceof Client.errors.StripeError) return error
    throw error
  }
  return {
    name: 'stripe',
    openCheckout: (request) =>
      openCheckout(client, request).catch((error: unknown) => refusalOf(failureOf(error))),
    readCheckout: (reference) =>
      client.checkout.sessions.retrieve(reference).then(
        (session) => ({ kind: 'event', event: readStripeSession(session) }),
        (error: unknown) => ({ kind: 'unavailable', why: whyOf(failureOf(error)) }),
      ),
    readNotice(notice) {
      const verified = verify(client, settings.webhookSecret, notice)
      return verified.kind === 'forged' ? verified : readStripeEvent(verified.payload)
    },
  }
}

async function openCheckout(client: Stripe, request: CheckoutRequest): Promise<CheckoutOutcome> {
  const options = { idempotencyKey: request.topUpId }
  const session = await client.checkout.sessions.create(sessionOf(request), options)
  if (session.url === null) return { kind: 'unavailable', why: 'the checkout has no page' }
  return { kind: 'open', reference: session.id, url: session.url, endsAt: session.expires_at * 1_000 }
}

function refusalOf(error: Stripe.errors.StripeError): CheckoutOutcome {
  if (error.code === 'amount_too_small') return { kind: 'refused', message: say('is-too-little') }
  if (error.code === 'amount_too_large') return { kind: 'refused', message: say('is-too-much') }
  return { kind: 'unavailable', why: whyOf(error) }
}

/** The error's message may contain what was sent, so only its kind is logged. */
function whyOf({ type, code, statusCode }: Stripe.errors.StripeError): string {
  return [type, code, statusCode].filter((part) => part !== undefined).join(' ')
}

/** A fetch function for the library; connections are made by `upstream/`. */
function platformFetch(fetchSmall: SmallFetch): typeof globalThis.fetch {
  return async (input, init = {}) => {
    const headers = new Headers(init.headers)
    headers.delete('content-length')
    const {
      status,
      headers: answered,
      body,
    } = await fetchSmall({
      method: init.method === 'POST' ? 'POST' : 'GET',
      url: input instanceof Request ? input.url : String(input),
      headers: Object.fromEntries(headers),
      body: typeof init.body === 'string' ? init.body : undefined,
    })
    return new Response(body.length === 0 ? null : Uint8Array.from(body), {
      status,
      headers: Object.entries(answered).map(([name, value]): [string, string] => [name, String(value)]),
    })
  }
}

function sessionOf(request: CheckoutRequest): Stripe.Checkout.SessionCreateParams {
  const metadata = { top_up_id: request.topUpId }
  return {
    mode: 'payment',
    client_reference_id: request.topUpId,
    metadata,
    payment_intent_data: { metadata },
    line_items: [
      {
        quantity: 1,
        price_data: {
          currency: request.currency,
          unit_amount: request.priceMinor,
          product_data: { name: request.title },
        },
      },
    ],
    // The payment is compared with the request, so the currency must not change.
    adaptive_pricing: { enabled: false },
    ...(request.email === undefined ? {} : { customer_email: request.email }),
    success_url: request.paidUrl,
    cancel_url: request.cancelledUrl,
    expires_at: Math.floor(request.endsAt / 1_000),
  }
}

type Verified =
  | { readonly kind: 'genuine'; readonly payload: string }
  | Extract<NoticeReading, { kind: 'forged' }>

function verify(client: Stripe, secret: Secret, { payload, headers, at }: Notice): Verified {
  const { 'stripe-signature': signature } = headers
  if (signature === undefined) return { kind: 'forged', why: 'the header Stripe-Signature is missing' }
  if (typeof signature !== 'string' || !isSignature(signature))
    return { kind: 'forged', why: 'the header Stripe-Signature is malformed' }
  try {
    client.webhooks.constructEvent(payload, signature, secret.unwrap(), TOLERANCE_SECONDS, undefined, at)
    return { kind: 'genuine', payload }
  } catch (error) {
    if (error instanceof Error && error.message.includes('outside the tolerance'))
      return { kind: 'forged', why: 'the notice is too old' }
    if (error instanceof Error && 'type' in error && error.type === 'StripeSignatureVerificationError')
      return { kind: 'forged', why: 'the signature does not match' }
    throw error
  }
}

/** Stripe sends a time and one signature, two while a secret is being rotated. */
const SIGNATURE_CHARACTERS_MAX = 1_024
const SIGNATURE_PARTS_MAX = 10

/**
 * Whether the header has the form Stripe documents: one time, and signatures of 32 bytes in hex. Checked before calling
 * the library, which throws other errors for signatures of another length.
 */
function isSignature(header: string): boolean {
  if (header.length > SIGNATURE_CHARACTERS_MAX) return false
  const parts = header.split(',')
  if (parts.length > SIGNATURE_PARTS_MAX) return false
  const times = parts.filter((part) => part.startsWith('t='))
  const signatures = parts.filter((part) => part.startsWith('v1='))
  return (
    times.length === 1 &&
    times.every((part) => /^t=\d{1,12}$/.test(part)) &&
    signatures.length > 0 &&
    signatures.every((part) => /^v1=[0-9a-f]{64}$/.test(part))
  )
}
