/** Verification requests, and recomputing the ledger's balances. */
import { say } from '../../../../core/sentences/say.ts'
import * as z from 'zod'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { decideVerification, viewVerification } from '../../../../management/accounts/verification.ts'
import type { VerificationRequest } from '../../../../storage/stores/customers.ts'
import type { LedgerDifference } from '../../../../storage/stores/records.ts'
import { definePage, defineRawRoute, defineRoute, type RouteContext } from '../../define-route.ts'
import { DOCUMENT_ANSWER, sendDocument } from '../../answers/send-document.ts'
import { isoTime, pageQuery, nextCursor } from '../../answers/wire-values.ts'
import { actorOf, present } from './admin-route.ts'
import type { ApiContext, Api } from '../../api-context.ts'

export type OperationsContext = RouteContext & Pick<ApiContext, 'blobs'>

const PATH = '/api/v1/admin/verifications'
const TAG = 'Admin: verification'

const verificationShape = z.strictObject({
  id: z.string(),
  account_id: z.string(),
  kind: z.enum(['personal', 'enterprise']),
  status: z.enum(['pending', 'approved', 'rejected', 'withdrawn']),
  submitted_at: isoTime,
  decided_at: isoTime.nullable(),
  decided_by: z.string().nullable(),
  reason: z.string().nullable(),
  statement: z.record(z.string(), z.string()).meta({ description: 'What the person stated.' }),
  documents: z.array(z.strictObject({ name: z.string(), media_type: z.string(), bytes: z.number().int() })),
})
const idParams = z.object({ id: z.string().min(1).max(128) })
const documentParams = idParams.extend({ number: z.coerce.number().int().min(1).max(100) })

export function adminOperationRoutes(app: Api, context: OperationsContext): void {
  verificationRoutes(app, context)
  bookRoutes(app, context)
}

function verificationRoutes(app: Api, context: OperationsContext): void {
  listRoute(app, context)
  readRoute(app, context)
  documentRoute(app, context)
  decideRoute(app, context)
}

function listRoute(app: Api, context: OperationsContext): void {
  const { storage } = context
  definePage(app, context, {
    method: 'GET',
    path: PATH,
    access: 'admin',
    tag: TAG,
    summary: 'List verification requests, newest first',
    query: z.strictObject({
      status: z.enum(['pending', 'approved', 'rejected', 'withdrawn']).optional(),
      ...pageQuery({ rowsDefault: 50, rowsMax: 200 }),
    }),
    row: verificationShape,
    handle: async ({ query: { status, limit, cursor } }) => {
      const requests = await storage.customers.verifications.list({
        limit,
        after: cursor,
        ...(status === undefined ? {} : { status }),
      })
      return {
        rows: requests.map(viewForAdmin),
        next: nextCursor(requests, limit),
      }
    },
  })
}

function readRoute(app: Api, context: OperationsContext): void {
  const { storage } = context
  defineRoute(app, context, {
    method: 'GET',
    path: `${PATH}/:id`,
    access: 'admin',
    tag: TAG,
    summary: 'Read a verification request',
    params: idParams,
    data: verificationShape,
    handle: async ({ params }) =>
      viewForAdmin(present(await storage.customers.verifications.find(params.id))),
  })
}

function documentRoute(app: Api, context: OperationsContext): void {
  const { storage } = context
  defineRawRoute(app, context, {
    method: 'GET',
    path: `${PATH}/:id/documents/:number`,
    access: 'admin',
    tag: TAG,
    summary: 'Read a document of a request',
    description:
      'The bytes as they were sent, to be saved as a file. `number` counts from 1 in the order the request shows. Every view is in the audit log.',
    params: documentParams,
    answer: DOCUMENT_ANSWER,
    handle: async ({ params: { id, number }, caller, request, reply }) => {
      const found = present(await storage.customers.verifications.find(id))
      const document = present(found.documents[number - 1])
      const actor = actorOf(context, { caller, request })
      const changes = [{ field: `verification ${id}: document ${number}`, from: null, to: 'looked at' }]
      const act = { at: actor.at, actor, action: 'verification.look', subject: found.accountId, changes }
      await storage.audit.record(act)
      return sendDocument(context, document, { reply, method: request.method })
    },
  })
}

function decideRoute(app: Api, context: OperationsContext): void {
  const { storage } = context
  defineRoute(app, context, {
    method: 'POST',
    path: `${PATH}/:id/decide`,
    access: 'admin',
    tag: TAG,
    summary: 'Approve or reject a verification request',
    description: 'An approval takes effect with the next call anywhere.',
    params: idParams,
    body: z.strictObject({
      verdict: z.enum(['approved', 'rejected']),
      reason: z.string().min(1).max(1_000).optional(),
    }),
    errors: [40900],
    data: verificationShape,
    handle: async ({ params: { id }, body, caller, request }) => {
      const actor = actorOf(context, { caller, request })
      present(await storage.customers.verifications.find(id))
      const verdict = {
        id,
        verdict: body.verdict,
        by: caller.account.id,
        reason: body.reason,
        at: actor.at,
      }
      const decided = await storage.audit.act(async (stores) => {
        const done = await decideVerification(stores, verdict)
        if (done === undefined) return { value: undefined, act: undefined }
        const changes = [
          { field: `verification ${id}`, from: 'pending', to: body.verdict },
          { field: 'reason', from: null, to: body.reason ?? null },
        ]
        const act = { at: actor.at, actor, action: 'verification.decide', subject: done.accountId, changes }
        return { value: done, act }
      })
      if (decided === undefined) throw new GatewayError(40900, { message: say('request-decided') })
      // Read again after the commit.
      return viewForAdmin(present(await storage.customers.verifications.find(id)))
    },
  })
}

function viewForAdmin(request: VerificationRequest): z.output<typeof verificationShape> {
  return verificationShape.parse({
    ...viewVerification(request),
    account_id: request.accountId,
    decided_by: request.decidedBy ?? null,
    statement: request.statement,
  })
}

function bookRoutes(app: Api, context: OperationsContext): void {
  const { ledger } = context.storage
  let running: Promise<readonly LedgerDifference[]> | undefined
  defineRoute(app, context, {
    method: 'POST',
    path: '/api/v1/admin/verify',
    access: 'admin',
    tag: 'Admin: books',
    summary: 'Recompute every balance, hold, charge and audit entry',
    description: 'What `sluice verify` does. Requests made while it runs get the same answer.',
    data: z.strictObject({
      whole: z.boolean(),
      differences: z.array(
        z.strictObject({ subject: z.string(), what: z.string(), expected: z.string(), found: z.string() }),
      ),
    }),
    handle: async () => {
      running ??= ledger.verify().finally(() => {
        running = undefined
      })
      const differences = await running
      return { whole: differences.length === 0, differences: differences.map((one) => ({ ...one })) }
    },
  })
}
