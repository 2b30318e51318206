/** Accounts, as seen and changed by an admin (docs/reference/contract.md#D-accounts-116). */
import { say } from '../../../../../core/sentences/say.ts'
import * as z from 'zod'
import { type Catalogue } from '../../../../../core/catalogue.ts'
import { GatewayError } from '../../../../../core/errors/gateway-error.ts'
import { accountId } from '../../../../../core/ids.ts'
import { microCredits } from '../../../../../core/money.ts'
import {
  activateAccount,
  type AdminGrant,
  grantByAdmin,
  impersonate,
  suspendAccount,
} from '../../../../../management/admin/account-acts.ts'
import {
  addAccount,
  changeAccount,
  type EditedAccount,
  type EditOutcome,
} from '../../../../../management/admin/edit-account.ts'
import { readSignedAmount } from '../../../../../management/admin/signed-amount.ts'
import { viewAccount } from '../../../../../management/accounts/accounts.ts'
import { creditsOfText, creditsOfYuan, creditsText } from '../../../../../management/money/amounts.ts'
import { readSubscription } from '../../../../../management/money/subscriptions.ts'
import { accountForm } from '../../../../../management/gateway-file/forms.ts'
import { readFormerUntil } from '../../../../../management/keys/keys.ts'
import { timeOrderedId } from '../../../../../management/new-id.ts'
import { definePage, defineRoute, type RouteContext } from '../../../define-route.ts'
import { refuseFields } from '../../../requests/request-fields.ts'
import { lookCookies } from '../../../access/session-cookie.ts'
import { decimalText, isoTime, pageQuery, nextCursor } from '../../../answers/wire-values.ts'
import { accountOf, accountParams, actorOf, managementOf, present, valueOf } from '../admin-route.ts'
import { accountKeyRoutes, viewKeyRow } from './account-keys.ts'
import { accountBody, grantBody, reasonBody, statedReasonBody } from '../bodies.ts'
import { accountDetailShape, accountRowShape, newKeysShape } from '../shapes.ts'
import type { Account } from '../../../../../storage/stores/accounts.ts'
import type { ApiContext, Api } from '../../../api-context.ts'

export type AccountsContext = RouteContext & Pick<ApiContext, 'catalogue' | 'monthOf' | 'publicUrl'>

const TAG = 'Admin: accounts'
const PATH = '/api/v1/admin/accounts'
const listQuery = z.strictObject({
  ...pageQuery({ rowsDefault: 50, rowsMax: 200 }),
  search: z.string().min(1).max(320).optional(),
  kind: z.enum(['person', 'organisation']).optional(),
  role: z.enum(['admin', 'user']).optional(),
  status: z.enum(['active', 'suspended']).optional(),
})

const changedShape = accountDetailShape.extend({ new_keys: newKeysShape })

export function adminAccountRoutes(app: Api, context: AccountsContext): void {
  readRoutes(app, context)
  writeRoutes(app, context)
  moneyRoutes(app, context)
  signedOutRoutes(app, context)
}

function readRoutes(app: Api, context: AccountsContext): void {
  const { storage } = context
  definePage(app, context, {
    method: 'GET',
    path: PATH,
    access: 'admin',
    tag: TAG,
    summary: 'List and search accounts',
    description:
      '`search` looks for part of a name, an e-mail address or a phone number, or for the id of an account or of a key.',
    query: listQuery,
    row: accountRowShape,
    handle: async ({ query }) => {
      const { limit, cursor: after } = query
      const accounts = await storage.accounts.list({
        limit,
        after,
        ...(query.search === undefined ? {} : { search: query.search }),
        ...(query.kind === undefined ? {} : { kind: query.kind }),
        ...(query.role === undefined ? {} : { role: query.role }),
        ...(query.status === undefined ? {} : { status: query.status }),
      })
      return {
        rows: await viewRows(context, accounts),
        next: nextCursor(accounts, limit),
      }
    },
  })

  defineRoute(app, context, {
    method: 'GET',
    path: `${PATH}/:id`,
    access: 'admin',
    tag: TAG,
    summary: 'Read an account',
    params: accountParams,
    data: accountDetailShape,
    handle: async ({ params }) => viewDetail(context, await accountOf(context, params.id)),
  })
}

function writeRoutes(app: Api, context: AccountsContext): void {
  addRoute(app, context)
  changeRoute(app, context)
  accountKeyRoutes(app, context)
}

