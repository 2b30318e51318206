import { say } from '../../../../core/sentences/say.ts'
import * as z from 'zod'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { issueSessionKey } from '../../../../management/keys/session-key.ts'
import type { Api } from '../../api-context.ts'
import { defineRoute, type RouteContext } from '../../define-route.ts'
import { changeOwn } from '../../own-changes.ts'
import { isoTime } from '../../answers/wire-values.ts'

/** A key for pages that call models themselves, for the signed-in person. */
export function sessionKeyRoutes(app: Api, context: RouteContext): void {
  defineRoute(app, context, {
    method: 'POST',
    path: '/api/v1/user/user/session-key',
    access: 'session',
    for: 'member',
    showsSecret: true,
    tag: 'Keys',
    summary: 'Create the key for calls of this session',
    description:
      'For pages that call models in the person’s own name, as the playground of the console does. It works for an hour and ' +
      'never longer than the session, is bound by every limit of the account and of the member, and stands in no list of ' +
      'keys. A person has one for each account: the next one takes its place, and the former secret ends at once.',
    status: 201,
    data: z.strictObject({
      id: z.string(),
      key: z.string().meta({ description: 'The whole key. Shown now and never again.' }),
      expires_at: isoTime,
    }),
    handle: async ({ caller, request }) => {
      const { account, member, session } = caller
      const issued = await changeOwn(context, { caller, request }, async (stores) => {
        const owner = { accountId: account.id, memberId: member?.id, session }
        const value = await issueSessionKey(stores, owner, context.now())
        if (value === undefined) return { value, action: undefined }
        const to = { session: session.id, expires_at: new Date(value.expiresAt).toISOString() }
        return { value, action: 'key.session', changes: [{ field: `key ${value.id}`, from: null, to }] }
      })
      if (issued === undefined) throw new GatewayError(40101, { message: say('session-ended') })
      return {
        id: issued.id,
        key: issued.plaintext.unwrap(),
        expires_at: new Date(issued.expiresAt).toISOString(),
      }
    },
  })
}
