import { say } from '../../../../core/sentences/say.ts'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { keyId } from '../../../../core/ids.ts'
import type { Caller } from '../../access/caller.ts'
import { defineRoute, type RouteContext } from '../../define-route.ts'
import { explanationShape, viewExplanation } from '../../answers/explain-view.ts'
import { explainBody, questionOf } from '../../requests/explain-body.ts'
import { isOwnKey } from '../../own-keys.ts'
import type { Key } from '../../../../storage/stores/keys.ts'
import type { ApiContext, Api } from '../../api-context.ts'

export type ExplainContext = RouteContext & Pick<ApiContext, 'explain'>

/** What would happen to a call, without making it. */
export function explainRoutes(app: Api, context: ExplainContext): void {
  defineRoute(app, context, {
    method: 'POST',
    path: '/api/v1/user/user/explain',
    access: 'account',
    for: 'member',
    tag: 'Calls',
    summary: 'Explain what would happen to a call, without making it',
    description:
      'The chains in the order they would be tried and why, what would be converted and dropped, the rules and limits that apply and the hold the call would take. No upstream is called and nothing is charged.',
    reads: true,
    errors: [40403],
    body: explainBody,
    data: explanationShape,
    async handle({ caller, body }) {
      const key = await keyOf(context, caller, body.key_id)
      return viewExplanation(
        await context.explain({ key, account: caller.account, ...questionOf(body) }),
        caller.account.role === 'admin' ? 'operator' : 'customer',
      )
    },
  })
}

async function keyOf(
  context: Pick<ApiContext, 'storage'>,
  caller: Caller,
  id: string | undefined,
): Promise<Key> {
  if (caller.kind === 'key' && (id === undefined || id === caller.key.id)) return caller.key
  if (caller.kind === 'key') {
    throw new GatewayError(40304, { message: say('key-explains-own-calls') })
  }
  if (id === undefined) throw new GatewayError(40000, { message: say('key-id-needed') })
  const key = await context.storage.keys.find(keyId(id))
  if (key === undefined || !isOwnKey(caller, key)) {
    throw new GatewayError(40403, { message: say('key-id-unknown') })
  }
  return key
}
