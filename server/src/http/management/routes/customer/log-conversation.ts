import { say } from '../../../../core/sentences/say.ts'
import * as z from 'zod'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import type { CallLogRow } from '../../../../core/ledger/log-row.ts'
import { readKeptConversation } from '../../../../management/logs/kept-conversation.ts'
import type { SessionCaller } from '../../access/caller.ts'
import type { Api } from '../../api-context.ts'
import { defineRoute, type RouteContext } from '../../define-route.ts'

/**
 * The content of a call, as long as its response is stored. The log itself has no content; this is only for the owner
 * of the key, not for administrators (docs/decisions/0007-kept-responses.md).
 */
export function logConversationRoutes(app: Api, context: RouteContext): void {
  defineRoute(app, context, {
    method: 'GET',
    path: '/api/v1/user/user/logs/:request_id/conversation',
    access: 'session',
    for: 'member',
    impersonator: 'never',
    tag: 'Logs',
    summary: 'Read what was said in a call whose response is kept',
    description:
      'What the gateway itself keeps of `POST /v1/responses`, with what it continued: for 24 hours from its last use, unless ' +
      '`store` was false or the vendor keeps it. Only the person to whom the key belongs can read it: in an organisation the member, ' +
      'and neither its owner nor an administrator.',
    params: z.strictObject({ request_id: z.string().max(256) }),
    data: z.strictObject({
      kept: z.boolean(),
      complete: z.boolean().meta({ description: 'False: the beginning is left out, or gone.' }),
      items: z
        .array(z.record(z.string(), z.unknown()))
        .meta({ description: 'Items of the Responses protocol, oldest first.' }),
    }),
    handle: async ({ caller, params }) => {
      const row = await ownCall(context, caller, params.request_id)
      const found = await readKeptConversation(context.storage, row, context.now())
      return found === undefined ? { kept: false, complete: true, items: [] } : { kept: true, ...found }
    },
  })
}

async function ownCall(
  { storage }: Pick<RouteContext, 'storage'>,
  { account, member }: SessionCaller,
  requestId: string,
): Promise<CallLogRow> {
  const { rows } = await storage.logs.page(
    { accountId: account.id, requestId },
    { limit: 1, cursor: undefined },
  )
  const [row] = rows
  if (row === undefined) throw unknown()
  if (member === undefined) return row
  const key = row.keyId === undefined ? undefined : await storage.keys.find(row.keyId)
  if (key?.memberId !== member.id) throw unknown()
  return row
}

function unknown(): GatewayError {
  return new GatewayError(40403, { message: say('call-not-found') })
}
