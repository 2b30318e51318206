/** Limits in a request: the gateway file's form and checks, reporting all mistakes at once. */
import { say, withoutLine } from '../../core/sentences/say.ts'
import type { Report } from '../../config/gateway-file/file-node.ts'
import { jsonNode } from '../../config/gateway-file/json-node.ts'
import { policy } from '../../config/gateway-file/values.ts'
import type { JsonValue } from '../../core/json.ts'
import { type Policy, UNLIMITED } from '../../core/limits/policy.ts'
import type { FieldMistake } from './keys.ts'

export type PolicyFormResult =
  | { readonly kind: 'policy'; readonly policy: Policy }
  | { readonly kind: 'mistakes'; readonly mistakes: readonly FieldMistake[] }

/** Maximum number of windows, because every call counts in all of them. */
const WINDOWS_MAX = 100

/** null: no limits. Paths are relative to the value. */
export function readPolicyForm(value: JsonValue): PolicyFormResult {
  if (value === null) return { kind: 'policy', policy: UNLIMITED }
  const mistakes: FieldMistake[] = []
  const report: Report = ({ path }, message) => {
    mistakes.push({ path, message: withoutLine(message) })
  }
  const read = policy(jsonNode(value), report)
  if ((read?.windows.length ?? 0) > WINDOWS_MAX)
    mistakes.push({ path: 'windows', message: say('at-most-elements', { most: WINDOWS_MAX }) })
  return read === undefined || mistakes.length > 0
    ? { kind: 'mistakes', mistakes }
    : { kind: 'policy', policy: read }
}
