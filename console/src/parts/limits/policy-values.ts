/** Converts limits between form values and request bodies. */
import { type Dimension, dimensionOf } from './dimensions.ts'
import type { Policy } from './use-policy-words.ts'

/** A type, not an interface: the form library requires an index signature. */
export type PolicyValues = {
  /** Empty: unlimited. */
  readonly concurrency: number | string
  readonly windows: {
    readonly dimension: Dimension
    readonly limit: number | string
    /** The value of the list of periods. */
    readonly seconds: string
  }[]
}

/** The members of a form that the fields of limits need. */
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
