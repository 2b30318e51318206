import { say } from '../../../../core/sentences/say.ts'
import * as z from 'zod'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { creditsOfText, creditsOfYuan, creditsText, yuanText } from '../../../../management/money/amounts.ts'
import type { AccountId } from '../../../../core/ids.ts'
import { microCredits } from '../../../../core/money.ts'
import { viewOrganisation } from '../../../../management/organisations/member-view.ts'
import { createOrganisation, fundOrganisation } from '../../../../management/organisations/organisations.ts'
import type { CloseOutcome, FundingOutcome, Organisation } from '../../../../storage/stores/organisations.ts'
import { amountInput } from '../../requests/amount-input.ts'
import type { MemberCaller } from '../../access/caller.ts'
import { definePage, defineRoute, type RouteContext } from '../../define-route.ts'
import { pageOf } from '../../answers/page-of.ts'
import { issue, refuseFields } from '../../requests/request-fields.ts'
import { currencyCode, decimalText, pageQuery } from '../../answers/wire-values.ts'
import {
  checkChange,
  monthOptions,
  nameInput,
  ONE,
  organisationParams,
  organisationShape,
  PATH,
  requireThemself,
  shown,
  TAG,
  type ShapesContext,
} from './shapes.ts'
import type { Account } from '../../../../storage/stores/accounts.ts'
import type { ApiContext, Api } from '../../api-context.ts'

type OwnOrganisationsContext = RouteContext & ShapesContext

/** A person's organisations: created, listed, renamed, funded, left, closed. */
export function ownOrganisationRoutes(app: Api, context: OwnOrganisationsContext): void {
  creating(app, context)
  listing(app, context)
  reading(app, context)
  renaming(app, context)
  closing(app, context)
  leaving(app, context)
  funding(app, context)
}

function creating(app: Api, context: OwnOrganisationsContext): void {
  defineRoute(app, context, {
    method: 'POST',
    path: PATH,
    access: 'session',
    for: 'person',
    tag: TAG,
    summary: 'Make an organisation and become its owner',
    description:
      'It has Credits, a balance, keys, limits and logs of its own. Name it in `Gw-Organisation` to act for it on the other routes.',
    status: 201,
    body: z.strictObject({ name: nameInput }),
    errors: [40900, 42908],
    data: organisationShape,
    handle: async ({ caller, body }) => {
      requireThemself(caller)
      const request = { person: caller.person.id, name: body.name }
      const creation = await createOrganisation(context.storage, request, context.now())
      switch (creation.kind) {
        case 'too-many':
          throw new GatewayError(42908, { retryAfterMs: creation.retryAfterMs })
        case 'too-many-owned':
          throw new GatewayError(40900, {
            message: say('too-many-organisations', { most: creation.most }),
          })
        case 'created': {
          const member = await context.storage.organisations.findMember(creation.member)
          if (member === undefined) throw new Error('a member vanished right after it was made')
          const { organisation } = creation
          return shown(organisationShape, viewOrganisation({ organisation, member }, monthOptions(context)))
        }
      }
    },
  })
}

function listing(app: Api, context: OwnOrganisationsContext): void {
  const { storage } = context
  definePage(app, context, {
    method: 'GET',
    path: PATH,
    access: 'session',
    for: 'person',
    tag: TAG,
    summary: 'List the organisations you are in, oldest membership first',
    query: z.strictObject(pageQuery({ rowsDefault: 100, rowsMax: 1_000 })),
    row: organisationShape,
    handle: async ({ caller, query }) => {
      const options = monthOptions(context)
      const all = await storage.organisations.listOf(caller.person.id)
      const { rows, next } = pageOf(all, query, ({ organisation }) => organisation.id)
      return { rows: rows.map((one) => shown(organisationShape, viewOrganisation(one, options))), next }
    },
  })
}

function reading(app: Api, context: OwnOrganisationsContext): void {
  defineRoute(app, context, {
    method: 'GET',
    path: ONE,
    access: 'organisation',
    for: 'member',
    tag: TAG,
    summary: 'Read an organisation and what you are in it',
    params: organisationParams,
    data: organisationShape,
    handle: async ({ caller }) => viewOf(context, caller),
  })
}

function renaming(app: Api, context: OwnOrganisationsContext): void {
  const { storage } = context
  defineRoute(app, context, {
    method: 'PATCH',
    path: ONE,
    access: 'organisation',
    for: 'admin',
    tag: TAG,
    summary: 'Rename an organisation',
    params: organisationParams,
    body: z.strictObject({ name: nameInput }),
    data: organisationShape,
    handle: async ({ caller, body }) => {
      if (!(await storage.organisations.rename(caller.account.id, body.name))) throw new GatewayError(40403)
      return viewOf(context, caller)
    },
  })
}

function closing(app: Api, context: OwnOrganisationsContext): void {
  const shape = z.strictObject({
    id: z.string(),
    closed: z.literal(true),
    credits: decimalText.meta({ description: 'What was given up.' }),
    currency: currencyCode,
    balance: decimalText,
  })
  defineRoute(app, context, {
    method: 'DELETE',
    path: ONE,
    access: 'organisation',
    for: 'owner',
    tag: TAG,
    summary: 'Close an organisation for good',
    description:
      'Not while calls run. Its keys and own credentials are deleted, its members leave, its subscription ends; ledger and log stay. What is left of Credits and balance is given up, so `forfeit=true` is needed where something is.',
    params: organisationParams,
    query: z.strictObject({
      forfeit: z
        .enum(['true', 'false'])
        .default('false')
        .meta({ description: '`true`: give up what is left of Credits and balance.' }),
    }),
    errors: [40900],
    data: shape,
    handle: async ({ caller, query }) => {
      const { id } = caller.account
      const forfeit = query.forfeit === 'true' ? 'allow' : 'refuse'
      const outcome = await context.storage.organisations.close(id, { at: context.now(), forfeit })
      return viewClosed(context, id, outcome)
    },
  })
}

