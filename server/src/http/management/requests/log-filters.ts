/** The filters of the call log, the same for a customer's log and an admin's. */
import * as z from 'zod'
import { keyId } from '../../../core/ids.ts'
import { creditsOfText } from '../../../management/money/amounts.ts'
import { amountInput } from './amount-input.ts'
import { instantText } from '../answers/wire-values.ts'
import type { LogFilter } from '../../../storage/stores/logs.ts'

export const logFilters = {
  from: instantText.optional(),
  to: instantText.optional(),
  model: z.string().max(512).optional(),
  key_id: z.string().max(128).optional(),
  request_id: z.string().max(128).optional(),
  app_id: z.string().max(256).optional(),
  custom_id: z.string().max(256).optional(),
  user: z.string().max(512).optional(),
  status: z.coerce.number().int().optional().meta({ description: 'An HTTP status.' }),
  failed: z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: 'Calls that failed, or those that did not.' }),
  cost_from: amountInput.optional().meta({ description: 'Credits deducted, at least.' }),
  cost_to: amountInput.optional().meta({ description: 'Credits deducted, at most.' }),
} as const

const anyFilters = z.object(logFilters)

export function logFilterOf(query: z.output<typeof anyFilters>): LogFilter {
  return {
    ...(query.from === undefined ? {} : { from: query.from }),
    ...(query.to === undefined ? {} : { to: query.to }),
    ...(query.model === undefined ? {} : { model: query.model }),
    ...(query.key_id === undefined ? {} : { keyId: keyId(query.key_id) }),
    ...(query.request_id === undefined ? {} : { requestId: query.request_id }),
    ...(query.app_id === undefined ? {} : { appId: query.app_id }),
    ...(query.custom_id === undefined ? {} : { customId: query.custom_id }),
    ...(query.user === undefined ? {} : { user: query.user }),
    ...(query.status === undefined ? {} : { status: query.status }),
    ...(query.failed === undefined ? {} : { failed: query.failed === 'true' }),
    ...(query.cost_from === undefined ? {} : { deductedMin: creditsOfText(query.cost_from) }),
    ...(query.cost_to === undefined ? {} : { deductedMax: creditsOfText(query.cost_to) }),
  }
}
