import { say } from '../../../../core/sentences/say.ts'
import * as z from 'zod'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import type { AccountId } from '../../../../core/ids.ts'
import { redeemCode } from '../../../../management/top-up/redemption-codes.ts'
import { defineRoute, type RouteContext } from '../../define-route.ts'
import { currencyCode, decimalText } from '../../answers/wire-values.ts'
import type { ApiContext, Api } from '../../api-context.ts'

type RedeemContext = RouteContext & Pick<ApiContext, 'catalogue'>

const redeemedShape = z.strictObject({
  id: z.string().meta({ description: 'The transaction of the ledger.' }),
  currency: currencyCode,
  credits: decimalText.nullable().meta({ description: 'What was added, where the code is worth Credits.' }),
  yuan: decimalText.nullable().meta({ description: 'The same, where it is worth balance.' }),
  account: z.strictObject({ credits: decimalText, balance: decimalText }),
})

/** Redemption codes. */
export function redeemRoutes(app: Api, context: RedeemContext): void {
  const { clientAddress } = context
  defineRoute(app, context, {
    method: 'POST',
    path: '/api/v1/user/user/redeem',
    access: 'session',
    for: 'admin',
    tag: 'Money',
    summary: 'Redeem a code',
    description:
      'Case, dashes and blanks make no difference, nor do letters that look alike (O and 0, I, L and 1). A code is redeemed once; with an Idempotency-Key the same request gets the same answer again.',
    idempotency: 'optional',
    errors: [40004, 40005, 40900, 42908],
    body: z.strictObject({ code: z.string().min(1).max(100) }),
    data: redeemedShape,
    handle: async ({ caller, body, idempotencyKey, request }) => {
      const { currency, creditsPerUnit } = context.catalogue().settings
      const outcome = await redeemCode(context.storage, {
        accountId: caller.account.id,
        code: body.code,
        address: clientAddress(request.raw),
        creditsPerUnit,
        idempotencyKey,
        at: context.now(),
      })
      if (outcome.kind !== 'redeemed') throw refusalOf(outcome, caller.account.id)
      return redeemedShape.parse({ ...outcome.answer, currency })
    },
  })
}

type Refused = Exclude<Awaited<ReturnType<typeof redeemCode>>, { readonly kind: 'redeemed' }>

function refusalOf(outcome: Refused, account: AccountId): GatewayError {
  switch (outcome.kind) {
    case 'unknown':
      return new GatewayError(40005, { message: say('code-unknown') })
    case 'too-many':
      return new GatewayError(42908, { retryAfterMs: outcome.retryAfterMs })
    case 'spent': {
      const when = new Date(outcome.at).toISOString()
      const rule = outcome.by === account ? 'code-redeemed-by-you' : 'code-redeemed'
      return new GatewayError(40900, { message: say(rule, { when }) })
    }
    case 'void':
      return new GatewayError(40900, { message: say('code-void') })
    case 'expired': {
      const when = new Date(outcome.at).toISOString()
      return new GatewayError(40900, { message: say('code-expired', { when }) })
    }
    case 'other-request':
      return new GatewayError(40004)
    case 'no-account':
      return new GatewayError(40403)
  }
}
