/** An account's keys managed by an admin: created, changed, rotated, deleted. */
import * as z from 'zod'
import { GatewayError } from '../../../../../core/errors/gateway-error.ts'
import { keyId } from '../../../../../core/ids.ts'
import { CLOSED, isClosed } from '../../../../../management/admin/account-acts.ts'
import { keyForm } from '../../../../../management/gateway-file/forms.ts'
import {
  createKey,
  deleteKey,
  type KeyCreation,
  type KeyView,
  OVERLAP_SECONDS_MAX,
  readFormerUntil,
  rotateKey,
  UNRESTRICTED_KEY,
  viewKey,
} from '../../../../../management/keys/keys.ts'
import type { Account } from '../../../../../storage/stores/accounts.ts'
import type { AuditedChange, AuditedStores } from '../../../../../storage/stores/audit.ts'
import { defineRoute, type RouteContext } from '../../../define-route.ts'
import type { SessionCaller } from '../../../access/caller.ts'
import type { FastifyRequest } from 'fastify'
import { refuseFields } from '../../../requests/request-fields.ts'
import { keyBody } from '../../customer/key-bodies.ts'
import { accountOf, accountParams, actorOf, present } from '../admin-route.ts'
import { keyShape } from '../shapes.ts'
import type { Api, ApiContext } from '../../../api-context.ts'

type KeysContext = RouteContext & Pick<ApiContext, 'catalogue'>

const TAG = 'Admin: accounts'
const PATH = '/api/v1/admin/accounts/:id/keys'
const keyParams = accountParams.extend({ key_id: z.string().min(1).max(128) })
const newKeyShape = keyShape.extend({
  key: z.string().meta({ description: 'The whole key. Shown now and never again.' }),
})

export function accountKeyRoutes(app: Api, context: KeysContext): void {
  making(app, context)
  changing(app, context)
  rotating(app, context)
  deleting(app, context)
}

function making(app: Api, context: KeysContext): void {
  defineRoute(app, context, {
    method: 'POST',
    path: PATH,
    access: 'admin',
    showsSecret: true,
    tag: TAG,
    summary: 'Make a key for an account',
    description: 'Of an organisation it is its own key, no member’s. The plaintext is only in this answer.',
    params: accountParams,
    body: keyBody(context, 'new'),
    status: 201,
    errors: [40900],
    data: newKeyShape,
    handle: async ({ params, body, caller, request }) => {
      const account = await accountOf(context, params.id)
      if (await isClosed(context.storage, account)) throw new GatewayError(40900, { message: CLOSED.message })
      const wanted = { ...UNRESTRICTED_KEY, ...body, name: body.name ?? '', accountId: account.id }
      const creation = await act<KeyCreation>(context, { account, caller, request }, async (stores) => {
        const value = await createKey(stores, wanted, context.now())
        if (value.kind === 'refused') return { value, action: undefined, changes: [] }
        const changes = [{ field: `key ${value.key.id}`, from: null, to: keyForm(value.key) }]
        return { value, action: 'key.create', changes }
      })
      if (creation.kind === 'refused')
        throw refuseFields(creation.mistakes.map((mistake) => ({ in: 'body', ...mistake })))
      return { ...(await showKey(context, creation.key)), key: creation.plaintext.unwrap() }
    },
  })
}

function changing(app: Api, context: KeysContext): void {
  defineRoute(app, context, {
    method: 'PATCH',
    path: `${PATH}/:key_id`,
    access: 'admin',
    tag: TAG,
    summary: 'Change, disable or enable an account’s key',
    description: 'Seen by the next call, on every instance. Members that are absent stay as they are.',
    params: keyParams,
    body: keyBody(context, 'change'),
    data: keyShape,
    handle: async ({ params, body, caller, request }) => {
      const { account, key } = await findKey(context, params)
      const after = await act(context, { account, caller, request }, async (stores) => {
        const value = (await stores.keys.patch(key.id, body)) ? await stores.keys.find(key.id) : undefined
        const changes = [
          { field: `key ${key.id}`, from: keyForm(key), to: value === undefined ? null : keyForm(value) },
        ]
        return { value, action: value === undefined ? undefined : 'key.change', changes }
      })
      return showKey(context, viewKey(present(after)))
    },
  })
}

