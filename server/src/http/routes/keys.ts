import { z } from 'zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { keyId, type MemberId, memberId } from '../../core/ids.ts'
import { isJsonObject, type JsonValue } from '../../core/json.ts'
import { DIMENSIONS } from '../../core/limits/policy.ts'
import { keyForm } from '../../management/gateway-file/forms.ts'
import { type KeyForm, readKeyForm } from '../../management/key-form.ts'
import {
  createKey,
  deleteKey,
  type KeyView,
  listKeys,
  OVERLAP_SECONDS_MAX,
  rotateKey,
  viewKey,
} from '../../management/keys.ts'
import { readLimitStates, viewLimits } from '../../management/limits-view.ts'
import { viewMonth } from '../../management/organisations/member-view.ts'
import type { Account, Key } from '../../storage/storage.ts'
import type { Api, ApiContext } from '../api.ts'
import type { SessionCaller } from '../caller.ts'
import { definePage, defineRoute } from '../define-route.ts'
import { isOwnKey, onlyMember } from '../own-keys.ts'
import { pageOf } from '../page-of.ts'
import { refuseFields } from '../request-fields.ts'
import { decimalText, isoTime, pageQuery } from '../wire-values.ts'
import { answerUsage, usageQuery, usageShape } from './usage.ts'

const TAG = 'Keys'
const PATH = '/api/v1/user/user/keys'

/** Keys one account may have: a list of them is read whole. */
const KEYS_MAX = 1_000
/** Keys somebody who is no more than a member may have of it, so that one member does not take them all. */
const MEMBER_KEYS_MAX = 50
/** The same with those they deleted: their log is the calls of all of them. */
const MEMBER_KEYS_EVER_MAX = 1_000

const windowLimit = z.strictObject({
  dimension: z.enum(DIMENSIONS),
  limit: z.number().min(0),
  seconds: z.number().int().min(1),
})
const policy = z.strictObject({
  concurrency: z.number().int().min(1).optional(),
  windows: z.array(windowLimit).optional(),
})

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
  policy: policy.nullable(),
  created_at: isoTime,
})
const newKeyShape = keyShape.extend({
  key: z.string().meta({ description: 'The whole key. Shown now and never again.' }),
})

/** What a request may say of a key; said here for the document, checked by the gateway file's own readers. */
const keyMembers = z.strictObject({
  name: z.string().min(1).max(100),
  status: z.enum(['enabled', 'disabled']).optional(),
  expires_at: z.string().nullable().optional().meta({ description: 'A date or a time with its zone.' }),
  group: z.string().nullable().optional(),
  models: z.array(z.string()).optional().meta({ description: 'Allow list; empty: every model.' }),
  ip_allow: z.array(z.string()).optional().meta({ description: 'CIDR ranges; empty: every address.' }),
  policy: policy.nullable().optional().meta({ description: 'null: the platform’s default.' }),
})

const newKeyMembers = keyMembers.extend({
  member: z.string().nullable().optional().meta({
    description:
      'For organisations: the member whose key it is. Admins and owners may name anyone, and null or nothing for the organisation’s own; a member’s keys are always their own.',
  }),
})

const keyParams = z.object({ id: z.string().min(1).max(128) })

const windowShape = z.strictObject({
  dimension: z.string(),
  seconds: z.number().int(),
  limit: z.string(),
  used: z.string(),
  held: z.string(),
  remaining: z.string(),
  resets_at: isoTime.nullable(),
})
const limitsShape = z.strictObject({
  concurrency: z.strictObject({ limit: z.number().int().nullable(), in_use: z.number().int() }),
  windows: z.array(windowShape),
})
const memberLimitsShape = limitsShape.extend({
  id: z.string(),
  monthly_cap_yuan: decimalText.meta({ description: '0: no cap.' }),
  month_spent_yuan: decimalText,
  month_held_yuan: decimalText,
})
export const callerLimitsShape = z.strictObject({
  key: limitsShape,
  member: memberLimitsShape.nullable().meta({ description: 'null: the key is no member’s.' }),
  account: limitsShape,
})

/** Keys of the account: made, listed, changed, rotated, deleted (contract §2.6, §4.6). */
export function keyRoutes(app: Api, context: ApiContext): void {
  listing(app, context)
  making(app, context)
  reading(app, context)
  changing(app, context)
  deleting(app, context)
  rotating(app, context)
  readingLimits(app, context)
  summing(app, context)
}

function listing(app: Api, context: ApiContext): void {
  const { storage } = context.gateway
  definePage(app, context, {
    method: 'GET',
    path: PATH,
    access: 'session',
    for: 'member',
    tag: TAG,
    summary: 'List keys, oldest first',
    caching: 'etag',
    query: z.strictObject(pageQuery({ rowsDefault: 100, rowsMax: 1_000 })),
    row: keyShape,
    handle: async ({ caller, query }) => {
      const keys = await listKeys(storage, caller.account.id, onlyMember(caller))
      const { rows, next } = pageOf(keys, query, (key) => key.id)
      return { rows: rows.map(showKey), next }
    },
  })
}

