import { say } from '../../../../core/sentences/say.ts'
import * as z from 'zod'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import {
  AMOUNT_MAX,
  AMOUNT_MIN,
  beginTopUp,
  takeNotice,
  type Tariff,
  type TopUpOutcome,
  viewTopUp,
  type Wanted,
} from '../../../../management/top-up/cashier.ts'
import { mailsOf } from '../../../../management/organisations/organisations.ts'
import { viewPackage } from '../../../../management/top-up/packages.ts'
import { amountInput } from '../../requests/amount-input.ts'
import { definePage, defineRoute, type RouteContext } from '../../define-route.ts'
import { issue, refuseFields } from '../../requests/request-fields.ts'
import { decimalText, isoTime, pageQuery, nextCursor } from '../../answers/wire-values.ts'
import { packageShape, topUpShape } from './top-up-shapes.ts'
import type { ApiContext, Api } from '../../api-context.ts'

export type TopUpsContext = RouteContext & Pick<ApiContext, 'cashier' | 'catalogue' | 'publicUrl'>

const TAG = 'Money'
const PATH = '/api/v1/user/user/top-ups'

/** Card payments, and the account's earlier ones. */
export function topUpRoutes(app: Api, context: TopUpsContext): void {
  offerRoute(app, context)
  beginRoute(app, context)
  readRoutes(app, context)
  webhookRoute(app, context)
}

export function tariffOf(context: Pick<ApiContext, 'catalogue'>): Tariff {
  return context.catalogue().settings
}

function offerRoute(app: Api, context: TopUpsContext): void {
  defineRoute(app, context, {
    method: 'GET',
    path: '/api/v1/user/user/top-up-offers',
    access: 'anonymous',
    tag: TAG,
    summary: 'Read the offers, and whether cards are accepted',
    data: z.strictObject({
      card: z.boolean().meta({ description: 'false: no payments by card; codes can be redeemed.' }),
      currency: z.string(),
      amount_min: z.number(),
      amount_max: z.number(),
      credits_per_unit: decimalText.meta({ description: 'Credits for one unit of the currency.' }),
      packages: z.array(packageShape.omit({ status: true })),
    }),
    handle: async () => {
      const tariff = tariffOf(context)
      const packages = await context.storage.topUps.packages.list()
      return {
        card: context.cashier.driver !== undefined,
        currency: tariff.currency,
        amount_min: AMOUNT_MIN,
        amount_max: AMOUNT_MAX,
        credits_per_unit: tariff.creditsPerUnit,
        packages: packages
          .filter(({ status }) => status === 'enabled')
          .map((offered) => {
            const { status: _, ...shown } = viewPackage(offered, tariff.creditsPerUnit)
            return shown
          }),
      }
    },
  })
}

const beginBody = z
  .strictObject({
    amount_yuan: amountInput.optional(),
    package: z.string().min(1).max(64).optional(),
    return_url: z.string().max(2_000).optional().meta({
      description: 'Where the payer comes back to: an address of this site. Its start page when absent.',
    }),
  })
  .refine(
    (body) => (body.amount_yuan === undefined) !== (body.package === undefined),
    issue(say('either-amount-or-package')),
  )

function beginRoute(app: Api, context: TopUpsContext): void {
  defineRoute(app, context, {
    method: 'POST',
    path: PATH,
    access: 'session',
    for: 'admin',
    tag: TAG,
    summary: 'Top up by card',
    description:
      'Returns the address of a payment page. An amount becomes balance, a package gives what it defines. Booked once it is paid. With an Idempotency-Key the same request gets the same page again.',
    body: beginBody,
    status: 201,
    idempotency: 'optional',
    errors: [40004, 40900, 42908, 50201],
    data: topUpShape,
    handle: async ({ caller, body, idempotencyKey }) => {
      const at = context.now()
      const tariff = tariffOf(context)
      const outcome = await beginTopUp(context.cashier, {
        accountId: caller.account.id,
        email: (await mailsOf(context.storage, caller.account))[0],
        wanted: wantedOf(body),
        tariff,
        returnUrl: returnUrlOf(context, body.return_url),
        idempotencyKey,
        at,
      })
      if (outcome.kind !== 'open') throw refusalOf(outcome)
      return viewTopUp(outcome.topUp, tariff, at)
    },
  })
}