function rotating(app: Api, context: KeysContext): void {
  defineRoute(app, context, {
    method: 'POST',
    path: `${PATH}/:key_id/rotate`,
    access: 'admin',
    showsSecret: true,
    tag: TAG,
    summary: 'Give an account’s key another secret',
    description:
      'The former secret works until the overlap is over. Without an overlap it, and every one before it, ends at once.',
    params: keyParams,
    body: z
      .strictObject({ overlap_seconds: z.number().int().min(0).max(OVERLAP_SECONDS_MAX).optional() })
      .optional(),
    data: newKeyShape,
    handle: async ({ params, body, caller, request }) => {
      const { account, key } = await findKey(context, params)
      const seconds = body?.overlap_seconds ?? 0
      const rotation = await act(context, { account, caller, request }, async (stores) => {
        const value = await rotateKey(stores, key.id, { overlapMs: seconds * 1_000, at: context.now() })
        const changes = [
          { field: `key ${key.id}`, from: key.hint, to: value?.key.hint ?? null },
          { field: 'overlap_seconds', from: null, to: seconds },
        ]
        return { value, action: value === undefined ? undefined : 'key.rotate', changes }
      })
      const { key: rotated, plaintext } = present(rotation)
      return { ...(await showKey(context, rotated)), key: plaintext.unwrap() }
    },
  })
}

function deleting(app: Api, context: KeysContext): void {
  defineRoute(app, context, {
    method: 'DELETE',
    path: `${PATH}/:key_id`,
    access: 'admin',
    tag: TAG,
    summary: 'Delete an account’s key',
    description: 'Its next call is refused with 40101. Its calls stay in the log.',
    params: keyParams,
    data: z.strictObject({ deleted: z.literal(true) }),
    handle: async ({ params, caller, request }) => {
      const { account, key } = await findKey(context, params)
      await act(context, { account, caller, request }, async (stores) => {
        const value = await deleteKey(stores, key.id)
        const changes = [{ field: `key ${key.name}: status`, from: key.status, to: 'deleted' }]
        return { value, action: value ? 'key.delete' : undefined, changes }
      })
      return { deleted: true } as const
    },
  })
}

/** A key as shown on the page of an account, and in answers about it. */
export function viewKeyRow(key: KeyView, formerUntil: number | undefined): z.output<typeof keyShape> {
  return keyShape.parse({
    ...keyForm(key),
    id: key.id,
    hint: key.hint,
    member: key.memberId ?? null,
    created_at: new Date(key.createdAt).toISOString(),
    former_valid_until: formerUntil === undefined ? null : new Date(formerUntil).toISOString(),
  })
}

async function showKey(context: KeysContext, key: KeyView): Promise<z.output<typeof keyShape>> {
  const ends = await readFormerUntil(context.storage, [key], context.now())
  return viewKeyRow(key, ends.get(key.id))
}

/**
 * A key of this account that is not deleted; a session's own key is excluded, because it must not outlast the session.
 */
async function findKey(
  context: KeysContext,
  { id, key_id: wanted }: { readonly id: string; readonly key_id: string },
): Promise<{ readonly account: Account; readonly key: KeyView }> {
  const account = await accountOf(context, id)
  const key = present(await context.storage.keys.find(keyId(wanted)))
  const isOwn = key.accountId === account.id && key.sessionId === undefined && key.status !== 'deleted'
  if (!isOwn) throw new GatewayError(40403)
  return { account, key: viewKey(key) }
}

interface Acting {
  readonly account: Account
  readonly caller: SessionCaller
  readonly request: FastifyRequest
}

/** The change and its entry in the audit log are one transaction. */
function act<Value>(
  context: KeysContext,
  { account, caller, request }: Acting,
  work: (stores: AuditedStores) => Promise<{
    readonly value: Value
    /** undefined: nothing was changed. */
    readonly action: string | undefined
    readonly changes: readonly AuditedChange[]
  }>,
): Promise<Value> {
  const actor = actorOf(context, { caller, request })
  return context.storage.audit.act(async (stores) => {
    const { value, action, changes } = await work(stores)
    const entry = { at: actor.at, actor, subject: account.id, changes }
    return { value, act: action === undefined ? undefined : { ...entry, action } }
  })
}