function making(app: Api, context: ApiContext): void {
  const { storage } = context.gateway
  const at = () => context.gateway.now()
  defineRoute(app, context, {
    method: 'POST',
    path: PATH,
    access: 'session',
    for: 'member',
    tag: TAG,
    summary: 'Make a key',
    description: 'The plaintext stands in this answer and nowhere else.',
    status: 201,
    body: newKeyBody(context),
    data: newKeyShape,
    errors: [40900],
    handle: async ({ caller, body: { member, form } }) => {
      const owner = await ownerOfNewKey(context, caller, member)
      await refuseTooMany(context, caller)
      const request = {
        ...NEW_KEY,
        ...form,
        name: form.name ?? '',
        accountId: caller.account.id,
        memberId: owner,
      }
      const creation = await createKey(storage, request, at())
      if (creation.kind === 'refused')
        throw refuseFields(creation.mistakes.map((mistake) => ({ in: 'body', ...mistake })))
      return { ...showKey(creation.key), key: creation.plaintext.unwrap() }
    },
  })
}

function reading(app: Api, context: ApiContext): void {
  defineRoute(app, context, {
    method: 'GET',
    path: `${PATH}/:id`,
    access: 'session',
    for: 'member',
    tag: TAG,
    summary: 'Read a key',
    caching: 'etag',
    params: keyParams,
    data: keyShape,
    handle: async ({ caller, params }) => showKey(await requireOwnKey(context, caller, params.id)),
  })
}

function changing(app: Api, context: ApiContext): void {
  const { storage } = context.gateway
  defineRoute(app, context, {
    method: 'PATCH',
    path: `${PATH}/:id`,
    access: 'session',
    for: 'member',
    tag: TAG,
    summary: 'Change, disable or enable a key',
    description: 'Seen by the next call, on every instance. Members that are absent stay as they are.',
    params: keyParams,
    body: keyBody(context, 'change'),
    data: keyShape,
    handle: async ({ caller, params, body }) => {
      const key = await requireOwnKey(context, caller, params.id)
      if (!(await storage.keys.patch(key.id, body))) throw new GatewayError(40403)
      return showKey(await requireOwnKey(context, caller, params.id))
    },
  })
}

function deleting(app: Api, context: ApiContext): void {
  const { storage } = context.gateway
  defineRoute(app, context, {
    method: 'DELETE',
    path: `${PATH}/:id`,
    access: 'session',
    for: 'member',
    tag: TAG,
    summary: 'Delete a key',
    description: 'Its next call is refused with 40101; its calls stay in the log.',
    params: keyParams,
    data: z.strictObject({ id: z.string(), deleted: z.literal(true) }),
    handle: async ({ caller, params }) => {
      const key = await requireOwnKey(context, caller, params.id)
      if (!(await deleteKey(storage, key.id))) throw new GatewayError(40403)
      return { id: key.id, deleted: true as const }
    },
  })
}

function rotating(app: Api, context: ApiContext): void {
  const { storage } = context.gateway
  const at = () => context.gateway.now()
  defineRoute(app, context, {
    method: 'POST',
    path: `${PATH}/:id/rotate`,
    access: 'session',
    for: 'member',
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
    data: newKeyShape.extend({ former_valid_until: isoTime.nullable() }),
    handle: async ({ caller, params, body }) => {
      const key = await requireOwnKey(context, caller, params.id)
      const overlapMs = (body?.overlap_seconds ?? 0) * 1_000
      const rotation = await rotateKey(storage, key.id, { overlapMs, at: at() })
      if (rotation === undefined) throw new GatewayError(40403)
      const { formerUntil } = rotation
      return {
        ...showKey(rotation.key),
        key: rotation.plaintext.unwrap(),
        former_valid_until: formerUntil === undefined ? null : new Date(formerUntil).toISOString(),
      }
    },
  })
}

function readingLimits(app: Api, context: ApiContext): void {
  defineRoute(app, context, {
    method: 'GET',
    path: `${PATH}/:id/limits`,
    access: 'session',
    for: 'member',
    tag: TAG,
    summary: 'Read what a key has used of its limits',
    caching: 'etag',
    params: keyParams,
    data: callerLimitsShape,
    handle: async ({ caller, params }) => {
      const key = await requireOwnKey(context, caller, params.id)
      return readCallerLimits(context, key, caller.account)
    },
  })
}

function summing(app: Api, context: ApiContext): void {
  defineRoute(app, context, {
    method: 'GET',
    path: `${PATH}/:id/usage`,
    access: 'session',
    for: 'member',
    tag: TAG,
    summary: 'Sum what a key used',
    caching: 'etag',
    params: keyParams,
    query: usageQuery,
    data: usageShape,
    handle: async ({ caller, params, query }) => {
      const key = await requireOwnKey(context, caller, params.id)
      return answerUsage(context, { ...query, key_id: key.id }, { accountId: caller.account.id })
    },
  })
}

const NEW_KEY = {
  secret: undefined,
  status: 'enabled',
  expiresAt: undefined,
  group: undefined,
  models: [],
  ipAllow: [],
  policy: undefined,
} as const

