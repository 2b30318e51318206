import { say } from '../../../../core/sentences/say.ts'
import * as z from 'zod'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { creditsOfText, creditsOfYuan, yuanText } from '../../../../management/money/amounts.ts'
import { exchangeBalance } from '../../../../management/money/exchange.ts'
import { answerOf } from '../../answers/act-answer.ts'
import { amountInput } from '../../requests/amount-input.ts'
import { defineRoute, type RouteContext } from '../../define-route.ts'
import { issue, refuseFields } from '../../requests/request-fields.ts'
import { currencyCode, decimalText } from '../../answers/wire-values.ts'
import type { ApiContext, Api } from '../../api-context.ts'

type ExchangeContext = RouteContext & Pick<ApiContext, 'catalogue'>

const exchangeShape = z.strictObject({
  id: z.string(),
  currency: currencyCode,
  exchanged_yuan: decimalText,
  exchanged_credits: decimalText,
  credits: decimalText,
  balance: decimalText,
})

const exchangeBody = z
  .strictObject({ yuan: amountInput.optional(), credits: amountInput.optional() })
  .refine(
    (body) => (body.yuan === undefined) !== (body.credits === undefined),
    issue(say('either-yuan-or-credits')),
  )

/** Balance into Credits by hand (docs/reference/contract.md#5-35). */
export function exchangeRoutes(app: Api, context: ExchangeContext): void {
  defineRoute(app, context, {
    method: 'POST',
    path: '/api/v1/user/user/exchange',
    access: 'session',
    for: 'admin',
    tag: 'Money',
    summary: 'Exchange balance for Credits',
    description:
      'Give the amount in yuan or in the Credits it becomes. Repeated under its key it is booked once.',
    idempotency: 'optional',
    errors: [40004, 40900],
    body: exchangeBody,
    data: exchangeShape,
    handle: async ({ caller, body, idempotencyKey }) => {
      const { currency, creditsPerUnit } = context.catalogue().settings
      const { yuan, credits } = body
      const amount = yuan === undefined ? creditsOfText(credits ?? '0') : creditsOfYuan(yuan, creditsPerUnit)
      if (amount <= 0n) {
        const path = yuan === undefined ? 'credits' : 'yuan'
        throw refuseFields([{ in: 'body', path, message: say('must-be-above-0') }])
      }
      const request = {
        accountId: caller.account.id,
        amount,
        creditsPerUnit,
        idempotencyKey,
        at: context.now(),
      }
      const answer = answerOf(await exchangeBalance(context.storage, request), ({ balance }) => {
        return new GatewayError(40900, {
          message: say('balance-too-little', { balance: yuanText(balance, creditsPerUnit), currency }),
        })
      })
      return exchangeShape.parse({ ...answer, currency })
    },
  })
}
