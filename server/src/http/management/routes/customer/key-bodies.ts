/** Bodies of requests about keys: described in the document, checked by the gateway file's own readers. */
import { say } from '../../../../core/sentences/say.ts'
import { issue, sentenceOf } from '../../requests/request-fields.ts'
import * as z from 'zod'
import { memberId } from '../../../../core/ids.ts'
import { isJsonObject, type JsonValue } from '../../../../core/json.ts'
import { DIMENSIONS } from '../../../../core/limits/policy.ts'
import { type KeyForm, readKeyForm } from '../../../../management/keys/key-form.ts'
import type { ApiContext } from '../../api-context.ts'

const windowLimit = z.strictObject({
  dimension: z.enum(DIMENSIONS),
  limit: z.number().min(0),
  seconds: z.number().int().min(1),
})
export const policyShape = z.strictObject({
  concurrency: z.number().int().min(1).optional(),
  windows: z.array(windowLimit).optional(),
})

const keyMembers = z.strictObject({
  name: z.string().min(1).max(100),
  status: z.enum(['enabled', 'disabled']).optional(),
  expires_at: z
    .union([z.string(), z.number().int()])
    .nullable()
    .optional()
    .meta({ description: 'A date, an ISO 8601 time with its zone, or epoch milliseconds; null: never.' }),
  group: z.string().nullable().optional(),
  models: z.array(z.string()).optional().meta({ description: 'Allow list; empty: every model.' }),
  ip_allow: z.array(z.string()).optional().meta({ description: 'CIDR ranges; empty: every address.' }),
  policy: policyShape.nullable().optional().meta({ description: 'null: the platform’s default.' }),
})

const newKeyMembers = keyMembers.extend({
  member: z.string().nullable().optional().meta({
    description:
      'For organisations: the member whose key it is. Admins and owners may name anyone, and null or nothing for the organisation’s own; a member’s keys are always their own.',
  }),
})

/**
 * A body with the document's schema that the gateway file's readers check: reports all mistakes, each with its path.
 */
export function keyBody({ catalogue }: Pick<ApiContext, 'catalogue'>, purpose: 'new' | 'change') {
  const members = purpose === 'new' ? keyMembers : keyMembers.partial()
  return z
    .unknown()
    .transform((value, context): KeyForm => {
      // The body was parsed as JSON.
      const result = readKeyForm((value ?? null) as JsonValue, catalogue(), purpose)
      if (result.kind === 'form') return result.form
      for (const { path, message } of result.mistakes) {
        context.addIssue({ code: 'custom', path: path === '' ? [] : [path], ...issue(message) })
      }
      return z.NEVER
    })
    .meta({ ...z.toJSONSchema(members, { io: 'input' }) })
}

/** The same with the member it will belong to, which gateway files do not have. */
export function newKeyBody(api: Pick<ApiContext, 'catalogue'>) {
  const form = keyBody(api, 'new')
  return z
    .unknown()
    .transform((value, context) => {
      const { member, ...rest } = isJsonObject(value) ? value : { member: undefined }
      if (member !== undefined && member !== null && typeof member !== 'string') {
        context.addIssue({ code: 'custom', path: ['member'], ...issue(say('must-be-text')) })
      }
      const read = form.safeParse(isJsonObject(value) ? rest : value)
      for (const mistake of read.error?.issues ?? [])
        context.addIssue({ code: 'custom', path: [...mistake.path], ...issue(sentenceOf(mistake)) })
      if (!read.success) return z.NEVER
      return { form: read.data, member: typeof member === 'string' ? memberId(member) : undefined }
    })
    .meta({ ...z.toJSONSchema(newKeyMembers, { io: 'input' }) })
}