function addRoute(app: Api, context: AccountsContext): void {
  defineRoute(app, context, {
    method: 'POST',
    path: PATH,
    access: 'admin',
    showsSecret: true,
    tag: TAG,
    summary: 'Add an account',
    description: 'Credits and balance are the opening amounts.',
    body: accountBody,
    status: 201,
    errors: [40900],
    data: changedShape,
    handle: async ({ body, caller, request }) => {
      const actor = actorOf(context, { caller, request })
      return viewChanged(context, editedOf(await addAccount(managementOf(context), body, actor)))
    },
  })
}

function changeRoute(app: Api, context: AccountsContext): void {
  defineRoute(app, context, {
    method: 'PATCH',
    path: `${PATH}/:id`,
    access: 'admin',
    showsSecret: true,
    tag: TAG,
    summary: 'Change an account',
    description:
      'Every field of the gateway file’s accounts; absent ones stay as they are. A change of Credits or balance is one ' +
      'transaction of the ledger, made once under an Idempotency-Key. Keys and own credentials are matched by name and ' +
      'vendor.',
    params: accountParams,
    body: accountBody,
    idempotency: 'optional',
    errors: [40004, 40900],
    data: changedShape,
    handle: async ({ params, body, caller, request, idempotencyKey }) => {
      const { id } = await accountOf(context, params.id)
      const actor = actorOf(context, { caller, request })
      const change = { body, idempotencyKey }
      const edited = editedOf(await changeAccount(managementOf(context), id, change, actor))
      return viewChanged(context, edited)
    },
  })
}

function moneyRoutes(app: Api, context: AccountsContext): void {
  defineRoute(app, context, {
    method: 'POST',
    path: `${PATH}/:id/grants`,
    access: 'admin',
    tag: TAG,
    summary: 'Give Credits or balance',
    description:
      'One transaction of the ledger. With an Idempotency-Key it is booked once, however often it is sent; a key used for ' +
      'another grant is 422/40004. A negative amount takes back and never leaves less than zero.',
    params: accountParams,
    body: grantBody,
    status: 201,
    idempotency: 'optional',
    errors: [40004, 40900],
    data: z.strictObject({
      transaction_id: z.string(),
      repeated: z.boolean(),
      credits: decimalText,
      account: accountRowShape,
    }),
    handle: async ({ params, body, caller, request, idempotencyKey }) => {
      const { id } = await accountOf(context, params.id)
      const grant = readGrant(body, context.catalogue())
      const act = { grant, idempotencyKey: idempotencyKey ?? timeOrderedId(context.now()) }
      const outcome = await grantByAdmin(
        managementOf(context),
        id,
        act,
        actorOf(context, { caller, request }),
      )
      if (outcome.kind === 'other-request') throw new GatewayError(40004)
      const { transactionId, repeated } = valueOf(outcome)
      const account = await accountOf(context, id)
      return {
        transaction_id: transactionId,
        repeated,
        credits: creditsText(microCredits(account.credits - account.held)),
        account: await viewRow(context, account),
      }
    },
  })
}

function signedOutRoutes(app: Api, context: AccountsContext): void {
  suspendRoute(app, context)
  activateRoute(app, context)
  impersonateRoute(app, context)
}

function suspendRoute(app: Api, context: AccountsContext): void {
  defineRoute(app, context, {
    method: 'POST',
    path: `${PATH}/:id/suspend`,
    access: 'admin',
    tag: TAG,
    summary: 'Suspend an account',
    description: 'Its keys and sessions are refused from the next request on.',
    params: accountParams,
    body: reasonBody,
    errors: [40900],
    data: accountRowShape,
    handle: async ({ params, body, caller, request }) => {
      const { id } = await accountOf(context, params.id)
      const actor = actorOf(context, { caller, request })
      return viewRow(context, valueOf(await suspendAccount(managementOf(context), id, body?.reason, actor)))
    },
  })
}

function activateRoute(app: Api, context: AccountsContext): void {
  defineRoute(app, context, {
    method: 'POST',
    path: `${PATH}/:id/activate`,
    access: 'admin',
    tag: TAG,
    summary: 'End a suspension',
    params: accountParams,
    data: accountRowShape,
    handle: async ({ params, caller, request }) => {
      const { id } = await accountOf(context, params.id)
      const actor = actorOf(context, { caller, request })
      return viewRow(context, valueOf(await activateAccount(managementOf(context), id, actor)))
    },
  })
}

