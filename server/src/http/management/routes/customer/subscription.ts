import { say } from '../../../../core/sentences/say.ts'
import * as z from 'zod'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { POOLS } from '../../../../core/subscriptions/terms.ts'
import { creditsText, yuanText } from '../../../../management/money/amounts.ts'
import {
  changeRenewal,
  listPlans,
  quoteSubscription,
  readSubscription,
  type RenewalRefusal,
  subscribe,
  type SubscribeRefusal,
} from '../../../../management/money/subscriptions.ts'
import { answerOf } from '../../answers/act-answer.ts'
import { receiptsOf } from '../../../../management/money/receipts.ts'
import { defineRoute, type RouteContext } from '../../define-route.ts'
import { refuseFields } from '../../requests/request-fields.ts'
import { quotaShape } from '../../answers/shapes.ts'
import { currencyCode, decimalText, isoTime } from '../../answers/wire-values.ts'
import type { ApiContext, Api } from '../../api-context.ts'

type SubscriptionContext = RouteContext & Pick<ApiContext, 'catalogue'>

const TAG = 'Subscription'
const PATH = '/api/v1/user/user/subscription'

const pool = z.enum(POOLS).meta({ description: 'Where the price is taken from.' })
const planCode = z.string().min(1).max(64)

const planShape = z.strictObject({
  code: z.string(),
  level: z.number().int(),
  currency: currencyCode,
  price_yuan: decimalText,
  price_credits: decimalText,
  period_days: z.number().int(),
  quota: z.array(z.strictObject({ credits: decimalText, seconds: z.number().int() })),
})

const terms = {
  plan: z.string().nullable(),
  level: z.number().int(),
  started_at: isoTime.nullable(),
  expires_at: isoTime.nullable(),
  auto_renew: z.boolean(),
  next_plan: z.string().nullable(),
  pay_from: z.enum(POOLS).nullable(),
  renews_at: isoTime.nullable(),
}
const termsShape = z.strictObject(terms)
const subscriptionShape = z.strictObject({ ...terms, quota: z.array(quotaShape) })
const costs = {
  paid_from: z.enum(POOLS),
  price_yuan: decimalText,
  price_credits: decimalText,
  refunded_yuan: decimalText,
  refunded_credits: decimalText,
  due_yuan: decimalText,
  due_credits: decimalText,
}
const orderShape = z.strictObject({ id: z.string(), currency: currencyCode, ...costs, ...terms })
const quoteShape = z.strictObject({
  change: z.enum(['new', 'upgrade']),
  currency: currencyCode,
  ...costs,
  affordable: z.boolean(),
  expires_at: isoTime,
})

/** Plans and the account's subscription (docs/reference/contract.md#5-22, #5-41). */
export function subscriptionRoutes(app: Api, context: SubscriptionContext): void {
  listingPlans(app, context)
  reading(app, context)
  quoting(app, context)
  buying(app, context)
  choosingRenewal(app, context)
  cancelling(app, context)
}

function listingPlans(app: Api, context: SubscriptionContext): void {
  defineRoute(app, context, {
    method: 'GET',
    path: '/api/v1/user/user/plans',
    access: 'anonymous',
    tag: TAG,
    summary: 'List the plans',
    data: z.array(planShape),
    handle: () =>
      listPlans(context.catalogue()).map((plan) => ({
        ...plan,
        quota: plan.quota.map((tier) => ({ ...tier })),
      })),
  })
}

function reading(app: Api, context: SubscriptionContext): void {
  defineRoute(app, context, {
    method: 'GET',
    path: PATH,
    access: 'account',
    for: 'admin',
    tag: TAG,
    summary: 'Read the subscription and what is left of its quota',
    data: subscriptionShape,
    handle: async ({ caller }) => {
      const account = (await context.storage.accounts.find(caller.account.id)) ?? caller.account
      const view = await readSubscription(context.storage, account, context.now())
      return { ...view, quota: view.quota.map((tier) => ({ ...tier })) }
    },
  })
}

function quoting(app: Api, context: SubscriptionContext): void {
  defineRoute(app, context, {
    method: 'GET',
    path: `${PATH}/quote`,
    access: 'session',
    for: 'admin',
    tag: TAG,
    summary: 'Quote the price of a plan now',
    query: z.strictObject({ plan: planCode, pay_from: pool.default('balance') }),
    errors: [40900],
    data: quoteShape,
    handle: async ({ caller, query }) => {
      const asked = {
        accountId: caller.account.id,
        plan: query.plan,
        pool: query.pay_from,
        at: context.now(),
      }
      const result = await quoteSubscription(context.storage, context.catalogue(), asked)
      if (result.kind === 'refused') throw refuseOrder(context, query.plan, 'query')(result)
      return quoteShape.parse(result.quote)
    },
  })
}

