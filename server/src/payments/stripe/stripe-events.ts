/**
 * Converts Stripe's events to reports about a top-up. Only the fields that are used are checked, since the version of
 * an event is that of the operator's endpoint. Events about other payments of the same Stripe account are ignored.
 */
import type { Dispute, Refund } from '../../core/top-up/payment.ts'
import type { NoticeReading, PaymentEvent } from '../driver.ts'

type Fields = Readonly<Record<string, unknown>>

interface StripeEvent {
  readonly id: string
  readonly type: string
  /** Epoch ms. */
  readonly at: number
  readonly object: Fields
}

/** @param payload the verified payload */
export function readStripeEvent(payload: string): NoticeReading {
  const event = openEvent(payload)
  if (event === undefined) return { kind: 'forged', why: 'this is not an event of Stripe' }
  return { kind: 'event', id: event.id, event: meaningOf(event) ?? { kind: 'ignored', type: event.type } }
}

/** A session as returned by the API: what its webhooks would have reported by now. */
export function readStripeSession(session: unknown): PaymentEvent {
  const fields = fieldsOf(session) ?? {}
  const told = textOf(fields, 'status') === 'expired' ? unpaidOf(fields, 'expired') : paidOf(fields)
  return told ?? { kind: 'ignored', type: 'checkout.session' }
}

function openEvent(payload: string): StripeEvent | undefined {
  const event = fieldsOf(JSON.parse(payload))
  const id = textOf(event, 'id')
  const type = textOf(event, 'type')
  const created = wholeOf(event, 'created')
  const object = fieldsOf(fieldsOf(event?.['data'])?.['object'])
  if (id === undefined || type === undefined || created === undefined || object === undefined)
    return undefined
  return { id, type, at: created * 1_000, object }
}

/** undefined: not relevant, or a required field is missing. */
function meaningOf(event: StripeEvent): PaymentEvent | undefined {
  switch (event.type) {
    case 'checkout.session.completed':
      // Some payment methods take days; their end is reported by the next two events.
      return textOf(event.object, 'payment_status') === 'unpaid' ? undefined : paidOf(event.object)
    case 'checkout.session.async_payment_succeeded':
      return paidOf(event.object)
    case 'checkout.session.async_payment_failed':
      return unpaidOf(event.object, 'failed')
    case 'checkout.session.expired':
      return unpaidOf(event.object, 'expired')
    case 'charge.refunded':
      return refundedInAllOf(event.object)
    case 'refund.created':
    case 'refund.updated':
    case 'refund.failed':
    case 'charge.refund.updated':
      return refundOf(event)
    case 'charge.dispute.created':
    case 'charge.dispute.updated':
    case 'charge.dispute.funds_withdrawn':
    case 'charge.dispute.funds_reinstated':
    case 'charge.dispute.closed':
      return disputeOf(event)
    default:
      return undefined
  }
}

function paidOf(session: Fields): PaymentEvent | undefined {
  const checkout = textOf(session, 'id')
  const topUpId = textOf(session, 'client_reference_id')
  const payment = idOf(session['payment_intent'])
  const amountMinor = wholeOf(session, 'amount_total')
  const currency = textOf(session, 'currency')
  if (textOf(session, 'mode') !== 'payment' || textOf(session, 'payment_status') !== 'paid') return undefined
  if (checkout === undefined || topUpId === undefined || payment === undefined) return undefined
  if (amountMinor === undefined || currency === undefined) return undefined
  return { kind: 'paid', topUpId, checkout, payment, amountMinor, currency: currency.toLowerCase() }
}

function unpaidOf(session: Fields, why: 'expired' | 'failed'): PaymentEvent | undefined {
  const checkout = textOf(session, 'id')
  const topUpId = textOf(session, 'client_reference_id')
  return checkout === undefined || topUpId === undefined
    ? undefined
    : { kind: 'unpaid', topUpId, checkout, why }
}

function refundedInAllOf(charge: Fields): PaymentEvent | undefined {
  const payment = idOf(charge['payment_intent'])
  const money = moneyOf(charge, 'amount_refunded')
  if (payment === undefined || money === undefined) return undefined
  return { kind: 'reversal', payment, reversal: { kind: 'refunded-in-all', ...money } }
}

function refundOf({ object, at }: StripeEvent): PaymentEvent | undefined {
  const id = textOf(object, 'id')
  const payment = idOf(object['payment_intent'])
  const money = moneyOf(object, 'amount')
  const state = refundState(textOf(object, 'status'))
  if (id === undefined || payment === undefined || money === undefined || state === undefined)
    return undefined
  return { kind: 'reversal', payment, reversal: { kind: 'refund', id, state, at, ...money } }
}

/** A pending refund has already been taken from the merchant. */
function refundState(status: string | undefined): Refund['state'] | undefined {
  if (status === undefined) return undefined
  return status === 'failed' || status === 'canceled' ? 'failed' : 'made'
}

function disputeOf({ object, at }: StripeEvent): PaymentEvent | undefined {
  const id = textOf(object, 'id')
  const payment = idOf(object['payment_intent'])
  const money = moneyOf(object, 'amount')
  const status = textOf(object, 'status')
  if (id === undefined || payment === undefined || money === undefined || status === undefined)
    return undefined
  return {
    kind: 'reversal',
    payment,
    reversal: { kind: 'dispute', id, state: disputeState(status), at, ...money },
  }
}

/** An unknown status is treated as if the money had been taken: it is given back when the dispute is won. */
function disputeState(status: string): Dispute['state'] {
  if (status === 'won' || status === 'warning_closed' || status === 'prevented') return 'won'
  if (status === 'lost') return 'lost'
  return status.startsWith('warning_') ? 'inquiry' : 'open'
}

function moneyOf(
  fields: Fields,
  name: string,
): { readonly amountMinor: number; readonly currency: string } | undefined {
  const amountMinor = wholeOf(fields, name)
  const currency = textOf(fields, 'currency')
  return amountMinor === undefined || currency === undefined
    ? undefined
    : { amountMinor, currency: currency.toLowerCase() }
}

function fieldsOf(value: unknown): Fields | undefined {
  // Just checked: an object, not a list.
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined
}

/** Stripe's ids are short; a longer text is not one. */
const TEXT_MAX = 255

function textOf(fields: Fields | undefined, name: string): string | undefined {
  const value = fields?.[name]
  return typeof value === 'string' && value !== '' && value.length <= TEXT_MAX ? value : undefined
}

function wholeOf(fields: Fields | undefined, name: string): number | undefined {
  const value = fields?.[name]
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

/** A reference is an id, or the whole object if expansion was requested. */
function idOf(value: unknown): string | undefined {
  return typeof value === 'string' ? textOf({ value }, 'value') : textOf(fieldsOf(value), 'id')
}
