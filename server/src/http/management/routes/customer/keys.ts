import { say } from '../../../../core/sentences/say.ts'
import * as z from 'zod'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { keyId, type MemberId } from '../../../../core/ids.ts'
import { keyForm } from '../../../../management/gateway-file/forms.ts'
import {
  createKey,
  deleteKey,
  type KeyCreation,
  type KeyView,
  listKeys,
  OVERLAP_SECONDS_MAX,
  readFormerUntil,
  rotateKey,
  viewKey,
  UNRESTRICTED_KEY,
} from '../../../../management/keys/keys.ts'
import type { SessionCaller } from '../../access/caller.ts'
import { definePage, defineRoute } from '../../define-route.ts'
import { changeOwn } from '../../own-changes.ts'
import { isOwnKey, onlyMember } from '../../own-keys.ts'
import { pageOf } from '../../answers/page-of.ts'
import { refuseFields } from '../../requests/request-fields.ts'
import { isoTime, pageQuery } from '../../answers/wire-values.ts'
import {
  callerLimitsShape,
  keyLimitsShape,
  readCallerLimits,
  readKeyLimits,
  type CallerLimitsContext,
} from './caller-limits.ts'
import { keyBody, newKeyBody, policyShape } from './key-bodies.ts'
import { answerUsage, usageQuery, usageShape, type UsageContext } from './usage.ts'
import type { ApiContext, Api } from '../../api-context.ts'

type KeysContext = UsageContext & CallerLimitsContext

const TAG = 'Keys'
const PATH = '/api/v1/user/user/keys'

/** Keys one account may have: their list is read as a whole. */
const KEYS_MAX = 1_000
/** Keys an ordinary member may have, so that one member cannot use them all up. */
const MEMBER_KEYS_MAX = 50
/** The same including deleted keys: the member's log contains the calls of all of them. */
const MEMBER_KEYS_EVER_MAX = 1_000

export const keyShape = z.strictObject({
  id: z.string(),
  name: z.string(),
  hint: z.string().meta({ description: 'The prefix plus six characters.' }),
  member: z
    .string()
    .nullable()
    .meta({ description: 'The member of the organisation whose key it is; null: the account’s own.' }),
  status: z.enum(['enabled', 'disabled']),
  expires_at: isoTime.nullable(),
  group: z.string().nullable(),
  models: z.array(z.string()),
  ip_allow: z.array(z.string()),
  policy: policyShape.nullable(),
  created_at: isoTime,
  former_valid_until: isoTime
    .nullable()
    .meta({ description: 'Until when a secret from before a rotation still works; null: none does.' }),
})
const newKeyShape = keyShape.extend({
  key: z.string().meta({ description: 'The whole key. Shown now and never again.' }),
})

const keyParams = z.object({ id: z.string().min(1).max(128) })

/** Keys of the account: created, listed, changed, rotated, deleted (docs/reference/contract.md#2.6, #4.6). */
export function keyRoutes(app: Api, context: KeysContext): void {
  listing(app, context)
  listingLimits(app, context)
  making(app, context)
  reading(app, context)
  changing(app, context)
  deleting(app, context)
  rotating(app, context)
  readingLimits(app, context)
  summing(app, context)
}

function listing(app: Api, context: KeysContext): void {
  const { storage } = context
  definePage(app, context, {
    method: 'GET',
    path: PATH,
    access: 'session',
    for: 'member',
    tag: TAG,
    summary: 'List keys, oldest first',
    query: z.strictObject(pageQuery({ rowsDefault: 100, rowsMax: 1_000 })),
    row: keyShape,
    handle: async ({ caller, query }) => {
      const keys = await listKeys(storage, caller.account.id, onlyMember(caller))
      const { rows, next } = pageOf(keys, query, (key) => key.id)
      return { rows: await showKeys(context, rows), next }
    },
  })
}

function listingLimits(app: Api, context: KeysContext): void {
  const { storage } = context
  definePage(app, context, {
    method: 'GET',
    path: `${PATH}/limits`,
    access: 'session',
    for: 'member',
    tag: TAG,
    summary: 'List what each key has used of its limits, and when it was used last',
    query: z.strictObject(pageQuery({ rowsDefault: 100, rowsMax: 1_000 })),
    row: keyLimitsShape,
    handle: async ({ caller, query }) => {
      const keys = await listKeys(storage, caller.account.id, onlyMember(caller))
      const { rows, next } = pageOf(keys, query, (key) => key.id)
      return { rows: await readKeyLimits(context, rows), next }
    },
  })
}

