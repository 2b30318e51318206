/** Values that occur in many requests and answers of the management API, each in its one form. */
import { say } from '../../../core/sentences/say.ts'
import { issue } from '../requests/request-fields.ts'
import * as z from 'zod'

/** In a request: epoch milliseconds, as text or as a number, or an ISO 8601 time → epoch ms. */
export const instantText = z
  .union([z.string().max(40), z.number().int().min(0).max(8_640_000_000_000_000)])
  .transform((written, context) => {
    const text = String(written)
    const at = /^\d{1,15}$/.test(text) ? Number(text) : Date.parse(text)
    if (Number.isNaN(at)) context.addIssue({ code: 'custom', ...issue(say('must-be-a-time')) })
    return at
  })
  .meta({ description: 'Epoch milliseconds or an ISO 8601 time.' })

/** In an answer: ISO 8601, UTC. */
export const isoTime = z.iso.datetime()

/** Decimal text; never a JSON number, which has no decimals of its own. */
export const decimalText = z
  .string()
  .regex(/^-?\d+(\.\d+)?$/)
  .meta({ description: 'A decimal number as text.' })

/** Currency of the accompanying amounts that are not Credits: `settings.currency`. */
export const currencyCode = z
  .string()
  .meta({ description: 'ISO 4217, of the amounts beside it that are no Credits.' })

export interface PageBounds {
  readonly rowsDefault: number
  readonly rowsMax: number
}

/** `limit` and `cursor` of a paged list. */
export function pageQuery({ rowsDefault, rowsMax }: PageBounds) {
  return {
    limit: z.coerce.number().int().min(1).max(rowsMax).default(rowsDefault),
    cursor: z.string().max(512).optional(),
  } as const
}

/** The cursor of the page after these rows; undefined: there are fewer than the page size, so they are the last. */
export function nextCursor<Id extends string>(
  rows: readonly { readonly id: Id }[],
  limit: number,
): Id | undefined {
  return rows.length < limit ? undefined : rows.at(-1)?.id
}