function viewClosed(context: Pick<ApiContext, 'catalogue'>, id: AccountId, outcome: CloseOutcome) {
  const { currency, creditsPerUnit } = context.catalogue().settings
  switch (outcome.kind) {
    case 'closed': {
      const credits = creditsText(outcome.credits)
      const balance = yuanText(outcome.balance, creditsPerUnit)
      return { id, closed: true as const, credits, currency, balance }
    }
    case 'money-left': {
      const credits = creditsText(outcome.credits)
      const balance = yuanText(outcome.balance, creditsPerUnit)
      throw new GatewayError(40900, {
        message: say('funds-left', { credits, balance, currency }),
      })
    }
    case 'calls-run':
      throw new GatewayError(40900, { message: say('calls-running', { calls: outcome.calls }) })
    case 'none':
      throw new GatewayError(40403)
  }
}

function leaving(app: Api, context: OwnOrganisationsContext): void {
  const { storage } = context
  defineRoute(app, context, {
    method: 'POST',
    path: `${ONE}/leave`,
    access: 'organisation',
    for: 'member',
    tag: TAG,
    summary: 'Leave an organisation',
    description: 'Your keys of it are deleted. The last owner cannot leave.',
    params: organisationParams,
    errors: [40900],
    data: z.strictObject({ left: z.literal(true) }),
    handle: async ({ caller }) => {
      checkChange(await storage.organisations.removeMember(caller.member.id, { keys: 'delete' }))
      return { left: true as const }
    },
  })
}

const fundBody = z
  .strictObject({ credits: amountInput.optional(), yuan: amountInput.optional() })
  .refine(
    (body) => (body.yuan === undefined) !== (body.credits === undefined),
    issue(say('either-credits-or-yuan')),
  )
const moneyShape = z.strictObject({ credits: decimalText, currency: currencyCode, balance: decimalText })
const fundedShape = z.strictObject({
  id: z.string().meta({ description: 'The transaction of the ledger.' }),
  repeated: z.boolean().meta({ description: 'true: done before under this Idempotency-Key.' }),
  organisation: moneyShape.meta({ description: 'What it has now.' }),
  account: moneyShape.meta({ description: 'What you have now.' }),
})

function funding(app: Api, context: OwnOrganisationsContext): void {
  defineRoute(app, context, {
    method: 'POST',
    path: `${ONE}/fund`,
    access: 'organisation',
    for: 'owner',
    tag: TAG,
    summary: 'Move your own money into an organisation',
    description: 'Credits become its Credits, yuan of the balance its balance. There is no way back.',
    params: organisationParams,
    idempotency: 'required',
    errors: [40004, 40900],
    body: fundBody,
    data: fundedShape,
    handle: async ({ caller, body, idempotencyKey }) => {
      const { currency, creditsPerUnit } = context.catalogue().settings
      const pool = body.yuan === undefined ? 'credits' : 'balance'
      const amount =
        body.yuan === undefined
          ? creditsOfText(body.credits ?? '0')
          : creditsOfYuan(body.yuan, creditsPerUnit)
      if (amount <= 0n) {
        const path = body.yuan === undefined ? 'credits' : 'yuan'
        throw refuseFields([{ in: 'body', path, message: say('must-be-above-0') }])
      }
      const outcome = await fundOrganisation(context.storage, {
        organisation: caller.account.id,
        person: caller.person.id,
        pool,
        amount,
        idempotencyKey,
        at: context.now(),
      })
      if (outcome.kind !== 'funded') throw refuseFunding(outcome, { pool, currency, creditsPerUnit })
      return {
        id: outcome.transactionId,
        repeated: outcome.repeated,
        organisation: await moneyOf(context, caller.account),
        account: await moneyOf(context, caller.person),
      }
    },
  })
}

function refuseFunding(
  outcome: Exclude<FundingOutcome, { kind: 'funded' }>,
  {
    pool,
    currency,
    creditsPerUnit,
  }: {
    readonly pool: 'credits' | 'balance'
    readonly currency: string
    readonly creditsPerUnit: string
  },
): GatewayError {
  switch (outcome.kind) {
    case 'too-little': {
      const { available } = outcome
      const message =
        pool === 'credits'
          ? say('too-few-credits', { credits: creditsText(available) })
          : say('too-little-balance', { balance: yuanText(available, creditsPerUnit), currency })
      return new GatewayError(40900, { message })
    }
    case 'none':
      return new GatewayError(40304, { message: say('needs-owner') })
    case 'other-request':
      return new GatewayError(40004)
  }
}

async function moneyOf(
  context: Pick<ApiContext, 'catalogue' | 'storage'>,
  known: Account,
): Promise<z.output<typeof moneyShape>> {
  const account = (await context.storage.accounts.find(known.id)) ?? known
  const { currency, creditsPerUnit } = context.catalogue().settings
  return {
    currency,
    credits: creditsText(microCredits(account.credits - account.held)),
    balance: yuanText(account.balance, creditsPerUnit),
  }
}

async function viewOf(
  context: OwnOrganisationsContext,
  { account, member }: MemberCaller,
): Promise<z.output<typeof organisationShape>> {
  const organisation = await requireOrganisation(context, account)
  return shown(organisationShape, viewOrganisation({ organisation, member }, monthOptions(context)))
}

export async function requireOrganisation(
  context: Pick<ApiContext, 'storage'>,
  { id }: Pick<Account, 'id'>,
): Promise<Organisation> {
  const organisation = await context.storage.organisations.find(id)
  if (organisation === undefined) throw new GatewayError(40403)
  return organisation
}
