import { z } from 'zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { type AccountId, keyId } from '../../core/ids.ts'
import type { JsonValue } from '../../core/json.ts'
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
import { InvalidCursor } from '../../storage/invalid-cursor.ts'
import type { Account, Key } from '../../storage/storage.ts'
import type { Api, ApiContext } from '../api.ts'
import { definePage, defineRoute } from '../define-route.ts'
import { refuseFields } from '../request-fields.ts'
import { isoTime, pageQuery } from '../wire-values.ts'
import { answerUsage, usageQuery, usageShape } from './usage.ts'

const TAG = 'Keys'
const PATH = '/api/v1/user/user/keys'

/** Keys one account may have: a list of them is read whole. */
const KEYS_MAX = 1_000

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
export const callerLimitsShape = z.strictObject({ key: limitsShape, account: limitsShape })

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
    tag: TAG,
    summary: 'List keys, oldest first',
    caching: 'etag',
    query: z.strictObject(pageQuery({ rowsDefault: 100, rowsMax: 1_000 })),
    row: keyShape,
    handle: async ({ caller, query }) => {
      const keys = await listKeys(storage, caller.account.id)
      const begin = query.cursor === undefined ? 0 : keys.findIndex((key) => key.id === query.cursor) + 1
      if (query.cursor !== undefined && begin === 0) throw new InvalidCursor()
      const rows = keys.slice(begin, begin + query.limit)
      return {
        rows: rows.map(showKey),
        next: begin + rows.length < keys.length ? rows.at(-1)?.id : undefined,
      }
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
    tag: TAG,
    summary: 'Make a key',
    description: 'The plaintext stands in this answer and nowhere else.',
    status: 201,
    body: keyBody(context, 'new'),
    data: newKeyShape,
    errors: [40900],
    handle: async ({ caller, body }) => {
      if ((await listKeys(storage, caller.account.id)).length >= KEYS_MAX) {
        throw new GatewayError(40900, { message: `an account may have ${KEYS_MAX} keys: delete one first` })
      }
      const request = { ...NEW_KEY, ...body, name: body.name ?? '', accountId: caller.account.id }
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
    tag: TAG,
    summary: 'Read a key',
    caching: 'etag',
    params: keyParams,
    data: keyShape,
    handle: async ({ caller, params }) => showKey(await requireOwnKey(context, caller.account.id, params.id)),
  })
}

function changing(app: Api, context: ApiContext): void {
  const { storage } = context.gateway
  defineRoute(app, context, {
    method: 'PATCH',
    path: `${PATH}/:id`,
    access: 'session',
    tag: TAG,
    summary: 'Change, disable or enable a key',
    description: 'Seen by the next call, on every instance. Members that are absent stay as they are.',
    params: keyParams,
    body: keyBody(context, 'change'),
    data: keyShape,
    handle: async ({ caller, params, body }) => {
      const key = await requireOwnKey(context, caller.account.id, params.id)
      if (!(await storage.keys.patch(key.id, body))) throw new GatewayError(40403)
      return showKey(await requireOwnKey(context, caller.account.id, params.id))
    },
  })
}

function deleting(app: Api, context: ApiContext): void {
  const { storage } = context.gateway
  defineRoute(app, context, {
    method: 'DELETE',
    path: `${PATH}/:id`,
    access: 'session',
    tag: TAG,
    summary: 'Delete a key',
    description: 'Its next call is refused with 40101; its calls stay in the log.',
    params: keyParams,
    data: z.strictObject({ id: z.string(), deleted: z.literal(true) }),
    handle: async ({ caller, params }) => {
      const key = await requireOwnKey(context, caller.account.id, params.id)
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
      const key = await requireOwnKey(context, caller.account.id, params.id)
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
    tag: TAG,
    summary: 'Read what a key has used of its limits',
    caching: 'etag',
    params: keyParams,
    data: callerLimitsShape,
    handle: async ({ caller, params }) => {
      const key = await requireOwnKey(context, caller.account.id, params.id)
      return readCallerLimits(context, key, caller.account)
    },
  })
}

function summing(app: Api, context: ApiContext): void {
  defineRoute(app, context, {
    method: 'GET',
    path: `${PATH}/:id/usage`,
    access: 'session',
    tag: TAG,
    summary: 'Sum what a key used',
    caching: 'etag',
    params: keyParams,
    query: usageQuery,
    data: usageShape,
    handle: async ({ caller, params, query }) => {
      const key = await requireOwnKey(context, caller.account.id, params.id)
      return answerUsage(context, { ...query, key_id: key.id }, caller.account.id)
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

/** Another account's key is none. */
async function requireOwnKey({ gateway }: ApiContext, account: AccountId, id: string): Promise<KeyView> {
  const key = await gateway.storage.keys.find(keyId(id))
  if (key === undefined || key.accountId !== account) throw new GatewayError(40403)
  return viewKey(key)
}

export function showKey(key: KeyView): z.output<typeof keyShape> {
  return {
    ...(keyForm(key) as Omit<z.output<typeof keyShape>, 'id' | 'hint' | 'created_at'>),
    id: key.id,
    hint: key.hint,
    created_at: new Date(key.createdAt).toISOString(),
  }
}

/** The key's own windows and its account's: a call has to fit into both. */
export async function readCallerLimits(
  { gateway }: ApiContext,
  key: Pick<Key, 'id' | 'policy'>,
  account: Account,
) {
  const stateOf = await readLimitStates(gateway.storage, [`key:${key.id}`, `account:${account.id}`])
  const at = gateway.now()
  return {
    key: viewLimits(stateOf(`key:${key.id}`), key.policy ?? gateway.catalogue().settings.limits, at),
    account: viewLimits(stateOf(`account:${account.id}`), account.policy, at),
  }
}