function making(app: Api, context: KeysContext): void {
  const at = () => context.now()
  defineRoute(app, context, {
    method: 'POST',
    path: PATH,
    access: 'session',
    for: 'member',
    showsSecret: true,
    tag: TAG,
    summary: 'Make a key',
    description: 'The plaintext is only in this answer.',
    status: 201,
    body: newKeyBody(context),
    data: newKeyShape,
    errors: [40900],
    handle: async ({ caller, body: { member, form }, request: asked }) => {
      const owner = await ownerOfNewKey(context, caller, member)
      await refuseTooMany(context, caller)
      const request = {
        ...UNRESTRICTED_KEY,
        ...form,
        name: form.name ?? '',
        accountId: caller.account.id,
        memberId: owner,
      }
      const creation = await changeOwn<KeyCreation>(context, { caller, request: asked }, async (stores) => {
        const value = await createKey(stores, request, at())
        if (value.kind === 'refused') return { value, action: undefined }
        const changes = [{ field: `key ${value.key.id}`, from: null, to: keyForm(value.key) }]
        return { value, action: 'key.create', changes }
      })
      if (creation.kind === 'refused')
        throw refuseFields(creation.mistakes.map((mistake) => ({ in: 'body', ...mistake })))
      return { ...(await showKey(context, creation.key)), key: creation.plaintext.unwrap() }
    },
  })
}

function reading(app: Api, context: KeysContext): void {
  defineRoute(app, context, {
    method: 'GET',
    path: `${PATH}/:id`,
    access: 'session',
    for: 'member',
    tag: TAG,
    summary: 'Read a key',
    params: keyParams,
    data: keyShape,
    handle: async ({ caller, params }) => showKey(context, await requireOwnKey(context, caller, params.id)),
  })
}

function changing(app: Api, context: KeysContext): void {
  defineRoute(app, context, {
    method: 'PATCH',
    path: `${PATH}/:id`,
    access: 'session',
    for: 'member',
    impersonator: 'may',
    tag: TAG,
    summary: 'Change, disable or enable a key',
    description: 'Seen by the next call, on every instance. Members that are absent stay as they are.',
    params: keyParams,
    body: keyBody(context, 'change'),
    data: keyShape,
    handle: async ({ caller, params, body, request }) => {
      const key = await requireOwnKey(context, caller, params.id)
      const found = await changeOwn(context, { caller, request }, async (stores) => {
        const value = await stores.keys.patch(key.id, body)
        const after = value ? await stores.keys.find(key.id) : undefined
        if (after === undefined) return { value: false, action: undefined }
        const changes = [{ field: `key ${key.id}`, from: keyForm(key), to: keyForm(viewKey(after)) }]
        return { value, action: 'key.change', changes }
      })
      if (!found) throw new GatewayError(40403)
      return showKey(context, await requireOwnKey(context, caller, params.id))
    },
  })
}

function deleting(app: Api, context: KeysContext): void {
  defineRoute(app, context, {
    method: 'DELETE',
    path: `${PATH}/:id`,
    access: 'session',
    for: 'member',
    impersonator: 'may',
    tag: TAG,
    summary: 'Delete a key',
    description: 'Its next call is refused with 40101; its calls stay in the log.',
    params: keyParams,
    data: z.strictObject({ id: z.string(), deleted: z.literal(true) }),
    handle: async ({ caller, params, request }) => {
      const key = await requireOwnKey(context, caller, params.id)
      const found = await changeOwn(context, { caller, request }, async (stores) => {
        const value = await deleteKey(stores, key.id)
        const changes = [{ field: `key ${key.id}`, from: key.name, to: null }]
        return { value, action: value ? 'key.delete' : undefined, changes }
      })
      if (!found) throw new GatewayError(40403)
      return { id: key.id, deleted: true as const }
    },
  })
}

function rotating(app: Api, context: KeysContext): void {
  const at = () => context.now()
  defineRoute(app, context, {
    method: 'POST',
    path: `${PATH}/:id/rotate`,
    access: 'session',
    for: 'member',
    showsSecret: true,
    tag: TAG,
    summary: 'Give a key another secret',
    description:
      'The former secret works until the overlap is over. Without an overlap it, and every one before it, ends at once.',
    params: keyParams,
    body: z
      .strictObject({
        overlap_seconds: z.number().int().min(0).max(OVERLAP_SECONDS_MAX).optional(),
      })
      .optional(),
    data: newKeyShape,
    handle: async ({ caller, params, body, request }) => {
      const key = await requireOwnKey(context, caller, params.id)
      const overlapMs = (body?.overlap_seconds ?? 0) * 1_000
      const rotation = await changeOwn(context, { caller, request }, async (stores) => {
        const value = await rotateKey(stores, key.id, { overlapMs, at: at() })
        const changes = [
          { field: `key ${key.id}`, from: key.hint, to: value?.key.hint ?? null },
          { field: 'overlap_seconds', from: null, to: overlapMs / 1_000 },
        ]
        return { value, action: value === undefined ? undefined : 'key.rotate', changes }
      })
      if (rotation === undefined) throw new GatewayError(40403)
      return { ...(await showKey(context, rotation.key)), key: rotation.plaintext.unwrap() }
    },
  })
}

