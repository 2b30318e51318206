import { say } from '../../../../core/sentences/say.ts'
import * as z from 'zod'
import { ENTRY_COLUMNS, EXPORT_FORMATS, exportRows } from '../../../../management/logs/export-rows.ts'
import { monthPeriod } from '../../../../core/calendar.ts'
import { eachEntry, readStatement, viewEntry } from '../../../../management/money/statements.ts'
import { openEnd } from '../../../../management/money/usage.ts'
import { defineRawRoute, defineRoute, type RouteContext } from '../../define-route.ts'
import { readCursor, writeCursor } from '../../requests/page-cursor.ts'
import { refuseFields } from '../../requests/request-fields.ts'
import { exportAnswer } from '../../answers/send-export.ts'
import { currencyCode, decimalText, instantText, isoTime, pageQuery } from '../../answers/wire-values.ts'
import type { ApiContext, Api } from '../../api-context.ts'

type StatementsContext = RouteContext & Pick<ApiContext, 'catalogue' | 'exports' | 'monthOf'>

const TAG = 'Money'
const PATH = '/api/v1/user/user/statements'

const period = {
  month: z
    .string()
    .regex(/^\d{4}-(0[1-9]|1[0-2])$/, say('must-be-a-month').text)
    .optional()
    .meta({ description: 'A calendar month of the platform, in place of from and to.' }),
  from: instantText.optional(),
  to: instantText.optional().meta({
    description: 'The last moment; absent: the end of the half-hour that is running.',
  }),
} as const
const periodQuery = z.object(period)

const sums = z.strictObject({ credits: decimalText, balance: decimalText })
const statementShape = z.strictObject({
  from: isoTime,
  to: isoTime,
  currency: currencyCode,
  opening: sums,
  closing: sums,
  entries: z.array(
    z.strictObject({
      id: z.string(),
      at: isoTime,
      kind: z.string(),
      credits: decimalText,
      balance: decimalText,
      reference: z.string().nullable(),
    }),
  ),
  next_cursor: z.string().nullable(),
})

/** Statements: opening balance, movements, closing balance (docs/reference/contract.md#D-money-13). */
export function statementRoutes(app: Api, context: StatementsContext): void {
  reading(app, context)
  exporting(app, context)
}

function reading(app: Api, context: StatementsContext): void {
  const { storage } = context
  defineRoute(app, context, {
    method: 'GET',
    path: PATH,
    access: 'session',
    for: 'admin',
    tag: TAG,
    summary: 'Read a statement: opening, entries, closing',
    description:
      'Credits include those that running calls hold. opening + all entries = closing; entries come in pages, oldest first.',
    query: z.strictObject({ ...pageQuery({ rowsDefault: 100, rowsMax: 500 }), ...period }),
    data: statementShape,
    handle: async ({ caller, query }) => {
      const { currency, creditsPerUnit } = context.catalogue().settings
      const asked = periodOf(context, query)
      const view = await readStatement(storage, caller.account.id, { ...asked, creditsPerUnit })
      const { limit, cursor } = query
      const page = await storage.customers.statements.entries(caller.account.id, {
        ...asked,
        limit,
        after: cursor === undefined ? undefined : readCursor(PATH, cursor),
      })
      return {
        ...view,
        currency,
        entries: page.entries.map((entry) => viewEntry(entry, creditsPerUnit)),
        next_cursor: page.next === undefined ? null : writeCursor(PATH, page.next),
      }
    },
  })
}

function exporting(app: Api, context: StatementsContext): void {
  const { storage } = context
  defineRawRoute(app, context, {
    method: 'GET',
    path: `${PATH}/export`,
    access: 'session',
    for: 'admin',
    tag: TAG,
    summary: 'Export a statement as CSV or NDJSON',
    description: 'Streamed, oldest first, each entry with what was there after it.',
    query: z.strictObject({ ...period, format: z.enum(EXPORT_FORMATS).default('csv') }),
    errors: [42901],
    answer: exportAnswer('csv'),
    handle: ({ caller, query, request, reply }) => {
      const { creditsPerUnit } = context.catalogue().settings
      const asked = { ...periodOf(context, query), creditsPerUnit }
      const lines = exportRows(
        asRows(eachEntry(storage, caller.account.id, asked)),
        query.format,
        ENTRY_COLUMNS,
      )
      const { method } = request
      return context.exports.send(lines, {
        name: 'statement',
        format: query.format,
        method,
        accountId: caller.account.id,
        reply,
      })
    },
  })
}

async function* asRows<Row extends object>(
  rows: AsyncIterable<Row>,
): AsyncGenerator<{ readonly [Name in keyof Row]: Row[Name] }> {
  for await (const row of rows) yield { ...row }
}

/** The period of a statement; by default the current month. */
function periodOf(
  context: StatementsContext,
  query: z.output<typeof periodQuery>,
): { readonly from: number; readonly until: number } {
  const { timezone } = context.catalogue().settings
  if (query.month !== undefined) {
    if (query.from !== undefined || query.to !== undefined) {
      throw refuseFields([{ in: 'query', path: 'month', message: say('month-or-period') }])
    }
    const [year, month] = query.month.split('-').map(Number)
    return monthPeriod({ year: year ?? 0, month: month ?? 1 }, timezone)
  }
  const now = context.now()
  const to = query.to ?? openEnd(now) - 1
  const from = query.from ?? context.monthOf(Math.min(to, now), timezone).from
  if (from > to) throw refuseFields([{ in: 'query', path: 'to', message: say('must-not-lie-before-from') }])
  return { from, until: to + 1 }
}
