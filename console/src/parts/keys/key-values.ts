/** Converts a key between form values and request bodies; field names match, so that errors are shown beside them. */
import type { KeyBody } from '../../api/keys.ts'
import type { Policy } from '../limits/use-policy-words.ts'
import { type PolicyValues, policyBodyOf, policyValuesOf } from '../limits/policy-values.ts'
import { dayOf, dayStart } from '../values/zoned-days.ts'

/** The fields of a key that the form reads, from either route. */
interface KeyRead {
  readonly name: string
  readonly member: string | null
  readonly group: string | null
  readonly models: readonly string[]
  readonly ip_allow: readonly string[]
  readonly expires_at: string | null
  readonly policy: Policy | null
}

/** A type, not an interface: the form library requires an index signature. */
export type KeyValues = {
  readonly name: string
  /** In an organisation: the member who owns the key; empty: the organisation itself. */
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

/** `key`: the key that is changed; an expiry that was not changed keeps its exact moment. */
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