/** A body whose form the document shows and the gateway file's readers check: every mistake at once, with its path. */
function keyBody({ gateway }: ApiContext, purpose: 'new' | 'change') {
  const members = purpose === 'new' ? keyMembers : keyMembers.partial()
  return z
    .unknown()
    .transform((value, context): KeyForm => {
      // What the body's parser gave is JSON.
      const result = readKeyForm((value ?? null) as JsonValue, gateway.catalogue(), purpose)
      if (result.kind === 'form') return result.form
      for (const { path, message } of result.mistakes) {
        context.addIssue({ code: 'custom', path: path === '' ? [] : [path], message })
      }
      return z.NEVER
    })
    .meta({ ...z.toJSONSchema(members, { io: 'input' }) })
}

/** The same with the member it shall belong to, which no gateway file knows. */
function newKeyBody(api: ApiContext) {
  const form = keyBody(api, 'new')
  return z
    .unknown()
    .transform((value, context) => {
      const { member, ...rest } = isJsonObject(value) ? value : { member: undefined }
      if (member !== undefined && member !== null && typeof member !== 'string') {
        context.addIssue({ code: 'custom', path: ['member'], message: 'must be text' })
      }
      const read = form.safeParse(isJsonObject(value) ? rest : value)
      for (const { path, message } of read.error?.issues ?? [])
        context.addIssue({ code: 'custom', path: [...path], message })
      if (!read.success) return z.NEVER
      return { form: read.data, member: typeof member === 'string' ? memberId(member) : undefined }
    })
    .meta({ ...z.toJSONSchema(newKeyMembers, { io: 'input' }) })
}

/** Whose key it becomes. Members make keys for themselves, admins and owners for whom they name. */
async function ownerOfNewKey(
  { gateway }: ApiContext,
  caller: SessionCaller,
  wanted: MemberId | undefined,
): Promise<MemberId | undefined> {
  const own = onlyMember(caller)
  if (own !== undefined) {
    if (wanted === undefined || wanted === own) return own
    throw new GatewayError(40304, { message: 'a member makes keys for themselves only' })
  }
  if (wanted === undefined) return undefined
  const member =
    caller.member === undefined ? undefined : await gateway.storage.organisations.findMember(wanted)
  if (member?.organisationId === caller.account.id) return member.id
  const message = caller.member === undefined ? 'is for organisations only' : 'names no member'
  throw refuseFields([{ in: 'body', path: 'member', message }])
}

async function refuseTooMany({ gateway }: ApiContext, caller: SessionCaller): Promise<void> {
  const { storage } = gateway
  const { id } = caller.account
  if ((await listKeys(storage, id)).length >= KEYS_MAX)
    throw new GatewayError(40900, { message: `an account may have ${KEYS_MAX} keys: delete one first` })
  const member = onlyMember(caller)
  if (member === undefined) return
  const all = await storage.keys.list(id, { member, deleted: 'included' })
  const living = all.filter((key) => key.status !== 'deleted')
  if (living.length >= MEMBER_KEYS_MAX)
    throw new GatewayError(40900, {
      message: `a member may have ${MEMBER_KEYS_MAX} keys: delete one, or ask an admin to make one`,
    })
  if (all.length >= MEMBER_KEYS_EVER_MAX)
    throw new GatewayError(40900, { message: 'you have made too many keys: rotate one you have instead' })
}

/** Another account's key is none, and so is another member's to somebody who is no more than a member. */
async function requireOwnKey({ gateway }: ApiContext, caller: SessionCaller, id: string): Promise<KeyView> {
  const key = await gateway.storage.keys.find(keyId(id))
  if (key === undefined || !isOwnKey(caller, key)) throw new GatewayError(40403)
  return viewKey(key)
}

export function showKey(key: KeyView): z.output<typeof keyShape> {
  return {
    ...(keyForm(key) as Omit<z.output<typeof keyShape>, 'id' | 'hint' | 'member' | 'created_at'>),
    id: key.id,
    hint: key.hint,
    member: key.memberId ?? null,
    created_at: new Date(key.createdAt).toISOString(),
  }
}

/** The key's own windows, its member's and its account's: a call has to fit into all of them. */
export async function readCallerLimits(
  { gateway }: ApiContext,
  key: Pick<Key, 'id' | 'policy' | 'memberId'>,
  account: Account,
) {
  const { storage } = gateway
  const { memberId: member } = key
  const found = member === undefined ? undefined : await storage.organisations.findMember(member)
  const stateOf = await readLimitStates(storage, [
    `key:${key.id}`,
    `account:${account.id}`,
    ...(found === undefined ? [] : [`member:${found.id}` as const]),
  ])
  const at = gateway.now()
  const { creditsPerYuan, limits, timezone } = gateway.catalogue().settings
  const options = { creditsPerYuan, monthStart: gateway.monthOf(at, timezone).from }
  return {
    key: viewLimits(stateOf(`key:${key.id}`), key.policy ?? limits, at),
    member:
      found === undefined
        ? null
        : {
            ...viewLimits(stateOf(`member:${found.id}`), found.policy, at),
            ...viewMonth(found, options),
            id: found.id,
          },
    account: viewLimits(stateOf(`account:${account.id}`), account.policy, at),
  }
}
