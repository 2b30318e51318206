/** Requests and answers about organisations, and how an outcome becomes a refusal. */
import { say } from '../../../../core/sentences/say.ts'
import { issue } from '../../requests/request-fields.ts'
import * as z from 'zod'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import type { JsonValue } from '../../../../core/json.ts'
import { DIMENSIONS, type Policy } from '../../../../core/limits/policy.ts'
import { creditsOfYuan } from '../../../../management/money/amounts.ts'
import { readPolicyForm } from '../../../../management/keys/policy-form.ts'
import type { MemberChange, MemberPatch } from '../../../../storage/stores/organisations.ts'
import { MEMBER_ROLES } from '../../../../storage/stores/organisations.ts'
import { amountInput } from '../../requests/amount-input.ts'
import type { SessionCaller } from '../../access/caller.ts'
import { currencyCode, decimalText, isoTime } from '../../answers/wire-values.ts'
import type { ApiContext } from '../../api-context.ts'

export type ShapesContext = Pick<ApiContext, 'catalogue' | 'monthOf' | 'now'>

export const TAG = 'Organisations'
export const PATH = '/api/v1/user/user/organisations'
export const ONE = `${PATH}/:organisation`

const id = z.string().min(1).max(128)
export const organisationParams = z.object({ organisation: id })
export const memberParams = organisationParams.extend({ member: id })
export const invitationParams = organisationParams.extend({ invitation: id })

/**
 * It is part of mails to people outside, so it must not contain addresses or characters that change the direction of
 * text.
 */
export const nameInput = z
  .string()
  .trim()
  .max(100)
  .regex(/^[^\p{Cc}]*\S[^\p{Cc}]*$/u, say('no-control-or-empty').text)
  .refine((name) => !/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/.test(name), issue(say('no-reversing-marks')))
  .refine((name) => !/:\/\/|www\.|@/i.test(name), issue(say('must-not-contain-an-address')))

export const roleInput = z.enum(MEMBER_ROLES)

const policyMembers = z.strictObject({
  concurrency: z.number().int().min(1).optional(),
  windows: z
    .array(
      z.strictObject({
        dimension: z.enum(DIMENSIONS),
        limit: z.number().min(0),
        seconds: z.number().int().min(1),
      }),
    )
    .optional(),
})
const policyJson = z.toJSONSchema(policyMembers.nullable(), { io: 'input' })

/** Limits in the form of the gateway file, checked by its readers. */
const policyInput = z
  .unknown()
  .transform((value, context): Policy => {
    // The body was parsed as JSON.
    const result = readPolicyForm((value ?? null) as JsonValue)
    if (result.kind === 'policy') return result.policy
    for (const { path, message } of result.mistakes)
      context.addIssue({ code: 'custom', path: path === '' ? [] : [path], ...issue(message) })
    return z.NEVER
  })
  .meta({ anyOf: policyJson.anyOf, description: 'null: no limits.' })

/** The terms of a membership. */
export const termsInput = {
  monthly_cap_yuan: amountInput.optional().meta({
    description: 'What calls may take from the organisation’s Credits in a calendar month. 0: no cap.',
  }),
  policy: policyInput.optional(),
} as const

export function termsOf(
  context: Pick<ApiContext, 'catalogue'>,
  body: { readonly monthly_cap_yuan?: string | undefined; readonly policy?: Policy | undefined },
): Pick<MemberPatch, 'monthlyCap' | 'policy'> {
  const { creditsPerUnit } = context.catalogue().settings
  return {
    ...(body.monthly_cap_yuan !== undefined && {
      monthlyCap: creditsOfYuan(body.monthly_cap_yuan, creditsPerUnit),
    }),
    ...(body.policy !== undefined && { policy: body.policy }),
  }
}

const policyShape = z.strictObject({
  concurrency: z.number().int().optional(),
  windows: z
    .array(z.strictObject({ dimension: z.enum(DIMENSIONS), limit: z.number(), seconds: z.number().int() }))
    .optional(),
})

export const membershipShape = z.strictObject({
  id: z.string(),
  role: roleInput,
  status: z.enum(['active', 'suspended']),
  currency: currencyCode,
  monthly_cap_yuan: decimalText,
  month_spent_yuan: decimalText,
  month_held_yuan: decimalText.meta({ description: 'Of running calls, at most.' }),
  policy: policyShape,
  joined_at: isoTime,
})

export const organisationShape = z.strictObject({
  id: z.string().meta({ description: 'What `Gw-Organisation` names.' }),
  name: z.string(),
  created_at: isoTime,
  member: membershipShape.meta({ description: 'What you are in it.' }),
})

export const memberShape = membershipShape.extend({
  account_id: z.string(),
  email: z.string().nullable(),
  phone: z.string().nullable(),
  name: z.string().nullable(),
  account_status: z.enum(['active', 'suspended']).meta({ description: 'Of the person’s own account.' }),
})

export const invitationShape = z.strictObject({
  id: z.string(),
  email: z.string(),
  role: roleInput,
  currency: currencyCode,
  monthly_cap_yuan: decimalText,
  policy: policyShape,
  invited_by: z.string(),
  created_at: isoTime,
  expires_at: isoTime,
  status: z.enum(['pending', 'accepted', 'revoked', 'expired']),
})

/** Views have the types of their sources; the policy's form is JSON that matches the schema. */
export function shown<Shape extends z.ZodType>(shape: Shape, view: object): z.output<Shape> {
  return shape.parse(view)
}

export function monthOptions(context: ShapesContext) {
  const { currency, creditsPerUnit, timezone } = context.catalogue().settings
  return { currency, creditsPerUnit, monthStart: context.monthOf(context.now(), timezone).from }
}

/** Only the person themselves may commit to something, not an admin who impersonates them. */
export function requireThemself({ session }: SessionCaller): void {
  if (session.impersonator === undefined) return
  throw new GatewayError(40304, { message: say('owner-only') })
}

/** Throws the refusal of a change of a member. */
export function checkChange(change: MemberChange): void {
  switch (change) {
    case 'done':
      return
    case 'none':
      throw new GatewayError(40403)
    case 'last-owner':
      throw new GatewayError(40900, {
        message: say('organisation-needs-owner'),
      })
    case 'other-role':
      throw new GatewayError(40304, { message: say('needs-owner') })
  }
}