function readingLimits(app: Api, context: KeysContext): void {
  defineRoute(app, context, {
    method: 'GET',
    path: `${PATH}/:id/limits`,
    access: 'session',
    for: 'member',
    tag: TAG,
    summary: 'Read what a key has used of its limits',
    params: keyParams,
    data: callerLimitsShape,
    handle: async ({ caller, params }) => {
      const key = await requireOwnKey(context, caller, params.id)
      return readCallerLimits(context, key, caller.account)
    },
  })
}

function summing(app: Api, context: KeysContext): void {
  defineRoute(app, context, {
    method: 'GET',
    path: `${PATH}/:id/usage`,
    access: 'session',
    for: 'member',
    tag: TAG,
    summary: 'Sum what a key used',
    params: keyParams,
    query: usageQuery,
    data: usageShape,
    handle: async ({ caller, params, query }) => {
      const key = await requireOwnKey(context, caller, params.id)
      return answerUsage(context, { ...query, key_id: key.id }, { accountId: caller.account.id })
    },
  })
}

/** The member who gets the key. Members create keys for themselves, admins and owners for the member they name. */
async function ownerOfNewKey(
  context: Pick<ApiContext, 'storage'>,
  caller: SessionCaller,
  wanted: MemberId | undefined,
): Promise<MemberId | undefined> {
  const own = onlyMember(caller)
  if (own !== undefined) {
    if (wanted === undefined || wanted === own) return own
    throw new GatewayError(40304, { message: say('member-own-keys-only') })
  }
  if (wanted === undefined) return undefined
  const member =
    caller.member === undefined ? undefined : await context.storage.organisations.findMember(wanted)
  if (member?.organisationId === caller.account.id) return member.id
  const message = say(caller.member === undefined ? 'organisations-only' : 'no-such-member')
  throw refuseFields([{ in: 'body', path: 'member', message }])
}

async function refuseTooMany(context: Pick<ApiContext, 'storage'>, caller: SessionCaller): Promise<void> {
  const { storage } = context
  const { id } = caller.account
  if ((await listKeys(storage, id)).length >= KEYS_MAX)
    throw new GatewayError(40900, { message: say('too-many-keys', { most: KEYS_MAX }) })
  const member = onlyMember(caller)
  if (member === undefined) return
  const ever = await storage.keys.list(id, { member, ever: 'included' })
  const all = ever.filter((key) => key.sessionId === undefined)
  const living = all.filter((key) => key.status !== 'deleted')
  if (living.length >= MEMBER_KEYS_MAX)
    throw new GatewayError(40900, {
      message: say('too-many-member-keys', { most: MEMBER_KEYS_MAX }),
    })
  if (all.length >= MEMBER_KEYS_EVER_MAX)
    throw new GatewayError(40900, { message: say('too-many-keys-made') })
}

/**
 * Keys of other accounts are not found, nor are other members' keys for an ordinary member. Session keys are excluded
 * too, because they must not outlast their session.
 */
async function requireOwnKey(
  context: Pick<ApiContext, 'storage'>,
  caller: SessionCaller,
  id: string,
): Promise<KeyView> {
  const key = await context.storage.keys.find(keyId(id))
  if (key === undefined || key.sessionId !== undefined || !isOwnKey(caller, key))
    throw new GatewayError(40403)
  return viewKey(key)
}

export async function showKey(
  context: Pick<ApiContext, 'now' | 'storage'>,
  key: KeyView,
): Promise<z.output<typeof keyShape>> {
  const [shown] = await showKeys(context, [key])
  if (shown === undefined) throw new Error(`key ${key.id} is not shown`)
  return shown
}

async function showKeys(
  context: Pick<ApiContext, 'now' | 'storage'>,
  keys: readonly KeyView[],
): Promise<readonly z.output<typeof keyShape>[]> {
  const ends = await readFormerUntil(context.storage, keys, context.now())
  return keys.map((key) => formOf(key, ends.get(key.id)))
}

function formOf(key: KeyView, formerUntil: number | undefined): z.output<typeof keyShape> {
  return {
    ...(keyForm(key) as Omit<
      z.output<typeof keyShape>,
      'id' | 'hint' | 'member' | 'created_at' | 'former_valid_until'
    >),
    id: key.id,
    hint: key.hint,
    member: key.memberId ?? null,
    created_at: new Date(key.createdAt).toISOString(),
    former_valid_until: formerUntil === undefined ? null : new Date(formerUntil).toISOString(),
  }
}
