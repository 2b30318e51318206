import { say } from '../../../../core/sentences/say.ts'
import * as z from 'zod'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { vendorCode } from '../../../../core/ids.ts'
import { Secret } from '../../../../core/secret.ts'
import { findOwnCredentialMistake } from '../../../../pipeline/instance/chains/own-credentials.ts'
import { defineRoute, type RouteContext } from '../../define-route.ts'
import { changeOwn } from '../../own-changes.ts'
import { issue, refuseFields } from '../../requests/request-fields.ts'
import type { ApiContext, Api } from '../../api-context.ts'

type ByokContext = RouteContext & Pick<ApiContext, 'catalogue'>

const TAG = 'Own credentials'
const PATH = '/api/v1/user/user/byok'

const SECRET_CHARACTERS_MAX = 16_384
const FIELDS_MAX = 20

const byokShape = z.strictObject({
  vendor: z.string(),
  vendor_name: z.string().nullable(),
  enabled: z.boolean(),
})
const byokParams = z.object({ vendor: z.string().min(1).max(128) })
const secretText = z.string().min(1).max(SECRET_CHARACTERS_MAX)
const putBody = z
  .strictObject({
    secret: secretText.optional(),
    fields: z
      .record(z.string().regex(/^[a-z][a-z0-9_]{0,63}$/), secretText)
      .refine(
        (fields) => Object.keys(fields).length <= FIELDS_MAX,
        issue(say('at-most-members', { most: FIELDS_MAX })),
      )
      .optional()
      .meta({ description: 'For vendors that sign: access_key and secret_key, …' }),
    enabled: z.boolean().default(true),
  })
  .refine(
    (body) => body.secret !== undefined || Object.keys(body.fields ?? {}).length > 0,
    issue(say('secret-or-fields')),
  )

/** Own upstream credentials: written, never read back (docs/reference/contract.md#1-74). */
export function byokRoutes(app: Api, context: ByokContext): void {
  listing(app, context)
  putting(app, context)
  switching(app, context)
  removing(app, context)
}

function listing(app: Api, context: ByokContext): void {
  const { storage } = context
  const vendorName = (code: string) => context.catalogue().vendors.get(vendorCode(code))?.name ?? null
  defineRoute(app, context, {
    method: 'GET',
    path: PATH,
    access: 'session',
    for: 'admin',
    tag: TAG,
    summary: 'List own credentials, without their secrets',
    data: z.array(byokShape),
    handle: async ({ caller }) => {
      const entries = await storage.accounts.listByok(caller.account.id)
      return entries.map(({ vendor, enabled }) => ({ vendor, vendor_name: vendorName(vendor), enabled }))
    },
  })
}

function putting(app: Api, context: ByokContext): void {
  const vendorName = (code: string) => context.catalogue().vendors.get(vendorCode(code))?.name ?? null
  defineRoute(app, context, {
    method: 'PUT',
    path: `${PATH}/:vendor`,
    access: 'session',
    for: 'admin',
    tag: TAG,
    summary: 'Put an own credential for a vendor',
    description: 'Kept encrypted. Calls over this vendor’s chains use it and are not charged.',
    params: byokParams,
    body: putBody,
    data: byokShape,
    handle: async ({ caller, params, body, request }) => {
      const vendor = vendorCode(params.vendor)
      if (vendorName(vendor) === null)
        throw refuseFields([
          {
            in: 'path',
            path: 'vendor',
            message: say('refers-to-unknown', { what: say('word-vendor'), name: vendor }),
          },
        ])
      const fields = Object.entries(body.fields ?? {}).map(([name, text]): [string, Secret] => [
        name,
        new Secret(text),
      ])
      const secret = body.secret === undefined ? undefined : new Secret(body.secret)
      const credential = { secret, fields: Object.fromEntries(fields) }
      const mistake = findOwnCredentialMistake(context.catalogue(), { vendor, credential })
      if (mistake !== undefined) {
        const { field: path, message } = mistake
        throw refuseFields([{ in: path === 'vendor' ? 'path' : 'body', path, message }])
      }
      await changeOwn(context, { caller, request }, async ({ accounts }) => {
        await accounts.putByok(caller.account.id, vendor, credential, { enabled: body.enabled })
        const changes = [
          { field: 'vendor', from: null, to: vendor },
          { field: 'credential', from: null, to: 'set' },
          { field: 'enabled', from: null, to: body.enabled },
        ]
        return { value: undefined, action: 'account.put-credential', changes }
      })
      return { vendor, vendor_name: vendorName(vendor), enabled: body.enabled }
    },
  })
}

function switching(app: Api, context: ByokContext): void {
  const vendorName = (code: string) => context.catalogue().vendors.get(vendorCode(code))?.name ?? null
  defineRoute(app, context, {
    method: 'PATCH',
    path: `${PATH}/:vendor`,
    access: 'session',
    for: 'admin',
    tag: TAG,
    summary: 'Switch an own credential on or off',
    params: byokParams,
    body: z.strictObject({ enabled: z.boolean() }),
    data: byokShape,
    handle: async ({ caller, params, body, request }) => {
      const vendor = vendorCode(params.vendor)
      const found = await changeOwn(context, { caller, request }, async ({ accounts }) => {
        const value = await accounts.switchByok(caller.account.id, vendor, body.enabled)
        const changes = [
          { field: 'vendor', from: null, to: vendor },
          { field: 'enabled', from: null, to: body.enabled },
        ]
        return { value, action: value ? 'account.switch-credential' : undefined, changes }
      })
      if (!found) throw new GatewayError(40403)
      return { vendor, vendor_name: vendorName(vendor), enabled: body.enabled }
    },
  })
}

function removing(app: Api, context: ByokContext): void {
  defineRoute(app, context, {
    method: 'DELETE',
    path: `${PATH}/:vendor`,
    access: 'session',
    for: 'admin',
    tag: TAG,
    summary: 'Remove an own credential',
    params: byokParams,
    data: z.strictObject({ vendor: z.string(), deleted: z.literal(true) }),
    handle: async ({ caller, params, request }) => {
      const vendor = vendorCode(params.vendor)
      const found = await changeOwn(context, { caller, request }, async ({ accounts }) => {
        const value = await accounts.removeByok(caller.account.id, vendor)
        const changes = [{ field: 'vendor', from: vendor, to: null }]
        return { value, action: value ? 'account.remove-credential' : undefined, changes }
      })
      if (!found) throw new GatewayError(40403)
      return { vendor, deleted: true as const }
    },
  })
}