function impersonateRoute(app: Api, context: AccountsContext): void {
  defineRoute(app, context, {
    method: 'POST',
    path: `${PATH}/:id/impersonate`,
    access: 'admin',
    showsSecret: true,
    tag: TAG,
    summary: 'Open a session in a customer’s name',
    description:
      'For an hour at most, audited with its reason. Admins and organisations are not impersonated. In a browser the session replaces the admin’s own, which is restored by signing out.',
    params: accountParams,
    body: statedReasonBody,
    status: 201,
    errors: [40900],
    data: z.strictObject({
      token: z.string().meta({ description: 'Authorization: Bearer <token>. Shown once.' }),
      session_id: z.string(),
      account_id: z.string(),
      expires_at: isoTime,
    }),
    handle: async ({ params, body, caller, request, reply }) => {
      const { id } = await accountOf(context, params.id)
      const actor = actorOf(context, { caller, request })
      const userAgent = (request.headers['user-agent'] ?? '').slice(0, 512)
      const opened = valueOf(
        await impersonate(managementOf(context), id, { reason: body.reason, userAgent }, actor),
      )
      const { session, token } = opened
      const cookies = lookCookies(request.headers, opened, { publicUrl: context.publicUrl, at: actor.at })
      if (cookies !== undefined) reply.header('set-cookie', cookies)
      return {
        token: token.unwrap(),
        session_id: session.id,
        account_id: session.accountId,
        expires_at: new Date(session.endsAt).toISOString(),
      }
    },
  })
}

function editedOf(outcome: EditOutcome): EditedAccount {
  if (outcome.kind === 'other-request') throw new GatewayError(40004)
  return valueOf(outcome)
}

function readGrant(
  body: { readonly credits?: unknown; readonly balance?: unknown; readonly reason?: string | undefined },
  { settings }: Catalogue,
): AdminGrant {
  const pool = body.credits === undefined ? 'balance' : 'credits'
  const read = readSignedAmount(body.credits ?? body.balance)
  if (read.kind === 'mistake') throw refuseFields([{ in: 'body', path: pool, message: read.message }])
  const amount =
    pool === 'credits' ? creditsOfText(read.value) : creditsOfYuan(read.value, settings.creditsPerUnit)
  if (amount === 0n) throw refuseFields([{ in: 'body', path: pool, message: say('must-not-be-0') }])
  return { pool, amount, reason: body.reason }
}

type AccountRow = z.output<typeof accountRowShape>

async function viewRows(context: AccountsContext, accounts: readonly Account[]): Promise<AccountRow[]> {
  const { currency, creditsPerUnit, timezone } = context.catalogue().settings
  const at = context.now()
  const monthStart = context.monthOf(at, timezone).from
  const names = await context.storage.accounts.readNames(accounts.map(({ id }) => id))
  return accounts.map((account) =>
    accountRowShape.parse({
      ...viewAccount(account, { currency, creditsPerUnit, at, monthStart }),
      name: names.get(account.id) ?? null,
      created_at: new Date(account.createdAt).toISOString(),
    }),
  )
}

async function viewRow(context: AccountsContext, account: Account): Promise<AccountRow> {
  return present((await viewRows(context, [account]))[0])
}

async function viewDetail(
  context: AccountsContext,
  account: Account,
): Promise<z.output<typeof accountDetailShape>> {
  const { storage } = context
  const keys = await storage.keys.list(account.id)
  const ends = await readFormerUntil(storage, keys, context.now())
  const { quota } = await readSubscription(storage, account, context.now())
  const form = accountForm(account, context.catalogue().settings.creditsPerUnit)
  return accountDetailShape.parse({
    ...(await viewRow(context, account)),
    auto_exchange: form['auto_exchange'],
    limits: form['limits'],
    quota,
    byok: await storage.accounts.listByok(account.id),
    keys: keys.map((key) => viewKeyRow(key, ends.get(key.id))),
  })
}

async function viewChanged(
  context: AccountsContext,
  { id, newKeys }: EditedAccount,
): Promise<z.output<typeof changedShape>> {
  return {
    ...(await viewDetail(context, await accountOf(context, accountId(id)))),
    new_keys: newKeys.map(({ name, plaintext }) => ({ name, key: plaintext.unwrap() })),
  }
}
