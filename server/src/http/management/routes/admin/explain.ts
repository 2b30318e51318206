import { keyId } from '../../../../core/ids.ts'
import { defineRoute, type RouteContext } from '../../define-route.ts'
import { explanationShape, viewExplanation } from '../../answers/explain-view.ts'
import { explainBody, questionOf } from '../../requests/explain-body.ts'
import { present } from './admin-route.ts'
import type { ApiContext, Api } from '../../api-context.ts'

export type AdminExplainContext = RouteContext & Pick<ApiContext, 'explain'>

/** What would happen to a call of any account, for operators. */
export function adminExplainRoutes(app: Api, context: AdminExplainContext): void {
  const { accounts, keys } = context.storage
  defineRoute(app, context, {
    method: 'POST',
    path: '/api/v1/admin/explain',
    access: 'admin',
    tag: 'Admin: logs and statistics',
    summary: 'Explain what would happen to any account’s call, without making it',
    description: 'With any account’s API key; no upstream is called and nothing is charged.',
    reads: true,
    errors: [40403],
    body: explainBody.required({ key_id: true }),
    data: explanationShape,
    async handle({ body }) {
      const key = present(await keys.find(keyId(body.key_id)))
      const account = present(await accounts.find(key.accountId))
      return viewExplanation(await context.explain({ key, account, ...questionOf(body) }), 'operator')
    },
  })
}
