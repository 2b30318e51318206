/** Redemption codes, created and voided by an admin. */
import { say } from '../../../../../core/sentences/say.ts'
import * as z from 'zod'
import { GatewayError } from '../../../../../core/errors/gateway-error.ts'
import { CODES_PER_BATCH_MAX } from '../../../../../core/top-up/code-text.ts'
import { creditsOfText, creditsOfYuan } from '../../../../../management/money/amounts.ts'
import {
  type BatchRequest,
  codesCsv,
  createCodes,
  findWorthMistake,
  type MadeBatch,
  type MadeCodes,
  viewBatch,
  viewCode,
  voidBatch,
  voidCode,
} from '../../../../../management/top-up/redemption-codes.ts'
import { amountInput } from '../../../requests/amount-input.ts'
import { definePage, defineRawRoute, defineRoute, type RouteContext } from '../../../define-route.ts'
import { issue, refuseFields } from '../../../requests/request-fields.ts'
import { decimalText, instantText, isoTime, pageQuery, nextCursor } from '../../../answers/wire-values.ts'
import { actorOf, present, valueOf } from '../admin-route.ts'
import type { ApiContext, Api } from '../../../api-context.ts'

type CodesContext = RouteContext & Pick<ApiContext, 'catalogue'>

const TAG = 'Admin: redemption codes'
const PATH = '/api/v1/admin/code-batches'
const idParams = z.object({ id: z.string().min(1).max(128) })
const count = z.number().int().min(0)

const batchShape = z.strictObject({
  id: z.string(),
  credits: decimalText.nullable(),
  yuan: decimalText.nullable(),
  count,
  redeemed: count,
  voided: count,
  expires_at: isoTime.nullable(),
  note: z.string().nullable(),
  created_at: isoTime,
  created_by: z.string(),
  voided_at: isoTime.nullable(),
})

const codeShape = z.strictObject({
  id: z.string(),
  batch_id: z.string(),
  hint: z.string().meta({ description: 'The first of its four groups.' }),
  status: z.enum(['open', 'redeemed', 'void']),
  redeemed_by: z.string().nullable(),
  redeemed_at: isoTime.nullable(),
})

const batchBody = z
  .strictObject({
    credits: amountInput.optional(),
    yuan: amountInput.optional(),
    count: z.number().int().min(1).max(CODES_PER_BATCH_MAX),
    expires_at: instantText.optional(),
    note: z.string().max(500).optional(),
  })
  .refine(
    (body) => (body.credits === undefined) !== (body.yuan === undefined),
    issue(say('either-credits-or-yuan')),
  )

export function adminCodeRoutes(app: Api, context: CodesContext): void {
  makingRoutes(app, context)
  readingRoutes(app, context)
  voidingRoutes(app, context)
}

function makingRoutes(app: Api, context: CodesContext): void {
  const rate = () => context.catalogue().settings.creditsPerUnit
  defineRoute(app, context, {
    method: 'POST',
    path: PATH,
    access: 'admin',
    showsSecret: true,
    tag: TAG,
    summary: 'Make redemption codes',
    description: `At most ${CODES_PER_BATCH_MAX} at once, all with the same value. The codes are shown this once: repeated under its Idempotency-Key the request creates no others and is 409, with the batch that was created.`,
    body: batchBody,
    status: 201,
    idempotency: 'optional',
    errors: [40004, 40900],
    data: z.strictObject({ batch: batchShape, codes: z.array(z.string()) }),
    handle: async ({ body, caller, request, idempotencyKey }) => {
      const actor = actorOf(context, { caller, request })
      const asked = requestOf(context, body, idempotencyKey)
      const made = madeOf(await createCodes(context.storage, asked, actor))
      return { batch: viewBatch(made.batch, rate()), codes: made.codes }
    },
  })

  defineRawRoute(app, context, {
    method: 'POST',
    path: `${PATH}/csv`,
    access: 'admin',
    showsSecret: true,
    tag: TAG,
    summary: 'Make redemption codes, as a CSV file',
    description: 'The same, with one code a line. The header `x-batch-id` names the batch.',
    body: batchBody,
    status: 201,
    idempotency: 'optional',
    errors: [40004, 40900],
    answer: { contentType: 'text/csv; charset=utf-8', schema: z.string() },
    handle: async ({ body, caller, request, reply, idempotencyKey }) => {
      const actor = actorOf(context, { caller, request })
      const asked = requestOf(context, body, idempotencyKey)
      const made = madeOf(await createCodes(context.storage, asked, actor))
      reply.header('content-disposition', `attachment; filename="${made.batch.id}.csv"`)
      reply.header('x-batch-id', made.batch.id)
      return codesCsv(made, rate())
    },
  })
}