function buying(app: Api, context: SubscriptionContext): void {
  defineRoute(app, context, {
    method: 'POST',
    path: PATH,
    access: 'session',
    for: 'owner',
    tag: TAG,
    summary: 'Buy a plan, or a higher one in place of the running one',
    description:
      'A higher plan begins at once with a period of its own; the unused part of what was paid for the running one comes back. A lower one is set as next_plan.',
    idempotency: 'optional',
    errors: [40004, 40900],
    body: z.strictObject({
      plan: planCode,
      pay_from: pool.default('balance'),
      auto_renew: z.boolean().default(true),
    }),
    data: orderShape,
    handle: async ({ caller, body, idempotencyKey }) => {
      const outcome = await subscribe(context.storage, context.catalogue(), {
        accountId: caller.account.id,
        plan: body.plan,
        pool: body.pay_from,
        renews: body.auto_renew,
        idempotencyKey,
        at: context.now(),
        receipts: receiptsOf(context.identity.messenger),
      })
      const order = answerOf(outcome, refuseOrder(context, body.plan, 'body'))
      return orderShape.parse({ ...order, currency: context.catalogue().settings.currency })
    },
  })
}

function choosingRenewal(app: Api, context: SubscriptionContext): void {
  defineRoute(app, context, {
    method: 'PATCH',
    path: PATH,
    access: 'session',
    for: 'owner',
    tag: TAG,
    summary: 'Change how the subscription continues',
    errors: [40900],
    body: z.strictObject({
      auto_renew: z.boolean().optional(),
      next_plan: planCode.optional(),
      pay_from: pool.optional(),
    }),
    data: termsShape,
    handle: async ({ caller, body }) => {
      const outcome = await changeRenewal(context.storage, context.catalogue(), {
        accountId: caller.account.id,
        at: context.now(),
        renews: body.auto_renew,
        plan: body.next_plan,
        pool: body.pay_from,
      })
      return termsShape.parse(answerOf(outcome, refuseRenewal))
    },
  })
}

function cancelling(app: Api, context: SubscriptionContext): void {
  defineRoute(app, context, {
    method: 'DELETE',
    path: PATH,
    access: 'session',
    for: 'owner',
    tag: TAG,
    summary: 'Cancel: the subscription ends with its period',
    errors: [40900],
    data: termsShape,
    handle: async ({ caller }) => {
      const change = { renews: false, plan: undefined, pool: undefined, at: context.now() }
      const outcome = await changeRenewal(context.storage, context.catalogue(), {
        ...change,
        accountId: caller.account.id,
      })
      return termsShape.parse(answerOf(outcome, refuseRenewal))
    },
  })
}

function refuseOrder(context: Pick<ApiContext, 'catalogue'>, plan: string, part: 'body' | 'query') {
  return (refusal: SubscribeRefusal): GatewayError => {
    switch (refusal.reason) {
      case 'no-plan':
        return refuseFields([
          {
            in: part,
            path: 'plan',
            message: say('refers-to-unknown', { what: say('word-plan'), name: plan }),
          },
        ])
      case 'same-plan':
        return new GatewayError(40900, { message: say('plan-running', { plan }) })
      case 'not-higher':
        return new GatewayError(40900, {
          message: say('plan-not-above', { plan }),
        })
      case 'too-few': {
        const { missing } = refusal
        const { currency, creditsPerUnit } = context.catalogue().settings
        const message =
          missing.pool === 'balance'
            ? say('plan-lacks-balance', { amount: yuanText(missing.amount, creditsPerUnit), currency, plan })
            : say('plan-lacks-credits', { credits: creditsText(missing.amount), plan })
        return new GatewayError(40900, { message })
      }
    }
  }
}

function refuseRenewal(refusal: RenewalRefusal): GatewayError {
  switch (refusal) {
    case 'no-subscription':
      return new GatewayError(40900, { message: say('no-subscription') })
    case 'no-plan':
      return refuseFields([{ in: 'body', path: 'next_plan', message: say('plan-not-on-sale') }])
  }
}
