/** A key as its form holds it, and as the gateway takes it: the names are the same, so that faults find their fields. */
import type { KeyBody } from '../../api/keys.ts'
import type { Policy } from '../limits/use-policy-words.ts'
import { type PolicyValues, policyBodyOf, policyValuesOf } from '../limits/policy-values.ts'
import { dayOf, dayStart } from '../values/zoned-days.ts'

/** What the form reads of a key, whoever asked for it. */
interface KeyRead {
  readonly name: string
  readonly member: string | null
  readonly group: string | null
  readonly models: readonly string[]
  readonly ip_allow: readonly string[]
  readonly expires_at: string | null
  readonly policy: Policy | null
}

/** A type, not an interface: forms hold records. */
export type KeyValues = {
  readonly name: string
  /** Of an organisation: whose key it is; empty: the organisation's own. */
  readonly member: string
  /** Empty: none. */
  readonly group: string
  readonly models: string[]
  readonly ip_allow: string[]
  /** A day; empty: never. */
  readonly expires_at: string
  readonly limits: 'default' | 'own'
  readonly policy: PolicyValues
}

export function valuesOf(key: KeyRead | undefined, timeZone: string | undefined): KeyValues {
  const { expires_at: end = null, policy = null } = key ?? {}
  return {
    name: key?.name ?? '',
    member: key?.member ?? '',
    group: key?.group ?? '',
    models: [...(key?.models ?? [])],
    ip_allow: [...(key?.ip_allow ?? [])],
    expires_at: end === null ? '' : dayOf(end, timeZone),
    limits: policy === null ? 'default' : 'own',
    policy: policyValuesOf(policy),
  }
}

/** `key`: the one that is changed; what was not touched stays as it is, to the millisecond. */
export function bodyOf(values: KeyValues, key: KeyRead | undefined, timeZone: string | undefined): KeyBody {
  const { name, group, models, ip_allow, expires_at: day, limits, policy } = values
  const untouched = key !== undefined && day === valuesOf(key, timeZone).expires_at
  return {
    name,
    group: group === '' ? null : group,
    models,
    ip_allow,
    expires_at: untouched
      ? key.expires_at
      : day === ''
        ? null
        : new Date(dayStart(day, timeZone)).toISOString(),
    policy: limits === 'default' ? null : policyBodyOf(policy),
  }
}