function wantedOf({ amount_yuan: amount, package: code }: z.output<typeof beginBody>): Wanted {
  return code === undefined ? { kind: 'amount', amount: amount ?? '0' } : { kind: 'package', code }
}

/** Never another site, so that this cannot be used as an open redirect. */
function returnUrlOf({ publicUrl }: Pick<ApiContext, 'publicUrl'>, wanted: string | undefined): string {
  const own = publicUrl ?? ''
  if (wanted === undefined) return `${own}/`
  if (own !== '' && URL.canParse(wanted, `${own}/`)) {
    const url = new URL(wanted, `${own}/`)
    if (url.origin === new URL(own).origin) return url.href
  }
  throw refuseFields([{ in: 'body', path: 'return_url', message: say('must-be-of-this-site') }])
}

function refusalOf(outcome: Exclude<TopUpOutcome, { kind: 'open' }>): GatewayError {
  switch (outcome.kind) {
    case 'not-offered':
      return notOffered()
    case 'no-such-package':
      return refuseFields([{ in: 'body', path: 'package', message: say('not-on-offer') }])
    case 'bad-amount':
      return refuseFields([{ in: 'body', path: 'amount_yuan', message: outcome.message }])
    case 'other-request':
      return new GatewayError(40004)
    case 'too-many':
      return new GatewayError(42908, { retryAfterMs: outcome.retryAfterMs })
    case 'unavailable':
      return new GatewayError(50201, {
        message: say('payment-service-silent'),
      })
  }
}

function notOffered(): GatewayError {
  return new GatewayError(40900, {
    message: say('no-top-ups'),
  })
}

function readRoutes(app: Api, context: TopUpsContext): void {
  const { topUps } = context.storage
  definePage(app, context, {
    method: 'GET',
    path: PATH,
    access: 'session',
    for: 'admin',
    tag: TAG,
    summary: 'List the account’s top-ups, newest first',
    query: z.strictObject(pageQuery({ rowsDefault: 50, rowsMax: 200 })),
    row: topUpShape,
    handle: async ({ caller, query: { limit, cursor: after } }) => {
      const rows = await topUps.payments.list({ accountId: caller.account.id }, { limit, after })
      const at = context.now()
      return {
        rows: rows.map((topUp) => viewTopUp(topUp, tariffOf(context), at)),
        next: nextCursor(rows, limit),
      }
    },
  })

  defineRoute(app, context, {
    method: 'GET',
    path: `${PATH}/:id`,
    access: 'session',
    for: 'admin',
    tag: TAG,
    summary: 'Read a top-up',
    description: 'For the page the payer comes back to: it is paid when `status` says so.',
    params: z.object({ id: z.string().min(1).max(128) }),
    data: topUpShape,
    handle: async ({ caller, params }) => {
      const found = await topUps.payments.find(params.id)
      if (found === undefined || found.accountId !== caller.account.id) throw new GatewayError(40403)
      return viewTopUp(found, tariffOf(context), context.now())
    },
  })
}

function webhookRoute(app: Api, context: TopUpsContext): void {
  defineRoute(app, context, {
    method: 'POST',
    path: '/api/v1/payments/:provider/webhook',
    access: 'anonymous',
    tag: 'Payments',
    summary: 'Receive a payment provider’s webhook',
    description:
      'Accepted only with the provider’s signature over the body, at most five minutes old. A repeated event changes nothing.',
    params: z.object({ provider: z.string().min(1).max(64).meta({ description: 'As `stripe`.' }) }),
    body: z.looseObject({}).meta({ description: 'An event as the provider sends it.' }),
    errors: [40900],
    data: z.strictObject({ received: z.literal(true), at: isoTime }),
    handle: async ({ request, params }) => {
      const address = context.clientAddress(request.raw)
      const notice = { payload: request.bodyText, headers: request.headers, address }
      const outcome = await takeNotice(context.cashier, params.provider, notice)
      switch (outcome.kind) {
        case 'taken':
          return { received: true, at: new Date(context.now()).toISOString() } as const
        case 'not-offered':
          throw notOffered()
        case 'forged':
          throw new GatewayError(40000, { message: outcome.why })
      }
    },
  })
}
