/** Volcengine's visual API: one address for all actions, which are named in the query; signed with a pair of keys. */
import { below } from '../provider.ts'

export const AUTH = { kind: 'volc-hmac', service: 'cv', region: 'cn-north-1' } as const

export type Action = 'CVSync2AsyncSubmitTask' | 'CVSync2AsyncGetResult'

export function actionUrl(baseUrl: string, action: Action): string {
  return below(baseUrl, `/?Action=${action}&Version=2022-08-31`)
}