function madeOf(outcome: MadeCodes): MadeBatch {
  switch (outcome.kind) {
    case 'made':
      return outcome.made
    case 'made-before':
      throw new GatewayError(40900, {
        message: say('codes-made-before', { batchId: outcome.batchId }),
        details: { batch_id: outcome.batchId },
      })
    case 'other-request':
      throw new GatewayError(40004)
  }
}

function requestOf(
  context: Pick<ApiContext, 'catalogue' | 'now'>,
  body: z.output<typeof batchBody>,
  idempotencyKey: string | undefined,
): BatchRequest {
  const { credits, yuan } = body
  const { creditsPerUnit } = context.catalogue().settings
  const amount = yuan === undefined ? creditsOfText(credits ?? '0') : creditsOfYuan(yuan, creditsPerUnit)
  const pool = yuan === undefined ? 'credits' : 'balance'
  const mistake = findWorthMistake(amount)
  if (mistake !== undefined) {
    const path = yuan === undefined ? 'credits' : 'yuan'
    throw refuseFields([{ in: 'body', path, message: mistake }])
  }
  if (body.expires_at !== undefined && body.expires_at <= context.now())
    throw refuseFields([{ in: 'body', path: 'expires_at', message: say('must-lie-in-the-future') }])
  return { pool, amount, count: body.count, expiresAt: body.expires_at, note: body.note, idempotencyKey }
}

function readingRoutes(app: Api, context: CodesContext): void {
  const { codes } = context.storage.topUps
  const rate = () => context.catalogue().settings.creditsPerUnit
  definePage(app, context, {
    method: 'GET',
    path: PATH,
    access: 'admin',
    tag: TAG,
    summary: 'List batches of codes, newest first',
    query: z.strictObject(pageQuery({ rowsDefault: 50, rowsMax: 200 })),
    row: batchShape,
    handle: async ({ query: { limit, cursor: after } }) => {
      const batches = await codes.listBatches({ limit, after })
      return {
        rows: batches.map((batch) => viewBatch(batch, rate())),
        next: nextCursor(batches, limit),
      }
    },
  })

  defineRoute(app, context, {
    method: 'GET',
    path: `${PATH}/:id`,
    access: 'admin',
    tag: TAG,
    summary: 'Read a batch of codes',
    params: idParams,
    data: batchShape,
    handle: async ({ params }) => viewBatch(present(await codes.findBatch(params.id)), rate()),
  })

  definePage(app, context, {
    method: 'GET',
    path: `${PATH}/:id/codes`,
    access: 'admin',
    tag: TAG,
    summary: 'List the codes of a batch, with who redeemed them',
    description: 'Of each code only the first group is known.',
    params: idParams,
    query: z.strictObject(pageQuery({ rowsDefault: 100, rowsMax: 1_000 })),
    row: codeShape,
    handle: async ({ params, query: { limit, cursor: after } }) => {
      const batch = present(await codes.findBatch(params.id))
      const rows = await codes.listCodes(batch.id, { limit, after })
      return { rows: rows.map(viewCode), next: nextCursor(rows, limit) }
    },
  })
}

function voidingRoutes(app: Api, context: CodesContext): void {
  const { storage } = context
  defineRoute(app, context, {
    method: 'POST',
    path: `${PATH}/:id/void`,
    access: 'admin',
    tag: TAG,
    summary: 'Void the open codes of a batch',
    description: 'Redeemed codes stay redeemed.',
    params: idParams,
    data: z.strictObject({ voided: count.meta({ description: 'How many codes were voided.' }) }),
    handle: async ({ params, caller, request }) =>
      valueOf(await voidBatch(storage, params.id, actorOf(context, { caller, request }))),
  })

  defineRoute(app, context, {
    method: 'POST',
    path: '/api/v1/admin/codes/void',
    access: 'admin',
    tag: TAG,
    summary: 'Void one code',
    description: 'Named by its id or by the code itself, which stays out of addresses and logs here.',
    body: z.strictObject({ code: z.string().min(1).max(128) }),
    errors: [40900],
    data: codeShape,
    handle: async ({ body, caller, request }) =>
      viewCode(valueOf(await voidCode(storage, body.code, actorOf(context, { caller, request })))),
  })
}
