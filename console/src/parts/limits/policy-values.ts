/** Limits as forms hold them, and as the gateway takes them. */
import { type Dimension, dimensionOf } from './dimensions.ts'
import type { Policy } from './use-policy-words.ts'

/** A type, not an interface: forms hold records. */
export type PolicyValues = {
  /** Empty: any number at once. */
  readonly concurrency: number | string
  readonly windows: {
    readonly dimension: Dimension
    readonly limit: number | string
    /** As the list of periods holds them. */
    readonly seconds: string
  }[]
}

/** What the fields of limits need of a form, whatever else it holds. */
export interface PolicyForm {
  getInputProps(path: string): object
  insertListItem(path: string, item: object): void
  removeListItem(path: string, index: number): void
}

export function policyValuesOf(policy: Policy | null): PolicyValues {
  return {
    concurrency: policy?.concurrency ?? '',
    windows: (policy?.windows ?? []).flatMap(({ dimension, limit, seconds }) => {
      const known = dimensionOf(dimension)
      return known === undefined ? [] : [{ dimension: known, limit, seconds: String(seconds) }]
    }),
  }
}

export function policyBodyOf({ concurrency, windows }: PolicyValues) {
  return {
    ...(concurrency === '' ? {} : { concurrency: Number(concurrency) }),
    windows: windows.map(({ dimension, limit, seconds }) => ({
      dimension,
      limit: Number(limit),
      seconds: Number(seconds),
    })),
  }
}
