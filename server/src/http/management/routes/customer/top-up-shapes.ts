/** Answers about top-ups, the same for their owners and for admins. */
import * as z from 'zod'
import { decimalText, isoTime } from '../../answers/wire-values.ts'

const worth = { credits: decimalText.nullable(), yuan: decimalText.nullable() }

export const topUpShape = z.strictObject({
  id: z.string(),
  status: z
    .enum([
      'open',
      'expired',
      'failed',
      'review',
      'paid',
      'partly-refunded',
      'refunded',
      'disputed',
      'charged-back',
    ])
    .meta({ description: '`review`: the payment differs from the request, so nothing was booked.' }),
  price: decimalText,
  currency: z.string(),
  package: z.string().nullable(),
  ...worth,
  booked: z.strictObject(worth).meta({ description: 'What the account has of it now.' }),
  checkout_url: z.string().nullable().meta({ description: 'The page to pay at, while it is open.' }),
  expires_at: isoTime.nullable(),
  created_at: isoTime,
  paid_at: isoTime.nullable(),
})

export const packageShape = z.strictObject({
  code: z.string(),
  name: z.string(),
  price: decimalText,
  ...worth,
  status: z.enum(['enabled', 'disabled']),
})
