/** The secrets of a credential as form values; the gateway never returns them. */
import type { VendorKind } from '../../api/operator/catalogue.ts'

export type SecretValues = {
  readonly secret: string
  readonly fields: { readonly [name: string]: string }
}

export function emptySecrets(kind: VendorKind | undefined): SecretValues {
  return { secret: '', fields: Object.fromEntries((kind?.fields ?? []).map(({ name }) => [name, ''])) }
}

/** Empty fields are not sent: the stored value is kept. */
export function secretBodyOf({ secret, fields }: SecretValues, kind: VendorKind | undefined) {
  const given = (kind?.fields ?? []).flatMap(({ name }) => {
    const value = fields[name]?.trim() ?? ''
    return value === '' ? [] : [[name, value] as const]
  })
  return {
    ...(secret.trim() === '' ? {} : { secret: secret.trim() }),
    ...(given.length === 0 ? {} : { fields: Object.fromEntries(given) }),
  }
}

/** The missing fields of a new credential, by their path in the form; empty: none. */
export function missingOf(
  { secret, fields }: SecretValues,
  kind: VendorKind,
  choices: readonly string[],
): readonly string[] {
  const isEmpty = (name: string): boolean => (fields[name] ?? '').trim() === ''
  const noSecret = secret.trim() === ''
  const needsSecret =
    kind.secret.need === 'needed' || (choices.length > 0 && choices.every((name) => isEmpty(name)))
  return [
    ...(noSecret && needsSecret ? ['secret'] : []),
    ...kind.fields
      .filter(({ name, optional }) => !optional && isEmpty(name))
      .map(({ name }) => `fields.${name}`),
  ]
}
