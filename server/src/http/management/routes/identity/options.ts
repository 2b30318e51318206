import * as z from 'zod'
import { REGISTRATIONS } from '../../../../config/environment-variables.ts'
import { mayRegisterBy } from '../../../../management/identity/may-register.ts'
import { defineRoute, type RouteContext } from '../../define-route.ts'
import { PREFIX } from './answers.ts'
import type { Api } from '../../api-context.ts'

/** What a sign-in page needs to know before the user is signed in. */
export function optionsRoute(app: Api, context: RouteContext): void {
  const { identity } = context
  defineRoute(app, context, {
    method: 'GET',
    path: `${PREFIX}/sign-in/options`,
    access: 'anonymous',
    tag: 'Sign-in',
    summary: 'Read the ways to sign in and register',
    data: z.strictObject({
      registration: z.enum(REGISTRATIONS).meta({
        description:
          'Who may create an account: everyone, only people an organisation has invited (with that e-mail address), or nobody.',
      }),
      register_by: z
        .array(z.enum(['email', 'phone', 'service']))
        .meta({ description: 'The means of creating an account; empty: none.' }),
      admin_second_factor: z
        .enum(['optional', 'required'])
        .meta({ description: 'Whether administrators must have one before they may do anything else.' }),
      services: z.array(z.strictObject({ name: z.string(), label: z.string() })),
    }),
    handle: () => {
      const services = [...identity.services.values()].map(({ name, label }) => ({ name, label }))
      const byService = services.length > 0 && identity.registration !== 'closed'
      return {
        registration: identity.registration,
        register_by: [
          ...(['email', 'phone'] as const).filter((channel) => mayRegisterBy(identity, channel)),
          ...(byService ? (['service'] as const) : []),
        ],
        admin_second_factor: identity.adminsNeedFactor ? ('required' as const) : ('optional' as const),
        services,
      }
    },
  })
}
