import * as z from 'zod'
import { readMemberUsage } from '../../../../management/organisations/member-usage.ts'
import { defineRoute, type RouteContext } from '../../define-route.ts'
import { onlyMember } from '../../own-keys.ts'
import { refuseFields } from '../../requests/request-fields.ts'
import { instantText, isoTime } from '../../answers/wire-values.ts'
import { usageSumsShape } from '../customer/usage.ts'
import { ONE, organisationParams, TAG } from './shapes.ts'
import type { ApiContext, Api } from '../../api-context.ts'

type MemberUsageContext = RouteContext & Pick<ApiContext, 'catalogue' | 'monthOf'>

/** Usage by member. */
export function memberUsageRoutes(app: Api, context: MemberUsageContext): void {
  defineRoute(app, context, {
    method: 'GET',
    path: `${ONE}/usage`,
    access: 'organisation',
    for: 'member',
    tag: TAG,
    summary: 'Sum what each member used',
    description:
      'By the member whose keys were used; `member` is null for the organisation’s own keys. Members see themselves, admins and owners everyone.',
    params: organisationParams,
    query: z.strictObject({
      from: instantText.optional().meta({ description: 'Absent: the beginning of the calendar month.' }),
      to: instantText.optional().meta({ description: 'The last moment; absent: now.' }),
    }),
    data: z.strictObject({
      from: isoTime,
      to: isoTime,
      members: z.array(usageSumsShape.extend({ member: z.string().nullable() })),
      totals: usageSumsShape,
    }),
    handle: async ({ caller, query }) => {
      const { timezone } = context.catalogue().settings
      const to = query.to ?? context.now()
      const from = query.from ?? context.monthOf(to, timezone).from
      const answer = await readMemberUsage(context.storage, {
        organisation: caller.account.id,
        member: onlyMember(caller),
        from,
        until: to + 1,
        timezone,
      })
      if (answer.kind === 'refused')
        throw refuseFields([{ in: 'query', path: answer.path, message: answer.message }])
      return {
        from: new Date(from).toISOString(),
        to: new Date(to).toISOString(),
        members: answer.members.map(({ member, sums }) => ({ member, ...sums })),
        totals: answer.totals,
      }
    },
  })
}
